"""Counts over buckets whose values nobody can match with rows, by looking for the assignments themselves."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Mapping, Sequence

__all__ = ["drawn", "extremes"]

Rows = Mapping[Hashable, Sequence[object]]
Values = Mapping[Hashable, Sequence[object]]
Holds = Callable[[object, object], bool]


def extremes(rows: Rows, values: Values, holds: Holds) -> tuple[int, int]:
    """The least and the greatest number of rows that satisfy, over every way to give each row a value of its bucket."""
    low = high = 0
    for bucket, own in rows.items():
        high += _most(own, values[bucket], holds)
        low += len(own) - _most(own, values[bucket], lambda row, value: not holds(row, value))
    return low, high


def drawn(rows: Rows, values: Values, holds: Holds, generator: random.Random) -> int:
    """How many rows satisfy when each bucket's values are given to its rows at random."""
    total = 0
    for bucket, own in rows.items():
        shuffled = list(values[bucket])
        generator.shuffle(shuffled)
        total += sum(holds(row, value) for row, value in zip(own, shuffled, strict=True))
    return total


def _most(rows: Sequence[object], values: Sequence[object], fits: Holds) -> int:
    """A greatest matching, by augmenting paths."""
    given: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for value in range(len(values)):
            if value in seen or not fits(rows[row], values[value]):
                continue
            seen.add(value)
            if value not in given or place(given[value], seen):
                given[value] = row
                return True
        return False

    return sum(place(row, set()) for row in range(len(rows)))
