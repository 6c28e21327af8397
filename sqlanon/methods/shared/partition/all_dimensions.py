"""Attempts that try each open region in all attributes, and cut it in the widest that has an allowable cut."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.shared.partition.allowable_cuts import failing_candidates, only_rows_count
from sqlanon.methods.shared.partition.candidate_cuts import (
    candidates,
    chosen,
    closed_points,
    closed_regions,
    relabelled,
)
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.work_tables import Done, inserted, put_in_place, remade
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.names import literal, parameter, relation
from sqlanon.sqlgen.build.render import to_sql

__all__ = ["AtOnce"]


class AtOnce:
    """The statements of an attempt, each written once. The labels of the points are the regions, 0 to `labels` - 1."""

    def __init__(self, engine: Engine, cuts: Cuts, points: str, scratch: Scratch, into: Done, labels: int) -> None:
        self._engine = engine
        self._points = points
        self._labels = labels
        self._first: int | None = None
        # Each attempt replaces these tables; until the first one they are empty and only take the names.
        nothing = exp.select(literal(0))
        tried, failed, attempts, self._next = (
            scratch.table(name, nothing.copy()) for name in ("candidates", "failed", "cut", "halves")
        )
        # Where the number of rows in a half is all that requirements look at, every candidate satisfies them.
        ask = not only_rows_count(cuts)
        self._choose = [remade(tried, candidates(cuts, points, of_each=ask))]
        if ask:
            self._choose.append(remade(failed, failing_candidates(cuts, points, tried)))
        self._choose.append(remade(attempts, chosen(cuts, tried, failed if ask else None)))
        self._count = to_sql(exp.select(f.count()).from_(relation(attempts)))
        first = parameter(1)
        self._close_points = inserted(into.points, closed_points(cuts, points, attempts, first.copy()))
        self._close_regions = inserted(into.regions, closed_regions(cuts, into.points, first))
        self._cut = remade(self._next, relabelled(cuts, points, attempts))

    def choose(self) -> int:
        """Finds out where each region is cut; returns how many regions are."""
        for text in self._choose:
            self._engine.run(text)
        self._open = int(self._engine.rows(self._count)[0][0])
        return self._open

    def close(self, first: int) -> int:
        """Puts aside the regions that are not cut, numbered from `first`; returns how many numbers that takes."""
        self._first = first if self._first is None else self._first
        if self._labels > self._open:
            self._engine.run(self._close_points, [first])
        if not self._open:
            self._engine.run(self._close_regions, [self._first])
        return self._labels

    def attempt(self) -> None:
        """Cuts the regions that `choose` has found a cut for."""
        self._engine.run(self._cut)
        put_in_place(self._engine, self._points, self._next)
        self._labels = 2 * self._open
