"""PARENTS (SELECT node, parent ...): a tree as rows.

The leaves are the values; a leaf's label at level i is its i-th ancestor. A root is a node whose parent is NULL. A
single root is the top, `*`; several roots are the level below it. A leaf that is less deep than others is its own label
at the missing levels, so that nodes of the same depth are at the same level, and each level covers all leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.sql.build.expressions import is_not_null
from sqlanon.sql.build.names import alias, column, identifier
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.hierarchies._trees import is_null, needs_query, no_rows, text_column, unique_values
from sqlanon.sql.hierarchies.base import Check, refused

STORED = True

# The steps that queries read: rows (node, parent); pairs (node, ancestor); (node, depth); (node, depth) of leaves.
_EDGE, _STEPS = "tree edge", {"tree ancestor": "ancestor", "tree depth": "depth", "tree leaf": "leaf"}


def validate(definition: HierarchyDefinition) -> None:
    """Raises PolicyError unless the only argument of PARENTS is a query."""
    needs_query(definition, "PARENTS", "write PARENTS (SELECT node, parent FROM ...)")


def values(definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> exp.Select:
    """Returns rows (value, level, label) for each leaf of the tree.

    The label of a leaf at a level is its ancestor there, or the leaf itself below the level of its parent. Raises
    PolicyError unless there are two columns.
    """
    _needs_two(definition, columns)
    return _with_steps(_query("values"), columns, relation)


def checks(definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> list[Check]:
    """Returns the checks that the rows are a forest; leaves of unequal depth give a remark.

    Raises PolicyError unless there are two columns.
    """
    _needs_two(definition, columns)
    name = f"hierarchy {definition.name}"
    checks = [
        Check("node_twice", _query("node_twice"), f"{name}: rows that are there more than once", "keep one of them"),
        Check("two_parents", _query("two_parents"), f"{name}: nodes with two parents", unique_values(*columns)),
        Check(
            "orphan",
            _query("orphan"),
            f"{name}: parents that are no node themselves",
            "add a row for the parent, with NULL as its own parent if it is a root",
        ),
        Check("cycle", _query("cycle"), f"{name}: nodes that are their own ancestors", "break the cycle"),
        Check(
            "shallow_null",
            _shallow(is_null(column("node"))),
            f"{name}: NULL is less deep than other leaves",
            "insert nodes above it until it is as deep as the deepest leaf; a label cannot be NULL",
        ),
        Check(
            "shallow",
            _shallow(is_not_null(column("node"))),
            f"{name}: leaves that are less deep than others are their own labels at the levels that they lack",
            "insert nodes above them to have other labels there",
            refuses=False,
        ),
    ]
    steps = [replace(check, query=_with_steps(check.query, columns, relation)) for check in checks]
    return [no_rows(definition, relation), *steps]


def _query(name: str) -> exp.Select:
    query = query_file("hierarchies", "parents", name)
    assert isinstance(query, exp.Select)
    return query


def _shallow(which: exp.Expr) -> exp.Select:
    """Returns the leaves that satisfy a condition, among the leaves that are less deep than the deepest leaf."""
    return _query("shallow").where(which)


def _with_steps(query: exp.Select, columns: Sequence[str], rows: exp.Expr) -> exp.Select:
    """Returns the query with the steps that it reads."""
    node, parent = (alias(text_column(name), as_) for name, as_ in zip(columns, ("node", "parent"), strict=True))
    steps: dict[str, exp.Expr] = {_EDGE: select(node, parent, of=rows)}
    steps |= {step: query_file("hierarchies", "parents", name) for step, name in _STEPS.items()}
    bodies = [exp.CTE(this=body, alias=exp.TableAlias(this=identifier(name))) for name, body in steps.items()]
    query.set("with_", exp.With(expressions=bodies, recursive=True))
    return query


def _needs_two(definition: HierarchyDefinition, columns: Sequence[str]) -> None:
    if len(columns) != 2:
        raise refused(
            definition, f"the query has {len(columns)} columns instead of 2", "select the node, then its parent"
        )
