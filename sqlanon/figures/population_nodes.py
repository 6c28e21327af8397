"""The large nodes of a quasi-identifier's hierarchy, by the rows of the source, and the values that are below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.engines.temp_tables import Scratch
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import (
    as_text,
    ascending,
    cast,
    identical,
    is_not_null,
    order_by,
    real,
    union_all,
    window,
)
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.steps import Step, with_steps
from sqlanon.sqlgen.cells.labels import generalized, level_name, stored_labels

__all__ = ["TOP", "Nodes", "code_name", "codes_of_others", "large_nodes", "node_name"]

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

    `labels` has node and label, beside what tells where the node is: its level, and its labels from there up. `codes`
    has value and code, the most specific of the nodes that the value is below, NULL below none. `chains` has code and
    node, those above a code, itself and `TOP` included, and share, which is 1; NULL is a code.
    """

    attribute: BoundAttribute
    labels: str
    codes: str
    chains: str


def large_nodes(scratch: Scratch, bound: BoundAttribute, values: str, least: float, *, each_level: bool) -> Nodes:
    """The nodes with at least so many rows. The table `values` has value and n, which is not 0.

    The leaves of the hierarchy are the values that it lists and those of the source. Without `each_level` a node with
    the leaves of its child is no node of its own, nor is one with all leaves.
    """
    listed = stored_labels(bound)
    occurring = exp.select(column("value"), column("n")).from_(relation(values))
    # Of a value that occurs or is listed there is one row, so each is a leaf.
    tree = scratch.table("tree", generalized(bound, occurring, listed, counted=True))
    labels = scratch.table("node", _numbered(bound, tree, least, each_level))
    at_levels = [f"at_{level}" for level in range(bound.height)]
    coded = scratch.table("coded", _coded(bound, labels, tree))
    return Nodes(bound, labels, coded, scratch.table("chain", _chains(coded, at_levels)))


def _chains(coded: str, at_levels: Sequence[str]) -> exp.Query:
    chains = exp.select(column("code"), *map(column, at_levels)).distinct().from_(relation(coded))
    node, top, share = alias(column("node"), "node"), literal(TOP), alias(real(1.0), "share")
    above = f.unnest(f.call("list_value", *map(column, at_levels), top))
    pairs = exp.select(column("code"), alias(above, "node")).from_(chains.subquery("chain"))
    pairs = exp.select(column("code"), node, share).from_(pairs.subquery("pair")).where(is_not_null(column("node")))
    no_code = alias(cast(exp.null(), "INTEGER"), "code")
    return union_all([pairs, exp.select(no_code, alias(top.copy(), "node"), share.copy())], distinct=True)


def _numbered(bound: BoundAttribute, tree: str, least: float, each_level: bool) -> exp.Select:
    """node, level, label and the labels from there up, of each large node; two nodes may share a label."""
    of_level = [
        alias(column("n"), "support"),
        alias(literal(1), "leaves"),
        alias(literal(0), "child_leaves"),
    ]
    steps: list[exp.Select] = []
    levels: list[Step] = []
    table = tree
    for level in range(bound.height):
        above = _from(bound, level)
        if level:
            # Each level is added up from the one below it, which has fewer rows than the values.
            support, leaves = ("n", literal(1)) if level == 1 else ("support", column("leaves"))
            of_level = [
                alias(f.sum(column(support)), "support"),
                alias(f.sum(leaves), "leaves"),
                alias(f.max(leaves.copy()), "child_leaves"),
            ]
            grouped = exp.select(*map(column, above), *of_level).from_(relation(table))
            table = f"of_level_{level}"
            levels.append((table, grouped.group_by(*map(column, above))))
            measured = exp.select("*").from_(relation(table))
        else:
            measured = exp.select(*map(column, above), *of_level).from_(relation(table))
        name = as_text(column("value")) if level == 0 else column(level_name(level))
        lacking = [alias(exp.null(), lower) for lower in _from(bound, 0)[:level]]
        step = exp.select(alias(literal(level), "level"), *lacking, *map(column, above))
        step = step.select(alias(f.coalesce(name, literal("NULL")), "label"))
        step = step.from_(measured.subquery("measured", copy=False)).where(column("support") >= literal(least))
        if not each_level:
            leaves_of_all = exp.select(f.count()).from_(relation(tree)).subquery()
            step = step.where(column("leaves") > column("child_leaves"), column("leaves") < leaves_of_all)
        steps.append(step)
    order = order_by(*map(ascending, map(column, ("level", *_from(bound, 0)))))
    number = window(f.row_number(), order=order)
    nodes = union_all(steps).subquery("steps", copy=False)
    return with_steps(exp.select("*", alias(cast(number, "INTEGER"), "node")).from_(nodes), levels)


def _from(bound: BoundAttribute, level: int) -> list[str]:
    """The columns that tell a node of this level from others: what it is called there, and the labels above it."""
    names = ["value", *map(level_name, range(1, bound.height))]
    return names[level:]


def _coded(bound: BoundAttribute, labels: str, tree: str) -> exp.Select:
    """value, code, and the large node of each level, NULL for none."""
    at_levels = [f"at_{level}" for level in range(bound.height)]
    nodes = [column("node", at) for at in at_levels]
    query = exp.select(column("value", "tree"), alias(f.coalesce(*nodes), "code"))
    query = query.select(*(alias(node.copy(), at) for node, at in zip(nodes, at_levels, strict=True)))
    query = query.from_(relation(tree, as_="tree"))
    for level, at in enumerate(at_levels):
        of_level = exp.select("*").from_(relation(labels)).where(column("level").eq(literal(level)))
        query = query.join(of_level.subquery(at), on=_same(_from(bound, level), at), join_type="LEFT", copy=False)
    return query


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
    others = exp.select(column("value", "other")).distinct().from_(values.subquery("other"))
    others = others.join(relation(nodes.codes, as_="codes"), on=same, join_type="ANTI")
    table = scratch.table("other", others)
    ((count,),) = scratch.engine.rows(exp.select(f.count()).from_(relation(table)))
    if not count:
        return None
    occurring = exp.select(column("value")).from_(relation(table))
    tree = scratch.table("tree", generalized(nodes.attribute, occurring, None, counted=False))
    return exp.select(column("value"), column("code")).from_(
        _coded(nodes.attribute, nodes.labels, tree).subquery("coded")
    )
