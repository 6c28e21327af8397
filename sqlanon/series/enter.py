"""A release enters its series: it is written down, and what is required of all releases is measured."""

from __future__ import annotations

from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.series.ledger import LedgerRows, record
from sqlanon.series.respondents import Respondents
from sqlanon.series.together import require_together

__all__ = ["enter"]


def enter(engine: Engine, respondents: Respondents, release: Release, rows: LedgerRows, scratch: Scratch) -> None:
    """Appends a release to a series, in the caller's transaction. Raises as `record` and `require_together` do."""
    position = record(engine, respondents, release, rows)
    require_together(engine, respondents.series, position, scratch, str(release.name))
