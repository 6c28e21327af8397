"""Attempts that try each open region in one attribute: the widest, or that of the greatest gain."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.shared.partition.allowable_cuts import failing
from sqlanon.methods.shared.partition.candidate_cuts import flattened
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.information_gain import gains, most_telling
from sqlanon.methods.shared.partition.sizes import sizes
from sqlanon.methods.shared.partition.work_tables import Done, inserted, remade, rows_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, parameter, relation
from sqlanon.sql.build.repeated import repeated
from sqlanon.sql.build.steps import with_steps


class InTurn:
    """The statements of an attempt, each written once: the tables they read and make keep their names."""

    def __init__(self, engine: Engine, cuts: Cuts, points: str, scratch: Scratch, into: Done, *, strict: bool) -> None:
        self._engine = engine
        self._cuts = cuts
        self._points = points
        self._regions = scratch.name("regions")
        regions, medians, parts = self._regions, scratch.name("medians"), scratch.name("parts")
        gaining = cuts.points.target is not None
        self._choose: list[str] = []
        self._medians: str | None = None
        if gaining:
            gained = scratch.name("gained")
            self._choose = [
                remade(gained, gains(cuts, points, regions)),
                remade(regions, most_telling(cuts, regions, gained)),
            ]
            medians = regions
        elif strict:
            self._medians = remade(medians, cuts.medians(points, regions))
        divided = cuts.sides(points, regions, medians) if strict or gaining else cuts.even_sides(points, regions)
        self._sides = remade(points, divided)
        self._sorted = remade(points, divided.copy().order_by(column("label"), copy=False))
        self._parts = remade(parts, cuts.parts(points))
        following = [cuts.root(points), cuts.next_regions(regions, "half", "failing")]
        first, later = following if gaining else map(cuts.widest, following)
        steps = [("half", cuts.children(parts, forced=gaining)), *failing(cuts, points, "half")]
        engine.run(remade(regions, first))
        self._next = remade(regions, with_steps(later, steps))
        number = parameter(1)
        self._close = [
            inserted(into.regions, cuts.done(regions, number.copy())),
            inserted(into.points, cuts.done_points(points, regions, number.copy())),
        ]
        self._count = repeated(exp.select(f.count(), f.count(column("dim"))).from_(relation(regions)))
        self._sort_from = sizes().sort_from

    def choose(self) -> int:
        """Finds out in which attribute each region is tried next; returns how many regions are."""
        for text in self._choose:
            self._engine.run(text)
        self._all, self._open = map(int, self._engine.rows(self._count)[0])
        return self._open

    def close(self, first: int) -> int:
        """Puts aside the regions that are not tried any more, numbered from `first`; returns how many numbers it took.

        The regions that are still tried take numbers, too.
        """
        if self._all == self._open:
            return 0
        for text in self._close:
            self._engine.run(text, [first])
        return self._all

    def attempt(self) -> int:
        """Cuts, asks the requirements of the halves, and makes the next regions; returns how many points they have."""
        if self._medians:
            self._engine.run(self._medians)
        sides = self._sides
        if self._open >= self._sort_from:
            sides, self._sort_from = self._sorted, self._sort_from * sizes().sort_from
        points = rows_of(self._engine, sides)
        for text in (self._parts, self._next):
            self._engine.run(text)
        return points

    def flattened(self) -> int:
        """Labels the points with the numbers of their regions, from 0; returns how many regions there are."""
        self._engine.run(remade(self._points, flattened(self._cuts, self._points, self._regions)))
        return int(self._engine.rows(exp.select(f.count()).from_(relation(self._regions)))[0][0])
