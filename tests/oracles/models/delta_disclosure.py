"""delta-disclosure privacy (Brickell and Shmatikov 2008): |log(p/q)| < delta for every value."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from tests.oracles.models.support import Class, Table, decimal, ln, shares


def logarithm(table: Table, of: Class, absent: str) -> Decimal:
    """Returns the largest |log(p/q)| of a class; infinite if a value is absent from it and `absent` is 'violates'."""
    p, q = shares(table.counts(of)), shares(table.baseline)
    if absent == "violates" and any(value not in p for value in q):
        return Decimal("Infinity")
    return max(abs(ln(p[value] / q[value])) for value in p)


def violating(table: Table, delta: Fraction, absent: str) -> set[Class]:
    return {of for of in table.classes if not logarithm(table, of, absent) < decimal(delta)}


def achieved(table: Table, delta: Fraction, absent: str) -> float | None:
    return max((float(logarithm(table, of, absent)) for of in table.classes), default=None)
