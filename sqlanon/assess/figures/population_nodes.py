"""The large nodes of a quasi-identifier's hierarchy, by the rows of the source, and the values that are below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.temp_tables import Scratch
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    ascending,
    cast,
    identical,
    infix,
    is_not_null,
    order_by,
    real,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import anti_join, left_join, select
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.labels import generalized, level_name, occurring_values, stored_labels

# The node of a quasi-identifier that a population has no predicate on; the others are numbered from 1.
TOP = 0


def code_name(index: int) -> str:
    """The column with the most specific large node of the quasi-identifier at this index."""
    return f"code_{index}"


def node_name(index: int) -> str:
    """The column with a population's node of the quasi-identifier at this index."""
    return f"node_{index}"


@dataclass(frozen=True)
class Nodes:
    """The large nodes of a quasi-identifier, as tables.

    `values` has each value of the source once, and its code. `labels` has node and label, beside what tells where the
    node is: its level, and its labels from there up. `codes` has value and code, the most specific of the nodes that
    the value is below, NULL below none. `chains` has code and node, those above a code, itself and `TOP` included, and
    share, which is 1; NULL is a code.
    """

    attribute: BoundAttribute
    values: str
    labels: str
    codes: str
    chains: str


def large_nodes(
    scratch: Scratch, bound: BoundAttribute, source: QualifiedName, least: float, *, each_level: bool
) -> Nodes:
    """The nodes with at least so many rows of the source.

    The leaves of the hierarchy are the values that it lists and those of the source. Without `each_level` a node with
    the leaves of its child is no node of its own, nor is one with all leaves.
    """
    # Of a value that occurs or is listed there is one row, so each is a leaf.
    of_values = generalized(bound, occurring_values(bound, source), stored_labels(bound), counted=True)
    tree, leaves = scratch.counted_table("tree", of_values)
    labels = scratch.table("node", _numbered(bound, tree, least, None if each_level else leaves))
    occurs = infix(column("n", "tree"), ">", literal(0))
    coded = scratch.table("coded", _coded(bound, labels, tree).select(alias(occurs, "occurs"), copy=False))
    occurring = select(column("value"), column("code"), of=relation(coded), where=[column("occurs")])
    values = scratch.view("occurring", occurring)
    at_levels = [f"at_{level}" for level in range(bound.height)]
    return Nodes(bound, values, labels, coded, scratch.table("chain", _chains(coded, at_levels)))


def _chains(coded: str, at_levels: Sequence[str]) -> exp.Query:
    chains = select(column("code"), *map(column, at_levels), of=relation(coded), distinct=True).subquery(
        "chain", copy=False
    )
    share = alias(real(1.0), "share")
    above = f.unnest(f.call("list_value", *map(column, at_levels), literal(TOP)))
    pairs = select(column("code"), alias(above, "node"), of=chains).subquery("pair", copy=False)
    known = select(column("code"), column("node"), share, of=pairs, where=[is_not_null(column("node"))])
    no_code = alias(cast(exp.null(), "INTEGER"), "code")
    none = exp.Select(expressions=[no_code, alias(literal(TOP), "node"), share.copy()])
    return union_all([known, none], distinct=True)


def _numbered(bound: BoundAttribute, tree: str, least: float, leaves_of_all: int | None) -> exp.Select:
    """node, level, label and the labels from there up, of each large node; two nodes may share a label.

    With `leaves_of_all`, the number of all leaves, those with all of them or with the leaves of a child are none.
    """
    steps: list[exp.Select] = []
    levels: list[Step] = []
    table = tree
    for level in range(bound.height):
        above = _from(bound, level)
        if level == 0:
            support: exp.Expr = column("n")
        else:
            # Each level is added up from the one below it, which has fewer rows than the values.
            table, grouped = f"of_level_{level}", _added_up(table, above, of_values=level == 1)
            levels.append((table, grouped))
            support = column("support")
        name = as_text(column("value")) if level == 0 else column(level_name(level))
        outputs: list[exp.Expr] = [alias(literal(level), "level")]
        outputs += [alias(exp.null(), lower) for lower in _from(bound, 0)[:level]]
        outputs += map(column, above)
        outputs.append(alias(f.coalesce(name, literal("NULL")), "label"))
        large = [infix(support, ">=", literal(least))]
        if leaves_of_all is not None:
            leaves, of_child = (column("leaves"), column("child_leaves")) if level else (literal(1), literal(0))
            large += [infix(leaves, ">", of_child), infix(leaves.copy(), "<", literal(leaves_of_all))]
        steps.append(select(*outputs, of=relation(table), where=large))
    order = order_by(*map(ascending, map(column, ("level", *_from(bound, 0)))))
    number = cast(window(f.row_number(), order=order), "INTEGER")
    nodes = union_all(steps).subquery("steps", copy=False)
    return with_steps(select(exp.Star(), alias(number, "node"), of=nodes), levels)


def _added_up(table: str, above: Sequence[str], *, of_values: bool) -> exp.Select:
    """The rows and leaves of the nodes of a level, and the leaves of the largest node below each."""
    support, leaves = (column("n"), literal(1)) if of_values else (column("support"), column("leaves"))
    return select(
        *map(column, above),
        alias(f.sum(support), "support"),
        alias(f.sum(leaves), "leaves"),
        alias(f.max(leaves.copy()), "child_leaves"),
        of=relation(table),
        group_by=[*map(column, above)],
    )


def _from(bound: BoundAttribute, level: int) -> list[str]:
    """The columns that tell a node of this level from others: what it is called there, and the labels above it."""
    names = ["value", *map(level_name, range(1, bound.height))]
    return names[level:]


def _coded(bound: BoundAttribute, labels: str, tree: str) -> exp.Select:
    """value, code, and the large node of each level, NULL for none."""
    at_levels = [f"at_{level}" for level in range(bound.height)]
    joins: list[exp.Join] = []
    for level, at in enumerate(at_levels):
        this_level = infix(column("level"), "=", literal(level))
        of_level = select(exp.Star(), of=relation(labels), where=[this_level])
        joins.append(left_join(of_level.subquery(at, copy=False), _same(_from(bound, level), at)))
    code = f.coalesce(*(column("node", at) for at in at_levels))
    nodes = [alias(column("node", at), at) for at in at_levels]
    return select(column("value", "tree"), alias(code, "code"), *nodes, of=relation(tree, as_="tree"), joins=joins)


def _same(names: Sequence[str], at: str) -> exp.Expr:
    return exp.and_(*(identical(column(name, "tree"), column(name, at)) for name in names), copy=False)


def codes_of_others(scratch: Scratch, nodes: Nodes, values: exp.Query) -> exp.Query | None:
    """value and code of those values that `Nodes.codes` does not have; None where there are none.

    These are values that a release may stand for and the source lacks: a day within a month, say. A stored hierarchy
    lists all that it knows.
    """
    if nodes.attribute.stored:
        return None
    same = identical(column("value", "other"), column("value", "codes"))
    known = anti_join(relation(nodes.codes, as_="codes"), same)
    others = select(column("value", "other"), of=values.subquery("other", copy=False), joins=[known], distinct=True)
    table, count = scratch.counted_table("other", others)
    if not count:
        return None
    occurring = exp.select(column("value")).from_(relation(table))
    tree = scratch.table("tree", generalized(nodes.attribute, occurring, None, counted=False))
    coded = _coded(nodes.attribute, nodes.labels, tree).subquery("coded", copy=False)
    return select(column("value"), column("code"), of=coded)
