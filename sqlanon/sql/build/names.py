"""Names in SQL trees, always quoted, so any name that a user chooses works; and the rule that a node is in only one
tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, TypeVar

from sqlglot import exp

from sqlanon.domain.values import QualifiedName

_Node = TypeVar("_Node", bound=exp.Expr)


# A node has one parent. So every function that builds a tree copies an argument that is in a tree already, and takes
# any other argument unchanged, so that its caller may use a node twice. A function that changes a tree in place changes
# a copy or its own tree.


def free(node: _Node) -> _Node:
    """Returns the node, or a copy of it if it is a part of a tree."""
    return node if node.parent is None else node.copy()


def free_all(nodes: Iterable[_Node]) -> list[_Node]:
    """Returns nodes for one list of a tree: a copy of each that is a part of a tree, or that occurs twice."""
    parts: list[_Node] = []
    for node in nodes:
        is_used = node.parent is not None or any(node is part for part in parts)
        parts.append(node.copy() if is_used else node)
    return parts


def argument(value: Any) -> exp.Expr:
    """Returns a tree like `free`, and any other value as a literal."""
    return free(value) if isinstance(value, exp.Expr) else exp.convert(value)


def arguments(*values: Any) -> list[exp.Expr]:
    """Returns trees like `free_all`, and other values as literals."""
    return free_all([value if isinstance(value, exp.Expr) else exp.convert(value) for value in values])


def identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def column(name: str, of: str | None = None) -> exp.Column:
    """Returns the column `name`, of the relation `of` if that is given."""
    return exp.Column(this=identifier(name), table=identifier(of) if of else None)


def relation(name: QualifiedName | Sequence[str] | str, as_: str | None = None) -> exp.Table:
    """Returns a table, view or CTE by its name, possibly qualified."""
    parts = name.parts if isinstance(name, QualifiedName) else (name,) if isinstance(name, str) else tuple(name)
    keys = ("this", "db", "catalog")
    table = exp.Table(**{key: identifier(part) for key, part in zip(keys, reversed(parts), strict=False)})
    if as_:
        table.set("alias", exp.TableAlias(this=identifier(as_)))
    return table


def alias(tree: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=free(tree), alias=identifier(name))


def parameter(number: int) -> exp.Expr:
    """Returns the query's parameter of this number, counted from 1."""
    return exp.Parameter(this=exp.Literal.number(number))


def literal(value: object) -> exp.Expr:
    """Returns a number, string, boolean or NULL as a literal; an infinite number is written as a cast text."""
    if isinstance(value, float) and not isfinite(value):
        return exp.Cast(this=exp.Literal.string(str(value)), to=exp.DataType.build("DOUBLE"))
    return exp.convert(value)
