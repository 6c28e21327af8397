"""The statement DROP READER."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.statements.base import DONE, Catalog
from sqlanon.statements.named import DropNamed, KeptByName


@dataclass(frozen=True)
class DropReader(DropNamed):
    """Drops a reader: the token is no longer valid, and all grants are revoked. The grants stay in the catalog."""

    OPENINGS = ("DROP READER",)
    EXAMPLES = ("DROP READER IF EXISTS ana",)
    GRAMMAR = "drop_reader = DROP READER [IF EXISTS] name ;"
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = DONE
    KIND = "reader"

    def objects(self) -> KeptByName:
        from sqlanon.catalog import readers

        return readers
