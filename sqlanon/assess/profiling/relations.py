"""Finds columns that are functions of other columns: squares, logarithms, sums, products, bands, and repeated columns.

The candidates come from a sample. If the table is larger than the sample, all its rows are tested, so that each
relation holds in every row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.assess.profiling.sample import Sample, SampledColumn, is_number, sizes
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, if_, infix, paren, real
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import filled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Real = NDArray[np.float64]
    Whole = NDArray[np.int64]

# Two numbers are equal if they differ by less than this share of the number plus the spread of its column.
_CLOSE = 1e-5
# The rows in which a formula or a function is tested first: most fail there.
_TRIED, _TRIED_FUNCTION = 32, 256
# Pairs are formed from this many columns, triples from at most `sizes().columns`.
_MOST_PARTS = 64
_WORDS = {
    "square": "it is the square of {}",
    "logarithm": "it is the logarithm of {}",
    "sum": "it is the sum of {}",
    "product": "it is the product of {}",
    "difference": "it is the difference of {}",
    "quotient": "it is the quotient of {}",
    "repeats": "it says the same as {}",
    "bands": "it has bands of {}",
    "indicator": "it says whether {} has one certain value",
    "presence": "it says in which rows {} is missing",
    "function": "each value of {} has one value of it",
}


@dataclass(frozen=True)
class Relation:
    """A column `name` that is a function of `sources`, with the `kind` of function, which is one of `_WORDS`."""

    name: str
    sources: tuple[str, ...]
    kind: str

    @property
    def words(self) -> str:
        """Describes the function, such as "it is the square of age"."""
        *others, last = self.sources
        return _WORDS[self.kind].format(f"{', '.join(others)} and {last}" if others else last)

    @property
    def repeats(self) -> bool:
        """Whether the only source of the relation is also a function of the column, so that both have the same
        information.
        """
        return self.kind in ("square", "logarithm", "repeats")


def relations(engine: Engine, table: QualifiedName, sample: Sample) -> list[Relation]:
    """Finds the relations of columns, at most one for each column, in the order of the columns.

    A column is not explained by another column that it explains itself.
    """
    import numpy as np

    explained: dict[str, Relation] = {}
    with np.errstate(all="ignore"):
        formulas = _formulas(engine, table, sample)
    for candidate in (*formulas, *_functions(engine, table, sample)):
        explains_itself = any(_rests_on(explained, source, candidate.name) for source in candidate.sources)
        if candidate.name not in explained and not explains_itself:
            explained[candidate.name] = candidate
    return [explained[column.name] for column in sample.columns if column.name in explained]


def _rests_on(explained: dict[str, Relation], name: str, on: str) -> bool:
    """Whether a column is a function of another column, directly or through further columns."""
    if name == on:
        return True
    return name in explained and any(_rests_on(explained, source, on) for source in explained[name].sources)


def _numbers(sample: Sample) -> dict[str, Real]:
    """Returns the number columns with several values; NULL and infinite values are NaN."""
    import numpy as np

    columns = {}
    for each in sample.columns:
        if is_number(each.type):
            values = np.array([np.nan if value is None else value for value in each.values], dtype=np.float64)
            values[~np.isfinite(values)] = np.nan
            present = values[~np.isnan(values)]
            if len(present) and present.min() < present.max():
                columns[each.name] = values
    return columns


def _formulas(engine: Engine, table: QualifiedName, sample: Sample) -> list[Relation]:
    """Finds squares, logarithms, sums, products, differences and quotients, in this order, that hold in all rows of the
    table.
    """
    numbers = _numbers(sample)
    candidates = [*_of_one_column(numbers), *_of_several_columns(numbers)]
    if sample.whole or not candidates:
        return candidates
    refuted = [alias(f.bool_or(_differs(candidate, numbers)), f"refuted_{i}") for i, candidate in enumerate(candidates)]
    (refutations,) = engine.rows(select(*refuted, of=relation(table)))
    return [candidate for candidate, refuted in zip(candidates, refutations, strict=True) if not refuted]


def _differs(candidate: Relation, numbers: dict[str, Real]) -> exp.Expr:
    """Returns the SQL condition that a row's number in the column differs from the formula."""
    import numpy as np

    value, *parts = (cast(column(name), "DOUBLE") for name in (candidate.name, *candidate.sources))
    first = parts[0]
    if candidate.kind == "square":
        expected: exp.Expr = first * first
    elif candidate.kind == "logarithm":
        expected = f.call("ln", if_(first >= 1, first))
    elif candidate.kind in ("difference", "quotient"):
        second = parts[1] if candidate.kind == "difference" else f.call("nullif", parts[1], literal(0))
        expected = paren(infix(first, "-" if candidate.kind == "difference" else "/", second))
    else:
        operator = "+" if candidate.kind == "sum" else "*"
        expected = first
        for part in parts[1:]:
            expected = paren(infix(expected, operator, part))
    spread = real(float(np.ptp(numbers[candidate.name][~np.isnan(numbers[candidate.name])])))
    tolerance = infix(real(_CLOSE), "*", paren(infix(f.call("abs", value), "+", spread)))
    return f.call("abs", paren(infix(value, "-", expected))) > tolerance


