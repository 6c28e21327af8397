"""A number of any length as a fraction that counts are compared with exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

__all__ = ["comparable"]

# What a DOUBLE counts exactly: no numerator and no denominator of two counts is larger.
_MOST = 2**53


def comparable(number: Decimal) -> Fraction:
    """The number itself, or one that every fraction of two counts is as much below, or above.

    It is the first mediant on the way to the number, by continued fractions, that has a
    part beyond all counts. So fractions of counts that are not the number's own lie on
    the same side of both, and products of its parts with counts stay below 10^38.
    """
    remaining = exact = Fraction(number)
    before, last = (0, 1), (1, 0)
    while True:
        whole, left = divmod(remaining.numerator, remaining.denominator)
        times = min(whole, _beyond(before, last))
        before, last = last, (before[0] + times * last[0], before[1] + times * last[1])
        if max(last) > _MOST:
            return Fraction(*last)
        if not left:
            return exact
        remaining = Fraction(remaining.denominator, left)


def _beyond(before: tuple[int, int], last: tuple[int, int]) -> int:
    """How often the last fraction is to be added before a part is beyond all counts."""
    return min((_MOST - first) // step + 1 for first, step in zip(before, last, strict=True) if step)
