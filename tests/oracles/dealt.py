"""Counts and sums over buckets whose values cannot be matched with rows, by enumerating the assignments."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from statistics import fmean, pstdev

__all__ = ["drawn", "extremes", "figures", "worlds"]

Rows = Mapping[Hashable, Sequence[object]]
Values = Mapping[Hashable, Sequence[object]]
Holds = Callable[[object, object], bool]


def extremes(rows: Rows, values: Values, holds: Holds) -> tuple[int, int]:
    """Returns the least and the greatest number of rows that satisfy, over every assignment of a bucket's values to its
    rows.
    """
    low = high = 0
    for bucket, own in rows.items():
        high += _most(own, values[bucket], holds)
        low += len(own) - _most(own, values[bucket], lambda row, value: not holds(row, value))
    return low, high


def drawn(rows: Rows, values: Values, holds: Holds, generator: random.Random) -> int:
    """Counts the rows that satisfy if each bucket's values are assigned to its rows at random."""
    total = 0
    for bucket, own in rows.items():
        shuffled = list(values[bucket])
        generator.shuffle(shuffled)
        total += sum(holds(row, value) for row, value in zip(own, shuffled, strict=True))
    return total


def _most(rows: Sequence[object], values: Sequence[object], fits: Holds) -> int:
    """Returns the size of a maximum matching of rows and values, by augmenting paths."""
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


def worlds(rows: Rows, values: Values) -> Iterator[list[tuple[object, object]]]:
    """Yields every assignment of a value of its bucket to each row, as pairs of row and value; equal ones repeat."""
    ways = (
        [list(zip(own, way, strict=False)) for way in permutations(values[key], len(own))] for key, own in rows.items()
    )
    for chosen in product(*ways):
        yield [pair for bucket in chosen for pair in bucket]


def figures(
    answers: Sequence[Sequence[Fraction]], function: str
) -> tuple[float | None, float | None, Fraction | None, Fraction | None]:
    """Returns the estimate, its standard error and the least and greatest answer over equally likely worlds.

    `answers` has, for each world, the values of the rows that satisfy. In a world without such a row a sum is 0 and
    other functions have no answer. The standard error of an average is the one of a ratio (Cochran 1977, section 6.4).
    """
    of = {"sum": sum, "avg": lambda own: sum(own) / Fraction(len(own)), "min": min, "max": max}[function]
    known = [of(own) for own in answers if own or function == "sum"]
    ends = (min(known, default=None), max(known, default=None)) if any(answers) else (None, None)
    hits, total = fmean(map(len, answers)), fmean(map(sum, answers))
    if function in ("min", "max") or not any(answers):
        return (None, None, *ends)
    ratio = total / hits
    if function == "sum":
        return (total, pstdev(map(sum, answers)), *ends)
    return (ratio, pstdev(sum(own) - Fraction(ratio) * len(own) for own in answers) / hits, *ends)
