"""Two releases about the same respondents: every world that agrees with both, for at most a few respondents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import product

__all__ = ["Classes", "certain", "intersection"]

# A release: the class of each respondent, and the values of each class.
Classes = tuple[Mapping[str, Hashable], Mapping[Hashable, Sequence[Hashable]]]


def certain(releases: Sequence[Classes]) -> set[str]:
    """Returns the respondents who have the same value in all worlds."""
    people = sorted({person for members, _ in releases for person in members})
    possible = [
        set.intersection(*(set(values[members[who]]) for members, values in releases if who in members))
        for who in people
    ]
    seen: dict[str, set[Hashable]] = {who: set() for who in people}
    for world in product(*possible):
        value_of = dict(zip(people, world, strict=True))
        if all(_agrees(value_of, release) for release in releases):
            for who, value in value_of.items():
                seen[who].add(value)
    return {who for who, values in seen.items() if len(values) == 1}


def _agrees(value_of: Mapping[str, Hashable], release: Classes) -> bool:
    members, values = release
    return all(
        Counter(value_of[who] for who, of in members.items() if of == label) == Counter(held)
        for label, held in values.items()
    )


def intersection(releases: Sequence[Classes]) -> dict[str, Fraction]:
    """Returns for each respondent of all releases the greatest share of a value that all of the respondent's classes
    have.
    """
    people = set.intersection(*(set(members) for members, _ in releases))
    shares: dict[str, Fraction] = {}
    for who in people:
        counts = [Counter(values[members[who]]) for members, values in releases]
        weights = [Fraction(counts[0][value] * counts[1][value]) for value in counts[0]]
        shares[who] = max(weights) / sum(weights)
    return shares
