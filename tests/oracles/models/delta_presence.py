"""delta-presence (Nergiz et al. 2007): min <= P(t is in the release) <= max for every row t of the public table."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from math import inf

from tests.oracles.models.support import Class, Table


def probabilities(table: Table) -> list[tuple[Class, Fraction | float]]:
    """Returns for each row of the public table its class and the probability that it is in the release.

    The probability of released rows in a class without public rows is infinite.
    """
    released: list[Hashable] = [of for of, rows in table.classes.items() for _ in rows]
    public: list[Hashable] = [of for of, n in (table.public or {}).items() for _ in range(n)]
    known: list[tuple[Class, Fraction | float]] = [
        (of, Fraction(released.count(of), public.count(of))) for of in public
    ]
    return known + [(of, inf) for of in released if of not in public]


def violating(table: Table, **bounds: Fraction) -> set[Class]:
    return {of for of, share in probabilities(table) if not bounds["min"] <= share <= bounds["max"]}


def achieved(table: Table, **bounds: Fraction) -> Fraction | float | None:
    """Returns the greatest probability in the classes with released rows; None if there is none."""
    return max((share for of, share in probabilities(table) if table.classes.get(of)), default=None)
