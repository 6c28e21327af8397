"""Answers under a budget: priced, paid for, and only then computed and given noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sqlanon.catalog import budgets, policies
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import Value, variable_of
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import EngineError, PolicyError, UserError, about
from sqlanon.estimates.noisy.bins import group_types, public_bins, shown_keys
from sqlanon.estimates.noisy.options import NoiseOptions, in_units, options_of
from sqlanon.estimates.noisy.query import NoisyQuery, parsed
from sqlanon.estimates.noisy.rows import (
    GROUP,
    Units,
    counting_rows,
    figures_of_bins,
    found_groups,
    units_of,
    values_of_bins,
)
from sqlanon.sources.noise import laplace, not_above, quantile, threshold, width_of
from sqlanon.sources.protected import ProtectedRows, protected_rows, require_same_rows
from sqlanon.sql.build.names import column, relation

_EPSILON: Column = ("epsilon", "DOUBLE")
_REMAINING: Column = ("remaining", "DOUBLE")


@dataclass(frozen=True)
class NoisyAnswer:
    """The columns and the rows of an answer, and sentences about it, none of which depends on anybody's rows."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Priced:
    """A query that can be answered, with everything that its price depends on; no row of the source was read."""

    query: NoisyQuery
    options: NoiseOptions
    types: Sequence[str]
    rows: exp.Select
    units: Units | None
    bins: str | None
    groups: int

    @property
    def sensitivity(self) -> int:
        """The number of groups, or of rows, that one respondent is in at most."""
        if self.query.figure.kind != "respondents":
            return self.options.rows
        return min(self.options.rows, self.groups) if self.query.groups else 1


# Reads the rows that count and gives them noise: the figures of each group, and the keys of groups that are told.
_Drawn = tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]
_Draw = Callable[[Engine, Scratch], _Drawn]


def noisy_answer(
    engine: Engine, budget_name: str, text: str, arguments: Sequence[tuple[str, Value]], statement: str
) -> NoisyAnswer:
    """Answers a query with noise. `statement` is what the ledger keeps of it.

    The query is parsed, its columns looked up and its noise chosen; then its cost is written down and committed; only
    then is a row read.

    Raises StatementError and PolicyError for a query or arguments that cannot be answered, PrivacyViolation where the
    budget has too little left. Nothing is spent then.
    """
    budget = budgets.load(engine, budget_name)
    with about("budget"):
        policy = policies.load(engine, budget.policy)
    protected = protected_rows(engine, policy)
    require_same_rows(budget, policy, protected)
    query = parsed(text, protected.columns, protected.entity)
    _require_source(query, policy, protected)
    options = options_of(arguments, query.figure, len(query.groups), protected.entity)
    with engine.transaction(), Scratch(engine) as scratch:
        priced = _priced(engine, query, options, policy, protected, budget.salt, scratch)
        columns, draw, remarks = (
            _FIGURES[query.figure.kind](priced) if not options.finds_keys else _found_groups(priced)
        )
        _require_bindable(engine, priced.rows)
        remaining = budgets.spend(engine, budget, statement, options.epsilon, options.delta)
        figures, keys = _drawn(engine, scratch, draw)
        key_rows = keys if options.finds_keys else shown_keys(engine, priced.bins or "", priced.types)
    named = [(name, kind) for (name, _), kind in zip(query.groups, priced.types, strict=True)]
    cost = (float(options.epsilon), float(remaining))
    rows = tuple((*key, *figure, *cost) for key, figure in zip(key_rows, figures, strict=True))
    return NoisyAnswer((*named, *columns, _EPSILON, _REMAINING), rows, remarks)


