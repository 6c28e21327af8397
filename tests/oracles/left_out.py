"""The rows that a loose association leaves out, from the definition: they form a class, too.

A reader may know that somebody was left out, and the values of all rows left out. To keep confidence at most 1/k, no
value may belong to more than one in k of these rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import product

from tests.oracles.loose import most_blocks

__all__ = ["fewest", "largest_k", "possible", "worst"]

Values = Sequence[Hashable]


def worst(keys: Sequence[Values]) -> Fraction:
    """Returns the greatest share of one value in any of these keys of the same rows; 0 without rows."""
    shares = [Fraction(count, len(key)) for key in keys for count in Counter(key).values()]
    return max(shares, default=Fraction(0))


def possible(values: Values, size: int, k: int) -> Iterator[int]:
    """Yields each number of rows that can be left out if the others fill blocks of `size` rows with different values,
    by trying all.
    """
    held = Counter(values)
    for counts in product(*(range(count + 1) for count in held.values())):
        left = Counter(dict(zip(held, counts, strict=True)))
        rest = list((held - left).elements())
        if rest and _fills(rest, size) and worst([list(left.elements())]) <= Fraction(1, k):
            yield left.total()


def fewest(values: Values, size: int, k: int) -> int | None:
    """Returns the least number that `possible` yields; None if there is none.

    First it leaves out the rows of each value that the blocks cannot hold, then rows of other values in turn.
    """
    held = Counter(values)
    for left_out in range(len(values) % size, len(values) - size + 1, size):
        blocks, most = (len(values) - left_out) // size, left_out // k
        left = Counter({value: max(0, count - blocks) for value, count in held.items()})
        for value, count in held.items():
            left[value] += max(0, min(count - left[value], most - left[value], left_out - left.total()))
        if left.total() == left_out and max(left.values()) <= most:
            assert _fills(list((held - left).elements()), size)
            return left_out
    return None


def largest_k(values: Values) -> int | None:
    """Returns the greatest k for which blocks of k rows exist; None if there is none."""
    return max((k for k in range(2, len(values) + 1) if fewest(values, k, k) is not None), default=None)


def _fills(values: Values, size: int) -> bool:
    return most_blocks(values, size) * size == len(values)
