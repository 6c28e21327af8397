"""(k,e)-anonymity (Zhang et al. 2007): k different values in each class, and two numbers that differ by e or more."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.spread import greatest_difference
from tests.oracles.models.support import Class, Table


def violating(table: Table, k: int, e: Fraction) -> set[Class]:
    few = {of for of in table.classes if len(table.counts(of)) < k}
    reached = {of: greatest_difference(table, of) for of in table.classes}
    return few | {of for of, difference in reached.items() if difference is None or difference < e}


def achieved(table: Table, k: int, e: Fraction) -> Fraction | None:
    return min((greatest_difference(table, of) or Fraction(0) for of in table.classes), default=None)
