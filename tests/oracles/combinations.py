"""Sets of columns by the pairs of rows that they tell apart (Motwani, Xu 2007), and the smallest sufficient sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import combinations

__all__ = ["distinction", "minimal_keys", "separation", "unique_rows"]

Row = Sequence[Hashable]


def _parts(rows: Sequence[Row], columns: Sequence[int]) -> list[tuple[Hashable, ...]]:
    return [tuple(row[column] for column in columns) for row in rows]


def distinction(rows: Sequence[Row], columns: Sequence[int]) -> Fraction:
    return Fraction(len(set(_parts(rows, columns))), len(rows))


def separation(rows: Sequence[Row], columns: Sequence[int]) -> Fraction | None:
    pairs = [first != second for first, second in combinations(_parts(rows, columns), 2)]
    return Fraction(sum(pairs), len(pairs)) if pairs else None


def unique_rows(rows: Sequence[Row], columns: Sequence[int]) -> Fraction:
    counts = Counter(_parts(rows, columns))
    return Fraction(sum(number == 1 for number in counts.values()), len(rows))


def minimal_keys(rows: Sequence[Row], width: int, size: int, least: Fraction) -> set[tuple[int, ...]]:
    """Returns the minimal sets of up to `size` columns in which at least a share `least` of the rows are unique."""
    keys: set[tuple[int, ...]] = set()
    if len(rows) < 2:
        return keys
    for number in range(1, size + 1):
        for columns in combinations(range(width), number):
            if unique_rows(rows, columns) >= least and not any(set(key) < set(columns) for key in keys):
                keys.add(columns)
    return keys
