"""Attributes as codes: numbers, dates and timestamps by intervals of equal width, other values by a hash.

Differences of values are exact, whatever the type holds; from there on it is arithmetic of DOUBLE. So an interval
is exact where the whole range, in units of the last decimal, times the number of intervals is below 2^53: for all
integers of 32 bits, dates, and decimals of up to 12 digits cut into at most 9,000 intervals. Beyond, a value that lies
next to the bound of an interval may fall on its other side.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import case, cast, digest, huge, if_, is_not_null, is_null, paren, real
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.cells.value_ranks import is_number

# The type of codes is that of hashes. The intervals' are numbered from _FIRST.
_TYPE = "UBIGINT"
_NULL, _INFINITE, _MINUS_INFINITE, _NAN, _FIRST = range(5)
# From here on doubles are made smaller, so that neither their difference nor its multiple is infinite.
_LARGE = 1e290
_SMALLER = 2.0**-64
_MOST_DIGITS = 38


@dataclass(frozen=True)
class Code:
    """How the values of an attribute become codes: equal codes for equal values, or for values in one interval.

    `range_columns` are aggregates over all rows, to be read by `code` from the relation `range`, which has one row;
    `code` reads the attribute from the relation `source`. Neither is NULL for any value.
    """

    code: exp.Expr
    range_columns: tuple[exp.Alias, ...] = ()


@dataclass(frozen=True)
class _Number:
    """A value as a finite number in a type that has room for differences, NULL for other values.

    `scale` is the number of decimals, `wide` whether even this type may be too small for a difference.
    """

    value: exp.Expr
    scale: int = 0
    floating: bool = False
    wide: bool = False
    unbounded: bool = False


def code_of(bound: BoundAttribute, index: int, intervals: int) -> Code:
    """The code of the attribute with this index: numbers and times are cut into intervals of [least, greatest].

    The last interval is closed. NULL, NaN and the infinite values have a code each. Other types have a 64-bit hash of
    the value, so that two values are taken for the same with a chance of 1 in 2^64.
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
    branches: list[tuple[exp.Expr, exp.Expr | int]] = [(is_null(value.copy()), _NULL)]
    if number.unbounded:
        branches = [
            (is_not_null(number.value.copy()), interval),
            *branches,
            (value.copy().eq(_infinity(bound, "infinity")), _INFINITE),
            (value.copy().eq(_infinity(bound, "-infinity")), _MINUS_INFINITE),
        ]
        code = case(*branches, otherwise=_NAN)
    else:
        code = case(*branches, otherwise=interval)
    ends = (alias(f.min(number.value), low_name), alias(f.max(number.value.copy()), high_name))
    return Code(cast(code, _TYPE), ends)


def _infinity(bound: BoundAttribute, name: str) -> exp.Expr:
    return cast(literal(name), bound.published_type)


def _number(bound: BoundAttribute, value: exp.Expr) -> _Number | None:
    """The value as a number; None for what is neither a number nor a time."""
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
        finite = if_(f.call("isfinite", value), cast(value.copy(), "DOUBLE"))
        return _Number(finite, floating=True, unbounded=True)
    if kind.endswith("HUGEINT"):
        return _Number(value, wide=True)
    return _Number(huge(value) if kind.endswith("BIGINT") else cast(value, "BIGINT"))


def _difference(number: _Number, upper: exp.Expr, lower: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """How far one value lies above another, as DOUBLE, in units of the last decimal.

    Doubles of a column with very large ones, between `low` and `high`, are all made smaller by the same factor.
    """
    upper, lower = upper.copy(), lower.copy()
    if number.floating:
        large = f.greatest(f.abs(low.copy()), f.abs(high.copy())) > real(_LARGE)
        factor = if_(large, real(_SMALLER), real(1.0))
        return paren(upper * factor - lower * factor.copy())
    difference: exp.Expr = paren(upper - lower)
    if number.wide:
        rough = cast(upper.copy(), "DOUBLE") - cast(lower.copy(), "DOUBLE")
        difference = f.coalesce(cast(f.try_(difference), "DOUBLE"), rough)
    else:
        difference = cast(difference, "DOUBLE")
    if number.scale:
        difference = f.round(difference * real(10.0**number.scale))
    return difference
