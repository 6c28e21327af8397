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
from sqlanon.figures.population_counts import counts_in_populations, source_cells, source_value
from sqlanon.figures.population_nodes import Nodes, large_nodes
from sqlanon.inputs.source_identity import source_identity
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.names import relation
from sqlanon.sqlgen.cells.labels import occurring_values

__all__ = ["SourcePopulations", "identity_of_populations", "source_populations"]

# A share of rows that is a whole number of them may be a little more in floating point.
_ROUNDING = 1 - 1e-12


@dataclass(frozen=True)
class SourcePopulations:
    """The populations with at least a share of the rows, as tables that live as long as their `Scratch`.

    `values` has for each quasi-identifier the table of value and n, `nodes` its large nodes. `populations` is the table
    of population and its node of each quasi-identifier, `counts` has for each sensitive attribute that of
    population, value and n. `identity` is that of the source, by which another look at it is compared.
    """

    identity: Sequence[Any]
    values: tuple[str, ...]
    nodes: tuple[Nodes, ...]
    populations: str
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
    values = [scratch.table("occurring", occurring_values(b, bound.relation)) for b in bound.quasi_identifiers]
    nodes = [
        large_nodes(scratch, b, of_column, least, each_level=each_level)
        for b, of_column in zip(bound.quasi_identifiers, values, strict=True)
    ]
    cells = source_cells(scratch, bound, nodes)
    populations = large_populations(scratch, nodes, cells, least)
    chains = [part.chains for part in nodes]
    counts = [
        counts_in_populations(scratch, populations, cells, source_value(bound, sensitive), chains)
        for sensitive in bound.sensitive
    ]
    return SourcePopulations(identity, tuple(values), tuple(nodes), populations, tuple(counts))
