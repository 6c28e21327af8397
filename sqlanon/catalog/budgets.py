"""Budgets, rows of `anon.budget`, and the ledger of their expenses, `anon.budget_entry`."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import ROUND_FLOOR, Decimal
from time import sleep
from typing import Any

from sqlglot import exp

from sqlanon.catalog import _rows, migrations
from sqlanon.catalog._json import write_source
from sqlanon.catalog.accounting import BASIC, DIGITS, ZCDP, Left, amounts, epsilon_of, most_rho
from sqlanon.domain.identifiers import nearest
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CatalogError, EngineError, InternalError, InUseError, PrivacyViolation, UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.sql_files import sql_file

# Another session that spends from the same budget needs milliseconds. After this many attempts the cause is another.
_ATTEMPTS = 200
_LEAST_PAUSE, _MOST_PAUSE = 1, 20
# DuckDB's message if two transactions write one row.
_CONFLICT = "Conflict on"
_USED_UP = "the budget is used up: name another budget"


@dataclass(frozen=True)
class Budget:
    """A privacy budget: the limit of the total cost of all answers about one source.

    `source` and `entity` are those of the policy when the budget was made, and determine whose rows are protected. If
    there is no entity, each row is a respondent. `salt` determines which rows count if a respondent has too many.
    `accounting` is BASIC or ZCDP, the way in which costs are added up.
    """

    budget_id: str
    budget: str
    policy: str
    source: str
    entity: str | None
    salt: str
    accounting: str


def create(
    engine: Engine,
    name: str,
    policy: str,
    source: QualifiedName,
    entity: str | None,
    epsilon: Decimal,
    delta: Decimal,
    accounting: str = BASIC,
) -> None:
    """Writes a new budget, from which nothing has been spent."""
    ids = [secrets.token_hex(16) for _ in range(2)]
    budget = Budget(ids[0], name, policy, write_source(source), entity, ids[1], accounting)
    _rows.insert(engine, "budget", [{**asdict(budget), "epsilon": epsilon, "delta": delta}])


def listing(engine: Engine) -> list[str]:
    """Returns the names of all budgets, including dropped ones."""
    return _rows.read_names(engine, "budget", "budget") if migrations.ready(engine) else []


def find(engine: Engine, name: str) -> Budget | None:
    """Returns the budget of this name, even if it was dropped; None if there is no such budget.

    Raises CatalogError if several budgets have the name.
    """
    of_name = _rows.read(engine, "budget", Budget, {"budget": name}) if migrations.ready(engine) else []
    if len(of_name) > 1:
        raise CatalogError(
            f"budget {name} has {len(of_name)} rows in anon.budget", hint="delete all of these rows but one"
        )
    return of_name[0] if of_name else None


def load(engine: Engine, name: str) -> Budget:
    """Returns the budget of this name, which may have been dropped.

    Raises UserError, with a similar name, if there is no such budget.
    """
    budget = find(engine, name)
    if budget is None:
        hint = nearest(name, listing(engine)) or "make one with CREATE BUDGET name ON POLICY policy (epsilon => 1)"
        raise UserError(f"there is no budget {name}", hint=hint, part=("budget",))
    return budget


def exists(engine: Engine, name: str) -> bool:
    """Whether a budget of this name exists that was not dropped."""
    budget = find(engine, name)
    return budget is not None and not _state(engine, budget).is_dropped


def delete(engine: Engine, name: str) -> None:
    """Closes a budget, from which nothing can be spent any more. Its entries and its name stay."""
    dropped: dict[str, object] = {"dropped_at": f.call("make_timestamp", f.call("epoch_us", exp.CurrentTimestamp()))}
    query = exp.update(relation(("anon", "budget")), dropped, where=column("budget_id").eq(exp.Placeholder()))
    engine.run(query, [load(engine, name).budget_id])


def counts(engine: Engine) -> Iterator[tuple[Any, ...]]:
    """Yields a row for each budget: its policy, the total, spent and remaining epsilon, the total and spent delta, the
    number of entries, the state and the accounting.
    """
    for name, policy, epsilon, spent, delta, spent_delta, entries, is_dropped, accounting, rho in engine.rows(
        sql_file("catalog", "queries", "budgets")
    ):
        spent_epsilon = epsilon_of(rho, delta - spent_delta) if accounting == ZCDP else spent
        numbers = map(float, (epsilon, spent_epsilon, epsilon - spent_epsilon, delta, spent_delta))
        yield name, policy, *numbers, entries, "dropped" if is_dropped else "open", accounting


def entries(engine: Engine, budget: Budget) -> list[tuple[datetime, Decimal, Decimal, Decimal, str, str | None]]:
    """Returns the timestamp, the epsilon, the delta, the rho, the query and the reader of each entry of a budget.

    The reader is None if the entry was not spent through a door.
    """
    return [
        (asked_at, epsilon, delta, rho, str(query), reader)
        for asked_at, epsilon, delta, rho, query, reader in engine.rows(
            sql_file("catalog", "queries", "budget_entries"), [budget.budget_id]
        )
    ]


def rename_policy(engine: Engine, name: str, new_name: str) -> None:
    """Replaces the name of a policy that was renamed."""
    where = column("policy").eq(exp.Placeholder())
    engine.run(exp.update(relation(("anon", "budget")), {"policy": exp.Placeholder()}, where=where), [new_name, name])


# Spending from a budget.


@dataclass(frozen=True)
class _State:
    """The amounts of a budget: its size, the amount spent according to its row in the catalog, and the sum of its
    entries.
    """

    epsilon: Decimal
    delta: Decimal
    spent_epsilon: Decimal
    spent_delta: Decimal
    spent_rho: Decimal
    is_dropped: bool
    entries_epsilon: Decimal
    entries_delta: Decimal
    entries_rho: Decimal


def _state(engine: Engine, budget: Budget) -> _State:
    rows = engine.rows(sql_file("catalog", "queries", "budget_state"), [budget.budget_id])
    if len(rows) != 1:
        raise UserError(
            f"budget {budget.budget} is not visible to other connections",
            hint="COMMIT the transaction that creates the budget first: costs are recorded in a separate transaction",
        )
    return _State(*rows[0])


def left(engine: Engine, budget: Budget) -> Left:
    """Returns the rest of a budget; nothing is left of a dropped budget."""
    state = _state(engine, budget)
    _require_consistent(budget, state)
    if state.is_dropped:
        return Left(budget.accounting, Decimal(0), Decimal(0), Decimal(0), Decimal(0))
    delta = state.delta - state.spent_delta
    return Left(budget.accounting, _remaining(budget, state), delta, state.spent_rho, state.epsilon)


def _remaining(budget: Budget, state: _State) -> Decimal:
    """Returns the remaining epsilon; with ZCDP, this is the size minus the epsilon that the sum of rho guarantees."""
    if budget.accounting == BASIC:
        return state.epsilon - state.spent_epsilon
    return state.epsilon - epsilon_of(state.spent_rho, state.delta - state.spent_delta)


def spend(
    engine: Engine,
    budget: Budget,
    query: str,
    epsilon: Decimal,
    delta: Decimal,
    own_rho: Decimal | None = None,
    *,
    reader_id: str | None = None,
) -> Decimal:
    """Records the cost of an answer before the answer is computed; returns the remaining epsilon.

    `reader_id` is the reader who spends it through a door; None means the owner of the database. If the budget is
    accounted by ZCDP, the cost is a rho: `own_rho` (which needs no delta) if it is given, and the largest rho of the
    epsilon otherwise. The entry is committed on a separate connection, so that neither the user's ROLLBACK nor the end
    of the process undoes it. Raises PrivacyViolation if the rest of the budget is too small, UserError if the budget
    was dropped or other connections do not see it, and CatalogError if its row and its entries disagree.
    """
    if not isinstance(engine, DuckDBEngine):
        raise InternalError("a budget is a row in DuckDB and can only be spent there")
    with engine.beside() as apart:
        for attempt in range(_ATTEMPTS):
            if attempt:
                sleep((_LEAST_PAUSE + secrets.randbelow(_MOST_PAUSE)) / 1000)
            try:
                with apart.transaction():
                    return _spent(apart, budget, query, epsilon, delta, own_rho, reader_id)
            except EngineError as error:
                if _CONFLICT not in error.message:
                    raise
    raise InUseError(
        f"budget {budget.budget} is being changed by another transaction; nothing was spent",
        hint="COMMIT or ROLLBACK that transaction, then run the statement again",
    )


def _spent(
    apart: Engine,
    budget: Budget,
    query: str,
    epsilon: Decimal,
    delta: Decimal,
    own_rho: Decimal | None,
    reader_id: str | None,
) -> Decimal:
    state = _state(apart, budget)
    _require_consistent(budget, state)
    if state.is_dropped:
        raise UserError(f"budget {budget.budget} was dropped; nothing was spent", hint="name another budget")
    epsilon, delta, rho = amounts(budget.accounting, epsilon, delta, own_rho)
    # The updated row is the one that was read, or the transactions conflict.
    most = most_rho(state.epsilon, state.delta - state.spent_delta - delta)
    parameters = [budget.budget_id, epsilon, delta, rho, most]
    spent = apart.rows(sql_file("catalog", "queries", "spend_budget"), parameters)
    if not spent:
        raise _lacking_rho(budget, state, delta, rho, own_rho) if rho else _lacking(budget, state, epsilon, delta)
    entry = {"budget_id": budget.budget_id, "query": query, "epsilon": epsilon, "delta": delta, "rho": rho}
    _rows.insert(apart, "budget_entry", [{**entry, "reader_id": reader_id}])
    spent_epsilon, spent_rho = map(Decimal, spent[0])
    spent_delta = state.spent_delta + delta
    return _remaining(budget, replace(state, spent_epsilon=spent_epsilon, spent_rho=spent_rho, spent_delta=spent_delta))


def _require_consistent(budget: Budget, state: _State) -> None:
    """Raises CatalogError unless the entries of a budget add up to the amount spent by its row."""
    spent = (state.spent_epsilon, state.spent_delta, state.spent_rho)
    if spent != (state.entries_epsilon, state.entries_delta, state.entries_rho):
        raise CatalogError(
            f"budget {budget.budget}: the costs in anon.budget_entry do not add up to the spent amounts in "
            "anon.budget; nothing was done",
            hint="undo the change, or restore the rows from a backup",
        )


def _lacking(budget: Budget, state: _State, epsilon: Decimal, delta: Decimal) -> PrivacyViolation:
    """Returns the error for an answer that costs more than the rest of a budget."""
    left = state.epsilon - state.spent_epsilon
    if epsilon > left:
        hint = f"write epsilon => {number(left)} or less" if left > 0 else _USED_UP
        return PrivacyViolation(
            f"budget {budget.budget} has an epsilon of {number(left)} left, and the answer would cost "
            f"{number(epsilon)}; nothing was spent",
            hint=hint,
        )
    left = state.delta - state.spent_delta
    return PrivacyViolation(
        f"budget {budget.budget} has a delta of {number(left)} left, and the answer would cost {number(delta)}; "
        "nothing was spent",
        hint="list the keys, keys => (...), which costs no delta, or write a smaller delta",
    )


def _lacking_rho(
    budget: Budget, state: _State, delta: Decimal, rho: Decimal, own_rho: Decimal | None
) -> PrivacyViolation:
    left = max(Decimal(0), most_rho(state.epsilon, state.delta - state.spent_delta - delta) - state.spent_rho)
    # Rounded down, so that the suggested cost is not refused again.
    price = (2 * left).sqrt().quantize(Decimal("0.000001"), ROUND_FLOOR)
    less = "a smaller epsilon: EXPLAIN shows the rho" if own_rho is not None else f"epsilon => {number(price)} or less"
    return PrivacyViolation(
        f"budget {budget.budget} has a rho of {left:.3g} left, and the answer would cost {rho:.3g}"
        + (f" with its delta of {number(delta)}" if delta else "")
        + "; nothing was spent",
        hint=f"write {less}" if price else _USED_UP,
    )


def number(value: Decimal) -> str:
    """Writes a number without trailing zeros: 0.5, 1e-9."""
    is_plain = not value or Decimal("0.0001") <= abs(value) < 10**DIGITS
    return f"{value.normalize():f}" if is_plain else f"{value.normalize():e}"
