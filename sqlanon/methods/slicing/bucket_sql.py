"""Queries for buckets of rows: their random numbers, and rows that are assigned to buckets at random."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.methods.shared.partition.points import Points, rank_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    ascending,
    big,
    if_,
    infix,
    is_null,
    named,
    or_zero,
    order_by,
    paren,
    same,
    total,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.cells.cells import row_number


def bucket_numbers(points: str, draw: str) -> exp.Select:
    """SELECT of region, bucket, rows: the regions of the points, with bucket numbers from 1 in random order."""
    counted = exp.select(column("region"), alias(total(column("n")), "rows")).from_(relation(points))
    counted.group_by(column("region"), copy=False)
    drawn = exp.select(exp.Star(), alias(f.call(draw, 0), "draw")).from_(counted.subquery("counted"), copy=False)
    number = window(f.row_number(), order=order_by(ascending(column("draw"))))
    query = exp.select(column("region"), alias(number, "bucket"), column("rows"))
    return query.from_(drawn.subquery("drawn"), copy=False)


def sizes(numbers: str) -> exp.Select:
    """SELECT of the number of buckets, and of the rows of the smallest and of the largest."""
    rows = column("rows")
    figures = (f.min(rows), f.max(rows.copy()))
    return exp.select(f.count(), *map(or_zero, figures)).from_(relation(numbers))


def dealt_at_random(points: Points, cells: str, size: int, draw: str) -> exp.Select:
    """SELECT of slot, ranks and carried columns of every row: random slots of at least `size` rows.

    If there are fewer rows, there is one slot.
    """
    ranks = [alias(points.rank(index), rank_of(index)) for index in range(len(points.layout.fields))]
    return _slotted(points.made(cells), size, draw).select(*ranks, *points.carried(), copy=False)


def rows_at_random(source: exp.Table, size: int, draw: str) -> exp.Select:
    """SELECT of slot, row: every row number of the source, in slots like the slots of `dealt_at_random`."""
    rows = exp.select(alias(row_number(), "row")).from_(named(source, "source"), copy=False)
    return _slotted(rows, size, draw).select(column("row"), copy=False)


def _slotted(rows: exp.Select, size: int, draw: str) -> exp.Select:
    """SELECT of slot: the random slot of each of the rows; more of their columns can be selected."""
    drawn = exp.select(exp.Star(), alias(f.call(draw, 0), "draw")).from_(rows.subquery("point"), copy=False)
    number = window(f.row_number(), order=order_by(ascending(column("draw")))) - 1
    slots_there = f.greatest(literal(1), window(f.count()) // size)
    numbered = exp.select(exp.Star(), alias(number, "number"), alias(slots_there, "slots"))
    numbered.from_(drawn.subquery("drawn"), copy=False)
    query = exp.select(alias(big(column("number") % column("slots")), "slot"))
    return query.from_(numbered.subquery("numbered"), copy=False)


def slots(rows: str) -> exp.Select:
    """SELECT of slot, region, is_new: every slot as a region of its own, with the slot's number."""
    query = exp.select(column("slot"), alias(column("slot"), "region"), alias(exp.true(), "is_new"))
    return query.distinct(copy=False).from_(relation(rows))


def in_slots(points: Points, rows: str, slots: str, name: str, *, new: bool = False) -> exp.Select:
    """SELECT of the rows of `dealt_at_random`: their region under this name, ranks, and carried columns.

    With `new`, only rows of new regions.
    """
    names = [*map(rank_of, range(len(points.layout.fields))), *(part.alias for part in points.carried())]
    query = exp.select(alias(column("region", "slot"), name), *(column(part, "row") for part in names))
    query.from_(relation(rows, as_="row"), copy=False)
    query.join(relation(slots, as_="slot"), on=same("slot", "row", "slot"), copy=False)
    return query.where(column("is_new", "slot"), copy=False) if new else query


def points_by_number(rows: str, slots: str) -> exp.Select:
    """SELECT of region, row, n: each row of `rows_at_random`, as a point of its own."""
    query = exp.select(column("region", "slot"), column("row", "row"), alias(literal(1), "n"))
    query.from_(relation(rows, as_="row"), copy=False)
    return query.join(relation(slots, as_="slot"), on=same("slot", "row", "slot"), copy=False)


def merged(slots: str, violating: str, level: int) -> exp.Select:
    """SELECT of the slots; if a region of a block violates, all slots of the block become one new region.

    A block of this level consists of two blocks of the level before: slots whose numbers differ in the last `level`
    bits only.
    """
    block = paren(infix(column("region", "slot"), ">>", level))
    hit = exp.select(alias(block, "block")).distinct(copy=False).from_(relation(slots, as_="slot"))
    hit.join(relation(violating, as_="violating"), on=same("region", "slot", "violating"), copy=False)
    first = infix(paren(infix(column("slot", "slot"), ">>", level)), "<<", level)
    unhit = is_null(column("block", "hit"))
    region = if_(unhit, column("region", "slot"), first)
    query = exp.select(column("slot", "slot"), alias(region, "region"), alias(exp.not_(unhit.copy()), "is_new")).from_(
        relation(slots, as_="slot")
    )
    on = paren(infix(column("slot", "slot"), ">>", level)).eq(column("block", "hit"))
    return query.join(hit.subquery("hit"), on=on, join_type="LEFT", copy=False)
