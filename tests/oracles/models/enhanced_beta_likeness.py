"""Enhanced beta-likeness (Cao and Karras 2012): (p - q) / q <= min(beta, -ln q) where p > q."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from tests.oracles.models import basic_beta_likeness
from tests.oracles.models.support import Class, Table, decimal, ln, shares


def violating(table: Table, beta: Fraction) -> set[Class]:
    q = shares(table.baseline)
    return {
        of
        for of in table.classes
        for value, gain in basic_beta_likeness.gains(table, of).items()
        if decimal(gain) > min(decimal(beta), -ln(q[value]))
    }


def achieved(table: Table, beta: Fraction) -> Fraction | float | None:
    """Returns the least sufficient beta: the largest gain; infinity if a gain exceeds the logarithm of its value."""
    q = shares(table.baseline)
    gains = [(gain, q[value]) for of in table.classes for value, gain in basic_beta_likeness.gains(table, of).items()]
    if any(decimal(gain) > -ln(share) for gain, share in gains):
        return inf
    return basic_beta_likeness.achieved(table, beta)
