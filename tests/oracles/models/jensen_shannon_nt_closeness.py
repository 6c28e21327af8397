"""(n,t)-closeness with the Jensen-Shannon divergence (Li and Li 2009, Li et al. 2010)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf

from tests.oracles.models.jensen_shannon_t_closeness import divergence
from tests.oracles.models.support import TOLERANCE, Class, Table, beside_broader, decimal


def nearest(table: Table, of: Class, n: int) -> Decimal:
    """Returns the least divergence from a broader class; infinite without a broader class."""
    return min((divergence(pair, of) for pair in beside_broader(table, of, n)), default=Decimal(inf))


def violating(table: Table, n: int, t: Fraction) -> set[Class]:
    return {of for of in table.classes if nearest(table, of, n) > decimal(t) + TOLERANCE}


def achieved(table: Table, n: int, t: Fraction = Fraction(0)) -> float | None:
    return max((float(nearest(table, of, n)) for of in table.classes), default=None)
