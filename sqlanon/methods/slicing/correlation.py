"""Measures the correlation of attributes: the mean-square contingency coefficient (Slicing 2012, section 4.1).

phi2(A, B) = sum_ij (f_ij - f_i f_j)^2 / (f_i f_j) / (min(d_A, d_B) - 1), where f are shares of the rows, and d counts
the values that occur. Since the f_i f_j of all pairs add up to 1, and the f_ij do, too, the sum is sum_ij f_ij^2 / (f_i
f_j) - 1, over the pairs that occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, LongTable
from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    case,
    cast,
    digest,
    entry,
    huge,
    if_,
    is_not_null,
    is_null,
    paren,
    real,
    total,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, extend, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.cells.value_ranks import is_number

# The number of digits that the order of its parts, which threads decide, does not change in a sum of doubles.
_DIGITS = 12


@dataclass(frozen=True)
class Correlations:
    """The phi2 of each pair of attributes, from 0 (independent) to 1, in the policy's order.

    `pairs` maps the indexes of both attributes, the lower one first, to phi2. `values` has each attribute's number of
    distinct values, or of intervals with a value. `measure` names the measure if it is not phi2.
    """

    names: tuple[str, ...]
    values: tuple[int, ...]
    pairs: dict[tuple[int, int], float]
    measure: str = "phi2"

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    def between(self, first: str, second: str) -> float:
        """The measure of a pair of attributes."""
        low, high = sorted((self._index[first], self._index[second]))
        return self.pairs[low, high]

    def distances(self, names: Sequence[str]) -> list[list[float]]:
        """The matrix of 1 minus the measure of each pair of these attributes, in their order; it has 0 on the
        diagonal.
        """
        indexes = [self._index[name] for name in names]
        return [[0.0 if a == b else 1 - self.pairs[min(a, b), max(a, b)] for b in indexes] for a in indexes]


def mean_square_contingency(
    engine: Engine,
    temp: TempTables,
    source: exp.Table,
    bounds: Sequence[BoundAttribute],
    intervals: int,
    weight: str | None = None,
) -> Correlations:
    """Computes phi2 of each pair of attributes over the rows of the source; `weight` is its column of row counts.

    Numbers, dates and timestamps count as one of `intervals` intervals of equal width; NULL is a value. phi2 is 0 for
    an attribute with a single value, and if there are no rows. It is rounded to 12 digits.
    """
    names = tuple(bound.column for bound in bounds)
    if not names:
        return Correlations((), (), {})
    cells = temp.table("contingency", _cells(source, bounds, intervals, weight))
    figures = {(int(a), int(b)): total for a, b, total in engine.rows(_sums(cells, len(names)))}
    values = tuple(int(figures.get((index, index), 0)) for index in range(len(names)))
    pairs = {
        (a, b): _phi2(figures.get((a, b), 0), min(values[a], values[b])) for a, b in combinations(range(len(names)), 2)
    }
    return Correlations(names, values, pairs)


def _phi2(total: float, least_values: int) -> float:
    """The phi2 of a pair, from the sum of f_ij^2 / (f_i f_j) and the smaller number of values."""
    if least_values <= 1:
        return 0.0
    return min(1.0, max(0.0, round((total - 1) / (least_values - 1), _DIGITS)))


def _code_name(index: int) -> str:
    return f"code_{index}"


def _cells(
    source: exp.Table, bounds: Sequence[BoundAttribute], intervals: int, weight: str | None = None
) -> exp.Select:
    """SELECT of code_0, ..., n: the distinct combinations of the attributes' codes, with their numbers of rows."""
    codes = [code_of(bound, index, intervals) for index, bound in enumerate(bounds)]
    query = filled_select(
        """SELECT $codes AS "{names}", $rows AS n FROM source GROUP BY $positions""",
        tables={"source": source},
        names={"names": [*map(_code_name, range(len(codes)))]},
        codes=[code.code for code in codes],
        rows=f.count() if weight is None else total(column(weight, "source")),
        positions=[*range(1, len(codes) + 1)],
    )
    if ends := [end for code in codes for end in code.range_columns]:
        ranges = filled_query("SELECT $ends FROM source", tables={"source": source}, ends=ends)
        extend(query, joins=[cross_join(subquery(ranges, "range"))])
    return query


