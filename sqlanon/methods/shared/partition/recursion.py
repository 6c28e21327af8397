"""Mondrian's recursion, one level at a time for all regions (LeFevre et al. 2006).

An attempt cuts every open region in one attribute; the halves of the allowable cuts are the regions of the next
attempt, which tries another attribute of a region whose cut was not allowable. While many points are open, DuckDB cuts
them; the rest are cut in memory. Both ways yield the regions of the recursion, because these do not depend on the order
in which it visits them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

from sqlglot import exp

from sqlanon.domain.context import Adjustable
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.shared.partition.allowable_cuts import failing, flattened
from sqlanon.methods.shared.partition.cuts import Cuts
from sqlanon.methods.shared.partition.in_arrays import InArrays
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    integer,
    or_zero,
    real,
    union_all,
)
from sqlanon.sql.build.names import column, literal, parameter, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.render import RepeatedQuery, repeated
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.release.recode import high_name, low_name

# Temporary tables that each attempt makes again, under the same names.


@dataclass(frozen=True)
class Done:
    """The tables of finished regions, which are no longer cut, and of their points."""

    regions: str
    points: str


def remade(name: str, query: exp.Query) -> RepeatedQuery:
    """Returns the statement that makes a temporary table again from a query; the text is written once and run often.

    The query may read the table's former content.
    """
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return repeated(exp.Create(kind="TABLE", this=relation(name), expression=query, properties=temporary, replace=True))


def inserted(table: str, query: exp.Query) -> RepeatedQuery:
    return repeated(exp.insert(query, relation(table), copy=False))


def rows_of(engine: Engine, statement: str) -> int:
    """Runs a statement of `remade`; returns the number of the table's rows."""
    return int(engine.rows(statement)[0][0])


# The sizes that decide how a partition is cut.


@dataclass(frozen=True)
class Sizes:
    """Sizes that decide how a partition is cut.

    Points are cut in memory if at most `max_ranks_in_memory` ranks (points times attributes) are open. Cells with
    at least `min_rows_per_cell` rows on average are cut as they are; otherwise each row is a point. From `sort_from`
    open regions on, and again each time that their number is multiplied by it, points are sorted by region.
    """

    max_ranks_in_memory: int = 8_000_000
    min_rows_per_cell: int = 2
    sort_from: int = 1024


sizes = Adjustable(Sizes())


# The cut that gains most information about a target attribute (LeFevre et al. 2006, Workload-Aware Anonymization).


# n log2 n is a whole number of 2 ** -20: sums of it do not depend on the order of the rows.
GAIN_BITS = 20


def gains(cuts: Cuts, points: str, regions: str) -> exp.Query:
    """SELECT of region, dim, median, gain, width: for each region and attribute the cut of the greatest gain, if there
    is one; see sql/partition/gains.sql.
    """
    wide = cuts.with_widths(relation(regions))
    counted = union_all([_counted(cuts, points, wide, index) for index in cuts.attributes])
    numbers = ("below", "before", "above", "after", "lower", "upper")
    terms: dict[str, Any] = {f"of_{name}": _n_log_n(column(name)) for name in numbers}
    return query_file("partition", "gains", tables={"counted": counted}, least=cuts.least, **terms)


def most_telling(cuts: Cuts, regions: str, gained: str) -> exp.Query:
    """SELECT of the regions with `dim`, the attribute in which each region is cut, and the median (and `level`).

    `dim` is the attribute of the greatest gain; if several gains are equal, the widest attribute is taken, then the
    first. `gained` is a table of `gains`.
    """
    tables, names = {"regions": regions, "gained": gained}, {"columns": cuts.region_columns()}
    return cuts.with_level(query_file("partition", "most_telling", tables=tables, names=names))


def _counted(cuts: Cuts, points: str, wide: exp.Select, index: int) -> exp.Query:
    """SELECT of region, dim, width, value, target, n: the rows of each region by value of one attribute and by target.

    `index` is the attribute, and target the column about which cuts gain information.
    """
    text = """
        SELECT region, unnest(labels) AS label, {width} AS width, {bounds} FROM wide WHERE {width} IS NOT NULL
    """
    names = {"width": f"width_{index}", "bounds": [low_name(index), high_name(index)]}
    turn = filled_query(text, tables={"wide": wide.copy()}, names=names)
    respects = cuts.ancestors is not None and cuts.heights[index] > 1
    counted = filled_select(
        "SELECT FROM points AS point JOIN turn ON point.label = turn.label",
        tables={"points": points, "turn": cuts.with_level(turn, index) if respects else turn},
    )
    dim, value = integer(literal(index)), cuts.points.rank(index, "point")
    if respects:
        value = cuts.respecting(counted, dim, column("level", "turn"), value)
    group = [column("region", "turn"), column("width", "turn"), value, cuts.points.target_code("point")]
    text = """
        SELECT $group AS "{names}", $dim AS dim, sum($n) AS n
    """
    names = {"names": ["region", "width", "value", "target"]}
    figures = filled_select(text, names=names, group=group, dim=dim, n=cuts.points.n("point"))
    return extend(counted, *figures.selects, group_by=group)


