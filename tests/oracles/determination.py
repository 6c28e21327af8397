"""Whether one column determines another, counted row by row, and the probability of this by chance."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction
from random import Random

Pair = tuple[Hashable, Hashable]


def groups(pairs: Sequence[Pair]) -> list[list[Hashable]]:
    """Groups the second values by their first value; groups of one row, and NULL as a first value, are left out."""
    by_value: dict[Hashable, list[Hashable]] = defaultdict(list)
    for value, other in pairs:
        if value is not None:
            by_value[value].append(other)
    return [others for others in by_value.values() if len(others) > 1]


def agreeing(pairs: Sequence[Pair]) -> int:
    """Counts the groups in which all second values are equal."""
    return sum(len(set(others)) == 1 for others in groups(pairs))


def by_chance(pairs: Sequence[Pair]) -> Fraction:
    """Returns the probability that at least as many groups agree if each second value is drawn by its share of all
    rows.
    """
    counts = Counter(other for _, other in pairs)
    shares = [Fraction(count, len(pairs)) for count in counts.values()]
    # The probability of each number of agreeing groups among the groups so far.
    reached = [Fraction(1)]
    for others in groups(pairs):
        one = sum((share ** len(others) for share in shares), Fraction())
        without = [*(probability * (1 - one) for probability in reached), Fraction()]
        reached = [
            probability + (reached[number - 1] * one if number else 0) for number, probability in enumerate(without)
        ]
    return sum(reached[agreeing(pairs) :], Fraction())


def by_shuffling(pairs: Sequence[Pair], random: Random, times: int) -> int:
    """Counts the shuffles of the second values in which at least as many groups agree."""
    firsts, seconds = [first for first, _ in pairs], [second for _, second in pairs]
    reached = agreeing(pairs)
    found = 0
    for _ in range(times):
        random.shuffle(seconds)
        found += agreeing(list(zip(firsts, seconds, strict=True))) >= reached
    return found


def most_common(pairs: Sequence[Pair]) -> Fraction:
    """The share of the rows with the most frequent second value."""
    return Fraction(max(Counter(other for _, other in pairs).values()), len(pairs))