def _counted(cells: str, count: int, size: int) -> exp.Query:
    """SELECT of (first, second, first_code, second_code, n): if `size` is 2, n rows have this pair of codes of two
    attributes.

    If `size` is 1, n rows have the code of a single attribute, which is both first and second. One grouping counts all
    of them, because a query for each would take longer to plan than to run.
    """
    codes, indexes = [*map(_code_name, range(count))], [*range(count)]
    together = [exp.Tuple(expressions=[*map(column, each)]) for each in combinations(codes, size)]
    text = "SELECT {codes}, CAST(sum(n) AS DOUBLE) AS n FROM cells GROUP BY GROUPING SETS ($together)"
    grouped = filled_query(text, tables={"cells": cells}, names={"codes": codes}, together=together)
    tables, names = {"grouped": grouped}, {"codes": codes, "reversed": codes[::-1]}
    descending = indexes[::-1]
    return query_file("slicing", "codes_of_pairs", tables=tables, names=names, indexes=indexes, descending=descending)


def _sums(cells: str, count: int) -> exp.Query:
    """SELECT of first, second, total: the sum of f_ij^2 / (f_i f_j) of two attributes, or the number of values of
    one; see sql/slicing/phi2.sql.
    """
    if count == 1:
        text = "SELECT 0 AS first, 0 AS second, CAST(count(*) AS DOUBLE) AS total FROM marginals"
        return filled_query(text, tables={"marginals": _counted(cells, count, 1)})
    tables = {"marginals": _counted(cells, count, 1), "pairs": _counted(cells, count, 2)}
    return query_file("slicing", "phi2", tables=tables)


# Attributes as codes: numbers, dates and timestamps by intervals of equal width, other values by a hash.
#
# Differences of values are exact for all types; further arithmetic is in DOUBLE. So an interval is exact if the whole
# range, in units of the last decimal, times the number of intervals is below 2^53: for all integers of 32 bits, dates,
# and decimals of up to 12 digits cut into at most 9,000 intervals. Otherwise, a value next to the bound of an interval
# may fall on its other side.

# Codes have the type of hashes. The codes of intervals are numbered from _FIRST.
_TYPE = "UBIGINT"
_NULL, _INFINITE, _MINUS_INFINITE, _NAN, _FIRST = range(5)
# Above this size doubles are scaled down, so neither their difference nor its multiple is infinite.
_LARGE = 1e290
_SMALLER = 2.0**-64
_MOST_DIGITS = 38


@dataclass(frozen=True)
class Code:
    """The codes of an attribute's values: equal codes for equal values, or for values in one interval.

    `range_columns` are aggregates over all rows, which `code` reads from the single row of the relation `range`; `code`
    reads the attribute from the relation `source`, and is never NULL.
    """

    code: exp.Expr
    range_columns: tuple[exp.Alias, ...] = ()


@dataclass(frozen=True)
class _Number:
    """A value as a finite number, in a type with room for differences; NULL for other values.

    `scale` is the number of decimals. `wide` is true if even this type may be too small for a difference.
    """

    value: exp.Expr
    scale: int = 0
    floating: bool = False
    wide: bool = False
    unbounded: bool = False


def code_of(bound: BoundAttribute, index: int, intervals: int) -> Code:
    """The code of the attribute with this index: numbers and times are cut into intervals of [least, greatest].

    The last interval is closed. NULL, NaN and the infinite values have a code each. Values of other types have a 64-bit
    hash; two different values collide with probability 2^-64.
    """
    value = published_value(bound, "source")
    number = _number(bound, value)
    if number is None:
        return Code(digest([value]))
    low_name, high_name = f"low_{index}", f"high_{index}"
    low, high = column(low_name, "range"), column(high_name, "range")
    span = f.nullif(_difference(number, high, low, low, high), 0)
    share = _difference(number, number.value.copy(), low, low, high) * intervals / paren(span)
    interval = f.least(f.coalesce(f.floor(share), 0), intervals - 1, ignore_nulls=True) + _FIRST
    branches: list[tuple[exp.Expr, exp.Expr | int]] = [(is_null(value), _NULL)]
    if number.unbounded:
        branches = [
            (is_not_null(number.value), interval),
            *branches,
            (value.eq(_infinity(bound, "infinity")), _INFINITE),
            (value.eq(_infinity(bound, "-infinity")), _MINUS_INFINITE),
        ]
        code = case(*branches, otherwise=_NAN)
    else:
        code = case(*branches, otherwise=interval)
    ends = (alias(f.min(number.value), low_name), alias(f.max(number.value), high_name))
    return Code(cast(code, _TYPE), ends)


def _infinity(bound: BoundAttribute, name: str) -> exp.Expr:
    return cast(literal(name), bound.published_type)


