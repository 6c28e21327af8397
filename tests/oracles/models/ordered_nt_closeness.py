"""(n,t)-closeness with the ordered distance (Li et al. 2010): ranks are those of the values of the whole release."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from tests.oracles.models.support import Class, Table, beside_broader, in_order, shares


def distance(table: Table, of: Class, broader: Table) -> Fraction:
    """1/(m-1) sum |cumulative differences| over the m values of the whole release."""
    p, q = shares(table.counts(of)), shares(broader.baseline)
    values = in_order(table.baseline)
    carried, moved = Fraction(0), Fraction(0)
    for value in values:
        carried += p.get(value, Fraction(0)) - q.get(value, Fraction(0))
        moved += abs(carried)
    return moved / max(1, len(values) - 1)


def nearest(table: Table, of: Class, n: int) -> Fraction | float:
    """Returns the least distance from a broader class; infinite without a broader class."""
    return min((distance(table, of, broader) for broader in beside_broader(table, of, n)), default=inf)


def violating(table: Table, n: int, t: Fraction) -> set[Class]:
    return {of for of in table.classes if nearest(table, of, n) > t}


def achieved(table: Table, n: int, t: Fraction = Fraction(0)) -> Fraction | float | None:
    return max((nearest(table, of, n) for of in table.classes), default=None)
