"""The statement DROP SERIES."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.statements.base import DONE, Catalog
from sqlanon.statements.named import DropNamed, KeptByName


@dataclass(frozen=True)
class DropSeries(DropNamed):
    """Deletes a series and its ledger; its releases stay."""

    OPENINGS = ("DROP SERIES",)
    EXAMPLES = ("DROP SERIES IF EXISTS monthly",)
    GRAMMAR = "drop_series = DROP SERIES [IF EXISTS] name ;"
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = DONE
    KIND = "series"

    def objects(self) -> KeptByName:
        from sqlanon.catalog import series

        return series