def _number(bound: BoundAttribute, value: exp.Expr) -> _Number | None:
    """The value as a number; None for a type whose values are neither numbers nor times."""
    kind = bound.published_type.upper()
    if kind == "DATE":
        start = cast(literal("1970-01-01"), "DATE")
        return _Number(f.call("date_diff", literal("day"), start, value), unbounded=True)
    if kind.startswith("TIMESTAMP"):
        return _Number(huge(f.call("epoch_us", value)), unbounded=True)
    if not is_number(bound):
        return None
    if kind.startswith("DECIMAL"):
        precision, scale = (int(part) for part in kind.removeprefix("DECIMAL(").removesuffix(")").split(","))
        return _Number(cast(value, f"DECIMAL({_MOST_DIGITS},{scale})"), scale, wide=precision == _MOST_DIGITS)
    if kind in ("FLOAT", "REAL", "DOUBLE"):
        finite = if_(f.call("isfinite", value), cast(value, "DOUBLE"))
        return _Number(finite, floating=True, unbounded=True)
    if kind.endswith("HUGEINT"):
        return _Number(value, wide=True)
    return _Number(huge(value) if kind.endswith("BIGINT") else cast(value, "BIGINT"))


def _difference(number: _Number, upper: exp.Expr, lower: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """Returns the difference of two values as DOUBLE, in units of the last decimal.

    Doubles of a column with very large values, from `low` to `high`, are all scaled down by the same factor.
    """
    if number.floating:
        large = f.greatest(f.abs(low), f.abs(high)) > real(_LARGE)
        factor = if_(large, real(_SMALLER), real(1.0))
        return filled("(($upper * $factor) - ($lower * $factor))", upper=upper, lower=lower, factor=factor)
    text = "CAST(($upper - $lower) AS DOUBLE)"
    if number.wide:
        text = "coalesce(CAST(try(($upper - $lower)) AS DOUBLE), CAST($upper AS DOUBLE) - CAST($lower AS DOUBLE))"
    difference = filled(text, upper=upper, lower=lower)
    return f.round(difference * real(10.0**number.scale)) if number.scale else difference


# The similarity of ratings (Slicing 2012, section 7): the share of equal ratings among the respondents who rated either
# item.
#
# Sim(a, b) = respondents who rated both equally / respondents who rated at least one. It is computed by one join of the
# long table with itself, because the wide table has mostly NULLs.


def equal_ratings(
    engine: Engine, temp: TempTables, long_table: LongTable, bounds: Sequence[BoundAttribute]
) -> Correlations:
    """Computes Sim of each pair of attributes, which are items of the long table; it is 0 if nobody rated either.

    A NULL rating does not count as a rating. A long table has at most one rating of an item by a respondent.
    """
    coded = temp.table("coded_ratings", _coded(long_table))
    index = {fold(bound.column): number for number, bound in enumerate(bounds)}
    at: dict[int, int] = {}
    ratings: dict[int, int] = {}
    for code, name, rated in engine.rows(_items(coded)):
        if fold(str(name)) in index:
            at[int(code)] = index[fold(str(name))]
            ratings[int(code)] = int(rated)
    pairs = {(a, b): 0.0 for a in range(len(bounds)) for b in range(a + 1, len(bounds))}
    for first, second, equal, both in engine.rows(query_file("slicing", "rating_pairs", tables={"coded": coded})):
        if first in at and second in at:
            low, high = sorted((at[first], at[second]))
            pairs[low, high] = int(equal) / (ratings[first] + ratings[second] - int(both))
    names = tuple(bound.column for bound in bounds)
    return Correlations(names, tuple(len(names) * [0]), pairs, measure="the share of equal ratings")


def _coded(long_table: LongTable) -> exp.Query:
    """SELECT of respondent, item, name, rating: the ratings of a long table, with numbers in place of respondents and
    items.
    """
    who = [column(name) for name in long_table.respondents]
    parts = [entry(f"part_{number}", part) for number, part in enumerate(who)]
    person = exp.Struct(expressions=parts) if len(who) > 1 else who[0]
    tables, names = {"ratings": relation(long_table.relation)}, {"item": long_table.item, "rating": long_table.rating}
    return query_file("slicing", "coded_ratings", tables=tables, names=names, person=person)


def _items(coded: str) -> exp.Query:
    """SELECT of item, name, rated: the number of respondents who rated each item."""
    text = "SELECT item, name, count(*) AS rated FROM coded GROUP BY item, name"
    return filled_query(text, tables={"coded": coded})
