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
from sqlanon.sqlgen.build.expressions import identical, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["MOST_POPULATIONS", "large_populations"]

# The most populations that are measured.
MOST_POPULATIONS = 1_000_000


def large_populations(scratch: Scratch, nodes: Sequence[Nodes], order: Sequence[int], cells: str, least: float) -> str:
    """The table of population, a number, and `node_name` of each index, `TOP` for no predicate.

    `cells` has `code_name` of each index, and n. The codes are replaced by the nodes above them, one quasi-identifier
    after the other, in this order of their indexes; what is not large with the nodes so far is gone before the next one
    multiplies it. Raises PolicyError where there are more than `MOST_POPULATIONS`.
    """
    names = [node_name(i) for i in range(len(nodes))]
    rows, large = exp.select("*").from_(relation(cells)), ""
    for i in range(len(nodes)):
        counted = scratch.table("counted", _one_more(rows, nodes[order[i]].chains, order, i))
        keys = [column(names[index]) for index in order[: i + 1]]
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
    number = alias(window(f.row_number()), "population")
    some = exp.or_(*(column(name).neq(literal(TOP)) for name in names))
    return scratch.table("population", exp.select(number, *map(column, names)).from_(relation(large)).where(some))


def _one_more(rows: exp.Query, chains: str, order: Sequence[int], depth: int) -> exp.Select:
    """How many rows there are with nodes in place of the codes of one more quasi-identifier, at this depth."""
    index = order[depth]
    names = [*map(node_name, order[:depth]), *map(code_name, order[depth + 1 :])]
    keys = [*(column(name, "cell") for name in names), column("node", "above")]
    outputs = [*keys[:-1], alias(keys[-1], node_name(index)), alias(f.sum(column("n", "cell")), "n")]
    same = identical(column(code_name(index), "cell"), column("code", "above"))
    query = exp.select(*outputs).from_(rows.subquery("cell", copy=False))
    query = query.join(relation(chains, as_="above"), on=same, copy=False)
    return query.group_by(*(key.copy() for key in keys))
