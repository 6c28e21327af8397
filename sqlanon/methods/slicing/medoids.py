"""Medoids: the attributes that others lie nearest to, and PAM, a search for them.

Kaufman and Rousseeuw, Finding Groups in Data (1990), chapter 2; Slicing (2012), section 4.1, clusters attributes so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from sqlanon.methods.slicing.sizes import sizes

# Distances are added up as whole numbers of the 12th digit. They are compared to the 9th: what makes sums equal that
# are equal in fractions, such as three thirds and two halves.
_UNITS = 10**12
_COARSE = 1000

_Row = list[int]
_Distances = npt.NDArray[np.int64]
_Matrix = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Clustering:
    """The medoids in ascending order, the members of each one's cluster, and the sum of all distances to the nearest.

    `exhaustive` tells whether all sets of medoids were looked at, so that none has a lesser sum.
    """

    medoids: tuple[int, ...]
    clusters: tuple[tuple[int, ...], ...]
    cost: float
    exhaustive: bool


def medoids(distances: Sequence[Sequence[float]], count: int) -> Clustering:
    """The `count` items with the least sum of distances to the nearest of them, and who is nearest to which.

    `distances` is a symmetric matrix with zeros in its diagonal. Of equal sums the set that comes first in the items'
    order is taken, and of equally near medoids the first; a medoid lies in its own cluster. There are never more
    medoids than items. Where there are too many sets to look at, PAM looks for one that no exchange of a medoid for
    another item makes better.
    """
    rows = [[round(distance * _UNITS) for distance in row] for row in distances]
    count = min(count, len(rows))
    if count < 1:
        return Clustering((), (), 0.0, exhaustive=True)
    exhaustive = comb(len(rows), count) <= sizes().max_medoid_sets
    chosen = _best_set(rows, count) if exhaustive else _by_exchanges(rows, count)
    clusters: dict[int, list[int]] = {medoid: [] for medoid in chosen}
    for item in range(len(rows)):
        clusters[item if item in clusters else nearest(distances, item, chosen)].append(item)
    cost = sum(map(min, *(rows[medoid] for medoid in chosen))) if count > 1 else sum(rows[chosen[0]])
    return Clustering(chosen, tuple(map(tuple, clusters.values())), cost / _UNITS, exhaustive)


def nearest(distances: Sequence[Sequence[float]], item: int, among: Sequence[int]) -> int:
    """The one of the other items that is nearest to an item; of equally near ones the first."""
    return min(among, key=lambda other: _rounded(round(distances[item][other] * _UNITS)))


def _rounded(total: int) -> int:
    return (total + _COARSE // 2) // _COARSE


def _by_exchanges(rows: Sequence[_Row], count: int) -> tuple[int, ...]:
    """What PAM comes to."""
    matrix = np.array(rows, dtype=np.int64)
    return _exchanged(matrix, _built(matrix, count))


def _best_set(rows: Sequence[_Row], count: int) -> tuple[int, ...]:
    """The best of all sets, the first of equal ones: they are looked at in the items' order."""

    def cost(members: tuple[int, ...]) -> int:
        return _cost(rows, members)

    return min(combinations(range(len(rows)), count), key=cost)


def _cost(rows: Sequence[_Row], members: Sequence[int]) -> int:
    """The sum of the distances to the nearest of these items, as it is compared."""
    first, *others = (rows[member] for member in members)
    return _rounded(sum(map(min, first, *others) if others else first))


def _built(rows: _Matrix, count: int) -> tuple[int, ...]:
    """PAM's first phase: one medoid after the other, each the item that lowers the sum most."""
    members: list[int] = []
    reached: _Distances | None = None
    for _ in range(count):
        added, _ = _best_beside(rows, reached, members)
        members.append(added)
        reached = rows[added] if reached is None else np.minimum(reached, rows[added])
    return tuple(sorted(members))


def _best_beside(rows: _Matrix, reached: _Distances | None, members: Sequence[int]) -> tuple[int, int]:
    """The item, none of the members, with the least sum, as it is compared, if it is a medoid beside those by which
    `reached` is reached; and that sum. Of equal ones the first.
    """
    sums = (rows if reached is None else np.minimum(rows, reached)).sum(axis=1)
    compared = (sums + _COARSE // 2) // _COARSE
    compared[list(members)] = np.iinfo(np.int64).max
    item = int(compared.argmin())
    return item, int(compared[item])


def _exchanged(rows: _Matrix, members: tuple[int, ...]) -> tuple[int, ...]:
    """PAM's second phase: the exchange of a medoid for another item that lowers the sum most, while there is one."""
    cost = _rounded(int(rows[list(members)].min(axis=0).sum()))
    while len(members) < len(rows):
        best, best_cost = members, cost
        for leaving in members:
            others = [member for member in members if member != leaving]
            reached = rows[others].min(axis=0) if others else None
            item, reached_cost = _best_beside(rows, reached, members)
            if reached_cost < best_cost:
                best, best_cost = tuple(sorted([*others, item])), reached_cost
        if best_cost == cost:
            break
        members, cost = best, best_cost
    return members
