"""Anatomy (Xiao and Tao 2006), from its definitions: diverse buckets, and whether any exist.

The closed form by which the method assigns rows to buckets is not used here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from tests.oracles.models.support import TOLERANCE, entropy, ln

__all__ = [
    "by_bucket",
    "dealt",
    "diverse",
    "feasible",
    "feasible_by_search",
    "fitting",
    "least_size",
    "most_groups",
    "unequal",
]

Values = Sequence[Hashable]


def diverse(counts: Mapping[Hashable, int], variant: str, l: int, c: Fraction = Fraction(3)) -> bool:  # noqa: E741
    """Whether a bucket with these numbers of rows by value is l-diverse; None is a value."""
    frequent = sorted(counts.values(), reverse=True)
    if variant == "probabilistic":
        return l * frequent[0] <= sum(frequent)
    if variant == "distinct":
        return len(frequent) >= l
    if variant == "entropy":
        return entropy(counts) >= ln(l) - TOLERANCE
    return frequent[0] < c * sum(frequent[l - 1 :])


def feasible(values: Values, variant: str, l: int, c: Fraction = Fraction(3)) -> bool:  # noqa: E741
    """Whether diverse buckets exist: if all rows together are a diverse bucket, or if there are no rows."""
    return not values or diverse(Counter(values), variant, l, c)


def feasible_by_search(values: Values, variant: str, l: int, c: Fraction = Fraction(3)) -> bool:  # noqa: E741
    """Whether diverse buckets exist, by trying every way to divide the rows."""
    return any(all(diverse(Counter(part), variant, l, c) for part in parts) for parts in _divisions(list(values)))


def _divisions(values: list[Hashable]) -> Iterator[list[list[Hashable]]]:
    if not values:
        yield []
        return
    first, rest = values[0], values[1:]
    for parts in _divisions(rest):
        yield [[first], *parts]
        for place in range(len(parts)):
            yield [*parts[:place], [first, *parts[place]], *parts[place + 1 :]]


def by_bucket(rows: Sequence[tuple[int, Hashable, int]]) -> dict[int, Counter[Hashable]]:
    """Returns the number of rows of each value, by bucket, from a table (bucket, value, count)."""
    found: dict[int, Counter[Hashable]] = defaultdict(Counter)
    for bucket, value, count in rows:
        assert count >= 1
        assert value not in found[bucket], "a value stands twice"
        found[bucket][value] = count
    return dict(found)


def fitting(exact: Sequence[int], values: Mapping[int, Counter[Hashable]]) -> bool:
    """Whether every bucket has as many rows as values; `exact` has the bucket of each row."""
    return Counter(exact) == {bucket: sum(counts.values()) for bucket, counts in values.items()}


def unequal(exact: Sequence[Hashable], values: Sequence[tuple[Hashable, Hashable, int | None]]) -> int:
    """Counts the buckets in which two tables disagree: `exact` has the bucket of each row, `values` rows of bucket,
    value and count. A bucket that has a value in two rows, or with a count below 1, disagrees. NULL is a bucket and a
    value.
    """
    broken = 0
    for bucket in {*exact, *(of for of, _, _ in values)}:
        held = [(value, count) for of, value, count in values if of == bucket]
        counts = [count for _, count in held if count is not None and count >= 1]
        distinct = len({value for value, _ in held}) == len(held) == len(counts)
        broken += not (held and distinct and sum(counts) == list(exact).count(bucket))
    return broken


def most_groups(values: Values, least: int, different: int | None = None) -> int:
    """Returns the largest number of groups of `least` rows or more that these rows can fill, by trying; at least 1.

    If `different` is given, each group needs this number of different values: a value is in as many groups as it has
    rows, or in all.
    """
    counts = Counter(values).values()
    fitting = [
        g
        for g in range(1, len(values) // least + 1)
        if different is None or sum(min(n, g) for n in counts) >= g * different
    ]
    return max(fitting, default=1)


def dealt(values: Sequence[int], groups: int) -> list[int]:
    """Returns the group of each row, from 0: rows are assigned in turn by value, at most `groups` rows of each value
    first, then all others.
    """
    order = sorted(range(len(values)), key=lambda row: (values[:row].count(values[row]) >= groups, values[row], row))
    return [place % groups for _, place in sorted(zip(order, range(len(values)), strict=True))]


def least_size(l: int, variant: str, c: Decimal) -> int:  # noqa: E741
    """Returns the least number of rows, all with different values, that is diverse, by trying."""
    size = 1
    while not diverse(Counter(range(size)), variant, l, Fraction(c)):
        size += 1
    return size
