"""The columns of a slicing (Li, Li, Zhang and Molloy 2012, section 4.1), from the definitions, over lists of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import isfinite

__all__ = ["in_intervals", "most_frequent_share", "phi2", "sums_of_distances"]

Number = int | float | Decimal | Fraction
Values = Sequence[Hashable]


def in_intervals(values: Sequence[Number | None], intervals: int) -> list[Hashable]:
    """Returns the number of each value's interval, out of `intervals` equal ones from the least to the greatest value.

    The last interval is closed. None stays None; infinity and NaN become texts.
    """
    finite = [Fraction(value) for value in values if value is not None and isfinite(value)]
    if not finite:
        return [_special(value) for value in values]
    least, width = min(finite), (max(finite) - min(finite)) / intervals

    def interval(value: Number | None) -> Hashable:
        if value is None or not isfinite(value):
            return _special(value)
        # The half-open intervals that end at or below the value; the greatest value lies in the last one.
        ends = (least + number * width for number in range(1, intervals))
        return sum(end <= Fraction(value) for end in ends) if width else 0

    return [interval(value) for value in values]


def _special(value: Number | None) -> Hashable:
    return None if value is None else str(value)


def phi2(first: Values, second: Values) -> Fraction:
    """Returns the mean-square contingency coefficient of two attributes by the values of each row; 0 for a constant."""
    rows = len(first)
    least = min(len(set(first)), len(set(second)))
    if least <= 1:
        return Fraction(0)
    pairs = Counter(zip(first, second, strict=True))
    total = Fraction(0)
    for value, of_value in Counter(first).items():
        for other, of_other in Counter(second).items():
            expected = Fraction(of_value, rows) * Fraction(of_other, rows)
            total += (Fraction(pairs[value, other], rows) - expected) ** 2 / expected
    return total / (least - 1)


def sums_of_distances(
    distances: Sequence[Sequence[Fraction]], count: int
) -> Iterator[tuple[Fraction, tuple[int, ...], tuple[tuple[int, ...], ...]]]:
    """Yields for each set of `count` medoids the sum of distances to the nearest one, the set, and the clusters."""
    items = range(len(distances))
    for medoids in combinations(items, count):
        clusters: dict[int, list[int]] = {medoid: [] for medoid in medoids}
        for item in items:
            order = sorted(medoids, key=lambda medoid: (distances[item][medoid], medoid))
            clusters[item if item in medoids else order[0]].append(item)
        total = sum((distances[item][medoid] for medoid in medoids for item in clusters[medoid]), Fraction(0))
        yield total, medoids, tuple(map(tuple, clusters.values()))


def most_frequent_share(parts: Values, sensitive: Values) -> Fraction:
    """Returns the greatest share of one sensitive value among the rows with one part; 0 without rows."""
    of_part = Counter(parts)
    pairs = Counter(zip(parts, sensitive, strict=True))
    return max((Fraction(count, of_part[part]) for (part, _), count in pairs.items()), default=Fraction(0))
