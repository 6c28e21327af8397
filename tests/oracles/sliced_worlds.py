"""Lists every table from which a sliced table may have been made.

A world assigns each person a row of each column, all of one bucket, and no row to two people. All worlds that fit the
known facts are equally likely. Columns that share an attribute agree on it in every row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, islice, product
from math import prod

from tests.oracles.slicing import Columns, Known, Row, Sliced, merge

__all__ = ["beliefs", "beliefs_without_buckets", "drawable", "sources"]

# The rows of one bucket for each column, each column in its own order.
Shown = Sequence[Sequence[Row]]


def drawable(people: Sequence[Known], columns: Columns, shown: Shown) -> Iterator[list[dict[int, Hashable]]]:
    """Yields every way to assign each person of a bucket a row of each column that fits the known facts.

    Equal rows count as one: each way represents the same number of permutations.
    """
    left = [Counter(rows) for rows in shown]

    def dealt(number: int, column: int, row: dict[int, Hashable]) -> Iterator[list[dict[int, Hashable]]]:
        """Yields the rows of the people from `number` on; `row` has the columns of this person before `column`."""
        if number == len(people):
            yield []
        elif column == len(columns):
            following = people[number + 1] if number + 1 < len(people) else {}
            for others in dealt(number + 1, 0, {**following}):
                yield [row, *others]
        else:
            for part in [part for part, count in left[column].items() if count]:
                merged = merge([columns[column]], [part], row)
                if merged is not None:
                    left[column][part] -= 1
                    yield from dealt(number, column + 1, merged)
                    left[column][part] += 1

    yield from dealt(0, 0, {**people[0]} if people else {})


def _shown(sliced: Sliced, bucket: int) -> list[list[Row]]:
    rows = [sliced.rows[member] for member in sliced.buckets[bucket]]
    return [[tuple(row[at] for at in column) for row in rows] for column in sliced.columns]


def _people(sliced: Sliced) -> list[dict[int, Hashable]]:
    """Returns the identifying attributes of the person of each row."""
    positions = {at for column in sliced.columns for at in column} - {sliced.sensitive} - sliced.unknown
    return [{at: row[at] for at in sorted(positions)} for row in sliced.rows]


def beliefs(sliced: Sliced) -> list[dict[Hashable, Fraction]]:
    """Returns the probability of each value for each row's person, for a reader who knows everybody's identifying
    attributes and bucket.
    """
    people = _people(sliced)
    found: list[dict[Hashable, Fraction]] = [{} for _ in people]
    for bucket, members in enumerate(sliced.buckets):
        worlds, counts = _counted(sliced, bucket, [people[member] for member in members])
        for member, counted in zip(members, counts, strict=True):
            found[member] = {value: Fraction(count, worlds) for value, count in counted.items()}
    return found


def _counted(sliced: Sliced, bucket: int, people: Sequence[Known]) -> tuple[int, list[Counter[Hashable]]]:
    """Returns the number of possible worlds of a bucket, and for each person the number of worlds with each value."""
    counts: list[Counter[Hashable]] = [Counter() for _ in people]
    worlds = 0
    for world in drawable(people, sliced.columns, _shown(sliced, bucket)):
        worlds += 1
        for counted, row in zip(counts, world, strict=True):
            counted[row[sliced.sensitive]] += 1
    return worlds, counts


def beliefs_without_buckets(sliced: Sliced) -> list[dict[Hashable, Fraction]]:
    """Returns the beliefs of a reader who does not know the buckets, over all ways to divide the people among them."""
    people = _people(sliced)
    whole = 0
    found: list[dict[Hashable, Fraction]] = [defaultdict(Fraction) for _ in people]
    for division in _divisions(tuple(range(len(people))), [len(members) for members in sliced.buckets]):
        each = [_counted(sliced, bucket, [people[who] for who in group]) for bucket, group in enumerate(division)]
        worlds = prod(count for count, _ in each)
        whole += worlds
        for group, (count, counts) in zip(division, each, strict=True):
            for who, counted in zip(group, counts, strict=True):
                for value, times in counted.items() if worlds else ():
                    found[who][value] += Fraction(worlds * times, count)
    return [{value: weight / whole for value, weight in belief.items()} for belief in found]


def _divisions(people: tuple[int, ...], sizes: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yields every way to divide people among buckets of these sizes."""
    if not sizes:
        yield []
        return
    for group in combinations(people, sizes[0]):
        rest = tuple(who for who in people if who not in group)
        for others in _divisions(rest, sizes[1:]):
            yield [group, *others]


def sources(
    columns: Columns, tables: Sequence[Sequence[tuple[Hashable, Row]]], most: int
) -> list[list[dict[int, Hashable]]]:
    """Returns all tables from which these sliced tables may have been made; none if there are more than `most`.

    A row of a sliced table is its bucket and its values in one column.
    """
    ways: list[list[list[dict[int, Hashable]]]] = []
    for bucket in dict.fromkeys(bucket for bucket, _ in tables[0]):
        first, *others = [[row for of, row in table if of == bucket] for table in tables]
        people = [dict(zip(columns[0], row, strict=True)) for row in first]
        ways.append([*islice(drawable(people, columns[1:], others), most + 1)])
        if prod(map(len, ways)) > most:
            return []
    return [[row for rows in chosen for row in rows] for chosen in product(*ways)]
