"""Confidence of an adversary in single classes, from the definitions, in exact fractions.

A class is the list of its rows' values; None is a value. Most functions return the confidence for one class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

__all__ = [
    "background",
    "difference",
    "homogeneity",
    "mean",
    "membership",
    "ratio",
    "rules",
    "similarity",
    "within",
    "within_reach",
]

Values = Sequence[Hashable]


def homogeneity(values: Values) -> Fraction:
    """The share of the most frequent value (Machanavajjhala et al. 2007, section 2.1)."""
    return max(Fraction(values.count(value), len(values)) for value in set(values))


def background(values: Values, everybody: Values, lacking: int) -> Fraction | None:
    """Returns the highest confidence in a value after `lacking` other values are ruled out, whichever they are.

    None if that leaves only one of the values of `everybody`: the adversary then knew it before.
    """
    if len(set(everybody)) <= lacking + 1:
        return None
    counts = Counter(values)
    best = Fraction(0)
    for value, rows in counts.items():
        others = [other for other in counts if other != value]
        for ruled_out in combinations(others, min(lacking, len(others))):
            left = len(values) - sum(counts[other] for other in ruled_out)
            best = max(best, Fraction(rows, left))
    return best


def ratio(values: Values, everybody: Values) -> Fraction:
    """The greatest p/q of a value (Li, Li, Venkatasubramanian 2007, section 2.2)."""
    return max(_share(value, values) / _share(value, everybody) for value in set(values))


def difference(values: Values, everybody: Values) -> Fraction:
    """The greatest p - q of a value."""
    return max(_share(value, values) - _share(value, everybody) for value in set(values))


def similarity(values: Values, families: Mapping[Hashable, Hashable]) -> Fraction:
    """The share of the most frequent family."""
    return homogeneity([families[value] for value in values])


def within(values: Sequence[Fraction | None], width: Fraction) -> Fraction:
    """Returns the greatest share of numbers within `width` of each other; None is close to None alone."""
    numbers = [value for value in values if value is not None]
    groups = [sum(low <= number <= low + width for number in numbers) for low in numbers]
    return Fraction(max([*groups, len(values) - len(numbers)]), len(values))


def mean(classes: Sequence[Values], confidences: Sequence[Fraction]) -> Fraction:
    """Returns the mean confidence, weighted by the number of rows of each class."""
    each = zip(classes, confidences, strict=True)
    return sum((len(values) * known for values, known in each), Fraction(0)) / sum(map(len, classes))


def within_reach(everybody: Values, ratio: Fraction | None, difference: Fraction | None) -> bool:
    """Whether a class of one value, whichever it is, reaches this p/q or this p - q."""
    rarest = min(_share(value, everybody) for value in set(everybody))
    return (ratio is not None and 1 / rarest >= ratio) or (difference is not None and 1 - rarest >= difference)


def _share(value: Hashable, values: Values) -> Fraction:
    return Fraction(values.count(value), len(values))


def membership(people: Sequence[tuple[float, float, bool]], rate: Fraction) -> Fraction:
    """Returns the expected number of people in the data who are named at the threshold that names `rate` of the others.

    A person is a score, a second score that breaks ties, and whether the person is in the data. Everybody above the
    threshold is named, and everybody at it with one probability: of all such choices the best counts (Neyman and
    Pearson).
    """
    others = sum(not is_member for *_, is_member in people)
    best = Fraction(0)
    for score in {part[:2] for part in people}:
        above, at = [p[2] for p in people if p[:2] > score], [p[2] for p in people if p[:2] == score]
        left = rate * others - above.count(False)
        if left >= 0:
            chance = min(Fraction(1), left / at.count(False)) if False in at else Fraction(1)
            best = max(best, above.count(True) + chance * at.count(True))
    return best


def rules(lists: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]], m: int) -> dict[object, Fraction]:
    """Returns the confidence of each rule from at most m items to another item, a secret one (Cao et al. 2010).

    A list is a pair: its known items and its secret ones. A rule may have no items on its left side; a rule that no
    list supports is left out.
    """
    whole = [{(False, item) for item in known} | {(True, item) for item in secret} for known, secret in lists]
    confidences: dict[object, Fraction] = {}
    for items in {frozenset(q) for row in whole for size in range(m + 1) for q in combinations(row, size)}:
        fitting = [row for row in whole if items <= row]
        for named in {item for row in fitting for item in row if item[0] and item not in items}:
            confidences[items, named] = Fraction(sum(named in row for row in fitting), len(fitting))
    return confidences