def _of_one_column(numbers: dict[str, Real]) -> Iterator[Relation]:
    for name, values in numbers.items():
        for other, source in numbers.items():
            if name != other and (kind := _of_one(values, source)):
                yield Relation(name, (other,), kind)


def _of_several_columns(numbers: dict[str, Real]) -> Iterator[Relation]:
    import numpy as np

    names = list(numbers)[:_MOST_PARTS]
    if len(names) < 3:
        return
    stacked = np.array([numbers[name] for name in names])
    pairs = list(combinations(range(len(names)), 2))
    triples = list(combinations(range(len(names)), 3)) if len(names) <= sizes().columns else []
    for parts, kind in (
        (pairs, "sum"),
        (triples, "sum"),
        (pairs, "product"),
        (pairs, "difference"),
        (pairs, "quotient"),
    ):
        yield from _of_several(names, stacked, parts, kind)


def _of_one(values: Real, source: Real) -> str | None:
    """Recognizes a column of numbers as a function of another column; returns the kind of function, or None."""
    import numpy as np

    if _equal(values[:_TRIED], source[:_TRIED] ** 2) and _equal(values, source**2) and _is_no_copy(values, source):
        return "square"
    # The logarithm of a number below one is often written as zero.
    positive = np.where(source >= 1, source, np.nan)
    logarithms = np.log(positive)
    if np.nanmax(values) < np.nanmax(source) and _equal(np.where(np.isnan(positive), np.nan, values), logarithms):
        enough = np.count_nonzero(~np.isnan(logarithms)) * 2 >= np.count_nonzero(~np.isnan(source))
        return "logarithm" if enough and np.nanmin(logarithms) < np.nanmax(logarithms) else None
    return None


def _is_no_copy(values: Real, source: Real) -> bool:
    """Whether a column differs from its source column, as the square of a column of 0 and 1 does not."""
    return not _equal(values, source)


def _equal(values: Real, others: Real) -> bool:
    """Whether two columns are equal in all rows that have both numbers, and these are at least half of the rows with
    the first number.
    """
    import numpy as np

    both = ~(np.isnan(values) | np.isnan(others))
    if np.count_nonzero(both) * 2 < np.count_nonzero(~np.isnan(values)) or not both.any():
        return False
    values, others = values[both], others[both]
    return bool((np.abs(values - others) <= _CLOSE * (np.abs(values) + np.ptp(values))).all())


def _of_several(names: Sequence[str], numbers: Real, parts: Sequence[tuple[int, ...]], kind: str) -> Iterator[Relation]:
    """Finds the columns that are a sum, product, difference or quotient of other columns; they are tested first in a
    few rows and then in all.
    """
    import numpy as np

    index, few = np.array(parts), numbers[:, _most_telling(numbers)]
    if not parts:
        return
    for sign in (1, -1) if kind in ("difference", "quotient") else (1,):
        combined = _combined(few[index], kind, sign)
        for target, name in enumerate(names):
            values = few[target]
            tolerance = _CLOSE * (np.abs(values) + np.nanmax(np.abs(numbers[target])))
            differs = np.abs(combined - values) > tolerance
            for number in np.flatnonzero(~differs.any(axis=1)):
                part = parts[int(number)]
                if target in part or not _tells(numbers[target], numbers[list(part)], kind):
                    continue
                if _equal(numbers[target], _combined(numbers[index[number]][None], kind, sign)[0]):
                    sources = [names[i] for i in (part if sign > 0 else reversed(part))]
                    yield Relation(name, tuple(sources), kind)


def _most_telling(numbers: Real) -> Whole:
    """Returns the indexes of the rows with the most numbers other than zero, which refute a formula soonest."""
    import numpy as np

    telling = ((numbers != 0) & ~np.isnan(numbers)).sum(axis=0)
    return np.argsort(-telling, kind="stable")[:_TRIED]


def _combined(columns: Real, kind: str, sign: int) -> Real:
    """Returns the sum, the product, the difference or the quotient along the second axis."""
    import numpy as np

    if kind == "product":
        return np.asarray(columns.prod(axis=1))
    if kind == "difference":
        return np.asarray(sign * (columns[:, 0] - columns[:, 1]))
    if kind == "quotient":
        first, second = (columns[:, 0], columns[:, 1]) if sign > 0 else (columns[:, 1], columns[:, 0])
        return np.asarray(np.where(second == 0, np.nan, first / second))
    return np.asarray(columns.sum(axis=1))


