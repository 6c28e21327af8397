"""(n,t)-closeness with the equal distance (Li et al. 2010): each class against each broader class of n rows or more."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from tests.oracles.models.equal_t_closeness import distance
from tests.oracles.models.support import Class, Table, beside_broader


def nearest(table: Table, of: Class, n: int) -> Fraction | float:
    """Returns the least distance from a broader class; infinite without a broader class."""
    return min((distance(pair, of) for pair in beside_broader(table, of, n)), default=inf)


def violating(table: Table, n: int, t: Fraction) -> set[Class]:
    return {of for of in table.classes if nearest(table, of, n) > t}


def achieved(table: Table, n: int, t: Fraction = Fraction(0)) -> Fraction | float | None:
    return max((nearest(table, of, n) for of in table.classes), default=None)
