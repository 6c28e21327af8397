"""Mondrian's recursion, a level of it for all regions at a time (LeFevre et al. 2006).

An attempt cuts every region that is open in the attribute whose turn it is. The halves
of the cuts that stand are the regions of the next attempt; a region whose cut does not
stand has its turn with another attribute, until none is left. So the regions are those
of the recursion, whatever the order in which it visits them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.search.rollup import Keep
from sqlanon.sqlgen.cuts import Cuts
from sqlanon.sqlgen.gain import gains, most_telling
from sqlanon.sqlgen.halves import failing
from sqlanon.sqlgen.names import column, literal, parameter, relation
from sqlanon.sqlgen.render import to_sql

__all__ = ["Partitioned", "partition"]


# With so many open regions, and each time that there are so many times more, points are put in the order of their
# regions: what is grouped then lies together.
_SORT_FROM = 1024


@dataclass(frozen=True)
class Partitioned:
    """The tables `regions` (region, rows, spans) and `points` (region, ranks, what they carry, n).

    `count` regions have from `smallest` to `largest` rows; `attempts` is how often
    all that were open were cut.
    """

    regions: str
    points: str
    count: int
    smallest: int
    largest: int
    attempts: int


def partition(
    engine: Engine,
    cuts: Cuts,
    points: str,
    keep: Keep,
    *,
    strict: bool,
    progress: Callable[[int, int], None] | None = None,
) -> Partitioned:
    """Cuts until no cut stands. Cuts that are not `strict` divide equal points, which have to be single rows."""
    steps = _Steps(engine, cuts, points, keep, strict=strict)
    done, attempts = 0, 0
    while True:
        open_ = steps.choose()
        done += steps.close(done)
        if progress:
            progress(done, open_)
        if not open_:
            return Partitioned(steps.regions_done, steps.points_done, *steps.summary(), attempts)
        steps.attempt()
        attempts += 1


class _Steps:
    """The statements of an attempt, each written once: the tables they read and make keep their names."""

    def __init__(self, engine: Engine, cuts: Cuts, points: str, keep: Keep, *, strict: bool) -> None:
        self._engine = engine
        self._gaining = cuts.points.target is not None
        regions = keep("regions", cuts.root(points))
        self._now = {"points": points, "regions": regions}
        # Made, and dropped, once an attempt; the empty tables only hold the names until then.
        nothing = exp.select(literal(0))
        self._names = {
            name: keep(name, nothing.copy())
            for name in ("gained", "attempts", "medians", "sides", "parts", "children", "failing", "next")
        }
        names = self._names
        attempts, sides, children = names["attempts"], names["sides"], names["children"]
        chosen = most_telling(cuts, regions, names["gained"]) if self._gaining else cuts.widest(regions)
        self._choose: list[tuple[str, exp.Query]] = [("attempts", chosen)]
        if self._gaining:
            self._choose.insert(0, ("gained", gains(cuts, points, regions)))
        self._attempt: list[tuple[str, exp.Query]] = []
        if self._gaining:
            medians = exp.select(column("region"), column("median")).from_(relation(attempts)).distinct()
            self._attempt.append(("medians", medians))
        elif strict:
            self._attempt.append(("medians", cuts.medians(points, attempts)))
        moved = (
            cuts.sides(points, attempts, names["medians"])
            if strict or self._gaining
            else cuts.even_sides(points, attempts)
        )
        self._attempt += [
            ("sides", moved),
            ("parts", cuts.parts(sides)),
            ("children", cuts.children(names["parts"], forced=self._gaining)),
            ("failing", failing(cuts, sides, children)),
            ("next", cuts.next_regions(regions, attempts, children, names["failing"])),
        ]
        first = parameter(1)
        self.regions_done = keep("regions_done", _none_of(cuts.done(regions, attempts, literal(0))))
        self.points_done = keep("points_done", _none_of(cuts.done_points(points, regions, attempts, literal(0))))
        self._close = [
            to_sql(exp.Insert(this=relation(self.regions_done), expression=cuts.done(regions, attempts, first.copy()))),
            to_sql(
                exp.Insert(
                    this=relation(self.points_done),
                    expression=cuts.done_points(points, regions, attempts, first.copy()),
                )
            ),
        ]
        held = exp.select(exp.Count(this=exp.Star())).from_(relation(regions))
        tried = exp.select(exp.Count(this=exp.Distinct(expressions=[column("region")])))
        self._count = to_sql(exp.select(held.subquery(), tried.from_(relation(attempts)).subquery()))
        self._made = {name: self._create(name, query) for name, query in (*self._choose, *self._attempt)}
        ordered = moved.copy().order_by(column("label"), copy=False)
        self._sorted = self._create("sides", ordered)
        self._sort_from = _SORT_FROM

    def _create(self, name: str, query: exp.Query) -> str:
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        made = exp.Create(
            kind="TABLE", this=relation(self._names[name]), expression=query, properties=temporary, replace=True
        )
        return to_sql(made)

    def choose(self) -> int:
        """Says in which attribute each region is tried next; returns how many regions are."""
        for name, _ in self._choose:
            self._engine.run(self._made[name])
        self._held, self._open = map(int, self._engine.rows(self._count)[0])
        return self._open

    def close(self, first: int) -> int:
        """Puts those that are not tried any more aside, numbered from `first`; returns how many regions were held."""
        if self._held == self._open:
            return 0
        for text in self._close:
            self._engine.run(text, [first])
        return self._held

    def attempt(self) -> None:
        """Cuts, asks the requirements of the halves, and makes the regions of the next attempt."""
        for name, _ in self._attempt:
            text = self._made[name]
            if name == "sides" and self._open >= self._sort_from:
                text, self._sort_from = self._sorted, self._sort_from * _SORT_FROM
            self._engine.run(text)
        for kept, made in (("points", "sides"), ("regions", "next")):
            old, new = self._now[kept], self._names[made]
            self._engine.run(exp.Drop(kind="TABLE", tables=[relation(old)]))
            self._engine.run(exp.Alter(kind="TABLE", this=relation(new), actions=[exp.AlterRename(this=relation(old))]))

    def summary(self) -> tuple[int, int, int]:
        """How many regions there are, the rows of the smallest and of the largest."""
        figures = exp.select(
            exp.Count(this=exp.Star()),
            *(exp.Coalesce(this=end(this=column("rows")), expressions=[literal(0)]) for end in (exp.Min, exp.Max)),
        )
        count, smallest, largest = self._engine.rows(figures.from_(relation(self.regions_done)))[0]
        return int(count), int(smallest), int(largest)


def _none_of(query: exp.Select) -> exp.Select:
    return query.where(exp.false(), copy=False)
