"""Attempts that try each open region in all attributes, and cut it in the widest that has an allowable cut."""

from __future__ import annotations

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.shared.partition.allowable_cuts import failing_candidates, only_rows_count
from sqlanon.methods.shared.partition.candidate_cuts import (
    allowable,
    candidates,
    chosen,
    closed_points,
    closed_regions,
    relabelled,
)
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.work_tables import Done, inserted, remade, rows_of
from sqlanon.sql.build.names import parameter


class AtOnce:
    """The statements of an attempt, each written once. The labels of the points are the regions, 0 to `labels` - 1."""

    def __init__(self, engine: Engine, cuts: Cuts, points: str, scratch: Scratch, into: Done, labels: int) -> None:
        self._engine = engine
        self._labels = labels
        self._first: int | None = None
        attempts = scratch.name("cut")
        self._ask: list[str] = []
        # Where the number of rows in a half is all that requirements look at, every candidate satisfies them.
        if only_rows_count(cuts):
            best = candidates(cuts, points, of_each=False)
        else:
            tried, failed = scratch.name("candidates"), scratch.name("failed")
            self._ask.append(remade(tried, candidates(cuts, points, of_each=True)))
            self._ask.append(remade(failed, failing_candidates(cuts, points, tried)))
            best = allowable(tried, failed)
        self._choose = remade(attempts, chosen(cuts, best))
        first = parameter(1)
        self._close_points = inserted(into.points, closed_points(cuts, points, attempts, first.copy()))
        self._close_regions = inserted(into.regions, closed_regions(cuts, into.points, first))
        self._cut = remade(points, relabelled(cuts, points, attempts))

    def choose(self) -> int:
        """Finds out where each region is cut; returns how many regions are."""
        for text in self._ask:
            self._engine.run(text)
        self._open = rows_of(self._engine, self._choose)
        return self._open

    def close(self, first: int) -> int:
        """Puts aside the regions that are not cut, numbered from `first`; returns how many numbers that takes."""
        self._first = first if self._first is None else self._first
        if self._labels > self._open:
            self._engine.run(self._close_points, [first])
        if not self._open:
            self._engine.run(self._close_regions, [self._first])
        return self._labels

    def attempt(self) -> int:
        """Cuts the regions that `choose` has found a cut for; returns how many points they have."""
        self._labels = 2 * self._open
        return rows_of(self._engine, self._cut)
