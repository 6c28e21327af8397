"""Answers queries under a budget. An answer is priced, then paid for, and only then computed with noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from sqlglot import exp

from sqlanon.catalog import budgets, policies
from sqlanon.catalog.accounting import BASIC, ZCDP, Left, rho_of
from sqlanon.catalog.budgets import Budget, number
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import Value, variable_of
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import EngineError, PolicyError, UserError, about
from sqlanon.estimates.noisy.bins import public_bins
from sqlanon.estimates.noisy.failures import require_times, times_of
from sqlanon.estimates.noisy.figures import Drawn, Planned, Priced, planned
from sqlanon.estimates.noisy.options import NoiseOptions, options_of
from sqlanon.estimates.noisy.query import NoisyQuery, parsed
from sqlanon.estimates.noisy.rows import counting_rows, types_of, units_of
from sqlanon.sources.column_types import without_enums
from sqlanon.sources.protected import ProtectedRows, protected_rows, require_same_rows

_EPSILON: Column = ("epsilon", "DOUBLE")
_REMAINING: Column = ("remaining", "DOUBLE")


@dataclass(frozen=True)
class NoisyAnswer:
    """Columns and rows of an answer, and remarks, none of which depends on a respondent's rows."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Question:
    """A query that a budget can answer, with its noise and its price, before it is paid for."""

    budget: Budget
    priced: Priced
    plan: Planned


def noisy_answer(
    engine: Engine,
    budget_name: str,
    text: str,
    arguments: Sequence[tuple[str, Value]],
    statement: str,
    reader_id: str | None = None,
) -> NoisyAnswer:
    """Answers a query with noise; the ledger stores `statement`, and the reader who asks through a door.

    The query is parsed, its columns are looked up and its noise is chosen. Then its cost is recorded and committed.
    Only then is a row read. Raises StatementError and PolicyError for a query or arguments that cannot be answered, and
    PrivacyViolation if the budget has too little left; nothing is spent then.
    """
    with engine.transaction(), TempTables(engine) as temp:
        question = _question_of(engine, budget_name, text, arguments, temp)
        priced, plan = question.priced, question.plan
        cost = priced.options.epsilon, priced.options.delta
        remaining = budgets.spend(engine, question.budget, statement, *cost, reader_id=reader_id)
        figures, keys = _drawn(engine, temp, plan)
    key_rows = keys if priced.options.finds_keys else priced.bins.keys if priced.bins else [()]
    paid = (float(priced.options.epsilon), float(remaining))
    rows = tuple((*key, *figure, *paid) for key, figure in zip(key_rows, figures, strict=True))
    remarks = plan.remarks
    if question.budget.accounting == ZCDP:
        remarks += (f"by accounting '{ZCDP}' the answer cost a rho of {rho_of(priced.options.epsilon):.3g}",)
    return NoisyAnswer(_columns(question), rows, remarks)


def planned_columns(
    engine: Engine, budget_name: str, text: str, arguments: Sequence[tuple[str, Value]]
) -> tuple[Column, ...]:
    """Returns the columns of an answer; spends nothing and reads no row. Raises the errors of `explained_answer`."""
    with engine.transaction(), TempTables(engine) as temp:
        return _columns(_question_of(engine, budget_name, text, arguments, temp))


def _columns(question: _Question) -> tuple[Column, ...]:
    priced = question.priced
    named = [(name, kind) for (name, _), kind in zip(priced.query.groups, priced.types, strict=True)]
    return (*named, *question.plan.columns, _EPSILON, _REMAINING)


