"""(alpha_i, beta_i)-closeness (Frikken and Zhang 2008): alpha_i <= p <= beta_i for every listed value of a class."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.support import Class, Table, shares


def outside(table: Table, of: Class) -> Fraction:
    """Returns the largest distance of a share from its range in a class; 0 if all shares are inside."""
    p = shares(table.counts(of))
    distance = Fraction(0)
    for value, (low, high) in (table.ranges or {}).items():
        share = p.get(value, Fraction(0))
        if low is not None and share < low:
            distance = max(distance, low - share)
        if high is not None and share > high:
            distance = max(distance, share - high)
    return distance


def violating(table: Table) -> set[Class]:
    return {of for of in table.classes if outside(table, of) > 0}


def achieved(table: Table) -> Fraction | None:
    return max((outside(table, of) for of in table.classes), default=None)
