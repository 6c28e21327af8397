"""Absolute proximity (Li, Tao and Xiao 2008): the numbers within a distance of each number of a class."""

from __future__ import annotations

from fractions import Fraction

from tests.oracles.models.proximity import Near, nearest, too_near
from tests.oracles.models.support import Class, Table


def _around(within: Fraction) -> Near:
    return lambda one, other: abs(other - one) <= within


def violating(table: Table, within: Fraction, max: Fraction) -> set[Class]:
    return too_near(table, max, _around(within))


def achieved(table: Table, within: Fraction, max: Fraction) -> Fraction | None:
    return nearest(table, _around(within))
