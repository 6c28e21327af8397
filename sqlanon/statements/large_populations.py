"""The large populations of a source: its rows below nodes of hierarchies, found by an apriori search.

A population is one node for each quasi-identifier, the top being no predicate (Li and Li, On the tradeoff between
privacy and utility in data publishing, 2009, section 4.2). A subset of the quasi-identifiers has large populations only
where all smaller subsets of it have some (Agrawal and Srikant, Fast algorithms for mining association rules, 1994).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import (
    as_text,
    ascending,
    cast,
    identical,
    order_by,
    real,
    union_all,
    window,
)
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.cells.labels import generalized, level_name, listed_values

__all__ = ["MOST_POPULATIONS", "Nodes", "Populations", "code_name", "large_nodes", "large_populations", "node_name"]

# The most populations that are measured.
MOST_POPULATIONS = 1_000_000


def code_name(index: int) -> str:
    """The column with the most specific large node of the quasi-identifier at this index."""
    return f"code_{index}"


def node_name(index: int) -> str:
    """The column with a population's node of the quasi-identifier at this index."""
    return f"node_{index}"


@dataclass(frozen=True)
class Nodes:
    """The large nodes of a quasi-identifier, as tables.

    `below` has value and node: the large nodes that a value is below. `codes` has value and code, the most specific of
    them; `chains` has code and node, those above a code, itself included, and share, which is 1. A value below none is
    in no table. `labels` has node and label.
    """

    below: str
    codes: str
    chains: str
    labels: str


@dataclass(frozen=True)
class Populations:
    """The large populations of one subset: the table of population, their number, and `node_name` of each index."""

    indexes: tuple[int, ...]
    table: str


def large_nodes(
    scratch: Scratch, bound: BoundAttribute, occurring: exp.Query, least: float, *, each_level: bool
) -> Nodes:
    """The nodes with at least so many rows. `occurring` has value and n, which is 0 for what the source lacks.

    The leaves of the hierarchy are the values that it lists and those of the source. Without `each_level` a node with
    the leaves of its child is no node of its own, nor is one with all leaves.
    """
    listed = listed_values(bound, relation(("anon", "hierarchy_value"))) if bound.stored else None
    values = scratch.table("tree", generalized(bound, occurring, listed, counted=True))
    levels = [_level(bound, level, values) for level in range(bound.height)]
    steps = scratch.table("step", union_all(levels))
    number = window(f.dense_rank(), order=order_by(ascending(column("level")), ascending(column("path"))))
    numbered = exp.select("*", alias(number, "node")).from_(relation(steps))
    of_node = [column("node")]
    leaves = f.sum(column("leaf"))
    measured = exp.select(
        "*",
        alias(window(f.sum(column("n")), of_node), "support"),
        alias(window(leaves, [column("node")]), "leaves"),
        alias(window(f.sum(column("leaf")), [column("level")]), "all_leaves"),
    ).from_(numbered.subquery("numbered", copy=False))
    child = window(f.call("lag", column("leaves")), [column("id")], order_by(ascending(column("level"))))
    compared = exp.select("*", alias(child, "child_leaves")).from_(measured.subquery("measured", copy=False))
    below = exp.select(column("value"), column("level"), column("node"), column("label")).from_(
        compared.subquery("compared", copy=False)
    )
    below = below.where(column("support") >= literal(least))
    if not each_level:
        below = below.where(
            column("leaves") < column("all_leaves"), column("leaves") > f.coalesce(column("child_leaves"), 0)
        )
    table = scratch.table("below", below)
    lowest = f.call("arg_min", column("node"), column("level"))
    codes = scratch.table(
        "code", exp.select(column("value"), alias(lowest, "code")).from_(relation(table)).group_by(column("value"))
    )
    same = identical(column("value", "c"), column("value", "b"))
    chains = exp.select(column("code", "c"), column("node", "b"), alias(real(1.0), "share")).distinct()
    chains = chains.from_(relation(codes, as_="c")).join(relation(table, as_="b"), on=same, copy=False)
    text = f.coalesce(column("label"), literal("NULL"))
    labels = exp.select(column("node"), alias(text, "label")).distinct().from_(relation(table))
    return Nodes(table, codes, scratch.table("chain", chains), scratch.table("node", labels))


