"""Spread by the standard deviation, the square root of the variance over the rows of each class."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from tests.oracles.models.support import Class, Table, decimal
from tests.oracles.models.variance_spread import variance


def violating(table: Table, least: Fraction) -> set[Class]:
    reached = {of: variance(table, of) for of in table.classes}
    return {of for of, number in reached.items() if number is None or number < least**2}


def achieved(table: Table, least: Fraction) -> Decimal | None:
    least_variance = min((variance(table, of) or Fraction(0) for of in table.classes), default=None)
    return None if least_variance is None else decimal(least_variance).sqrt()
