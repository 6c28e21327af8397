"""Spread by the variance: half the mean square of the differences of all pairs of rows of each class."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.support import Class, Table


def variance(table: Table, of: Class) -> Fraction | None:
    """Returns the variance of the numbers of a class, from its pairs of rows; None if it has no number."""
    rows = table.numbers(of)
    pairs = [(one - other) ** 2 for one in rows for other in rows]
    return sum(pairs, Fraction(0)) / (2 * len(pairs)) if pairs else None


def violating(table: Table, least: Fraction) -> set[Class]:
    reached = {of: variance(table, of) for of in table.classes}
    return {of for of, number in reached.items() if number is None or number < least}


def achieved(table: Table, least: Fraction) -> Fraction | None:
    return min((variance(table, of) or Fraction(0) for of in table.classes), default=None)
