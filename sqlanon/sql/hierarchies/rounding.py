"""ROUNDING (b1, b2, ...): numbers rounded to multiples of a base, coarser from level to level.

44 and 45 under ROUNDING (10, 30) have the labels 40 and 50 at level 1, and 30 and 60 at level 2. The label of x to base
b is b floor(x / b + 1/2): half-open intervals around the multiples of b, named by their centers. They nest only if each
base is an odd multiple of the one before. Values of wide types that cannot be computed (beyond 15 digits for floats)
are in an open interval at each end, as under INTERVALS.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from sqlglot import exp

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.sql.hierarchies._trees import DIGITS, Units, choose, counted, divide, is_numeric, plus, text, times
from sqlanon.sql.hierarchies.base import refused
from sqlanon.sql.hierarchies.intervals import decimal_text, decimals, exact_number, plain_text

STORED = False
KEEPS_ORDER = True
READ_AS = "any"


@dataclass(frozen=True)
class _Bases:
    """The bases as even numbers of units of 10**-scale, so that half of each is whole, and the decimals of each
    base.
    """

    scale: int
    bases: tuple[int, ...]
    digits: tuple[int, ...]

    def ends(self, units: Units) -> tuple[int, int]:
        """Returns the least and the greatest bound of a coarsest interval; labels of values between them can be
        computed.
        """
        low = self._bound(units.least - 1) + self.bases[-1] if units.beneath else self._bound(units.least)
        return low, self._bound(units.most)

    def _bound(self, count: int) -> int:
        """Returns the greatest bound of a coarsest interval that is at most `count` units."""
        base = self.bases[-1]
        return (count + base // 2) // base * base - base // 2


def validate(definition: HierarchyDefinition) -> None:
    """Raises PolicyError unless bases are positive and each is an odd multiple of the one before."""
    if definition.query is not None:
        raise refused(definition, "ROUNDING reads no query", "write ROUNDING (10, 30, 90)")
    _bases(definition)


def height(definition: HierarchyDefinition) -> int:
    """Returns the number of levels above the values, including `*`."""
    return len(definition.arguments) + 1


def accepts(column_type: str) -> bool:
    """Whether the type is an integer, DECIMAL, FLOAT or DOUBLE."""
    return is_numeric(column_type)


def labels(definition: HierarchyDefinition, value: exp.Expr, column_type: str) -> tuple[exp.Expr, ...]:
    """Returns the rounded value at levels 1 to height - 1; NULL for NULL.

    NaN, Infinity and -Infinity have their own labels. Raises PolicyError if the type is not accepted.
    """
    bases = _bases(definition)
    if not accepts(column_type):
        raise refused(
            definition,
            f"ROUNDING takes no column of type {column_type}",
            "it takes integer, DECIMAL, FLOAT and DOUBLE columns; for dates use CALENDAR",
        )
    units = counted(value.copy(), column_type, bases.scale)
    return tuple(_label(bases, units, level) for level in range(len(bases.bases)))


def _label(bases: _Bases, units: Units, level: int) -> exp.Expr:
    low, high = bases.ends(units)
    base, digits = bases.bases[level], bases.digits[level]
    branches = [(condition, text(name)) for condition, name in units.special]
    if units.beneath:
        branches.append((units.below(low), text(f"(-inf,{plain_text(low, bases.scale, digits)})")))
    if units.beyond:
        branches.append((units.at_least(high), text(f"[{plain_text(high, bases.scale, digits)},inf)")))
    # Intervals are counted from one below all values, as under INTERVALS.
    unit = 10 ** (bases.scale - digits)
    before = times(divide(plus(units.count, -low), base), base // unit)
    return choose(branches, decimal_text(plus(before, (low + base // 2) // unit), digits))


def _bases(definition: HierarchyDefinition) -> _Bases:
    numbers = [exact_number(definition, argument, "base") for argument in definition.arguments]
    if not numbers:
        raise refused(definition, "ROUNDING needs at least one base", "write ROUNDING (10, 30, 90)")
    if definition.options:
        name = definition.options[0][0]
        raise refused(definition, f"ROUNDING has no option {name}", "write ROUNDING (10, 30, 90)")
    for number in numbers:
        if number <= 0:
            raise refused(definition, f"base {number} is not above 0", "give each level a positive base")
    # One decimal more makes room for the halves.
    scale = max(map(decimals, numbers)) + 1
    whole = [int(number.scaleb(scale)) for number in numbers]
    if max(whole) > 10**DIGITS:
        raise refused(definition, f"its numbers have more than {DIGITS - 1} digits together", "use rounder numbers")
    for (finer, fine), (coarser, coarse) in pairwise(zip(numbers, whole, strict=True)):
        _require_odd(definition, finer, coarser, coarse % fine == 0 and coarse // fine % 2 == 1 and coarse > fine)
    return _Bases(scale, tuple(whole), tuple(map(decimals, numbers)))


def _require_odd(definition: HierarchyDefinition, finer: Decimal, coarser: Decimal, nests: bool) -> None:
    if not nests:
        raise refused(
            definition,
            f"levels of bases {finer} and {coarser} do not nest",
            "each base must be an odd multiple of the one before, and larger, as in ROUNDING (10, 30, 90); "
            f"or write INTERVALS ({finer}, {coarser})",
        )
