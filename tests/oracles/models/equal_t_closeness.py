"""t-closeness with the equal distance (Li et al. 2007): 1/2 sum |p - q| over all values of the release."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.support import Class, Table, shares


def distance(table: Table, of: Class) -> Fraction:
    """Returns the distance of a class from the release, with every two values 1 apart: the mass that has to move."""
    p, q = shares(table.counts(of)), shares(table.baseline)
    return sum((abs(p.get(value, Fraction(0)) - q[value]) for value in q), Fraction(0)) / 2


def violating(table: Table, t: Fraction) -> set[Class]:
    return {of for of in table.classes if distance(table, of) > t}


def achieved(table: Table, t: Fraction) -> Fraction | None:
    return max((distance(table, of) for of in table.classes), default=None)
