"""Grants budgets to readers, and revokes the grants."""

from __future__ import annotations

from sqlanon.catalog import budget_grants, budgets, readers
from sqlanon.domain.identifiers import nearest
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError
from sqlanon.syntax.texts import typed_name


def grant_budget(engine: Engine, budget_name: str, reader_name: str) -> tuple[str, str, str]:
    """Lets a reader spend from a budget; returns the reader, the budget and the outcome.

    Raises UserError for a missing reader, and for a budget that is missing or was dropped.
    """
    with engine.transaction():
        reader = readers.load(engine, reader_name)
        budget = budgets.load(engine, budget_name)
        if not budgets.exists(engine, budget_name):
            raise UserError(
                f"budget {budget.budget} was dropped, and nothing can be spent from it",
                hint="grant another budget: SHOW BUDGETS lists the open budgets",
                part=("budget",),
            )
        outcome = "granted" if budget_grants.grant(engine, reader, budget) else "was granted already"
    return reader.reader, budget.budget, outcome


def revoke_budget(engine: Engine, budget_name: str, reader_name: str) -> tuple[str, str, str]:
    """Revokes the grant of a reader on a budget; returns the reader, the budget and the outcome.

    Raises UserError for a missing reader or budget, and for a budget that was not granted.
    """
    with engine.transaction():
        reader = readers.load(engine, reader_name)
        budget = budgets.load(engine, budget_name)
        granted = [each.budget for each in budget_grants.grants(engine, reader)]
        if not budget_grants.revoke(engine, reader, budget):
            raise UserError(
                f"{reader.reader} has no grant on budget {budget.budget}; nothing was revoked",
                hint=nearest(budget.budget, granted) or f"SHOW GRANTS FOR {typed_name(reader.reader)} lists them",
                part=("budget",),
            )
    return reader.reader, budget.budget, "revoked"