def _level(bound: BoundAttribute, level: int, values: str) -> exp.Select:
    """The node of each value at a level, named by the labels from there up: two nodes may share a label."""
    path = [as_text(column("value")) if level == 0 else column(level_name(level))]
    path += [column(level_name(above)) for above in range(level + 1, bound.height)]
    leaf: exp.Expr = column("n") > 0
    if bound.stored:
        leaf = exp.or_(leaf, column("listed"))
    return exp.select(
        column("value"),
        alias(column("rowid"), "id"),
        alias(column("n"), "n"),
        alias(cast(leaf, "INTEGER"), "leaf"),
        alias(literal(level), "level"),
        alias(f.call("list_value", *path), "path"),
        alias(path[0].copy(), "label"),
    ).from_(relation(values))


def large_populations(scratch: Scratch, nodes: Sequence[Nodes], cells: str, least: float) -> Iterator[Populations]:
    """The large populations of each subset that has some. `cells` has `code_name` of each index, and n.

    Raises PolicyError where there are more than `MOST_POPULATIONS`.
    """
    known: dict[tuple[int, ...], str] = {}
    total = 0
    for size in range(1, len(nodes) + 1):
        for indexes in combinations(range(len(nodes)), size):
            parts = list(combinations(indexes, size - 1)) if size > 1 else []
            if any(part not in known for part in parts):
                continue
            smaller = {part: known[part] for part in parts}
            table = scratch.table("population", _populations(nodes, indexes, smaller, cells, least, total))
            ((count,),) = scratch.engine.rows(exp.select(f.count()).from_(relation(table)))
            total += count
            if total > MOST_POPULATIONS:
                raise PolicyError(
                    f"u_loss: there are more than {MOST_POPULATIONS:,} populations", hint="ask for a larger min_support"
                )
            if count:
                known[indexes] = table
                yield Populations(indexes, table)
        if not any(len(indexes) == size for indexes in known):
            return


def _populations(
    nodes: Sequence[Nodes],
    indexes: Sequence[int],
    smaller: Mapping[tuple[int, ...], str],
    cells: str,
    least: float,
    before: int,
) -> exp.Select:
    codes = [column(code_name(index)) for index in indexes]
    grouped = exp.select(*codes, alias(f.sum(column("n")), "n")).from_(relation(cells)).group_by(*codes)
    rows = exp.select(*(alias(column("node", f"chain_{i}"), node_name(i)) for i in indexes), column("n", "cell"))
    rows = rows.from_(grouped.subquery("cell", copy=False))
    for i in indexes:
        same = column(code_name(i), "cell").eq(column("code", f"chain_{i}"))
        rows = rows.join(relation(nodes[i].chains, as_=f"chain_{i}"), on=same, copy=False)
    for number, (part, table) in enumerate(smaller.items()):
        at = f"smaller_{number}"
        matches = [column(node_name(i), at).eq(column("node", f"chain_{i}")) for i in part]
        rows = rows.join(relation(table, as_=at), on=exp.and_(*matches, copy=False), join_type="SEMI", copy=False)
    keys = [column(node_name(i)) for i in indexes]
    large = (
        exp.select(*keys)
        .from_(rows.subquery("cell_below", copy=False))
        .group_by(*keys)
        .having(f.sum(column("n")) >= literal(least))
    )
    number_of = alias(window(f.row_number()) + literal(before), "population")
    return exp.select(number_of, *(column(node_name(i)) for i in indexes)).from_(large.subquery("large", copy=False))
