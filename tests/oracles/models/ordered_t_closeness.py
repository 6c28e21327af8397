"""t-closeness with the ordered distance (Li et al. 2007): 1/(m-1) sum |cumulative differences|."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.support import Class, Table, in_order, shares


def distance(table: Table, of: Class) -> Fraction:
    """Returns the distance with the i-th and j-th of m values |i - j| / (m - 1) apart; 0 for a single value."""
    p, q = shares(table.counts(of)), shares(table.baseline)
    values = in_order(q)
    if len(values) == 1:
        return Fraction(0)
    carried, moved = Fraction(0), Fraction(0)
    for value in values:
        carried += p.get(value, Fraction(0)) - q[value]
        moved += abs(carried)
    return moved / (len(values) - 1)


def violating(table: Table, t: Fraction) -> set[Class]:
    return {of for of in table.classes if distance(table, of) > t}


def achieved(table: Table, t: Fraction) -> Fraction | None:
    return max((distance(table, of) for of in table.classes), default=None)
