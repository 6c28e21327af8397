"""PARENTS (SELECT node, parent ...): a tree as rows.

The leaves are the values; a leaf's label at level i is its i-th ancestor. A root is
a node whose parent is NULL. A single root is the top, `*`; several roots are the
level below it. A leaf that is less deep than the deepest is its own label as often as
it lacks levels, so that nodes of one depth are at one level and a level cuts across all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.hierarchies._rows import (
    is_null,
    long_rows,
    needs_query,
    no_rows,
    quoted,
    select,
    text_column,
    unique_values,
)
from sqlanon.hierarchies._trees import cast, choose, equals, join_text, number, subtract, text
from sqlanon.hierarchies.base import Check, refused
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import exists, identical, is_not_null, not_, union_all
from sqlanon.sqlgen.build.names import alias, column, identifier, relation

STORED = True

# The named steps: rows (node, parent); pairs (node, ancestor); (node, depth); (node, depth) of those without children.
_EDGE, _ANCESTOR, _DEPTH, _LEAF = "tree edge", "tree ancestor", "tree depth", "tree leaf"


def validate(definition: HierarchyDefinition) -> None:
    """PARENTS takes a query and nothing else. Raises PolicyError."""
    needs_query(definition, "PARENTS", "write PARENTS (SELECT node, parent FROM ...)")


def values(definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> exp.Select:
    """Rows (value, level, label): each leaf with itself, as long as deeper leaves have ancestors, and its ancestors.

    Raises PolicyError unless there are two columns.
    """
    _needs_two(definition, columns)
    # A leaf is at level 0, and at each level above that the nodes of its own depth or of a greater one have.
    level = subtract(_deepest(), column("depth", "at"))
    itself = (
        select(alias(column("node", "leaf"), "value"), alias(level, "level"), alias(column("node", "leaf"), "label"))
        .from_(_step(_LEAF, "leaf"))
        .join(select(column("depth")).distinct().from_(_step(_DEPTH)).subquery("at", copy=False), on=_not_above())
    )
    depth = column("depth", "above")
    above = (
        select(
            alias(column("node", "leaf"), "value"),
            alias(subtract(_deepest(), depth), "level"),
            alias(column("node", "above"), "label"),
        )
        .from_(_step(_LEAF, "leaf"))
        .join(_step(_ANCESTOR, "path"), on=_same(column("node", "path"), column("node", "leaf")))
        .join(_step(_DEPTH, "above"), on=equals(column("node", "above"), column("ancestor", "path")))
        .where(exp.or_(depth > 0, _several_roots()))
    )
    return _with_steps(long_rows([itself, above]), columns, relation)


def checks(definition: HierarchyDefinition, columns: Sequence[str], relation: exp.Expr) -> list[Check]:
    """The rows are one forest. Leaves of unequal depth are remarked on. Raises PolicyError unless two columns."""
    _needs_two(definition, columns)
    name = f"hierarchy {definition.name}"
    checks = [
        Check("node_twice", _node_twice(), f"{name}: rows that are there more than once", "keep one of them"),
        Check("two_parents", _two_parents(), f"{name}: nodes with two parents", unique_values(*columns)),
        Check(
            "orphan",
            _orphans(),
            f"{name}: parents that are no node themselves",
            "add a row for the parent, with NULL as its own parent if it is a root",
        ),
        Check("cycle", _cycles(), f"{name}: nodes that are their own ancestors", "break the cycle"),
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


def _node_twice() -> exp.Select:
    edge = join_text(quoted(column("node")), text(" under "), quoted(column("parent")))
    query = select(alias(edge, "name")).from_(_step(_EDGE)).group_by(column("node"), column("parent"))
    return query.having(f.count() > 1)


def _two_parents() -> exp.Select:
    first, last = f.min(column("parent")), f.max(column("parent"))
    root = f.count(column("parent")).neq(f.count())
    # Min and max pass over NULL: a node that is a root and has a parent too has one of each.
    other = choose([(root, text("NULL"))], quoted(last))
    name = join_text(quoted(column("node")), text(" under "), quoted(first), text(" and "), other)
    both = exp.and_(root.copy(), f.count(column("parent")) > 0)
    differ = first.neq(last)
    query = select(alias(name, "name")).from_(_step(_EDGE)).group_by(column("node"))
    return query.having(exp.or_(differ, both))


def _orphans() -> exp.Select:
    parent = column("parent", "child")
    known = select(number(1)).from_(_step(_EDGE, "node")).where(equals(column("node", "node"), parent))
    missing = exp.and_(is_not_null(parent), not_(exists(known)))
    child = f.min(quoted(column("node", "child")))
    name = join_text(quoted(parent), text(" (parent of "), child, text(")"))
    return select(alias(name, "name")).from_(_step(_EDGE, "child")).where(missing).group_by(parent)


def _cycles() -> exp.Select:
    in_cycle = equals(column("node"), column("ancestor"))
    return select(alias(quoted(column("node")), "name")).from_(_step(_ANCESTOR)).where(in_cycle)


def _shallow(which: exp.Expr) -> exp.Select:
    """The leaves that are less deep than the deepest, of those that a condition is about."""
    depth = cast(column("depth"), "VARCHAR")
    words = (text(" (depth "), text(", the deepest "), text(")"))
    name = join_text(quoted(column("node")), words[0], depth, words[1], cast(_deepest(), "VARCHAR"), words[2])
    return select(alias(name, "name")).from_(_step(_LEAF)).where(column("depth").neq(_deepest()), which)


def _deepest() -> exp.Expr:
    return select(f.max(column("depth"))).from_(_step(_LEAF)).subquery(copy=False)


def _not_above() -> exp.Expr:
    return exp.GTE(this=column("depth", "at"), expression=column("depth", "leaf"))


def _several_roots() -> exp.Expr:
    roots = select(f.count()).from_(_step(_EDGE)).where(is_null(column("parent")))
    return roots.subquery(copy=False) > 1


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
        .where(is_not_null(column("parent")))
    )
    further = (
        select(column("node", "path"), column("parent", "edge"))
        .from_(_step(_ANCESTOR, "path"))
        .join(_step(_EDGE, "edge"), on=equals(column("node", "edge"), column("ancestor", "path")))
        .where(is_not_null(column("parent", "edge")))
    )
    return union_all([start, further], distinct=True)


def _depths() -> exp.Expr:
    return (
        select(column("node", "edge"), alias(f.count(column("ancestor", "path")), "depth"))
        .from_(_step(_EDGE, "edge"))
        .join(_step(_ANCESTOR, "path"), on=_same(column("node", "path"), column("node", "edge")), join_type="left")
        .group_by(column("node", "edge"))
    )


def _leaves() -> exp.Expr:
    child = select(number(1)).from_(_step(_EDGE, "edge")).where(equals(column("parent", "edge"), column("node", "tip")))
    return select(column("node", "tip"), column("depth", "tip")).from_(_step(_DEPTH, "tip")).where(not_(exists(child)))


def _step(name: str, as_: str | None = None) -> exp.Table:
    return relation(name, as_)


def _same(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Equality with NULL as a value: a leaf may be NULL."""
    return identical(left.copy(), right.copy())


def _needs_two(definition: HierarchyDefinition, columns: Sequence[str]) -> None:
    if len(columns) != 2:
        raise refused(
            definition, f"the query has {len(columns)} columns instead of 2", "select the node, then its parent"
        )