def _tells(values: Real, parts: Real, kind: str) -> bool:
    """Whether the rows could have refuted a formula: enough rows have parts other than zero in which the column is not
    zero.
    """
    import numpy as np

    rows = (values != 0) & ~np.isnan(values) & ~np.isnan(parts).any(axis=0)
    if np.count_nonzero(rows) < sizes().evidence:
        return False
    if kind == "product":
        zeros = (values == 0) & ~np.isnan(parts).any(axis=0)
        return bool(np.count_nonzero(zeros & (parts != 0).any(axis=0)) >= sizes().evidence)
    nonzero = [np.count_nonzero(part[rows] != 0) for part in parts]
    return bool(min(nonzero) >= sizes().evidence)


def _functions(engine: Engine, table: QualifiedName, sample: Sample) -> list[Relation]:
    """Finds columns with one value for each value of another column, in all rows of the table."""
    columns = [column for column in sample.columns if len(set(column.values)) > 1]
    codes = {column.name: _codes(column) for column in columns}
    candidates: dict[str, list[str]] = {}
    for source, target in permutations(codes, 2):
        if _determines(codes[source], codes[target]):
            candidates.setdefault(source, []).append(target)
    if not sample.whole:
        candidates = _in_all_rows(engine, table, candidates)
    order = {column.name: i for i, column in enumerate(columns)}
    by_height = sorted(candidates, key=lambda name: (len(sample[name].distinct), order[name]))
    related = []
    for source in by_height:
        for target in candidates[source]:
            repeats = source in candidates.get(target, ())
            if not repeats or order[source] < order[target]:
                related.append(_related(sample[source], sample[target], repeats=repeats))
    # Amounts that repeat may determine a column by chance, and are not codes.
    amounts = {column.name for column in columns if any(isinstance(v, float) and v % 1 for v in column.distinct)}
    telling = [each for each in related if each.kind != "function" or each.sources[0] not in amounts]
    return sorted(telling, key=lambda each: not each.repeats)


def _related(source: SampledColumn, target: SampledColumn, *, repeats: bool) -> Relation:
    """Returns the relation of a column to a column that determines it."""
    if repeats:
        return Relation(target.name, (source.name,), "repeats")
    values = {v: of_target for v, of_target in zip(source.values, target.values, strict=True) if v is not None}
    if is_number(source.type) and len(target.distinct) < len(source.distinct):
        in_order = [values[value] for value in sorted(values, key=float)]
        if len(set(in_order)) == 1:
            return Relation(target.name, (source.name,), "presence")
        changes = sum(value != following for value, following in pairwise(in_order))
        if changes == len(set(in_order)) - 1:
            return Relation(target.name, (source.name,), "bands")
    is_indicator = len(values) > 2 and len(target.distinct) == 2 and 1 in Counter(values.values()).values()
    return Relation(target.name, (source.name,), "indicator" if is_indicator else "function")


def _codes(column: SampledColumn) -> Whole:
    """Returns an integer from 0 on for the value of each row; NULL is a value, and so is NaN."""
    import numpy as np

    numbers: dict[object, int] = {}
    values = ("nan" if value != value else value for value in column.values)
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _determines(source: Whole, target: Whole) -> bool:
    """Whether each value of the source occurs with only one value of the target, and this is improbable by chance.

    This chance is the probability that, in independent columns, the rows of each value of the source all have the same
    value of the target.
    """
    import numpy as np

    if not _has_one_each(source[:_TRIED_FUNCTION], target[:_TRIED_FUNCTION]):
        return False
    heights = np.bincount(source)
    if len(heights) * sizes().repeated > len(source) or len(heights) < 2 or not _has_one_each(source, target):
        return False
    shares = np.bincount(target) / len(target)
    rows, times = np.unique(heights, return_counts=True)
    alike = (shares[None, :] ** rows[:, None]).sum(axis=1)
    with np.errstate(divide="ignore"):
        return bool((times * np.log(np.minimum(alike, 1))).sum() <= np.log(sizes().chance))


def _has_one_each(source: Whole, target: Whole) -> bool:
    import numpy as np

    return len(np.unique(source * (int(target.max()) + 1) + target)) == len(np.unique(source))


def _in_all_rows(engine: Engine, table: QualifiedName, candidates: dict[str, list[str]]) -> dict[str, list[str]]:
    """Keeps the candidates in which no value of the source has two values of the target, with one query for each
    source.
    """
    confirmed = {}
    for source, targets in candidates.items():
        several = [alias(_has_several(target), f"several_{i}") for i, target in enumerate(targets)]
        groups = subquery(select(*several, of=relation(table), group_by=[column(source)]), "value")
        refuted = [f.bool_or(column(f"several_{i}")) for i in range(len(targets))]
        (refutations,) = engine.rows(select(*refuted, of=groups))
        if remaining := [target for target, refuted in zip(targets, refutations, strict=True) if not refuted]:
            confirmed[source] = remaining
    return confirmed


def _has_several(name: str) -> exp.Expr:
    """Returns the SQL condition that the rows of a group have several values of a column; NULL is a value."""
    text = "coalesce(min({name}) <> max({name}), FALSE) OR (count({name}) > 0 AND count({name}) < count(*))"
    return filled(text, names={"name": name})
