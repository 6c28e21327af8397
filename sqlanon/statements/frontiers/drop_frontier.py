"""The statement DROP FRONTIER."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.statements.base import DONE, Catalog
from sqlanon.statements.named import DropNamed, KeptByName


@dataclass(frozen=True)
class DropFrontier(DropNamed):
    """Deletes a frontier and the figures of its candidates."""

    OPENINGS = ("DROP FRONTIER",)
    EXAMPLES = ("DROP FRONTIER IF EXISTS choice",)
    GRAMMAR = "drop_frontier = DROP FRONTIER [IF EXISTS] name ;"
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = DONE
    KIND = "frontier"

    def objects(self) -> KeptByName:
        from sqlanon.catalog import frontiers

        return frontiers