def _n_log_n(number: exp.Expr) -> exp.Expr:
    """The SQL of n log2 n in units of 2 ** -GAIN_BITS; it is 0 for n = 0."""
    text = """
        CASE WHEN ($n) > 0 THEN CAST(round(CAST($n AS DOUBLE) * (ln(CAST($n AS DOUBLE)) / $ln_2) * $unit) AS HUGEINT)
        ELSE CAST(0 AS HUGEINT) END
    """
    return filled(text, n=number, ln_2=real(log(2)), unit=real(float(1 << GAIN_BITS)))


# Attempts that try each open region in one attribute: the widest, or the attribute of the greatest gain.


class InTurn:
    """The statements with which Mondrian tries one attribute of each open region in an attempt, each rendered once.

    The tables that they read and make keep their names.
    """

    def __init__(self, engine: Engine, cuts: Cuts, points: str, temp: TempTables, into: Done, *, strict: bool) -> None:
        self._engine = engine
        self._cuts = cuts
        self._points = points
        self._regions = temp.name("regions")
        regions, medians, parts = self._regions, temp.name("medians"), temp.name("parts")
        gaining = cuts.points.target is not None
        self._choose: list[str] = []
        self._medians: str | None = None
        if gaining:
            gained = temp.name("gained")
            self._choose = [
                remade(gained, gains(cuts, points, regions)),
                remade(regions, most_telling(cuts, regions, gained)),
            ]
            medians = regions
        elif strict:
            self._medians = remade(medians, cuts.medians(points, regions))
        divided = cuts.sides(points, regions, medians) if strict or gaining else cuts.even_sides(points, regions)
        self._sides = remade(points, divided)
        self._sorted = remade(points, extend(divided, order_by=[column("label")]))
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
        self._count = repeated(select(f.count(), f.count(column("dim")), of=relation(regions)))
        self._sort_from = sizes().sort_from

    def choose(self) -> int:
        """Chooses the attribute in which each open region is tried next; returns the number of these regions."""
        for text in self._choose:
            self._engine.run(text)
        self._all, self._open = map(int, self._engine.rows(self._count)[0])
        return self._open

    def close(self, first: int) -> int:
        """Stores the regions that are no longer tried, numbered from `first`; returns how many numbers were used.

        The regions that are still tried use numbers, too.
        """
        if self._all == self._open:
            return 0
        for text in self._close:
            self._engine.run(text, [first])
        return self._all

    def attempt(self) -> int:
        """Cuts each open region, checks the requirements of both halves, and makes the next regions.

        Returns the number of points that stay open.
        """
        if self._medians:
            self._engine.run(self._medians)
        sides = self._sides
        if self._open >= self._sort_from:
            sides, self._sort_from = self._sorted, self._sort_from * sizes().sort_from
        points = rows_of(self._engine, sides)
        for text in (self._parts, self._next):
            self._engine.run(text)
        return points

    def flatten(self) -> None:
        """Labels the points with the numbers of their regions, from 0."""
        self._engine.run(remade(self._points, flattened(self._cuts, self._points, self._regions)))


@dataclass(frozen=True)
class Partitioned:
    """The result: the tables `regions` (region, rows, spans) and `points` (region, ranks, carried columns, n).

    There are `count` regions of `smallest` to `largest` rows; `attempts` is the number of times that all open regions
    were cut.
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
    temp: TempTables,
    *,
    strict: bool,
    progress: Callable[[int, int], None] | None = None,
) -> Partitioned:
    """Divides the points into regions: cuts open regions until no cut is allowable.

    Cuts that are not `strict` divide equal points, which must be single rows.
    """
    whole = strict and cuts.points.target is None and cuts.ancestors is None
    done, attempts = 0, 0
    left = int(engine.rows(select(f.count(), of=relation(points)))[0][0])
    steps: InTurn | InArrays | None = None
    into: Done | None = None
    while True:
        if not isinstance(steps, InArrays) and whole and left * len(cuts.attributes) <= sizes().max_ranks_in_memory:
            if steps:
                steps.flatten()
            steps = InArrays(engine, cuts, points, temp)
        elif steps is None:
            into = Done(
                temp.growing_table("regions_done", cuts.no_regions()),
                temp.growing_table("points_done", cuts.no_points(points)),
            )
            steps = InTurn(engine, cuts, points, temp, into, strict=strict)
        open_ = steps.choose()
        done += steps.close(done)
        if progress:
            progress(done, open_)
        if not open_:
            into = _stored(engine, temp, steps, into)
            return Partitioned(into.regions, into.points, *_summary(engine, into.regions), attempts)
        left = steps.attempt()
        attempts += 1


def _stored(engine: Engine, temp: TempTables, steps: InTurn | InArrays, into: Done | None) -> Done:
    """Stores the regions that were cut in memory; returns the tables of all regions and of their points."""
    if isinstance(steps, InArrays):
        with steps.stored() as (regions, points):
            if into is None:
                return Done(temp.table("regions_done", regions), temp.table("points_done", points))
            engine.run(inserted(into.regions, regions))
            engine.run(inserted(into.points, points))
    assert into is not None
    return into


def _summary(engine: Engine, regions: str) -> tuple[int, int, int]:
    """Counts the regions, the rows of the smallest, and the rows of the largest; returns the three numbers."""
    rows = column("rows")
    figures = select(f.count(), or_zero(f.min(rows)), or_zero(f.max(rows)), of=relation(regions))
    count, smallest, largest = engine.rows(figures)[0]
    return int(count), int(smallest), int(largest)
