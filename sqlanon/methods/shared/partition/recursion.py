"""Mondrian's recursion, a level of it for all regions at a time (LeFevre et al. 2006).

An attempt cuts every region that is open; the halves of the allowable cuts are the
regions of the next. While many points are open, each attempt tries a region in one
attribute, and the next attempt tries another if that cut was not allowable. When few are
left, all attributes are tried at once, and an attempt is a level of the recursion. So the
regions are those of the recursion, whatever the order in which it visits them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.shared.partition.all_dimensions import AtOnce
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.one_dimension import InTurn
from sqlanon.methods.shared.partition.sizes import sizes
from sqlanon.methods.shared.partition.work_tables import Done
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import or_zero
from sqlanon.sql.build.names import column, relation


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
    scratch: Scratch,
    *,
    strict: bool,
    progress: Callable[[int, int], None] | None = None,
) -> Partitioned:
    """Cuts until no cut is allowable. Cuts that are not `strict` divide equal points, which have to be single rows."""
    into = Done(
        scratch.growing_table("regions_done", cuts.no_regions()),
        scratch.growing_table("points_done", cuts.no_points(points)),
    )
    whole = strict and cuts.points.target is None and cuts.ancestors is None
    done, attempts = 0, 0
    left = int(engine.rows(exp.select(f.count()).from_(relation(points)))[0][0])
    steps: InTurn | AtOnce | None = None
    while True:
        if not isinstance(steps, AtOnce) and whole and left * len(cuts.attributes) <= sizes().max_ranks_at_once:
            labels = steps.flattened() if steps else 1
            steps = AtOnce(engine, cuts, points, scratch, into, labels)
        elif steps is None:
            steps = InTurn(engine, cuts, points, scratch, into, strict=strict)
        open_ = steps.choose()
        done += steps.close(done)
        if progress:
            progress(done, open_)
        if not open_:
            return Partitioned(into.regions, into.points, *_summary(engine, into.regions), attempts)
        left = steps.attempt()
        attempts += 1


def _summary(engine: Engine, regions: str) -> tuple[int, int, int]:
    """How many regions there are, the rows of the smallest and of the largest."""
    rows = column("rows")
    figures = exp.select(f.count(), or_zero(f.min(rows)), or_zero(f.max(rows.copy()))).from_(relation(regions))
    count, smallest, largest = engine.rows(figures)[0]
    return int(count), int(smallest), int(largest)
