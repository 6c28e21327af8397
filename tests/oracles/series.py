"""Several releases about the same respondents, by the definitions: what they leave possible, and m-invariance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

from tests.oracles.composition import Classes

__all__ = ["invariance", "joint_shares"]


def joint_shares(releases: Sequence[Classes]) -> dict[str, Fraction | None]:
    """Of each respondent the greatest share of a value that all of the respondent's classes have.

    The weight of a value is the product of its rows in the classes; None where they have none in common.
    """
    shares: dict[str, Fraction | None] = {}
    for who in {person for members, _ in releases for person in members}:
        counts = [Counter(values[members[who]]) for members, values in releases if who in members]
        weights: dict[Hashable, int] = dict(counts[0])
        for counted in counts[1:]:
            weights = {value: n * counted[value] for value, n in weights.items() if counted[value]}
        shares[who] = Fraction(max(weights.values()), sum(weights.values())) if weights else None
    return shares


def invariance(releases: Sequence[Classes]) -> int:
    """The greatest m for which the releases are m-invariant; 1 where a value stands twice or a signature changes."""
    signatures: dict[str, set[frozenset[Hashable]]] = {}
    sizes: list[int] = []
    for members, values in releases:
        if any(len(set(of_class)) < len(of_class) for of_class in values.values()):
            return 1
        sizes += [len(of_class) for of_class in values.values()]
        _remember(signatures, members, values)
    return 1 if any(len(known) > 1 for known in signatures.values()) else min(sizes)


def _remember(
    signatures: dict[str, set[frozenset[Hashable]]],
    members: Mapping[str, Hashable],
    values: Mapping[Hashable, Sequence[Hashable]],
) -> None:
    for who, label in members.items():
        signatures.setdefault(who, set()).add(frozenset(values[label]))
