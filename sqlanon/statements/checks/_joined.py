"""CHECK release JOINED WITH RELEASE other: measures the disclosure by a join of two releases on their shared columns.

Wang and Fung, Anonymizing sequential releases (2006). The join itself is not computed. The rows of each release are
counted by X, Y and the shared columns, at the coarser of the two levels, and the counts are multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Measurement, Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.release.existing.joined import side_of
from sqlanon.sources.joins import Side, bind_joined, measured, owners, require_same_hierarchy
from sqlanon.statements.checks.check_joined import CheckJoined


def check_joined(engine: Engine, second: Release, first: Release, statement: CheckJoined) -> list[Measurement]:
    """Measures each requirement on the join of two releases, each one table or view.

    Raises UserError for an unknown requirement or column. Raises PolicyError for releases without such a shared column,
    for labels that cannot be compared, and if X and Y are columns of the same release.
    """
    shared = [fold(name) for name in statement.columns]
    with engine.transaction(), TempTables(engine) as temp:
        sides = [side_of(engine, release, temp) for release in (second, first)]
        for side in sides:
            for name in shared:
                side.require_comparable(name)
        levels = {name: level for name in shared if (level := _coarser_level(engine, sides, name)) is not None}
        requirements = bind_joined(statement.requirements)
        owner_lists = [owners(r, [side.name for side in sides], [side.columns for side in sides]) for r in requirements]
        counted = [partial(side.counted, levels) for side in sides]
        return list(measured(engine, requirements, owner_lists, counted, len(levels)))


def _coarser_level(engine: Engine, sides: Sequence[Side], name: str) -> int | None:
    """Returns the level at which a shared column is compared; None if a release shows only `*`, which matches all
    values.
    """
    if any(side.is_hidden(name) for side in sides):
        return None
    levels = [side.level(name) for side in sides]
    if max(levels):
        require_same_hierarchy(engine, sides, name)
    return max(levels)
