"""Mondrian's cuts in memory, one level at a time for all regions (LeFevre et al. 2006).

An attempt cuts each open region in the widest attribute that has a cut with enough rows on both sides, which yields the
regions of `recursion.InTurn`. An array for each attribute has the points of all open regions, region after region, each
region sorted by rank: then the points below a cut are neighbors, and dividing the array keeps the order. DuckDB judges
the halves by the SQL of the models, unless the numbers of their rows decide alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.shared.partition.allowable_cuts import failing_halves, only_rows_count
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import RepeatedQuery, repeated
from sqlanon.sql.build.sql_files import filled_query
from sqlanon.sql.cells.cells import rank_name
from sqlanon.sql.release.recode import high_name, low_name

_Numbers = NDArray[np.int64]
_Widths = NDArray[np.float64]
_Truths = NDArray[np.bool_]

# An entry is a point in the array of an attribute: its rank in the upper bits, its number in the lower 32.
_RANK_SHIFT = 32
_POINT = (1 << _RANK_SHIFT) - 1
# The side of a point: in the lower or the upper half of a cut, or in a region that is not cut any further.
_LOWER, _UPPER, _CLOSED = 0, 1, 2
_TWO_BYTES = 1 << 16
_NO_CUT = np.iinfo(np.int64).max


@dataclass(frozen=True)
class _Shares:
    """The weighted shares of an attribute's domain between two ranks; see `Cuts.share`.

    `positions` has the position of each rank. Without it, the distance of two ranks is their difference plus `added`.
    """

    weight: float
    whole: float
    added: int = 0
    positions: _Widths | None = None

    def between(self, low: _Numbers, high: _Numbers) -> _Widths:
        if self.positions is None:
            spans = (high - low + self.added).astype(np.float64)
        else:
            spans = self.positions[high] - self.positions[low]
        return np.asarray(self.weight * (spans / self.whole))


class InArrays:
    """Cuts the points of a table, each labelled with the number of its region, from 0."""

    def __init__(self, engine: Engine, cuts: Cuts, points: str, temp: TempTables) -> None:
        self._engine, self._cuts, self._table = engine, cuts, points
        self._halves, self._numbered, self._placed = map(temp.view_name, ("halves", "numbered", "placed"))
        self._failing = None if only_rows_count(cuts) else repeated(failing_halves(cuts, points, self._halves))
        self._shares = [_shares(engine, cuts, index) for index in cuts.attributes]
        labels, ranks, self._n = _read(engine, cuts, points)
        # By the number of a point: its side, and its finished region.
        self._sides = np.zeros(len(labels), dtype=np.uint8)
        self._region_of = np.zeros(len(labels), dtype=np.int64)
        # By attribute: the entries of all open regions.
        self._entries = _sorted(labels, ranks)
        # By open region: its points, its rows, and by attribute whether it has been tried.
        self._sizes = np.bincount(labels).astype(np.int64)
        self._rows = self._sizes if self._n is None else np.bincount(labels, self._n).astype(np.int64)
        self._tried = np.zeros((len(self._shares), len(self._sizes)), dtype=np.bool_)
        # By finished region: its number, its rows, and by attribute its least and its greatest rank.
        self._finished = [np.zeros((2 + 2 * len(self._shares), 0), dtype=np.int64)]

    def choose(self) -> int:
        """Finds a cut of each open region with enough rows on both sides; returns the number of regions with a cut."""
        ends = np.cumsum(self._sizes)
        self._starts, count = ends - self._sizes, len(ends)
        self._low, self._high = (self._entries[:, at] >> _RANK_SHIFT for at in (self._starts, ends - 1))
        widths = np.full((len(self._entries), count), -np.inf)
        for index, shares in enumerate(self._shares):
            low, high = self._low[index], self._high[index]
            possible = (self._rows >= 2 * self._cuts.least) & (high > low) & ~self._tried[index]
            widths[index, possible] = shares.between(low[possible], high[possible])
        # By open region: the attribute in which it is cut, and the points and the rows of the lower half, 0 if it is
        # not cut.
        self._dims = np.zeros(count, dtype=np.int64)
        self._lower = np.zeros((2, count), dtype=np.int64)
        regions = np.arange(count)
        while len(regions):
            dims = np.argmax(widths[:, regions], axis=0)
            known = widths[dims, regions] != -np.inf
            regions, dims = regions[known], dims[known]
            failed = ~self._cut(regions, dims)
            regions, dims = regions[failed], dims[failed]
            widths[dims, regions] = -np.inf
            self._tried[dims, regions] = True
        return int(np.count_nonzero(self._lower[0]))

    def _cut(self, regions: _Numbers, dims: _Numbers) -> _Truths:
        """Finds the cut of each region nearest to the median in its attribute, and stores the sides of the points.

        Returns whether there is a cut that leaves enough rows on both sides.
        """
        sizes, rows = self._sizes[regions], self._rows[regions]
        firsts = np.cumsum(sizes) - sizes
        of = np.repeat(np.arange(len(regions)), sizes)
        numbers = np.arange(len(of))
        offsets = dims * self._entries.shape[1] + self._starts[regions] - firsts
        entries = self._entries.reshape(-1)[offsets[of] + numbers]
        points, ranks = entries & _POINT, entries >> _RANK_SHIFT
        # A half ends with the last of equal ranks; the last of a region leaves no rows to the other half.
        at = np.flatnonzero(ranks[1:] != ranks[:-1])
        if self._n is None:
            lower = at - firsts[of[at]] + 1
        else:
            reached = np.cumsum(self._n[points])
            lower = reached[at] - (reached[firsts] - self._n[points[firsts]])[of[at]]
        enough = (lower >= self._cuts.least) & (rows[of[at]] - lower >= self._cuts.least)
        at, lower = at[enough], lower[enough]
        # The least key has the cut nearest to the median, of two equally near cuts the one with the smaller lower half.
        keys = np.abs(rows[of[at]] - 2 * lower) * len(at) + np.arange(len(at))
        begins = np.flatnonzero(np.diff(of[at], prepend=-1))
        best = np.full(len(regions), _NO_CUT)
        if len(begins):
            best[of[at[begins]]] = np.minimum.reduceat(keys, begins)
        has_cut: _Truths = best != _NO_CUT
        chosen = best[has_cut] % max(len(at), 1)
        last = np.full(len(regions), _NO_CUT)
        last[has_cut] = at[chosen]
        self._sides[points] = numbers > last[of]
        self._dims[regions[has_cut]] = dims[has_cut]
        self._lower[:, regions[has_cut]] = at[chosen] - firsts[has_cut] + 1, lower[chosen]
        return has_cut

    def close(self, first: int) -> int:
        """Numbers the regions without a cut, from `first`; returns how many numbers were used."""
        closed = self._lower[0] == 0
        if not closed.any():
            return 0
        numbers = first + np.cumsum(closed) - 1
        points, of = self._points_of(closed)
        self._region_of[points] = numbers[of]
        self._sides[points] = _CLOSED
        spans = (ends[index] for index in self._cuts.attributes for ends in (self._low, self._high))
        self._finished.append(np.array([numbers, self._rows, *spans])[:, closed])
        return int(np.count_nonzero(closed))

    def attempt(self) -> int:
        """Divides the regions whose halves both meet the requirements; returns the number of points that stay open."""
        left = self._lower[0] > 0
        divided = left.copy()
        if self._failing is not None:
            failing = self._violating(left, self._failing)
            divided[failing] = False
            self._tried[self._dims[failing], failing] = True
            if len(failing):
                self._sides[self._points_of(left & ~divided)[0]] = _LOWER
        # The regions that are not divided are among the lower halves.
        sizes = np.array([self._sizes, self._rows])
        lower, upper = np.where(divided, self._lower, sizes)[:, left], (sizes - self._lower)[:, divided]
        self._sizes, self._rows = np.concatenate([lower, upper], axis=1)
        first = int(lower[0].sum())
        entries = np.empty((len(self._entries), first + int(upper[0].sum())), dtype=np.int64)
        for before, after in zip(self._entries, entries, strict=True):
            sides = self._sides[before & _POINT]
            # Indexes take less time than a mask.
            np.take(before, np.flatnonzero(sides == _LOWER), out=after[:first], mode="clip")
            np.take(before, np.flatnonzero(sides == _UPPER), out=after[first:], mode="clip")
        self._entries = entries
        tried = self._tried & ~divided
        self._tried = np.concatenate([tried[:, left], tried[:, divided]], axis=1)
        return entries.shape[1]

    def _points_of(self, regions: _Truths) -> tuple[_Numbers, _Numbers]:
        """Returns the numbers of the points in these open regions, and the region of each."""
        of = np.repeat(np.arange(len(self._sizes)), self._sizes)
        at = np.flatnonzero(regions[of])
        return self._entries[0, at] & _POINT, of[at]

    def _violating(self, regions: _Truths, failing: RepeatedQuery) -> _Numbers:
        """Returns the numbers of those of the regions that have a half which violates a requirement."""
        points, of = self._points_of(regions)
        halves = np.full(len(self._sides), -1)
        halves[points] = 2 * of + self._sides[points]
        with self._engine.readable(self._halves, {"class_id": halves}):
            return np.array([region for (region,) in self._engine.rows(failing)], dtype=np.int64)

    @contextmanager
    def stored(self) -> Iterator[tuple[exp.Query, exp.Query]]:
        """Yields the queries of the finished regions and of their points, with the columns of `Cuts.done` and of
        `Cuts.done_points`.
        """
        numbers, rows, *spans = np.concatenate(self._finished, axis=1)
        ends = [name(index) for index in self._cuts.attributes for name in (low_name, high_name)]
        regions = {
            "region": numbers,
            "rows": rows,
            **dict(zip(ends, (of.astype(np.int32) for of in spans), strict=True)),
        }
        of_points = "SELECT placed.region, $columns FROM points AS point POSITIONAL JOIN placed"
        with (
            self._engine.readable(self._numbered, regions),
            self._engine.readable(self._placed, {"region": self._region_of}),
        ):
            yield (
                select(*map(column, regions), of=relation(self._numbered)),
                filled_query(
                    of_points,
                    tables={"points": self._table, "placed": self._placed},
                    columns=self._cuts.placed(),
                ),
            )


def _shares(engine: Engine, cuts: Cuts, index: int) -> _Shares:
    weight, count = cuts.weights[index], cuts.counts[index]
    if count is not None:
        return _Shares(weight, float(count), added=1)
    if cuts.plain[index]:
        return _Shares(weight, cuts.domains[index])
    rank = rank_name(0)
    read = engine.arrays(select(column(rank), column("position"), of=relation(cuts.ranked[index])))
    positions = np.zeros(int(read[rank].max(initial=-1)) + 1)
    positions[read[rank]] = read["position"]
    return _Shares(weight, cuts.domains[index], positions=positions)


def _read(engine: Engine, cuts: Cuts, points: str) -> tuple[_Numbers, Sequence[_Numbers], _Numbers | None]:
    """Reads the label of each point, its ranks by attribute, and its rows, which are None if each point is a row."""
    n = [] if cuts.points.single else [alias(cuts.points.n(), "n")]
    columns = [column("rowid"), column("label"), *cuts.ranks(), *n]
    rowids, *read = engine.arrays(select(*columns, of=relation(points))).values()
    order = np.argsort(rowids, kind="stable")
    labels, *numbers = (np.asarray(values[order], dtype=np.int64) for values in read)
    return labels, numbers[: len(cuts.attributes)], numbers[-1] if n else None


def _sorted(labels: _Numbers, ranks: Sequence[_Numbers]) -> _Numbers:
    """The entries of all points, a row for each attribute; without attributes, one row in which all ranks are 0."""
    rows: list[Any] = []
    for of_points in ranks or [np.zeros_like(labels)]:
        order = _order(of_points)
        if labels.any():
            order = order[_order(labels[order])]
        rows.append((of_points[order] << _RANK_SHIFT) | order)
    return np.array(rows)


def _order(numbers: _Numbers) -> _Numbers:
    """The stable order of numbers; NumPy counts numbers of two bytes, in a tenth of the time of a comparison."""
    return np.argsort(numbers.astype(np.uint16) if numbers.max(initial=0) < _TWO_BYTES else numbers, kind="stable")
