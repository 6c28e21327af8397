"""What requirements read besides the rows of one release, as the catalog has kept it for that release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.sql.cells.taxonomy import Taxonomy, frozen_labels, frozen_ranges
from sqlanon.sql.classes.normal_relations import Background
from sqlanon.sql.classes.requirement import SqlRequirement


def frozen_background(
    bound: BoundPolicy,
    requirements: Sequence[SqlRequirement],
    release_id: str,
    indexes: Sequence[int] | None = None,
    guards: Mapping[int, str] | None = None,
    public_class: exp.Query | None = None,
) -> Background:
    """What the requirements read besides the rows, from the catalog's copies for one release.

    `indexes` are those of the requirements among all of the release, if they are only some
    of them; `guards` the columns of guarding nodes by these indexes.
    """
    indexes = range(len(requirements)) if indexes is None else indexes
    by_index = dict(zip(indexes, requirements, strict=True))
    return Background(
        taxonomies={b.column: Taxonomy(b, frozen_labels(b, release_id) if b.stored else None) for b in bound.sensitive},
        ranges={
            number: frozen_ranges(release_id, index)
            for number, (index, requirement) in enumerate(by_index.items())
            if "value_range" in requirement.reads
        },
        guards={number: guards[index] for number, index in enumerate(by_index) if guards and index in guards},
        public_class=public_class,
    )
