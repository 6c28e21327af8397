"""Grants of budgets, rows of `anon.budget_grant`: which readers may spend from which budgets through a door.

Rows of revoked grants stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from sqlanon.catalog import _rows, migrations
from sqlanon.catalog.budgets import Budget
from sqlanon.catalog.readers import Reader
from sqlanon.engines.base import Engine
from sqlanon.sql.build.sql_files import sql_file

_GRANTED = "granted"


@dataclass(frozen=True)
class BudgetGrant:
    """A grant that was not revoked. `state` is 'granted', or the reason why the grant is void."""

    reader_id: str
    reader: str
    budget_id: str
    budget: str
    state: str
    granted_at: datetime
    expires_on: date | None

    @property
    def holds(self) -> bool:
        """Whether the budget is open."""
        return self.state == _GRANTED


def grant(engine: Engine, reader: Reader, budget: Budget) -> bool:
    """Lets a reader spend from a budget; returns False if the reader may already."""
    if any(each.budget_id == budget.budget_id for each in grants(engine, reader)):
        return False
    row: dict[str, object] = {"reader_id": reader.reader_id, "budget_id": budget.budget_id}
    _rows.insert(engine, "budget_grant", [{**row, "granted_at": datetime.now(UTC).replace(tzinfo=None)}])
    return True


def revoke(engine: Engine, reader: Reader, budget: Budget) -> bool:
    """Revokes the grant of a reader on a budget, which may have been dropped; returns whether there was a grant."""
    parameters = [reader.reader_id, budget.budget_id]
    return bool(engine.rows(sql_file("catalog", "queries", "revoke_budget_grants"), parameters))


def grants(engine: Engine, reader: Reader | None = None) -> list[BudgetGrant]:
    """Returns the grants of all readers, or of one reader, that were not revoked; from the oldest on."""
    if not migrations.ready(engine):
        return []
    unrevoked = [BudgetGrant(*row) for row in engine.rows(sql_file("catalog", "queries", "budget_grants"))]
    return [each for each in unrevoked if reader is None or each.reader_id == reader.reader_id]
