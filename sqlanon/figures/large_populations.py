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
from sqlanon.sqlgen.build.expressions import identical, infix, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.queries import inner_join, select, semi_join

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
    rows, large = select(exp.Star(), of=relation(cells)), ""
    for i in range(len(nodes)):
        counted = scratch.table("counted", _one_more(rows, nodes[order[i]].chains, order, i))
        keys = [column(names[index]) for index in order[: i + 1]]
        enough = infix(f.sum(column("n")), ">=", literal(least))
        of_enough = select(*keys, of=relation(counted), group_by=[key.copy() for key in keys], having=enough)
        large, count = scratch.counted_table("large", of_enough)
        if count > MOST_POPULATIONS:
            raise PolicyError(
                f"u_loss: there are more than {MOST_POPULATIONS:,} populations", hint="ask for a larger min_support"
            )
        matches = [infix(column(key.name, "counted"), "=", column(key.name, "large")) for key in keys]
        joins = [semi_join(relation(large, as_="large"), exp.and_(*matches, copy=False))]
        star = exp.Column(this=exp.Star(), table=exp.to_identifier("counted"))
        rows = select(star, of=relation(counted, as_="counted"), joins=joins)
    number = alias(window(f.row_number()), "population")
    some = exp.or_(*(infix(column(name), "<>", literal(TOP)) for name in names), copy=False)
    return scratch.table("population", select(number, *map(column, names), of=relation(large), where=[some]))


def _one_more(rows: exp.Query, chains: str, order: Sequence[int], depth: int) -> exp.Select:
    """How many rows there are with nodes in place of the codes of one more quasi-identifier, at this depth."""
    index = order[depth]
    names = [*map(node_name, order[:depth]), *map(code_name, order[depth + 1 :])]
    keys = [*(column(name, "cell") for name in names), column("node", "above")]
    outputs = [*keys[:-1], alias(keys[-1], node_name(index)), alias(f.sum(column("n", "cell")), "n")]
    same = identical(column(code_name(index), "cell"), column("code", "above"))
    return select(
        *outputs,
        of=rows.subquery("cell", copy=False),
        joins=[inner_join(relation(chains, as_="above"), same)],
        group_by=[key.copy() for key in keys],
    )
