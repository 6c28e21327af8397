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
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery
from sqlanon.sql.cells.cells import row_number


def bucket_numbers(points: str, draw: str) -> exp.Select:
    """SELECT of region, bucket, rows: the regions of the points, with their bucket numbers, which count from 1 in
    random order.
    """
    counted = select(column("region"), alias(total(column("n")), "rows"), of=relation(points))
    extend(counted, group_by=[column("region")])
    drawn = select(exp.Star(), alias(f.call(draw, 0), "draw"), of=subquery(counted, "counted"))
    number = window(f.row_number(), order=order_by(ascending(column("draw"))))
    return select(column("region"), alias(number, "bucket"), column("rows"), of=subquery(drawn, "drawn"))


def sizes(numbers: str) -> exp.Select:
    """SELECT of the number of buckets, and of the rows of the smallest and of the largest."""
    rows = column("rows")
    figures = (f.min(rows), f.max(rows))
    return select(f.count(), *map(or_zero, figures), of=relation(numbers))


def dealt_at_random(points: Points, cells: str, size: int, draw: str) -> exp.Select:
    """SELECT of slot, ranks and carried columns of every row: random slots of at least `size` rows.

    If there are fewer than `size` rows, there is one slot.
    """
    ranks = [alias(points.rank(index), rank_of(index)) for index in range(len(points.layout.fields))]
    return extend(_slotted(points.made(cells), size, draw), *ranks, *points.carried())


def rows_at_random(source: exp.Table, size: int, draw: str) -> exp.Select:
    """SELECT of slot, row: every row number of the source, in slots like those of `dealt_at_random`."""
    rows = select(alias(row_number(), "row"), of=named(source, "source"))
    return extend(_slotted(rows, size, draw), column("row"))


def _slotted(rows: exp.Select, size: int, draw: str) -> exp.Select:
    """SELECT of slot: the random slot of each of the rows; more of their columns can be selected."""
    drawn = select(exp.Star(), alias(f.call(draw, 0), "draw"), of=subquery(rows, "point"))
    number = window(f.row_number(), order=order_by(ascending(column("draw")))) - 1
    slots_there = f.greatest(literal(1), window(f.count()) // size)
    numbered = select(exp.Star(), alias(number, "number"), alias(slots_there, "slots"), of=subquery(drawn, "drawn"))
    return select(alias(big(column("number") % column("slots")), "slot"), of=subquery(numbered, "numbered"))


def slots(rows: str) -> exp.Select:
    """SELECT of slot, region, is_new: every slot as a region of its own, with the slot's number."""
    query = select(column("slot"), alias(column("slot"), "region"), alias(exp.true(), "is_new"))
    return extend(query, distinct=True, of=relation(rows))


def in_slots(points: Points, rows: str, slots: str, name: str, *, new: bool = False) -> exp.Select:
    """SELECT of the rows of `dealt_at_random`: their regions under this name, their ranks, and their carried columns.

    If `new`, only rows of new regions are selected.
    """
    names = [*map(rank_of, range(len(points.layout.fields))), *(part.alias for part in points.carried())]
    query = select(alias(column("region", "slot"), name), *(column(part, "row") for part in names))
    extend(query, of=relation(rows, as_="row"))
    extend(query, joins=[inner_join(relation(slots, as_="slot"), same("slot", "row", "slot"))])
    return extend(query, where=[column("is_new", "slot")]) if new else query


def points_by_number(rows: str, slots: str) -> exp.Select:
    """SELECT of region, row, n: each row of `rows_at_random`, as a point of its own."""
    query = select(column("region", "slot"), column("row", "row"), alias(literal(1), "n"), of=relation(rows, as_="row"))
    return extend(query, joins=[inner_join(relation(slots, as_="slot"), same("slot", "row", "slot"))])


def merged(slots: str, violating: str, level: int) -> exp.Select:
    """SELECT of the slots; if a region of a block violates, all slots of the block become one new region.

    A block of this level consists of two blocks of the level before: slots whose numbers differ only in the last
    `level` bits.
    """
    block = paren(infix(column("region", "slot"), ">>", level))
    hit = select(alias(block, "block"), distinct=True, of=relation(slots, as_="slot"))
    extend(hit, joins=[inner_join(relation(violating, as_="violating"), same("region", "slot", "violating"))])
    first = infix(paren(infix(column("slot", "slot"), ">>", level)), "<<", level)
    unhit = is_null(column("block", "hit"))
    region = if_(unhit, column("region", "slot"), first)
    query = select(
        column("slot", "slot"),
        alias(region, "region"),
        alias(exp.not_(unhit), "is_new"),
        of=relation(slots, as_="slot"),
    )
    on = paren(infix(column("slot", "slot"), ">>", level)).eq(column("block", "hit"))
    return extend(query, joins=[left_join(subquery(hit, "hit"), on)])
