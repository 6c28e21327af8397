"""Recursive (c,l)-diversity (Machanavajjhala et al. 2007, definition 4.2): r_1 < c (r_l + ... + r_m)."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from tests.oracles.models.support import Class, Table


def _sorted(table: Table, of: Class) -> list[int]:
    return sorted(table.counts(of).values(), reverse=True)


def violating(table: Table, l: int, c: Fraction) -> set[Class]:  # noqa: E741 - the paper's name
    """Returns the violating classes. Every class is (c,1)-diverse; a class with fewer than l values is never
    (c,l)-diverse.
    """
    if l == 1:
        return set()
    return {of for of in table.classes if not _sorted(table, of)[0] < c * sum(_sorted(table, of)[l - 1 :])}


def achieved(table: Table, l: int, c: Fraction) -> Fraction | float | None:  # noqa: E741
    """Returns the least upper bound c that the worst class still reaches; 0 if l = 1, which requires nothing."""
    if l == 1:
        return 0 if table.classes else None
    ratios: list[Fraction | float] = []
    for of in table.classes:
        counts = _sorted(table, of)
        rarer = sum(counts[l - 1 :])
        ratios.append(Fraction(counts[0], rarer) if rarer else inf)
    return max(ratios, default=None)
