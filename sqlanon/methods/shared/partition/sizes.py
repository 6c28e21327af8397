"""By which way a partition is cut."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable


@dataclass(frozen=True)
class Sizes:
    """All attributes are tried at once where at most `max_ranks_at_once` ranks, one a point and attribute, are open.

    Cells of at least `min_rows_per_cell` rows on average are cut as they are; of fewer, rows are cut one by one.
    From `sort_from` open regions on, and again each time that there are that many times more, points are sorted by
    their regions, so that what is grouped lies together.
    """

    max_ranks_at_once: int = 400_000
    min_rows_per_cell: int = 2
    sort_from: int = 1024


sizes = Adjustable(Sizes())
