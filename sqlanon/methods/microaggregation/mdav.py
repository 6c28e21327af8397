"""MDAV: groups of k rows, two at a time, around rows that are far from the mean and from each other.

Domingo-Ferrer and Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure control (2002); the
variant with groups of fixed size is from Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity
through microaggregation (2005). Of rows that are equally far away, the first is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]

# The size of a sample whose kth distance bounds the kth distance of all rows, so only few rows have to be sorted.
_SAMPLE = 512
# Rows with groups are dropped once they are more than this share.
_GONE = 1 / 16
# A share far above the rounding errors of distances.
_SLACK = 1e-9


def mdav(values: Numbers, weights: Numbers, k: int, progress: Callable[[int], None] | None = None) -> Rows:
    """Returns the group number of each row, from 0, by MDAV with groups of k rows; the last group has up to 2k - 1.

    `values` has a row for each column and `weights` the weight of each column. There must be at least k rows.
    `progress` is called with the number of rows left.
    """
    rest = _Rest(values, weights)
    groups = np.zeros(values.shape[1], dtype=np.int64)
    number = 0
    while rest.count >= 2 * k:
        if progress is not None:
            progress(rest.count)
        first = rest.farthest_from_mean()
        from_first = rest.distances(rest.at(first), lasting=True)
        groups[rest.take(rest.nearest(from_first, first, k))] = number
        number += 1
        # Fewer than 2k remaining rows are one group; otherwise a second group is around the row farthest from `first`.
        if rest.count >= 2 * k:
            second = rest.farthest(from_first)
            groups[rest.take(rest.nearest(rest.distances(rest.at(second)), second, k))] = number
            number += 1
        rest.move_together()
    groups[rest.rows] = number
    return groups


def halved(values: Numbers, weights: Numbers, most: int) -> Iterator[Rows]:
    """Yields all rows in blocks of at most `most` rows, made by cuts at the median of the widest column.

    A block that results from a cut has at least half as many rows.
    """
    blocks = [np.arange(values.shape[1], dtype=np.int64)]
    while blocks:
        block = blocks.pop()
        if len(block) <= most:
            yield np.sort(block)
            continue
        inside = values[:, block]
        widest = int(np.argmax(weights * (inside.max(axis=1) - inside.min(axis=1)) ** 2))
        # Of equal values the earlier rows come first, so that the blocks are the same each time.
        in_order = block[np.lexsort((block, inside[widest]))]
        blocks += [in_order[len(block) // 2 :], in_order[: len(block) // 2]]


class _Rest:
    """The rows that have no group yet, in their order. A row is given by its index in `_values`."""

    def __init__(self, values: Numbers, weights: Numbers) -> None:
        self._weights = weights
        # Making new arrays of this size would take longer than computing the numbers in them.
        self._passing, self._lasting, self._part = (np.empty(values.shape[1]) for _ in range(3))
        self._hold(values, np.arange(values.shape[1], dtype=np.int64))

    def _hold(self, values: Numbers, order: Rows) -> None:
        """Sets the rows without a group, in the order `order`, and computes their distances from their mean."""
        self._values, self._order, self._gone = values, order, order[:0]
        self.count, self._sums = len(order), values.sum(axis=1)
        self._middle = self._sums / max(self.count, 1)
        self._from_middle = self.distances(self._middle).copy()

    @property
    def rows(self) -> Rows:
        """Returns the remaining rows, by their numbers among all rows."""
        left: Rows = np.delete(self._order, self._gone)
        return left

    def at(self, row: int) -> Numbers:
        """Returns the values of a row, which is given by its index among the remaining rows."""
        return self._values[:, row].copy()

    def distances(self, point: Numbers, *, lasting: bool = False) -> Numbers:
        """Returns the squared distance of each remaining row from a point; the next call overwrites the array.

        A `lasting` array is overwritten by the next lasting call only. Columns are added in the same order for all
        rows, so equal rows have equal distances.
        """
        size = len(self._order)
        total, part = (self._lasting if lasting else self._passing)[:size], self._part[:size]
        for index, (column, weight) in enumerate(zip(self._values, self._weights, strict=True)):
            into = part if index else total
            np.subtract(column, point[index], out=into)
            into *= into
            if weight != 1.0:
                into *= weight
            if index:
                total += part
        return total

    def farthest_from_mean(self) -> int:
        """The first remaining row with the greatest distance from the mean of the remaining rows.

        Only rows that can be farthest are compared: a distance has changed by at most the distance that the mean has
        moved since distances were computed.
        """
        moved = float(np.sqrt(((self._sums / self.count - self._middle) ** 2) @ self._weights))
        least = max(float(np.sqrt(self._from_middle.max())) - (2 + _SLACK) * moved, 0.0) ** 2 * (1 - _SLACK)
        among = np.flatnonzero(self._from_middle >= least)
        # A sum of n values is n times their mean, so whole numbers are compared exactly, without division.
        differences = self._values[:, among] * float(self.count) - self._sums[:, None]
        squares = differences * differences * self._weights[:, None]
        return int(among[np.argmax(squares.sum(axis=0))])

    def farthest(self, distances: Numbers) -> int:
        """Returns the first row with the greatest of these distances."""
        distances[self._gone] = -1.0
        return int(np.argmax(distances))

    def nearest(self, distances: Numbers, row: int, k: int) -> Rows:
        """A row and the k - 1 rows nearest to it by these distances; of rows at equal distances, the first."""
        distances[self._gone] = np.inf
        distances[row] = np.inf
        sample = distances[:: max(len(distances) // _SAMPLE, 1)]
        most = np.partition(sample, k)[k] if len(sample) > k else np.inf
        among = np.flatnonzero(distances <= most)
        near: Rows = among[np.argsort(distances[among], kind="stable")[: k - 1]]
        return np.append(near, row)

    def take(self, rows: Rows) -> Rows:
        """Removes rows from the remaining rows; returns their numbers among all rows."""
        self._gone = np.append(self._gone, rows)
        self._from_middle[rows] = -1.0
        self._sums = self._sums - self._values[:, rows].sum(axis=1)
        self.count -= len(rows)
        return self._order[rows]

    def move_together(self) -> None:
        """Drops the rows with groups from the arrays once more than 1/16 of the rows have a group."""
        if len(self._gone) > _GONE * len(self._order):
            left = np.ones(len(self._order), dtype=bool)
            left[self._gone] = False
            self._hold(self._values[:, left], self._order[left])
