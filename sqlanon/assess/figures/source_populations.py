"""The large populations of a source, and its rows in them: the same for all releases of the same columns.

The large populations are found by an apriori search. A population is one node for each quasi-identifier, the top being
no predicate (Li and Li, On the tradeoff between privacy and utility in data publishing, 2009, section 4.2). With one
more node a population has no more rows, so that only large ones are looked at with another (Agrawal and Srikant, Fast
algorithms for mining association rules, 1994).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.assess.figures.population_counts import counts_in_populations, source_cells, source_value, value_codes
from sqlanon.assess.figures.population_nodes import TOP, Nodes, code_name, large_nodes, node_name
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.bound import BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.sources.source_identity import source_identity
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import identical, infix, union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import inner_join, select, semi_join

# A share of rows that is a whole number of them may be a little more in floating point.
_ROUNDING = 1 - 1e-12


@dataclass(frozen=True)
class SourcePopulations:
    """The populations with at least a share of the rows, as tables that live as long as their `Scratch`.

    `nodes` are the large nodes of each quasi-identifier, and `order` are their indexes in the order in which rows are
    counted below them. `populations` is the table of population and its node of each quasi-identifier. Of each
    sensitive attribute `values` has the table of its values and their codes, and `counts` that of population, value,
    which is a code, and n. `identity` is that of the source, by which another look at it is compared.
    """

    identity: Sequence[Any]
    nodes: tuple[Nodes, ...]
    order: tuple[int, ...]
    populations: str
    values: tuple[str, ...]
    counts: tuple[str, ...]


def identity_of_populations(
    engine: Engine, bound: BoundPolicy, hierarchies: Mapping[str, StoredHierarchy]
) -> Sequence[Any]:
    """What populations depend on: the columns of both roles, their hierarchies, and the rows."""
    return source_identity(engine, bound, (*bound.quasi_identifiers, *bound.sensitive), hierarchies)


def source_populations(
    scratch: Scratch, bound: BoundPolicy, identity: Sequence[Any], share: float, *, each_level: bool
) -> SourcePopulations:
    """The populations with at least a share of the source's rows, of which there is one.

    Raises PolicyError where there are too many.
    """
    ((rows,),) = scratch.engine.rows(exp.select(f.count()).from_(relation(bound.relation)))
    least = share * rows * _ROUNDING
    nodes = [large_nodes(scratch, b, bound.relation, least, each_level=each_level) for b in bound.quasi_identifiers]
    values = [value_codes(scratch, bound, sensitive) for sensitive in bound.sensitive]
    cells = source_cells(scratch, bound, nodes, values)
    order = _order(scratch, nodes)
    populations = large_populations(scratch, nodes, order, cells, least)
    chains = [part.chains for part in nodes]
    counts = [
        counts_in_populations(scratch, populations, cells, source_value(bound, sensitive), chains, order)
        for sensitive in bound.sensitive
    ]
    return SourcePopulations(identity, tuple(nodes), order, populations, tuple(values), tuple(counts))


def _order(scratch: Scratch, nodes: Sequence[Nodes]) -> tuple[int, ...]:
    """The indexes of the quasi-identifiers, those first whose nodes make most rows alike when they replace codes.

    These have many codes, and few nodes above each.
    """
    sizes = [
        exp.select(alias(literal(i), "index"), f.count(), f.count_distinct(column("code"))).from_(relation(part.chains))
        for i, part in enumerate(nodes)
    ]
    ranks = {index: codes * codes / pairs for index, pairs, codes in scratch.engine.rows(union_all(sizes))}
    return tuple(sorted(ranks, key=lambda index: (-ranks[index], index)))


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
