"""Anatomy (Xiao and Tao 2006), from its definitions: which buckets are diverse, and when there are any.

Nothing here knows the closed form by which rows are dealt out.
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
    """Whether a bucket with so many rows of each value is l-diverse; None is a value."""
    frequent = sorted(counts.values(), reverse=True)
    if variant == "probabilistic":
        return l * frequent[0] <= sum(frequent)
    if variant == "distinct":
        return len(frequent) >= l
    if variant == "entropy":
        return entropy(counts) >= ln(l) - TOLERANCE
    return frequent[0] < c * sum(frequent[l - 1 :])


def feasible(values: Values, variant: str, l: int, c: Fraction = Fraction(3)) -> bool:  # noqa: E741
    """Whether there are diverse buckets: iff all rows together are one, or there are none."""
    return not values or diverse(Counter(values), variant, l, c)


def feasible_by_search(values: Values, variant: str, l: int, c: Fraction = Fraction(3)) -> bool:  # noqa: E741
    """Whether buckets are possible, by looking at every way to divide the rows."""
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
    """The values of each bucket from a table (bucket, value, count)."""
    found: dict[int, Counter[Hashable]] = defaultdict(Counter)
    for bucket, value, count in rows:
        assert count >= 1
        assert value not in found[bucket], "a value stands twice"
        found[bucket][value] = count
    return dict(found)


def fitting(exact: Sequence[int], values: Mapping[int, Counter[Hashable]]) -> bool:
    """Whether every bucket has as many rows (`exact` has one number a row) as values."""
    return Counter(exact) == {bucket: sum(counts.values()) for bucket, counts in values.items()}


def unequal(exact: Sequence[Hashable], values: Sequence[tuple[Hashable, Hashable, int | None]]) -> int:
    """How many buckets of two tables do not fit together: `exact` has the bucket of each row, `values` rows of
    bucket, value and count. No bucket has a value twice, or not once, and NULL is a bucket and a value.
    """
    broken = 0
    for bucket in {*exact, *(of for of, _, _ in values)}:
        held = [(value, count) for of, value, count in values if of == bucket]
        counts = [count for _, count in held if count is not None and count >= 1]
        distinct = len({value for value, _ in held}) == len(held) == len(counts)
        broken += not (held and distinct and sum(counts) == list(exact).count(bucket))
    return broken


def most_groups(values: Values, least: int, different: int | None = None) -> int:
    """Into how many groups of `least` rows or more these can be put, one if there is no other way, by trying.

    If `different` is given, each group is to have so many different values: a value is in as many groups as it has
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
    """The group of each row, from 0: value by value, of each as many rows as there are groups, then all others."""
    order = sorted(range(len(values)), key=lambda row: (values[:row].count(values[row]) >= groups, values[row], row))
    return [place % groups for _, place in sorted(zip(order, range(len(values)), strict=True))]


def least_size(l: int, variant: str, c: Decimal) -> int:  # noqa: E741
    """The least number of rows with different values that is diverse, by trying."""
    size = 1
    while not diverse(Counter(range(size)), variant, l, Fraction(c)):
        size += 1
    return size
