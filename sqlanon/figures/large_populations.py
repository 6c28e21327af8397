"""The large populations of a source: its rows below nodes of hierarchies, found by an apriori search.

A population is one node for each quasi-identifier, the top being no predicate (Li and Li, On the tradeoff between
privacy and utility in data publishing, 2009, section 4.2). With one more node a population has no more rows, so that
only large ones are looked at with another (Agrawal and Srikant, Fast algorithms for mining association rules, 1994).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.figures.population_nodes import TOP, Nodes, code_name, node_name
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import union_all, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["MOST_POPULATIONS", "large_populations"]

# The most populations that are measured.
MOST_POPULATIONS = 1_000_000


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
