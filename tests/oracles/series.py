"""Several releases about the same respondents, by the definitions: possible values, and m-invariance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

from tests.oracles.composition import Classes

__all__ = ["invariance", "joint_shares"]


def joint_shares(releases: Sequence[Classes]) -> dict[str, Fraction | None]:
    """Returns for each respondent the greatest share of a value that all of the respondent's classes have.

    The weight of a value is the product of its rows in the classes; None if the classes have no value in common.
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
    """Returns the greatest m for which the releases are m-invariant; 1 if a class repeats a value or a signature
    changes.
    """
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


# A release: the class of each respondent, and the rows of each class, without the quasi-identifiers.
Published = tuple[Mapping[str, Hashable], Mapping[Hashable, Sequence[tuple[Hashable, ...]]]]


def surest(releases: Sequence[Published], place: int) -> Fraction | None:
    """Returns the greatest share of the worlds in which a respondent has one value; None without a world.

    A world assigns each respondent one row, the same in all releases, from the rows that each class shows. The value is
    at position `place` of the row.
    """
    people = sorted({who for members, _ in releases for who in members})
    left = [{label: Counter(rows) for label, rows in shown.items()} for _, shown in releases]
    counts: Counter[tuple[str, Hashable]] = Counter()
    given: list[tuple[Hashable, ...]] = []
    worlds = 0

    def give(index: int) -> None:
        nonlocal worlds
        if index == len(people):
            worlds += 1
            counts.update((who, row[place]) for who, row in zip(people, given, strict=True))
            return
        who = people[index]
        classes = [left[number][members[who]] for number, (members, _) in enumerate(releases) if who in members]
        for row in list(classes[0]):
            if all(of_class[row] > 0 for of_class in classes):
                for of_class in classes:
                    of_class[row] -= 1
                given.append(row)
                give(index + 1)
                given.pop()
                for of_class in classes:
                    of_class[row] += 1

    give(0)
    return Fraction(max(counts.values()), worlds) if worlds else None


def by_differences(releases: Sequence[Classes]) -> Fraction:
    """Returns the greatest confidence in a value by differences of classes, and of sets that are such differences.

    At least n_D(v) - n_C(v) of the members of D outside C have v. If C is a subset of D, this is the exact number.
    """
    sets: dict[frozenset[str], Counter[Hashable]] = {}
    for members, values in releases:
        for label, of_class in values.items():
            sets[frozenset(who for who, its in members.items() if its == label)] = Counter(of_class)
    while True:
        found = {d - c: sets[d] - sets[c] for d in sets for c in sets if c < d and d - c not in sets}
        if not found:
            break
        sets |= found
    shares = [Fraction(n, len(who)) for who, rows in sets.items() for n in rows.values()]
    for d in sets:
        for c in sets:
            if d & c and d - c:
                shares += [Fraction(n, len(d - c)) for n in (sets[d] - sets[c]).values()]
    return max(shares)