def explained_answer(
    engine: Engine, budget_name: str, text: str, arguments: Sequence[tuple[str, Value]]
) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Computes the cost and the noise of an answer; spends nothing and reads no row.

    The row has the number of groups, the noise, its expected error, the error that 95 of 100 answers do not exceed, the
    sufficient number of rows, epsilon, delta, the remaining epsilon, and the number of such answers that the budget has
    left. Raises the errors of `noisy_answer`, except for a budget that has too little left.
    """
    with engine.transaction(), TempTables(engine) as temp:
        question = _question_of(engine, budget_name, text, arguments, temp)
    options, plan = question.priced.options, question.plan
    left = budgets.left(engine, question.budget)
    groups = None if options.finds_keys else question.priced.groups
    error = (plan.expected_error, plan.error_95, plan.enough)
    cost = (float(options.epsilon), float(options.delta), float(left.epsilon))
    row = groups, plan.mechanism, *error, *cost, left.answers(options.epsilon, options.delta)
    return row, (*plan.remarks, *_of_accounting(question.priced, left))


def _of_accounting(priced: Priced, left: Left) -> tuple[str, ...]:
    """Returns a remark: the number of answers with this noise that a new budget pays for, by each accounting."""
    epsilon, delta = priced.options.epsilon, priced.options.delta
    if left.delta <= delta:
        return ()
    # The epsilon of Laplace noise over that of normal noise with the same variance.
    greater = priced.greater_epsilon
    by_basic, by_zcdp = (epsilon, epsilon / greater) if left.accounting == BASIC else (epsilon * greater, epsilon)
    numbers = [
        Left(accounting, left.total, left.delta, Decimal(0), left.total).answers(price, delta)
        for accounting, price in ((BASIC, by_basic), (ZCDP, by_zcdp))
    ]
    return (
        f"a budget of epsilon {number(left.total)} pays for {numbers[0]} answers with as much noise by accounting "
        f"'{BASIC}', for {numbers[1]} by '{ZCDP}'",
    )


def _question_of(
    engine: Engine, budget_name: str, text: str, arguments: Sequence[tuple[str, Value]], temp: TempTables
) -> _Question:
    budget = budgets.load(engine, budget_name)
    with about("budget"):
        policy = policies.load(engine, budget.policy)
    protected = protected_rows(engine, policy)
    require_same_rows(budget, policy, protected)
    query = parsed(text, protected.columns, protected.entity)
    _require_source(query, policy, protected)
    options = options_of(arguments, query.figure, len(query.groups), protected.entity)
    priced = _priced(engine, query, options, policy, protected, budget, temp)
    plan = planned(priced)
    _require_enough(options, plan)
    if query.condition is not None or not all(isinstance(tree, exp.Column) for tree in query.parts):
        _require_bindable(engine, priced.rows.rows)
    return _Question(budget, priced, plan)


def _require_enough(options: NoiseOptions, plan: Planned) -> None:
    """Raises PolicyError if the noise is too large for the smallest group of interest."""
    smallest = options.smallest
    if smallest is None or plan.enough <= smallest:
        return
    price = (options.epsilon * plan.enough / smallest).quantize(Decimal("0.01"), ROUND_CEILING)
    raise PolicyError(
        f"the noise would be above 10 % in a group of {smallest}: groups of {plan.enough} or more would do; "
        "nothing was spent",
        hint=f"ask for larger groups, or pay about epsilon => {price}",
        part=("argument", "smallest"),
    )


def _require_source(query: NoisyQuery, policy: Policy, protected: ProtectedRows) -> None:
    """Raises PolicyError for a query on a table other than the budget's table."""
    name_parts = list(map(fold, query.source.parts))
    full = list(map(fold, protected.table.parts))
    called = [fold(policy.name), *map(fold, filter(None, [variable_of(protected.table.name)]))]
    if full[-len(name_parts) :] != name_parts and not (len(name_parts) == 1 and name_parts[0] in called):
        raise PolicyError(
            f"the query reads {query.source}, and the budget protects {policy.source}",
            hint=f"write FROM {policy.source}",
            part=("query",),
        )


def _priced(
    engine: Engine,
    query: NoisyQuery,
    options: NoiseOptions,
    policy: Policy,
    protected: ProtectedRows,
    budget: Budget,
    temp: TempTables,
) -> Priced:
    argument = query.figure.argument
    is_valued = query.figure.kind in ("sum", "average", "quantile")
    parts = query.parts if is_valued else query.parts[: len(query.groups)]
    try:
        kinds = types_of(engine, protected, parts)
        types = tuple(map(without_enums, kinds[: len(query.groups)]))
        require_times(types_of(engine, protected, times_of([*query.parts, *filter(None, [query.condition])])))
        units = units_of(kinds[-1], argument, options) if is_valued and argument is not None else None
        bins = None
        if options.keys is not None and not options.finds_keys:
            bins = public_bins(engine, query, types, options.keys, policy, temp)
    except EngineError as error:
        raise PolicyError(f"the query cannot be answered: {error.message}", part=("query",)) from None
    rows = counting_rows(query, protected, units, options, budget.salt, bins)
    return Priced(query, options, types, rows, units, bins, budget.accounting)


def _require_bindable(engine: Engine, rows: exp.Select) -> None:
    """Raises PolicyError for a query that DuckDB does not bind; its rows are not read."""
    try:
        engine.columns(rows)
    except EngineError as error:
        raise PolicyError(f"the query cannot be answered: {error.message}", part=("query",)) from None


def _drawn(engine: Engine, temp: TempTables, plan: Planned) -> Drawn:
    try:
        return plan.draw(engine, temp)
    except EngineError:
        # The error's message may depend on a respondent's row.
        raise UserError(
            "DuckDB could not compute the answer, and its message may reveal somebody's rows; the cost is spent",
            hint="simplify the query, or give DuckDB more memory: SET memory_limit",
        ) from None
