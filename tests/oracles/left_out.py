"""The rows that a loose association leaves out, from the definition: they are a class, too.

Nobody's value is known above 1/k to a reader who knows that they were left out, and which values all of these rows
have: so of no value may there be more than one in k of them.
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
    """The greatest share that one value has of the same rows in any key; 0 of no rows."""
    shares = [Fraction(count, len(key)) for key in keys for count in Counter(key).values()]
    return max(shares, default=Fraction(0))


def possible(values: Values, size: int, k: int) -> Iterator[int]:
    """How many rows can be left out, such that the others fill blocks of `size` rows that differ: by trying all."""
    held = Counter(values)
    for counts in product(*(range(count + 1) for count in held.values())):
        left = Counter(dict(zip(held, counts, strict=True)))
        rest = list((held - left).elements())
        if rest and _fills(rest, size) and worst([list(left.elements())]) <= Fraction(1, k):
            yield left.total()


def fewest(values: Values, size: int, k: int) -> int | None:
    """The least of these numbers, or None: of each value that the blocks cannot hold, and then of any other in turn."""
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
    """The greatest k that blocks of k rows can have; None if there is none."""
    return max((k for k in range(2, len(values) + 1) if fewest(values, k, k) is not None), default=None)


def _fills(values: Values, size: int) -> bool:
    return most_blocks(values, size) * size == len(values)
