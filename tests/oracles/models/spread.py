"""Spread by the range: the greatest difference of two numbers of each class."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.support import Class, Table


def greatest_difference(table: Table, of: Class) -> Fraction | None:
    """Returns the greatest difference of any two numbers of a class; None if it has no number."""
    rows = table.numbers(of)
    return max((one - other for one in rows for other in rows), default=None)


def violating(table: Table, least: Fraction) -> set[Class]:
    reached = {of: greatest_difference(table, of) for of in table.classes}
    return {of for of, difference in reached.items() if difference is None or difference < least}


def achieved(table: Table, least: Fraction) -> Fraction | None:
    return min((greatest_difference(table, of) or Fraction(0) for of in table.classes), default=None)
