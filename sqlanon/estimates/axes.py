"""Axes: the values of a type as points in an order, in which the values between two points can be counted."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, huge, paren, try_cast
from sqlanon.sql.build.names import literal
from sqlanon.sql.build.sql_files import filled, parsed

_BITS = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63, "HUGEINT": 127}
# The point of infinity on the axes of days and of timestamps, behind the last; -infinity is its negative.
_DAYS = 2**31 - 1
_MICROSECONDS = 2**63 - 1
# The first timestamp that DuckDB shows.
_FIRST_TIMESTAMP = -9223372022400000000
_MOST = sys.float_info.max
_MOST_FLOAT = 2.0**128 - 2.0**104
_LAST = "\U0010ffff" * 100
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")

_OF_TIME = ("day", "microsecond", "instant")

# In these expressions `value` is the value that is moved to the axis, or back from it.
_OF = {
    "number": "CAST(value AS HUGEINT)",
    "decimal": "CAST(replace(CAST(value AS VARCHAR), '.', '') AS HUGEINT)",
    "truth": "CAST(value AS HUGEINT)",
    "day": f"CASE WHEN NOT isinf(value) THEN CAST(date_diff('day', CAST('1970-01-01' AS DATE), value) AS HUGEINT) "
    f"WHEN value > CAST('1970-01-01' AS DATE) THEN CAST({_DAYS} AS HUGEINT) "
    f"WHEN value IS NOT NULL THEN CAST(-{_DAYS} AS HUGEINT) END",
    "microsecond": f"CASE WHEN NOT isinf(value) THEN CAST(epoch_us(value) AS HUGEINT) "
    f"WHEN value > CAST('1970-01-01' AS TIMESTAMP) THEN CAST({_MICROSECONDS} AS HUGEINT) "
    f"WHEN value IS NOT NULL THEN CAST(-{_MICROSECONDS} AS HUGEINT) END",
    # The microseconds of a timestamp with time zone are in UTC, whatever the session's time zone.
    "instant": f"CASE WHEN NOT isinf(value) THEN CAST(epoch_us(value) AS HUGEINT) "
    f"WHEN value > CAST('1970-01-01 00:00:00+00' AS TIMESTAMPTZ) THEN CAST({_MICROSECONDS} AS HUGEINT) "
    f"WHEN value IS NOT NULL THEN CAST(-{_MICROSECONDS} AS HUGEINT) END",
    "real": "CAST(value AS DOUBLE)",
    "float": "CAST(value AS DOUBLE)",
    "text": "CAST(value AS VARCHAR)",
}
_BACK = {
    "day": f"CASE WHEN value >= {_DAYS} THEN CAST('infinity' AS DATE) "
    f"WHEN value <= -{_DAYS} THEN CAST('-infinity' AS DATE) "
    "ELSE CAST('1970-01-01' AS DATE) + CAST(value AS INTEGER) END",
    "microsecond": f"CASE WHEN value >= {_MICROSECONDS} THEN CAST('infinity' AS TIMESTAMP) "
    f"WHEN value <= -{_MICROSECONDS} THEN CAST('-infinity' AS TIMESTAMP) "
    f"ELSE make_timestamp(CAST(greatest(value, {_FIRST_TIMESTAMP}) AS BIGINT)) END",
    "instant": f"CASE WHEN value >= {_MICROSECONDS} THEN CAST('infinity' AS TIMESTAMPTZ) "
    f"WHEN value <= -{_MICROSECONDS} THEN CAST('-infinity' AS TIMESTAMPTZ) "
    f"ELSE make_timestamptz(CAST(greatest(value, {_FIRST_TIMESTAMP}) AS BIGINT)) END",
}
# From the text of a constant or a label down to the axis: a number times `unit`, a day or a timestamp.
_FLOOR = {
    "number": "coalesce(TRY_CAST(nullif(regexp_extract(value, '^-?[0-9]+$'), '') AS HUGEINT) * unit, "
    "CAST(floor(TRY_CAST(value AS DECIMAL(38, 12)) * CAST(unit AS DECIMAL(18, 0))) AS HUGEINT))",
    "truth": "CAST(TRY_CAST(value AS BOOLEAN) AS HUGEINT)",
    "day": _OF["day"].replace("value", "TRY_CAST(value AS DATE)"),
    "microsecond": _OF["microsecond"].replace("value", "TRY_CAST(value AS TIMESTAMP)"),
    # Labels have the offset of their zone; a constant without one is in the session's zone, as in a comparison.
    "instant": _OF["instant"].replace("value", "TRY_CAST(value AS TIMESTAMPTZ)"),
    "real": "TRY_CAST(value AS DOUBLE)",
    # No other FLOAT lies between the text's number and the nearest FLOAT, so comparisons change only there.
    "float": "CAST(TRY_CAST(value AS FLOAT) AS DOUBLE)",
    "text": "value",
}

# Whether the point of a text is exactly its value; a number that is too long for a DECIMAL has no decimals.
_EXACT = {
    "day": "coalesce(TRY(TRY_CAST(value AS TIMESTAMP) = CAST(TRY_CAST(value AS TIMESTAMP) AS DATE)), true)",
    "number": "coalesce(TRY(TRY_CAST(value AS DECIMAL(38, 12)) * CAST(unit AS DECIMAL(18, 0)) "
    "= floor(TRY_CAST(value AS DECIMAL(38, 12)) * CAST(unit AS DECIMAL(18, 0)))), true)",
}
# The digits of a whole number, at least `unit` of them.
_DIGITS = "lpad(CAST(abs(value) AS VARCHAR), CAST(greatest(unit, length(CAST(abs(value) AS VARCHAR))) AS INTEGER), '0')"
_DECIMAL_TEXT = (
    "CASE WHEN $point < 0 THEN '-' ELSE '' END || left($digits, CAST(length($digits) - $scale AS INTEGER)) || '.' "
    "|| right($digits, $scale)"
)


@dataclass(frozen=True)
class Axis:
    """An ordered axis on which each value of a type is a point.

    `kind` is the type of the points: 'integer', 'real' or 'text'. A value of a DECIMAL is counted in units of its
    last digit; `scale` is its number of decimals. `low` and `high` are the first and the last point, where an open
    range begins and ends. `numeric` is true for types whose values can be added up.
    """

    kind: str
    unit_of: str
    type: str
    low: int | float | str
    high: int | float | str
    scale: int = 0
    numeric: bool = False

    @property
    def listed(self) -> bool:
        """Whether the type itself lists its values: true and false."""
        return self.unit_of == "truth"

    @property
    def zoned(self) -> bool:
        """Whether the values are timestamps with time zone; a text without a zone then depends on the session."""
        return self.unit_of == "instant"

    @property
    def beyond(self) -> tuple[float | int | str, ...]:
        """The points whose distance from others is not finite: both infinities, and NaN."""
        if self.kind == "real":
            return ("-inf", "inf", "nan")
        return (self.low, self.high) if self.unit_of in _OF_TIME else ()

    def of(self, value: exp.Expr) -> exp.Expr:
        """Returns the SQL of the point of a value on the axis."""
        return _with(_OF["decimal" if self.scale else self.unit_of], value)

    def back(self, position: exp.Expr) -> exp.Expr:
        """Returns the value at a point, in the type of the column."""
        if self.scale:
            return self._cast(self._decimal_text(position))
        if self.unit_of in _BACK:
            return self._cast(_with(_BACK[self.unit_of], position))
        return self._cast(position)

    def down(self, text: exp.Expr) -> exp.Expr:
        """Returns the last point at or before the value that a text represents; NULL for another text."""
        # A number with too many digits is NULL.
        return f.try_(_with(_FLOOR[self.unit_of], text, 10**self.scale))

    def up(self, text: exp.Expr) -> exp.Expr:
        """Returns the first point at or after the value that a text represents."""
        if self.unit_of not in _EXACT:
            return self.down(text)
        exact = _with(_EXACT[self.unit_of], text, 10**self.scale)
        return filled("$point + CASE WHEN $exact THEN 0 ELSE 1 END", point=paren(self.down(text)), exact=exact)

    def end(self, number: int | float | str) -> exp.Expr:
        """Returns `low` or `high` as a literal in the type of the points."""
        kind = {"integer": "HUGEINT", "real": "DOUBLE", "text": "VARCHAR"}[self.kind]
        value = exp.Literal.string(str(number)) if isinstance(number, int | float) else literal(number)
        return cast(value, kind)

    def _cast(self, tree: exp.Expr) -> exp.Expr:
        return cast(paren(tree), self.type)

    def _decimal_text(self, position: exp.Expr) -> exp.Expr:
        digits = _with(_DIGITS, position, self.scale + 1)
        return filled(_DECIMAL_TEXT, point=position, digits=digits, scale=self.scale)

    @property
    def calls(self) -> dict[str, Callable[..., exp.Expr]]:
        """The functions that files under sql/estimates call, each of which makes the expression of this axis."""
        return {
            "first_point": lambda: self.end(self.low),
            "last_point": lambda: self.end(self.high),
            "point_of": self.of,
            "point_down": self.down,
            "point_up": self.up,
            "value_at": self.back,
            "typed": lambda text: try_cast(text, self.type),
        }


def axis_of(column_type: str) -> Axis | None:
    """Returns the axis of a column type; None for a type without an axis, such as a list."""
    kind = column_type.upper().replace(" ", "")
    signed = kind.removeprefix("U")
    if signed in _BITS and kind != "UHUGEINT":
        bits = _BITS[signed]
        low, high = (0, 2 ** (bits + 1) - 1) if kind != signed else (-(2**bits), 2**bits - 1)
        return Axis("integer", "number", column_type, low, high, numeric=True)
    if kind == "BOOLEAN":
        return Axis("integer", "truth", column_type, 0, 1)
    if decimal := _DECIMAL.fullmatch(kind):
        digits, scale = int(decimal[1]), int(decimal[2])
        return Axis("integer", "number", column_type, -(10**digits) + 1, 10**digits - 1, scale, numeric=True)
    if kind == "DATE":
        return Axis("integer", "day", column_type, -_DAYS, _DAYS)
    if kind == "TIMESTAMP":
        return Axis("integer", "microsecond", column_type, -_MICROSECONDS, _MICROSECONDS)
    if kind == "TIMESTAMPWITHTIMEZONE":
        return Axis("integer", "instant", column_type, -_MICROSECONDS, _MICROSECONDS)
    if kind == "DOUBLE":
        return Axis("real", "real", column_type, -_MOST, _MOST, numeric=True)
    if kind == "FLOAT":
        return Axis("real", "float", column_type, -_MOST_FLOAT, _MOST_FLOAT, numeric=True)
    if kind == "VARCHAR":
        return Axis("text", "text", column_type, "", _LAST)
    return None


def _with(template: str, value: exp.Expr, unit: int = 1) -> exp.Expr:
    """Parses an SQL template, and replaces its columns `value` and `unit` by an expression and a number."""

    def filled(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name == "value":
            return paren(value)
        if isinstance(node, exp.Column) and node.name == "unit":
            return huge(exp.Literal.string(str(unit)))
        return node

    return parsed(template).transform(filled)


# Adds up and compares the values of an aggregate's argument: exactly if their type is exact.


# The types whose values are added, averaged and compared as numbers.
_NUMBER = re.compile(r"(U?(TINY|SMALL|BIG)?INT|HUGEINT|U?INTEGER)|DECIMAL\(\d+,\d+\)|DOUBLE|FLOAT|BOOLEAN")
_DIGITS_NUMBERS = 38


@dataclass(frozen=True)
class Number:
    """Adds and compares the numbers of a type, without rounding if the type is exact.

    A number of an exact type is a whole number of parts: a DECIMAL with two decimals counts cents, 100 of which make 1
    (`unit`). A number of any other type is a DOUBLE, which is its own part; `unit` is None.
    """

    type: str
    axis: Axis | None

    @property
    def unit(self) -> int | None:
        return None if self.axis is None else 10**self.axis.scale

    @property
    def wide(self) -> bool:
        """Whether the type has numbers of 2**64 or more parts, whose sums may not fit 128 bits."""
        return self.axis is not None and int(self.axis.high) >= 2**64

    def times(self, value: exp.Expr, n: exp.Expr) -> exp.Expr:
        """Returns the sum of n rows with the same value; the type must not be `wide`."""
        if self.axis is None or self.axis.scale == 0:
            kind = "DOUBLE" if self.axis is None else "HUGEINT"
            value, n = cast(value, kind), n
        else:
            n = cast(n, "DECIMAL(18,0)")
        return value * n

    def real(self, value: exp.Expr) -> exp.Expr:
        """Casts a value to DOUBLE."""
        return cast(paren(value), "DOUBLE")

    def parts(self, value: exp.Expr) -> exp.Expr:
        """Returns the number of parts of a value."""
        return self.real(value) if self.axis is None else huge(self.axis.of(value))

    def real_of_parts(self, parts: exp.Expr) -> exp.Expr:
        """Returns the value of a number of parts, as DOUBLE."""
        real = cast(parts, "DOUBLE")
        return (real / literal(self.unit)) if self.unit not in (None, 1) else real

    def nothing(self) -> exp.Expr:
        """Returns NULL in the type in which this class counts parts of numbers."""
        kind = "DOUBLE" if self.axis is None else "HUGEINT"
        return cast(exp.null(), kind)

    def bound(self, parts: exp.Expr, function: str) -> exp.Expr:
        """Casts a number of parts to the type of an aggregate's result; NULL for a number beyond that type."""
        axis = self.axis
        if axis is not None and function == "sum":
            axis = axis_of(f"DECIMAL({_DIGITS_NUMBERS},{axis.scale})" if axis.scale else "HUGEINT")
        if axis is None or function == "avg":
            return cast(parts, "DOUBLE")
        return f.try_(axis.back(parts.copy()))


# The kind of numbers that a count adds up: 1 for each row.
COUNTED = Number("BIGINT", axis_of("BIGINT"))


def number(column_type: str) -> Number | None:
    """Returns the arithmetic of a numeric type; None for any other type."""
    if not _NUMBER.fullmatch(column_type):
        return None
    return Number(column_type, None if column_type in ("DOUBLE", "FLOAT") else axis_of(column_type))
