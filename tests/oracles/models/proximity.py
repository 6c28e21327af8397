"""Proximity, after Li, Tao and Xiao (2008), with ranges of a width in place of neighborhoods."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tests.oracles.models.support import Class, Table

# Whether a number is near another number, the beginning or the center of a range.
Near = Callable[[Fraction, Fraction], bool]


def greatest_share(table: Table, of: Class, near: Near) -> Fraction | None:
    """Returns the greatest share of a class's numbers that are near one of them; None if it has no number."""
    rows = table.numbers(of)
    counts = [sum(1 for other in rows if near(one, other)) for one in rows]
    return Fraction(max(counts), len(rows)) if rows else None


def too_near(table: Table, most: Fraction, near: Near) -> set[Class]:
    reached = {of: greatest_share(table, of, near) for of in table.classes}
    return {of for of, share in reached.items() if share is None or share > most}


def nearest(table: Table, near: Near) -> Fraction | None:
    shares = [greatest_share(table, of, near) for of in table.classes]
    return max((Fraction(1) if share is None else share for share in shares), default=None)


def _after(within: Fraction) -> Near:
    return lambda one, other: one <= other <= one + within


def violating(table: Table, within: Fraction, max: Fraction) -> set[Class]:
    return too_near(table, max, _after(within))


def achieved(table: Table, within: Fraction, max: Fraction) -> Fraction | None:
    return nearest(table, _after(within))
