"""Several releases with counterfeits: every world that agrees with all of them, and the fewest counterfeits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from statistics import pvariance

from tests.oracles.composition import Classes

__all__ = ["beliefs", "fewest_counterfeits", "is_eligible", "near_classes", "worlds"]

World = Mapping[str, Hashable]


def worlds(releases: Sequence[Classes]) -> Iterator[World]:
    """Yields the ways to assign each respondent one value that a row of the respondent's class has in each release.

    No row is assigned to two respondents; the rows left over are counterfeits.
    """
    people = sorted({person for members, _ in releases for person in members})
    left = [{label: Counter(shown) for label, shown in values.items()} for _, values in releases]
    yield from _worlds(people, {}, [members for members, _ in releases], left)


def _worlds(
    people: Sequence[str],
    world: dict[str, Hashable],
    members: Sequence[Mapping[str, Hashable]],
    left: Sequence[Mapping[Hashable, Counter[Hashable]]],
) -> Iterator[World]:
    """Yields the worlds that extend `world` to all people; `left` has the rows that are not assigned yet."""
    if len(world) == len(people):
        yield dict(world)
        return
    who = people[len(world)]
    own = [rows[of[who]] for of, rows in zip(members, left, strict=True) if who in of]
    for value in list(own[0]):
        if all(rows[value] > 0 for rows in own):
            for rows in own:
                rows[value] -= 1
            yield from _worlds(people, world | {who: value}, members, left)
            for rows in own:
                rows[value] += 1


def beliefs(releases: Sequence[Classes]) -> tuple[int, dict[str, Fraction]]:
    """Returns the number of worlds, and for each respondent the share of worlds with the likeliest value."""
    count, seen = 0, dict[str, Counter[Hashable]]()
    for world in worlds(releases):
        count += 1
        for who, value in world.items():
            seen.setdefault(who, Counter())[value] += 1
    return count, {who: Fraction(max(of.values()), count) for who, of in seen.items()}


def is_eligible(values: Sequence[Hashable], m: int) -> bool:
    """Whether no value has more than 1/m of the rows."""
    return all(m * n <= len(values) for n in Counter(values).values())


def fewest_counterfeits(
    staying: Sequence[tuple[frozenset[Hashable], Hashable]], newcomers: Sequence[Hashable], m: int, different: int
) -> int | None:
    """Returns the fewest counterfeits over all ways to put rows into classes; None if there is no way.

    A respondent who stays has a signature and a value, and is in a class with exactly the values of the signature. A
    newcomer is in such a class, or in a class of newcomers and counterfeits with m values or more; there are
    `different` values.
    """
    signatures = sorted({signature for signature, _ in staying}, key=repr)
    fewest: int | None = None
    for homes in product(*([*(s for s in signatures if value in s), None] for value in newcomers)):
        placed = [*staying, *((home, value) for home, value in zip(homes, newcomers, strict=True) if home is not None)]
        rest = [value for home, value in zip(homes, newcomers, strict=True) if home is None]
        padding = _padding(tuple(sorted(rest, key=repr)), m)
        if padding and different < m:
            continue
        missing = sum(_missing(signature, placed) for signature in signatures)
        fewest = missing + padding if fewest is None else min(fewest, missing + padding)
    return fewest


def _missing(signature: frozenset[Hashable], placed: Sequence[tuple[frozenset[Hashable], Hashable]]) -> int:
    """Counts the counterfeits that make all values of a signature equally frequent."""
    counts = Counter(value for of, value in placed if of == signature)
    return max(counts.values()) * len(signature) - sum(counts.values())


@cache
def _padding(rest: tuple[Hashable, ...], m: int) -> int:
    """Returns the fewest counterfeits over all ways to cut rows into classes of m or more different values."""
    if not rest:
        return 0
    first, others = rest[0], rest[1:]
    fewest = []
    for chosen in product((False, True), repeat=len(others)):
        beside = [value for value, taken in zip(others, chosen, strict=True) if taken]
        if len({first, *beside}) == 1 + len(beside):
            left = tuple(value for value, taken in zip(others, chosen, strict=True) if not taken)
            fewest.append(max(0, m - 1 - len(beside)) + _padding(left, m))
    return min(fewest)


def near_classes(rows: Mapping[str, tuple[Hashable, Sequence[float]]], units: Sequence[float]) -> list[frozenset[str]]:
    """Splits people, each with a value and positions, into classes with one person of each value; all values are
    equally frequent.

    A class is halved at the attribute with the greatest variance, in the attribute's units, until each value occurs
    once. The first half has the first half of each value's people in the attribute's order, rounded down.
    """
    by_value: dict[Hashable, list[str]] = {}
    for person, (value, _) in rows.items():
        by_value.setdefault(value, []).append(person)
    [count] = {len(people) for people in by_value.values()}
    if count == 1:
        return [frozenset(rows)]
    variances = [pvariance([at[i] * unit for _, at in rows.values()]) for i, unit in enumerate(units)]
    widest = next(i for i, variance in enumerate(variances) if variance >= max(variances) * (1 - 1e-9))
    first: set[str] = set()
    for people in by_value.values():
        first |= {*sorted(people, key=lambda person: rows[person][1][widest])[: count // 2]}
    halves = ({p: rows[p] for p in first}, {p: row for p, row in rows.items() if p not in first})
    return [of for half in halves for of in near_classes(half, units)]
