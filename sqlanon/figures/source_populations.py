"""The large populations of a source, and its rows in them: the same for all releases of the same columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.bound import BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.figures.large_populations import large_populations
from sqlanon.figures.population_counts import counts_in_populations, source_cells, source_value, value_codes
from sqlanon.figures.population_nodes import Nodes, large_nodes
from sqlanon.inputs.source_identity import source_identity
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import union_all
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["SourcePopulations", "identity_of_populations", "source_populations"]

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
