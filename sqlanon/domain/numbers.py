"""Writes numbers in words, and compares figures without regard to rounding."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

# Figures that are sums of DOUBLEs: their last digits depend on the order of addition.


# The rounding error of a sum of a million shares, and the relative error of a large sum.
_NOISE, _RELATIVE_NOISE = 1e-12, 1e-11


def without_noise(value: float | None) -> float | None:
    """Returns a value, and 0 for a value that differs from 0 only by rounding."""
    return 0.0 if value is not None and abs(value) < _NOISE else value


def levelled(values: Sequence[float]) -> Mapping[float, float]:
    """Maps each value to the smallest value that differs from it only by rounding."""
    levels: list[float] = []
    for value in sorted(set(values)):
        if not levels or value - levels[-1] > max(_NOISE, abs(levels[-1]) * _RELATIVE_NOISE):
            levels.append(value)
    return {value: levels[bisect_right(levels, value) - 1] for value in set(values)}


# Fractions that were written as decimals.


# The greatest denominator of a fraction that a user may mean, and the least difference that rounding cannot explain.
_DENOMINATOR, _ROUNDED = 12, Fraction(1, 100_000)


def rounded_fraction(number: Decimal) -> Fraction | None:
    """Returns the fraction of small numbers near a decimal: such as 1/3 for 0.33333; None if the fraction is equal to
    the decimal, or if there is no such fraction.
    """
    exact = Fraction(number)
    near = exact.limit_denominator(_DENOMINATOR)
    return near if 0 < abs(exact - near) < _ROUNDED else None


# Numbers of things in words.


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """Writes a number with its noun, such as 1 row or 2 rows; `nouns` is an irregular plural."""
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


def count_of(number: int, of: int, noun: str, nouns: str | None = None) -> str:
    """Writes a count out of a total, such as 1 of 1 row or 1 of 17 rows."""
    return f"{number} of {counted(of, noun, nouns)}"


def per_cent(share: float) -> str:
    """Writes a share in per cent with two digits, such as 0.66 % or 12 %; a share just below 1 is "over 99 %"."""
    rounded = float(f"{100 * share:.2g}")
    return "over 99 %" if share < 1 and rounded >= 100 else f"{rounded:g} %"
