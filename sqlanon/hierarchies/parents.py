"""PARENTS (SELECT node, parent ...): a tree as rows.

The leaves are the values; a leaf's label at level i is its i-th ancestor. A root is
a node whose parent is NULL. A single root is the top, `*`; several roots are the
level below it. All leaves must be equally deep, so that a level cuts across all.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.hierarchies._rows import (
    alias,
    column,
    is_null,
    long_rows,
    needs_query,
    no_rows,
    quoted,
    relation,
    select,
    text_column,
)
from sqlanon.hierarchies._trees import cast, choose, equals, join_text, number, subtract, text
from sqlanon.hierarchies.base import Check, refused
from sqlanon.sqlgen.build.names import identifier

__all__ = ["STORED", "checks", "validate", "values"]

STORED = True

# The named steps: rows (node, parent); pairs (node, ancestor); (node, depth); (node, depth) of those without children.
_EDGE, _ANCESTOR, _DEPTH, _LEAF = "tree edge", "tree ancestor", "tree depth", "tree leaf"


def validate(definition: HierarchyDefinition) -> None:
    """PARENTS takes a query and nothing else. Raises PolicyError."""
    needs_query(definition, "PARENTS", "write PARENTS (SELECT node, parent FROM ...)")


def values(definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> exp.Select:
    """Rows (value, level, label): each leaf with itself and its ancestors. Raises PolicyError unless two columns."""
    _needs_two(definition, columns)
    leaf = select(alias(column("node"), "value"), alias(number(0), "level"), alias(column("node"), "label")).from_(
        _step(_LEAF)
    )
    depth = column("depth", "above")
    above = (
        select(
            alias(column("node", "leaf"), "value"),
            alias(subtract(column("depth", "leaf"), depth), "level"),
            alias(column("node", "above"), "label"),
        )
        .from_(_step(_LEAF, "leaf"))
        .join(_step(_ANCESTOR, "path"), on=_same(column("node", "path"), column("node", "leaf")))
        .join(_step(_DEPTH, "above"), on=equals(column("node", "above"), column("ancestor", "path")))
        .where(exp.or_(exp.GT(this=depth.copy(), expression=number(0)), _several_roots()))
    )
    return _with_steps(long_rows([leaf, above]), columns, relation)


def checks(definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> list[Check]:
    """The rows are one forest with leaves of equal depth. Raises PolicyError unless there are two columns."""
    _needs_two(definition, columns)
    name = f"hierarchy {definition.name}"
    found = [
        Check("node_twice", _node_twice(), f"{name}: rows that are there more than once", "keep one of them"),
        Check("two_parents", _two_parents(), f"{name}: nodes with two parents", "keep one row for each node"),
        Check(
            "orphan",
            _orphans(),
            f"{name}: parents that are no node themselves",
            "add a row for the parent, with NULL as its own parent if it is a root",
        ),
        Check("cycle", _cycles(), f"{name}: nodes that are their own ancestors", "break the cycle"),
        Check(
            "unequal_depth",
            _unequal_depths(),
            f"{name}: leaves that are less deep than others",
            "insert nodes above them until all leaves are equally deep",
        ),
    ]
    steps = [
        Check(check.name, _with_steps(check.query, columns, relation), check.message, check.hint) for check in found
    ]
    return [no_rows(definition, relation), *steps]


def _node_twice() -> exp.Select:
    edge = join_text(quoted(column("node")), text(" under "), quoted(column("parent")))
    query = select(alias(edge, "name")).from_(_step(_EDGE)).group_by(column("node"), column("parent"))
    return query.having(exp.GT(this=_count(), expression=number(1)))


def _two_parents() -> exp.Select:
    first, last = exp.Min(this=column("parent")), exp.Max(this=column("parent"))
    root = exp.NEQ(this=exp.Count(this=column("parent")), expression=_count())
    # Min and max pass over NULL: a node that is a root and has a parent too has one of each.
    other = choose([(root, text("NULL"))], quoted(last))
    name = join_text(quoted(column("node")), text(" under "), quoted(first), text(" and "), other)
    both = exp.and_(root.copy(), exp.GT(this=exp.Count(this=column("parent")), expression=number(0)))
    differ = exp.NEQ(this=first.copy(), expression=last.copy())
    query = select(alias(name, "name")).from_(_step(_EDGE)).group_by(column("node"))
    return query.having(exp.or_(differ, both))


def _orphans() -> exp.Select:
    parent = column("parent", "child")
    known = select(number(1)).from_(_step(_EDGE, "node")).where(equals(column("node", "node"), parent))
    missing = exp.and_(exp.Not(this=is_null(parent)), exp.Not(this=exp.Exists(this=known)))
    child = exp.Min(this=quoted(column("node", "child")))
    name = join_text(quoted(parent), text(" (parent of "), child, text(")"))
    return select(alias(name, "name")).from_(_step(_EDGE, "child")).where(missing).group_by(parent)


def _cycles() -> exp.Select:
    own = equals(column("node"), column("ancestor"))
    return select(alias(quoted(column("node")), "name")).from_(_step(_ANCESTOR)).where(own)


def _unequal_depths() -> exp.Select:
    deepest = exp.Subquery(this=select(exp.Max(this=column("depth"))).from_(_step(_LEAF)))
    depth = cast(column("depth"), "VARCHAR")
    words = (text(" (depth "), text(", others "), text(")"))
    name = join_text(quoted(column("node")), words[0], depth, words[1], cast(deepest, "VARCHAR"), words[2])
    return select(alias(name, "name")).from_(_step(_LEAF)).where(exp.NEQ(this=column("depth"), expression=deepest))


def _several_roots() -> exp.Expr:
    roots = select(_count()).from_(_step(_EDGE)).where(is_null(column("parent")))
    return exp.GT(this=exp.Subquery(this=roots), expression=number(1))


def _with_steps(query: exp.Select, columns: Sequence[str], rows: exp.Expr) -> exp.Select:
    """The query with the steps that it reads. UNION drops what was seen before, so cycles end."""
    steps = {
        _EDGE: select(alias(text_column(columns[0]), "node"), alias(text_column(columns[1]), "parent")).from_(
            rows.copy()
        ),
        _ANCESTOR: _ancestors(),
        _DEPTH: _depths(),
        _LEAF: _leaves(),
    }
    bodies = [exp.CTE(this=body, alias=exp.TableAlias(this=identifier(name))) for name, body in steps.items()]
    whole = query.copy()
    whole.set("with_", exp.With(expressions=bodies, recursive=True))
    return whole


def _ancestors() -> exp.Expr:
    start = (
        select(column("node"), alias(column("parent"), "ancestor"))
        .from_(_step(_EDGE))
        .where(exp.Not(this=is_null(column("parent"))))
    )
    further = (
        select(column("node", "path"), column("parent", "edge"))
        .from_(_step(_ANCESTOR, "path"))
        .join(_step(_EDGE, "edge"), on=equals(column("node", "edge"), column("ancestor", "path")))
        .where(exp.Not(this=is_null(column("parent", "edge"))))
    )
    return exp.Union(this=start, expression=further, distinct=True)


def _depths() -> exp.Expr:
    return (
        select(column("node", "edge"), alias(exp.Count(this=column("ancestor", "path")), "depth"))
        .from_(_step(_EDGE, "edge"))
        .join(_step(_ANCESTOR, "path"), on=_same(column("node", "path"), column("node", "edge")), join_type="left")
        .group_by(column("node", "edge"))
    )


def _leaves() -> exp.Expr:
    child = select(number(1)).from_(_step(_EDGE, "edge")).where(equals(column("parent", "edge"), column("node", "tip")))
    return (
        select(column("node", "tip"), column("depth", "tip"))
        .from_(_step(_DEPTH, "tip"))
        .where(exp.Not(this=exp.Exists(this=child)))
    )


def _step(name: str, as_: str | None = None) -> exp.Table:
    return relation(name, as_)


def _same(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Equality with NULL as a value: a leaf may be NULL."""
    return exp.NullSafeEQ(this=left.copy(), expression=right.copy())


def _count() -> exp.Expr:
    return exp.Count(this=exp.Star())


def _needs_two(definition: HierarchyDefinition, columns: Sequence[str]) -> None:
    if len(columns) != 2:
        raise refused(
            definition, f"the query has {len(columns)} columns instead of 2", "select the node, then its parent"
        )
