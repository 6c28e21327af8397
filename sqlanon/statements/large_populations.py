"""The large populations of a source: its rows below nodes of hierarchies, found by an apriori search.

A population is one node for each quasi-identifier, the top being no predicate (Li and Li, On the tradeoff between
privacy and utility in data publishing, 2009, section 4.2). With one more node a population has no more rows, so that
only large ones are looked at with another (Agrawal and Srikant, Fast algorithms for mining association rules, 1994).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

__all__ = [
    "MOST_POPULATIONS",
    "TOP",
    "Nodes",
    "code_name",
    "large_nodes",
    "large_populations",
    "node_name",
]

# The most populations that are measured.
MOST_POPULATIONS = 1_000_000
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

    `below` has value and node: the large nodes that a value is below. `codes` has value and code, the most specific of
    them; `chains` has code and node, those above a code, itself included, and share, which is 1. A value below none is
    in no table. `labels` has node and label.
    """

    below: str
    codes: str
    chains: str
    labels: str


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


def large_populations(scratch: Scratch, nodes: Sequence[Nodes], cells: str, least: float) -> str:
    """The table of population, a number, and `node_name` of each index, `TOP` for no predicate.

    `cells` has `code_name` of each index, and n. The codes are replaced by the nodes above them, one quasi-identifier
    after the other; what is not large with the nodes so far is gone before the next one multiplies it. Raises
    PolicyError where there are more than `MOST_POPULATIONS`.
    """
    names = [node_name(i) for i in range(len(nodes))]
    table = cells
    for i, of_index in enumerate(nodes):
        counted = scratch.table("counted", _one_more(table, of_index.chains, i, len(nodes)))
        keys = [column(name) for name in names[: i + 1]]
        enough = exp.select(*keys).from_(relation(counted)).group_by(*(key.copy() for key in keys))
        large = scratch.table("large", enough.having(f.sum(column("n")) >= literal(least)))
        ((count,),) = scratch.engine.rows(exp.select(f.count()).from_(relation(large)))
        if count > MOST_POPULATIONS:
            raise PolicyError(
                f"u_loss: there are more than {MOST_POPULATIONS:,} populations", hint="ask for a larger min_support"
            )
        matches = [column(key.name, "counted").eq(column(key.name, "large")) for key in keys]
        rows = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("counted")))
        rows = rows.from_(relation(counted, as_="counted"))
        rows = rows.join(relation(large, as_="large"), on=exp.and_(*matches, copy=False), join_type="SEMI", copy=False)
        table = scratch.table("expanded", rows)
    number = alias(window(f.row_number()), "population")
    some = exp.or_(*(column(name).neq(literal(TOP)) for name in names))
    return scratch.table("population", exp.select(number, *map(column, names)).from_(relation(table)).where(some))


def _one_more(table: str, chains: str, index: int, count: int) -> exp.Select:
    """How many rows of the table there are with the nodes of one quasi-identifier in place of its codes."""
    names = [*(node_name(i) for i in range(index)), *(code_name(i) for i in range(index + 1, count))]
    former = [column(name, "cell") for name in names]
    whole = exp.select(*former, alias(literal(TOP), node_name(index)), column("n", "cell"))
    whole = whole.from_(relation(table, as_="cell"))
    below = exp.select(*(name.copy() for name in former), alias(column("node", "above"), node_name(index)))
    same = column(code_name(index), "cell").eq(column("code", "above"))
    below = below.select(column("n", "cell")).from_(relation(table, as_="cell"))
    below = below.join(relation(chains, as_="above"), on=same, copy=False)
    keys = [column(name) for name in (*names, node_name(index))]
    grouped = exp.select(*keys, alias(f.sum(column("n")), "n")).from_(union_all([whole, below]).subquery("either"))
    return grouped.group_by(*(key.copy() for key in keys))
