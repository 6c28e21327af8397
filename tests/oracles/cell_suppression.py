"""Suppression of single cells, by brute force: greedy search over sets of columns, least cost, and matching rows.

A missing cell, None, is read in three ways: `own` treats it as a value; `agrees` is for a linker who knows the true
values of a person; `matches` compares rows where both have a value.
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
    """Returns all sets of columns, smaller sets first."""
    return list(chain.from_iterable(combinations(columns, size) for size in range(len(columns) + 1)))


def blanked(row: Row, columns: Sequence[int]) -> Row:
    """Returns the row with None in these columns."""
    return tuple(None if index in columns else value for index, value in enumerate(row))


def greedy(
    rows: Sequence[Row], columns: Sequence[int], weights: Sequence[Decimal], satisfies: Satisfies
) -> list[tuple[int, ...] | None]:
    """Returns the set of columns that each row loses; None for a row that no set saves.

    Sets are tried by weight, then size, then order. The rows left take a set if the rows left that look alike without
    its columns may be a class.
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
    """Returns the rows that are published, with their cells suppressed."""
    return [blanked(row, lost) for row, lost in zip(rows, chosen, strict=True) if lost is not None]


def cost(chosen: Sequence[tuple[int, ...] | None], weights: Sequence[Decimal]) -> Decimal:
    """Returns the total weight of the suppressed cells; a row that is not published loses all of its cells."""
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
    """Returns the least cost at which every row is in a class of k rows; None if no way exists.

    A class loses exactly the columns in which its rows differ.
    """
    costs = []
    for groups in partitions(range(len(rows))):
        if all(len(group) >= k for group in groups):
            differ = [(len(g), [i for i, w in enumerate(weights) if len({rows[p][i] for p in g}) > 1]) for g in groups]
            costs.append(sum((size * weights[i] for size, columns in differ for i in columns), Decimal(0)))
    return min(costs, default=None)


def own(shown: Sequence[Row]) -> list[int]:
    """Returns for each row the number of rows with the same cells."""
    return [sum(other == row for other in shown) for row in shown]


def agrees(shown: Sequence[Row], true: Sequence[Row]) -> list[int]:
    """Returns for each row the number of rows whose cells are missing or equal its person's true values."""
    return [sum(all(c in (None, t) for c, t in zip(other, values, strict=True)) for other in shown) for values in true]


def matches(shown: Sequence[Row]) -> list[int]:
    """Returns for each row the number of rows that agree with it wherever both have a value."""
    return [
        sum(all(a is None or b is None or a == b for a, b in zip(other, row, strict=True)) for other in shown)
        for row in shown
    ]
