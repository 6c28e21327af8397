"""The statement DROP BUDGET."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.statements.base import DONE, Catalog
from sqlanon.statements.named import DropNamed, KeptByName


@dataclass(frozen=True)
class DropBudget(DropNamed):
    """Closes a budget, so that no more of it can be spent. Its entries stay, because spent privacy cannot be
    returned.
    """

    OPENINGS = ("DROP BUDGET",)
    EXAMPLES = ("DROP BUDGET IF EXISTS hospital_2026",)
    GRAMMAR = "drop_budget = DROP BUDGET [IF EXISTS] name ;"
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = DONE
    KIND = "budget"

    def objects(self) -> KeptByName:
        from sqlanon.catalog import budgets

        return budgets
