"""How much a script may hold."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable


@dataclass(frozen=True)
class Sizes:
    """A script has at most `mapped_values` values of one hierarchy, and inserts `rows_together` of them at once.

    It tries `bucket_sizes` sizes of buckets before it makes one of all rows.
    """

    mapped_values: int = 50_000
    rows_together: int = 500
    bucket_sizes: int = 6


sizes = Adjustable(Sizes())
