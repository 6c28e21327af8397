"""The tables by which a release places rows in regions: temporary for a snapshot, kept beside a live view."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.transformation import Partition
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.methods.shared.partition.region_labels import labels_of_levels, region_labels, region_map
from sqlanon.sqlgen.build.ddl import create_table
from sqlanon.sqlgen.build.names import column, relation
from sqlanon.sqlgen.cells.cells import rank_name
from sqlanon.sqlgen.cells.value_ranks import by_value
from sqlanon.sqlgen.release.region_rows import BUCKET, ENDS, Placed

__all__ = ["keep_regions", "place_rows", "region_tables"]


def place_rows(engine: Engine, policy: BoundPolicy, found: Partition, scratch: Scratch, *, live: bool) -> Placed:
    """What the release reads of the regions, in temporary tables; `keep_regions` copies them for a live view.

    Raises PolicyError where a column that the method adds has the name of another.
    """
    _require_names(policy, found)
    levels: list[str | None] = []
    for bound, ranked in zip(policy.quasi_identifiers, found.ranked, strict=True):
        shown = found.publish == "ancestor" and bound.hierarchy is not None
        levels.append(scratch.table("levels", labels_of_levels(bound, ranked)) if shown else None)
    regions = QualifiedName((scratch.table("shown", region_labels(policy, found, levels)),))
    places = QualifiedName((scratch.table("places", region_map(policy, found)),))
    ranks = tuple(
        QualifiedName((ranked,)) if not by_value(bound) else None
        for bound, ranked in zip(policy.quasi_identifiers, found.ranked, strict=True)
    )
    return Placed(regions, places, ranks, found.publish, found.bounds, boxes=live, by_row=not found.strict)


def kept_names(placed: Placed, release_id: str) -> Placed:
    """The regions' tables under the names that those of a live view have in the catalog's schema."""

    def named(kind: str) -> QualifiedName:
        return QualifiedName(("anon", f"{kind}_{release_id}"))

    ranks = tuple(named(f"rank_{place}") if table else None for place, table in enumerate(placed.ranks))
    return replace(placed, regions=named("region"), places=named("place"), ranks=ranks)


def region_tables(placed: Placed) -> list[QualifiedName]:
    """The tables that a release reads to place its rows."""
    return [placed.regions, placed.places, *(table for table in placed.ranks if table)]


def keep_regions(engine: Engine, placed: Placed, release_id: str) -> Placed:
    """Copies what a live view reads of the regions beside it, and returns the names of the copies."""
    kept = kept_names(placed, release_id)
    for table, copy in zip(region_tables(placed), region_tables(kept), strict=True):
        columns = [column("value"), column(rank_name(0))] if table in placed.ranks else [exp.Star()]
        engine.run(create_table(copy, exp.select(*columns).from_(relation(table))))
    return kept


def _require_names(policy: BoundPolicy, found: Partition) -> None:
    taken = {bound.column.lower() for bound in policy.published}
    added = [f"{b.column}_{end}" for b in policy.quasi_identifiers for end in ENDS] if found.bounds else []
    added += [BUCKET] if found.publish == "none" else []
    for name in added:
        if name.lower() in taken:
            raise PolicyError(f"mondrian adds a column {name}, and the release has one of that name already")
        taken.add(name.lower())
