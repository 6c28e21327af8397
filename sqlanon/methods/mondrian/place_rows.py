"""The tables by which a release finds the region of each row."""

from __future__ import annotations

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.reading import Reading
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.methods.shared.partition.choice import Partition
from sqlanon.methods.shared.partition.region_labels import labels_of_levels, region_labels, region_map
from sqlanon.sql.cells.value_ranks import by_value
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.release.region_rows import ENDS, Placed


def place_rows(engine: Engine, policy: BoundPolicy, partition: Partition, scratch: Scratch, *, live: bool) -> Placed:
    """What the release reads of the regions, in temporary tables.

    Raises PolicyError where a column that the method adds has the name of another.
    """
    _require_names(policy, partition)
    levels: list[str | None] = []
    for bound, ranked in zip(policy.quasi_identifiers, partition.ranked, strict=True):
        ancestors = partition.publish == "ancestor" and bound.hierarchy is not None
        levels.append(scratch.table("levels", labels_of_levels(bound, ranked)) if ancestors else None)
    regions = QualifiedName((scratch.table("labels", region_labels(policy, partition, levels)),))
    row_regions = QualifiedName((scratch.table("row_regions", region_map(policy, partition)),))
    ranks = tuple(
        QualifiedName((ranked,)) if not by_value(bound) else None
        for bound, ranked in zip(policy.quasi_identifiers, partition.ranked, strict=True)
    )
    return Placed(
        regions, row_regions, ranks, partition.publish, partition.bounds, boxes=live, by_row=not partition.strict
    )


def readings_of(policy: BoundPolicy, partition: Partition) -> dict[str, Reading]:
    """How the columns are read that regions recode or add."""
    if partition.publish == "none":
        exact = {bound.column: Reading.EXACT for bound in policy.quasi_identifiers}
        # The sensitive values of a region are put in an order that nobody can draw again.
        return exact | {bound.column: Reading.BUCKET_VALUE for bound in policy.sensitive} | {BUCKET: Reading.BUCKET}
    readings: dict[str, Reading] = {}
    for bound in policy.quasi_identifiers:
        readings[bound.column] = _shown_as(bound, partition.publish)
        if partition.bounds:
            names = (f"{bound.column}_{end}" for end in ENDS)
            readings |= dict(zip(names, (Reading.LOWER_BOUND, Reading.UPPER_BOUND), strict=True))
    return readings


def _shown_as(bound: BoundAttribute, publish: str) -> Reading:
    if publish == "centroid":
        return Reading.CENTROID
    return Reading.LABEL if publish == "ancestor" and bound.hierarchy is not None else Reading.RANGE


def _require_names(policy: BoundPolicy, partition: Partition) -> None:
    taken = {fold(bound.column) for bound in policy.published}
    added = [f"{b.column}_{end}" for b in policy.quasi_identifiers for end in ENDS] if partition.bounds else []
    added += [BUCKET] if partition.publish == "none" else []
    for name in added:
        if fold(name) in taken:
            raise PolicyError(f"mondrian adds a column {name}, and the release has one of that name already")
        taken.add(fold(name))
