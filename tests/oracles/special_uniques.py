"""Minimal sample uniques by enumerating every set of columns of every row (Elliot, Manning and Ford 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import factorial
from typing import Any

Row = Sequence[Any]


def minimal_uniques(rows: Sequence[Row], largest: int, own: bool) -> list[list[frozenset[int]]]:
    """Returns for each row the minimal sets of at most `largest` columns in which it is unique; NULL is a value if
    `own`.
    """
    columns = len(rows[0]) if rows else 0

    def is_alone(index: int, chosen: Sequence[int]) -> bool:
        values = [rows[index][i] for i in chosen]
        if not own and None in values:
            return False
        return all(j == index or [other[i] for i in chosen] != values for j, other in enumerate(rows))

    found = []
    for index in range(len(rows)):
        minimal: list[frozenset[int]] = []
        for size in range(1, min(largest, columns) + 1):
            for chosen in combinations(range(columns), size):
                if is_alone(index, chosen) and not any(part <= set(chosen) for part in minimal):
                    minimal.append(frozenset(chosen))
        found.append(minimal)
    return found


def score(kind: str, columns: int, size: int, largest: int) -> Fraction:
    """Returns the score of one minimal unique: by Elliot, the ways to add columns one at a time up to `largest`; or
    IHSN's.
    """
    if kind == "elliot":
        result = Fraction(1)
        for i in range(size, largest):
            result *= columns - i
        return result
    choices = Fraction(factorial(columns), factorial(size) * factorial(columns - size))
    return Fraction(2 ** (columns - size) - 1) / choices


def risks(scores: Sequence[Fraction], rows: Sequence[Row], fraction: Fraction) -> list[float | None]:
    """Returns DIS-SUDA of each row with a score; None for other rows."""
    sizes = [sum(tuple(other) == tuple(row) for other in rows) for row in rows]
    unique, pairs = sizes.count(1), sizes.count(2) // 2
    if not unique or not pairs:
        return [None] * len(rows)
    theta = unique * fraction / (unique * fraction + 2 * pairs * (1 - fraction))
    power = 1 + (8 - len(rows[0])) / 20
    total = sum(1 / float(each) ** power for each in scores if each)
    odds = float(unique / theta - unique)
    return [1 / (1 + odds / (float(each) ** power * total)) if each else None for each in scores]
