"""Names in SQL trees, always quoted, so any name that a user chooses works."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from sqlglot import exp

from sqlanon.domain.values import QualifiedName


def identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def column(name: str, of: str | None = None) -> exp.Column:
    """Returns the column `name`, of the relation `of` if given."""
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
    return exp.Alias(this=tree, alias=identifier(name))


def parameter(number: int) -> exp.Expr:
    """Returns the query's parameter of this number, counted from 1."""
    return exp.Parameter(this=exp.Literal.number(number))


def literal(value: object) -> exp.Expr:
    """Returns a number, string, boolean or NULL as a literal; an infinite number is written as a cast text."""
    if isinstance(value, float) and not isfinite(value):
        return exp.Cast(this=exp.Literal.string(str(value)), to=exp.DataType.build("DOUBLE"))
    return exp.convert(value)