def _require_source(query: NoisyQuery, policy: Policy, protected: ProtectedRows) -> None:
    """Raises PolicyError for a query on another table than the budget's."""
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
    salt: str,
    scratch: Scratch,
) -> _Priced:
    try:
        types = group_types(engine, query, protected.table)
        argument = query.figure.argument
        is_valued = query.figure.kind in ("sum", "average", "quantile")
        units = units_of(engine, protected, argument, options) if is_valued and argument is not None else None
        bins = None
        if options.keys is not None and not options.finds_keys:
            bins = public_bins(engine, query, types, options.keys, policy, scratch)
    except EngineError as error:
        raise PolicyError(f"the query cannot be answered: {error.message}", part=("query",)) from None
    groups = len(shown_keys(engine, bins, types)) if bins else 1
    rows = counting_rows(query, protected, units, options, salt, bins)
    return _Priced(query, options, types, rows, units, bins, groups)


def _require_bindable(engine: Engine, rows: exp.Select) -> None:
    """Raises PolicyError for a query that DuckDB does not bind; its rows are not read."""
    try:
        engine.columns(rows)
    except EngineError as error:
        raise PolicyError(f"the query cannot be answered: {error.message}", part=("query",)) from None


def _drawn(engine: Engine, scratch: Scratch, draw: _Draw) -> _Drawn:
    try:
        return draw(engine, scratch)
    except EngineError:
        # Its message may depend on somebody's row.
        raise UserError(
            "DuckDB could not compute the answer, and what it says may tell of somebody's rows; the cost is spent",
            hint="simplify the query, or give DuckDB more memory: SET memory_limit",
        ) from None


def _figures(engine: Engine, priced: _Priced, *, centered: bool = False) -> tuple[list[int], list[int]]:
    """The number of rows of each bin, and the sum of their values."""
    of_bins = engine.rows(figures_of_bins(priced.rows, priced.units, priced.bins, centered=centered))
    return [int(n) for n, _ in of_bins], [int(s) for _, s in of_bins]


def _ends(name: str, kind: str) -> tuple[Column, ...]:
    return (name, kind), (f"{name}_low_95", kind), (f"{name}_high_95", kind)


def _counts(priced: _Priced) -> tuple[tuple[Column, ...], _Draw, tuple[str, ...]]:
    """Counts of rows, or of respondents."""
    noise = laplace(priced.sensitivity, not_above(priced.options.epsilon))
    width = noise.width

    def draw(engine: Engine, scratch: Scratch) -> _Drawn:
        counts, _ = _figures(engine, priced)
        return [(n, n - width, n + width) for n in noise.drawn(counts)], []

    return _ends(priced.query.figure.name, "HUGEINT"), draw, (_of_noise(width),)


def _of_noise(width: int) -> str:
    """Says how far the noise goes, and which counts are worth asking for: a fact of the statement alone."""
    return (
        f"the noise is within {width} in 95 of 100 answers: only a count above {10 * width} is within 10 % of the truth"
        if width
        else "the noise is 0 in 95 of 100 answers: epsilon is so great that little is protected"
    )


def _sums(priced: _Priced) -> tuple[tuple[Column, ...], _Draw, tuple[str, ...]]:
    """Sums of values within low and high."""
    units = priced.units
    assert units is not None
    most = max(abs(units.low), abs(units.high))
    noise = laplace(priced.sensitivity * most, not_above(priced.options.epsilon))
    width = noise.width

    def draw(engine: Engine, scratch: Scratch) -> _Drawn:
        _, sums = _figures(engine, priced)
        ends = [(s, s - width, s + width) for s in noise.drawn(sums)]
        return [tuple(_number(end, units.decimals) for end in row) for row in ends], []

    return _ends(priced.query.figure.name, _type(units.decimals)), draw, ()


def _type(decimals: int) -> str:
    return f"DECIMAL(38,{decimals})" if decimals else "HUGEINT"


def _number(units: int, decimals: int) -> Any:
    return f"{Decimal(units).scaleb(-decimals):f}" if decimals else units


