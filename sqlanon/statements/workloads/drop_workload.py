"""The statement DROP WORKLOAD."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.statements.base import DONE, Catalog
from sqlanon.statements.named import DropNamed, KeptByName


@dataclass(frozen=True)
class DropWorkload(DropNamed):
    """Deletes a workload with its queries."""

    OPENINGS = ("DROP WORKLOAD",)
    EXAMPLES = ("DROP WORKLOAD IF EXISTS counts",)
    GRAMMAR = "drop_workload = DROP WORKLOAD [IF EXISTS] name ;"
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = DONE
    KIND = "workload"

    def objects(self) -> KeptByName:
        from sqlanon.catalog import workloads

        return workloads
