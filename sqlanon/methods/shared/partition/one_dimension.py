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
from sqlanon.methods.shared.partition.work_tables import Done, inserted, put_in_place, remade
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.names import column, literal, parameter, relation
from sqlanon.sqlgen.build.render import to_sql

__all__ = ["InTurn"]


class InTurn:
    """The statements of an attempt, each written once: the tables they read and make keep their names."""

    def __init__(self, engine: Engine, cuts: Cuts, points: str, scratch: Scratch, into: Done, *, strict: bool) -> None:
        self._engine = engine
        self._cuts = cuts
        self._gaining = cuts.points.target is not None
        regions = scratch.table("regions", cuts.root(points))
        self._now = {"points": points, "regions": regions}
        # Each attempt replaces these tables; until the first one they are empty and only take the names.
        nothing = exp.select(literal(0))
        self._names = {
            name: scratch.table(name, nothing.copy())
            for name in ("gained", "attempts", "medians", "sides", "parts", "children", "failing", "next")
        }
        names = self._names
        attempts, sides, children = names["attempts"], names["sides"], names["children"]
        chosen = most_telling(cuts, regions, names["gained"]) if self._gaining else cuts.widest(regions)
        choose: list[tuple[str, exp.Query]] = [("attempts", chosen)]
        if self._gaining:
            choose.insert(0, ("gained", gains(cuts, points, regions)))
        attempt: list[tuple[str, exp.Query]] = []
        if self._gaining:
            medians = exp.select(column("region"), column("median")).from_(relation(attempts)).distinct()
            attempt.append(("medians", medians))
        elif strict:
            attempt.append(("medians", cuts.medians(points, attempts)))
        moved = (
            cuts.sides(points, attempts, names["medians"])
            if strict or self._gaining
            else cuts.even_sides(points, attempts)
        )
        attempt += [
            ("sides", moved),
            ("parts", cuts.parts(sides)),
            ("children", cuts.children(names["parts"], forced=self._gaining)),
            ("failing", failing(cuts, sides, children)),
            ("next", cuts.next_regions(regions, attempts, children, names["failing"])),
        ]
        first = parameter(1)
        self._close = [
            inserted(into.regions, cuts.done(regions, attempts, first.copy())),
            inserted(into.points, cuts.done_points(points, regions, attempts, first.copy())),
        ]
        every_region = exp.select(f.count()).from_(relation(regions))
        tried = exp.select(f.count_distinct(column("region"))).from_(relation(attempts))
        self._count = to_sql(exp.select(every_region.subquery(), tried.subquery()))
        self._choose = [remade(names[name], query) for name, query in choose]
        self._attempt = [(name, remade(names[name], query)) for name, query in attempt]
        ordered = moved.copy().order_by(column("label"), copy=False)
        self._sorted = remade(sides, ordered)
        self._sort_from = sizes().sort_from

    def choose(self) -> int:
        """Finds out in which attribute each region is tried next; returns how many regions are."""
        for text in self._choose:
            self._engine.run(text)
        self._regions, self._open = map(int, self._engine.rows(self._count)[0])
        return self._open

    def close(self, first: int) -> int:
        """Puts aside the regions that are not tried any more, numbered from `first`; returns how many numbers it took.

        The regions that are still tried take numbers, too.
        """
        if self._regions == self._open:
            return 0
        for text in self._close:
            self._engine.run(text, [first])
        return self._regions

    def attempt(self) -> None:
        """Cuts, asks the requirements of the halves, and makes the regions of the next attempt."""
        for name, text in self._attempt:
            if name == "sides" and self._open >= self._sort_from:
                text, self._sort_from = self._sorted, self._sort_from * sizes().sort_from
            self._engine.run(text)
        for current, following in (("points", "sides"), ("regions", "next")):
            put_in_place(self._engine, self._now[current], self._names[following])

    def flattened(self) -> int:
        """Labels the points with the numbers of their regions, from 0; returns how many regions there are."""
        points, regions = self._now["points"], self._now["regions"]
        self._engine.run(remade(self._names["sides"], flattened(self._cuts, points, regions)))
        put_in_place(self._engine, points, self._names["sides"])
        return int(self._engine.rows(exp.select(f.count()).from_(relation(regions)))[0][0])
