"""Basic beta-likeness (Cao and Karras 2012): (p - q) / q <= beta for every value with p > q."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from tests.oracles.models.support import Class, Table, shares


def gains(table: Table, of: Class) -> dict[Hashable, Fraction]:
    """Returns the relative gain of each value that is more frequent in a class than in the release."""
    p, q = shares(table.counts(of)), shares(table.baseline)
    return {value: (p[value] - q[value]) / q[value] for value in p if p[value] > q[value]}


def violating(table: Table, beta: Fraction) -> set[Class]:
    return {of for of in table.classes if any(gain > beta for gain in gains(table, of).values())}


def achieved(table: Table, beta: Fraction) -> Fraction | None:
    """Returns the largest gain; 0 if no value gains."""
    if not table.classes:
        return None
    return max((gain for of in table.classes for gain in gains(table, of).values()), default=Fraction(0))
