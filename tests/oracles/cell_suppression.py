"""Suppression of single cells, by brute force: the greedy way over sets of columns, the least cost, and who is found.

Three readings of a missing cell, None: `own` takes it for a value of its own; `agrees` is what a linker is left with
who knows the true values of a person; `matches` are the rows that agree where both have a value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, combinations

Row = tuple[Hashable, ...]
# Whether the rows at these places may be a class.
Satisfies = Callable[[Sequence[int]], bool]


def sets_of(columns: Sequence[int]) -> list[tuple[int, ...]]:
    """All sets of columns, the smaller first."""
    return list(chain.from_iterable(combinations(columns, size) for size in range(len(columns) + 1)))


def blanked(row: Row, columns: Sequence[int]) -> Row:
    """The row with None in these columns."""
    return tuple(None if index in columns else value for index, value in enumerate(row))


def greedy(
    rows: Sequence[Row], columns: Sequence[int], weights: Sequence[Decimal], satisfies: Satisfies
) -> list[tuple[int, ...] | None]:
    """The set of columns that each row loses, None for a row that no set saves.

    Sets are tried by their weight, then their size, then their order: rows that are left take a set if the rows that
    are left and show the same without it may be a class.
    """
    chosen: list[tuple[int, ...] | None] = [None] * len(rows)
    left = list(range(len(rows)))
    for lost in sorted(sets_of(columns), key=lambda each: (sum(weights[i] for i in each), len(each), each)):
        classes: dict[Row, list[int]] = defaultdict(list)
        for place in left:
            classes[blanked(rows[place], lost)].append(place)
        for places in classes.values():
            if satisfies(places):
                for place in places:
                    chosen[place] = lost
        left = [place for place in left if chosen[place] is None]
    return chosen


def published(rows: Sequence[Row], chosen: Sequence[tuple[int, ...] | None]) -> list[Row]:
    """What is shown of the rows that are published."""
    return [blanked(row, lost) for row, lost in zip(rows, chosen, strict=True) if lost is not None]


def cost(chosen: Sequence[tuple[int, ...] | None], weights: Sequence[Decimal]) -> Decimal:
    """The weights of the suppressed cells; a row that is not published costs all of its cells."""
    whole = sum(weights, Decimal(0))
    return sum((whole if lost is None else sum((weights[i] for i in lost), Decimal(0)) for lost in chosen), Decimal(0))


def partitions(places: Sequence[int]) -> Iterator[list[list[int]]]:
    """All ways to divide places into groups."""
    if not places:
        yield []
        return
    first, *others = places
    for groups in partitions(others):
        yield [[first], *groups]
        for index, group in enumerate(groups):
            yield [*groups[:index], [first, *group], *groups[index + 1 :]]


def least_cost(rows: Sequence[Row], k: int, weights: Sequence[Decimal]) -> Decimal | None:
    """The least cost of a way in which every row is in a class of k; None if there is none.

    A class has to lose the columns in which its rows differ, and no others.
    """
    costs = []
    for groups in partitions(range(len(rows))):
        if all(len(group) >= k for group in groups):
            differ = [(len(g), [i for i, w in enumerate(weights) if len({rows[p][i] for p in g}) > 1]) for g in groups]
            costs.append(sum((size * weights[i] for size, columns in differ for i in columns), Decimal(0)))
    return min(costs, default=None)


def own(shown: Sequence[Row]) -> list[int]:
    """For each row the rows with the same cells."""
    return [sum(other == row for other in shown) for row in shown]


def agrees(shown: Sequence[Row], true: Sequence[Row]) -> list[int]:
    """For each row the rows whose cells are missing or equal to its person's true values."""
    return [sum(all(c in (None, t) for c, t in zip(other, values, strict=True)) for other in shown) for values in true]


def matches(shown: Sequence[Row]) -> list[int]:
    """For each row the rows that agree with it where both have a value."""
    return [
        sum(all(a is None or b is None or a == b for a, b in zip(other, row, strict=True)) for other in shown)
        for row in shown
    ]
