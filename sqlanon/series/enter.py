"""A release enters its series: it is written down, and what is required of all releases is measured."""

from __future__ import annotations

from sqlanon.domain.release import Release
from sqlanon.series.latest import models_by_latest
from sqlanon.series.ledger import LedgerRows, record
from sqlanon.series.respondents import Respondents
from sqlanon.series.row_columns import require_same_rows
from sqlanon.series.together import require_together

__all__ = ["enter"]


def enter(respondents: Respondents, release: Release, rows: LedgerRows) -> None:
    """Appends a release to a series, in the caller's transaction.

    Raises as `record`, `require_same_rows` and `require_together` do.

    The releases before keep what the series requires, for they were published. So where the latest classes of
    respondents tell that this one does, the others are not looked at again.
    """
    series = respondents.series
    entrants = record(respondents, release, rows)
    of_row = require_same_rows(respondents.engine, series) if series.requirements else None
    satisfied = models_by_latest(respondents, entrants, of_row)
    remaining = [requirement.model for requirement in series.requirements if requirement.model not in satisfied]
    require_together(respondents.engine, series, respondents.scratch, str(release.name), remaining)