def _averages(priced: _Priced) -> tuple[tuple[Column, ...], _Draw, tuple[str, ...]]:
    """Averages: the middle of low and high, and a sum around it by a count, each with half of epsilon."""
    units = priced.units
    assert units is not None
    half = not_above(priced.options.epsilon) / 2
    of_sum = laplace(priced.sensitivity * (units.high - units.low), half)
    of_count = laplace(priced.sensitivity, half)
    # Each is in its interval with 97.5 %, so that both are with 95 %.
    sum_width, count_width = (width_of(noise.scale, 0.975) for noise in (of_sum, of_count))

    def draw(engine: Engine, scratch: Scratch) -> _Drawn:
        counts, sums = _figures(engine, priced, centered=True)
        pairs = zip(of_count.drawn(counts), of_sum.drawn(sums), strict=True)
        return [_average(units, n, s, count_width, sum_width) for n, s in pairs], []

    about_small = (
        f"where the count with noise is {count_width} or less the average is NULL: a group of {2 * count_width} rows "
        "has one in 98 of 100 answers"
    )
    return _ends(priced.query.figure.name, "DOUBLE"), draw, (about_small,)


def _average(units: Units, count: int, total: int, count_width: int, total_width: int) -> tuple[float | None, ...]:
    """The average and its ends, from a count and a sum of doubled, centered values, both with noise."""
    if count <= count_width:
        return None, None, None
    ratios = [
        Fraction(t, n)
        for t in (total - total_width, total + total_width)
        for n in (count - count_width, count + count_width)
    ]
    parts = Fraction(total, count), min(ratios), max(ratios)
    middle = units.low + units.high
    least, most = Fraction(2 * units.low), Fraction(2 * units.high)
    return tuple(float(max(least, min(most, middle + part)) / (2 * 10**units.decimals)) for part in parts)


def _quantiles(priced: _Priced) -> tuple[tuple[Column, ...], _Draw, tuple[str, ...]]:
    """Quantiles: one of the candidates for each group."""
    units = priced.units
    assert units is not None
    candidates = [in_units(each, units.decimals, "candidates") for each in priced.options.candidates]
    share = float(priced.query.figure.share)
    noise = quantile(candidates, share, priced.sensitivity, not_above(priced.options.epsilon))

    def draw(engine: Engine, scratch: Scratch) -> _Drawn:
        values: dict[int, list[int]] = {}
        for group, value in engine.rows(values_of_bins(priced.rows)):
            values.setdefault(int(group), []).append(int(value))
        numbers = range(1, priced.groups + 1) if priced.bins else [0]
        return [(_number(noise.drawn(values.get(number, [])), units.decimals),) for number in numbers], []

    return ((priced.query.figure.name, _type(units.decimals)),), draw, ()


def _found_groups(priced: _Priced) -> tuple[tuple[Column, ...], _Draw, tuple[str, ...]]:
    """Counts of the groups that occur, of those whose count with noise is a threshold or more."""
    options = priced.options
    in_one_key = 1 if priced.query.figure.kind == "respondents" else options.rows
    noise = threshold(options.rows, in_one_key, not_above(options.epsilon), not_above(options.delta))
    width = noise.width

    def draw(engine: Engine, scratch: Scratch) -> _Drawn:
        groups = scratch.table("group", found_groups(priced.rows, len(priced.types)))
        counted = engine.rows(exp.select(column(GROUP), column("n")).from_(relation(groups)))
        counts = noise.drawn({str(number): int(n) for number, n in counted})
        keys = shown_keys(engine, groups, priced.types)
        figures = sorted((int(number), n) for number, n in counts.items())
        rows: list[tuple[Any, ...]] = [(n, n - width, n + width) for _, n in figures]
        return rows, [keys[number - 1] for number, _ in figures]

    about_small = (
        f"a group is told where its count with noise is {noise.threshold} or more: "
        f"a group of {noise.threshold + width} is told in 97 of 100 answers"
    )
    return _ends(priced.query.figure.name, "HUGEINT"), draw, (_of_noise(width), about_small)


_FIGURES: dict[str, Callable[[_Priced], tuple[tuple[Column, ...], _Draw, tuple[str, ...]]]] = {
    "rows": _counts,
    "respondents": _counts,
    "sum": _sums,
    "average": _averages,
    "quantile": _quantiles,
}
