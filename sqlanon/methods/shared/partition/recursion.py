"""Mondrian's recursion, a level of it for all regions at a time (LeFevre et al. 2006).

An attempt cuts every region that is open; the halves of the cuts that stand are the
regions of the next. While many points are open, a region is tried in one attribute an
attempt, and comes back for the next if its cut does not stand. When few are left, all
attributes are tried at once, and an attempt is a level of the recursion. So the
regions are those of the recursion, whatever the order in which it visits them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Keep
from sqlanon.methods.shared.partition.all_dimensions import AtOnce
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.one_dimension import InTurn
from sqlanon.methods.shared.partition.sizes import sizes
from sqlanon.methods.shared.partition.work_tables import Done
from sqlanon.sqlgen.build.names import column, literal, relation

__all__ = ["Partitioned", "partition"]


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
    into = Done(keep("regions_done", cuts.no_regions()), keep("points_done", cuts.no_points(points)))
    whole = strict and cuts.points.target is None and cuts.ancestors is None
    done, attempts = 0, 0
    steps: InTurn | AtOnce | None = None
    while True:
        few = _held(engine, points) * len(cuts.attributes) <= sizes().max_ranks_at_once
        if not isinstance(steps, AtOnce) and whole and few:
            labels = steps.flattened() if steps else 1
            steps = AtOnce(engine, cuts, points, keep, into, labels)
        elif steps is None:
            steps = InTurn(engine, cuts, points, keep, into, strict=strict)
        open_ = steps.choose()
        done += steps.close(done)
        if progress:
            progress(done, open_)
        if not open_:
            return Partitioned(into.regions, into.points, *_summary(engine, into.regions), attempts)
        steps.attempt()
        attempts += 1


def _held(engine: Engine, points: str) -> int:
    return int(engine.rows(exp.select(exp.Count(this=exp.Star())).from_(relation(points)))[0][0])


def _summary(engine: Engine, regions: str) -> tuple[int, int, int]:
    """How many regions there are, the rows of the smallest and of the largest."""
    figures = exp.select(
        exp.Count(this=exp.Star()),
        *(exp.Coalesce(this=end(this=column("rows")), expressions=[literal(0)]) for end in (exp.Min, exp.Max)),
    )
    count, smallest, largest = engine.rows(figures.from_(relation(regions)))[0]
    return int(count), int(smallest), int(largest)
