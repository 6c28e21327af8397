"""Counts the worlds of a few respondents: all ways to give each a value that agree with every set that they are in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

# Of each set how many of its rows have each code, and how many people in it have not got a row yet.
_Left = tuple[tuple[tuple[int, ...], int], ...]
# A number of people for each code, in how many ways they can be chosen, and what is left then.
_Choice = tuple[tuple[int, ...], int, _Left]


class TooManyWorlds(Exception):
    """More steps would be needed than may be taken."""


@dataclass(frozen=True)
class KnownSet:
    """A set of respondents, by their indexes, and how many rows it has of each code, by the codes' indexes."""

    members: Sequence[int]
    rows: Mapping[int, int]


def shares_of_worlds(
    people: Sequence[int], sets: Sequence[KnownSet], codes: int, steps: int
) -> tuple[list[list[Fraction]] | None, int]:
    """Returns for each entry of `people` the share of worlds in which a person has each code, and the steps taken.

    An entry stands for several people in the same sets. A world gives each person one of the `codes`, so that in each
    set as many have a code as rows do. A set with more rows than people has further members, who are nobody. All
    worlds count alike. The shares are None where there is no world. Raises TooManyWorlds where more than `steps`
    choices would be looked at.
    """
    groups = _groups(people, sets, codes)
    if groups is None:
        return None, 0
    layers, taken = _layers(groups, steps)
    worlds = sum(layers[-1].ways.values())
    if not worlds:
        return None, taken
    shares = [[Fraction(0)] * codes for _ in groups.number]
    to_end: dict[_Left, int] = dict.fromkeys(layers[-1].ways, 1)
    for before, layer in zip(reversed(layers[:-1]), reversed(layers[1:]), strict=True):
        held_rows = [0] * codes
        from_here: dict[_Left, int] = {}
        for state, choices in layer.choices.items():
            from_here[state] = sum(chosen * to_end[then] for _, chosen, then in choices)
            for vector, chosen, then in choices:
                weight = before.ways[state] * chosen * to_end[then]
                for code, persons in enumerate(vector):
                    held_rows[code] += weight * persons
        shares[layer.group] = [Fraction(rows, worlds * groups.number[layer.group]) for rows in held_rows]
        to_end = from_here
    return shares[: len(people)], taken


@dataclass(frozen=True)
class _Groups:
    """People in the same sets: of each group their number and the indexes of their sets, and what all sets have."""

    number: Sequence[int]
    sets: Sequence[Sequence[int]]
    left: _Left


def _groups(people: Sequence[int], sets: Sequence[KnownSet], codes: int) -> _Groups | None:
    """The entries of `people`, then the members of each set who are nobody; None where a set has too few rows."""
    number = [*people]
    inside: list[list[int]] = [[] for _ in people]
    left: list[tuple[tuple[int, ...], int]] = []
    for index, known in enumerate(sets):
        rows = sum(known.rows.values())
        nobody = rows - sum(people[member] for member in known.members)
        if nobody < 0:
            return None
        for member in known.members:
            inside[member].append(index)
        if nobody:
            number.append(nobody)
            inside.append([index])
        left.append((tuple(known.rows.get(code, 0) for code in range(codes)), rows))
    return _Groups(number, inside, tuple(left))


@dataclass(frozen=True)
class _Layer:
    """The choices of a group by what the groups before it have left, and in how many ways each rest comes about."""

    group: int
    choices: Mapping[_Left, Sequence[_Choice]]
    ways: Mapping[_Left, int]


def _layers(groups: _Groups, steps: int) -> tuple[list[_Layer], int]:
    """The layer before all choices, then one for each group, and the steps taken."""
    # Those of whom there are many come last, when the sets leave them the fewest choices.
    order = sorted(range(len(groups.number)), key=lambda group: (groups.number[group], group))
    layers = [_Layer(-1, {}, {groups.left: 1})]
    taken = 0
    for group in order:
        choices: dict[_Left, list[_Choice]] = {}
        ways: dict[_Left, int] = defaultdict(int)
        for state, count in layers[-1].ways.items():
            choices[state] = list(_choices(state, groups.number[group], groups.sets[group], steps - taken))
            taken += len(choices[state]) + 1
            if taken > steps:
                raise TooManyWorlds
            for _, chosen, then in choices[state]:
                ways[then] += count * chosen
        layers.append(_Layer(group, choices, ways))
    return layers, taken


def _choices(state: _Left, people: int, inside: Sequence[int], most: int) -> Iterator[_Choice]:
    """Yields the ways in which people who are in the same sets can take rows that these have left."""
    codes = range(len(state[inside[0]][0]))
    high = [min(people, *(state[index][0][code] for index in inside)) for code in codes]
    # The others of a set can take one row each.
    low = [max(0, *(state[index][0][code] - (state[index][1] - people) for index in inside)) for code in codes]
    for number_found, vector in enumerate(_vectors(low, high, people)):
        if number_found >= most:
            raise TooManyWorlds
        ways, rest = 1, people
        for persons in vector:
            ways *= comb(rest, persons)
            rest -= persons
        then = list(state)
        for index in inside:
            rows, others = state[index]
            then[index] = tuple(n - persons for n, persons in zip(rows, vector, strict=True)), others - people
        yield vector, ways, tuple(then)


def _vectors(low: Sequence[int], high: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    """Yields the vectors between two others whose numbers add up to a total."""
    if not low:
        if total == 0:
            yield ()
        return
    least, greatest = sum(low[1:]), sum(high[1:])
    for first in range(max(low[0], total - greatest), min(high[0], total - least) + 1):
        for rest in _vectors(low[1:], high[1:], total - first):
            yield (first, *rest)
