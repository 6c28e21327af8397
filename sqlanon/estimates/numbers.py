"""How the values of an aggregate's argument are added up and compared: exactly where their type is exact."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.estimates.axes import Axis, axis_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, huge, paren
from sqlanon.sql.build.names import literal

# The types whose values are added, averaged and compared as numbers.
_NUMBER = re.compile(r"(U?(TINY|SMALL|BIG)?INT|HUGEINT|U?INTEGER)|DECIMAL\(\d+,\d+\)|DOUBLE|FLOAT|BOOLEAN")
_DOUBLE = exp.DataType.build("DOUBLE")
_DIGITS = 38


@dataclass(frozen=True)
class Number:
    """Numbers of a type.

    Those of an exact type are whole numbers of parts, of which `unit` make 1: cents of a DECIMAL with two decimals.
    Others are DOUBLE, and have no unit: they are their own parts.
    """

    type: str
    axis: Axis | None

    @property
    def unit(self) -> int | None:
        return None if self.axis is None else 10**self.axis.scale

    @property
    def wide(self) -> bool:
        """Whether the numbers are so long that a few of them, added up, may not fit 128 bits."""
        return self.axis is not None and int(self.axis.high) >= 2**64

    def times(self, value: exp.Expr, n: exp.Expr) -> exp.Expr:
        """The sum of n rows with the same value, of numbers that are not `wide`."""
        if self.axis is None or self.axis.scale == 0:
            kind = "DOUBLE" if self.axis is None else "HUGEINT"
            value, n = cast(value, kind), n
        else:
            n = cast(n, "DECIMAL(18,0)")
        return value * n

    def real(self, value: exp.Expr) -> exp.Expr:
        """A value as DOUBLE."""
        return cast(paren(value.copy()), "DOUBLE")

    def parts(self, value: exp.Expr) -> exp.Expr:
        """A value as a number of parts."""
        return self.real(value) if self.axis is None else huge(self.axis.of(value))

    def real_of_parts(self, parts: exp.Expr) -> exp.Expr:
        """A number of parts as DOUBLE."""
        real = cast(parts.copy(), "DOUBLE")
        return (real / literal(self.unit)) if self.unit not in (None, 1) else real

    def nothing(self) -> exp.Expr:
        """NULL as a number of parts."""
        kind = "DOUBLE" if self.axis is None else "HUGEINT"
        return cast(exp.null(), kind)

    def bound(self, parts: exp.Expr, function: str) -> exp.Expr:
        """A number of parts in the type that an aggregate has; NULL where it has no room for it."""
        axis = self.axis
        if axis is not None and function == "sum":
            axis = axis_of(f"DECIMAL({_DIGITS},{axis.scale})" if axis.scale else "HUGEINT")
        if axis is None or function == "avg":
            return cast(parts.copy(), "DOUBLE")
        return f.try_(axis.back(parts.copy()))


# The kind of numbers that a count adds up: 1 for each row.
COUNTED = Number("BIGINT", axis_of("BIGINT"))


def number(column_type: str) -> Number | None:
    """Numbers of a type; None for one whose values are none."""
    if not _NUMBER.fullmatch(column_type):
        return None
    return Number(column_type, None if column_type in ("DOUBLE", "FLOAT") else axis_of(column_type))
