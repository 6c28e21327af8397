"""Queries for buckets of rows: their random numbers, and rows that are assigned to buckets at random."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.shared.partition.points import Points, rank_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.build.sql_files import filled_query, query_file


def bucket_numbers(points: str, draw: str) -> exp.Query:
    """SELECT of region, bucket, rows: the regions of the points, with their bucket numbers, which count from 1 in
    random order.
    """
    return query_file("slicing", "bucket_numbers", tables={"points": points}, draw=f.call(draw, 0))


def sizes(numbers: str) -> exp.Query:
    """SELECT of the number of buckets, and of the rows of the smallest and of the largest."""
    text = "SELECT count(*), coalesce(min(rows), 0), coalesce(max(rows), 0) FROM numbers"
    return filled_query(text, tables={"numbers": numbers})


def dealt_at_random(points: Points, cells: str, size: int, draw: str) -> exp.Query:
    """SELECT of slot, ranks and carried columns of every row: rows assigned at random to slots of at least `size` rows.

    If there are fewer than `size` rows, there is one slot.
    """
    ranks = [alias(points.rank(index), rank_of(index)) for index in range(len(points.layout.fields))]
    return _slotted(points.made(cells), size, draw, [*ranks, *points.carried()])


def rows_at_random(source: exp.Table, size: int, draw: str) -> exp.Query:
    """SELECT of slot, row: every row number of the source, assigned at random to slots of at least `size` rows."""
    rows = filled_query("SELECT source.rowid AS row FROM source", tables={"source": source})
    return _slotted(rows, size, draw, [column("row")])


def _slotted(rows: exp.Query, size: int, draw: str, columns: Sequence[exp.Expr]) -> exp.Query:
    """SELECT of slot and these columns of the rows, each row in a random slot of at least `size` rows."""
    tables = {"point": rows}
    return query_file("slicing", "slotted", tables=tables, size=size, draw=f.call(draw, 0), columns=columns)


def slots(rows: str) -> exp.Query:
    """SELECT of slot, region, is_new: each slot of rows as a region of its own, whose number is the slot's."""
    text = "SELECT DISTINCT slot, slot AS region, TRUE AS is_new FROM rows"
    return filled_query(text, tables={"rows": rows})


def in_slots(points: Points, rows: str, slots: str, name: str, *, new: bool = False) -> exp.Query:
    """SELECT of the region, the ranks and the carried columns of rows in slots; the region's column is called `name`.

    `rows` is the table of `dealt_at_random`, and `slots` maps a slot to its region. If `new`, only rows of new regions
    are selected.
    """
    text = """
        SELECT slot.region AS "{name}", {row.columns} FROM rows AS row
        JOIN slots AS slot ON row.slot = slot.slot
        WHERE {slot.new}
    """
    columns = [*map(rank_of, range(len(points.layout.fields))), *(part.alias for part in points.carried())]
    names = {"name": name, "columns": columns, "new": ["is_new"] if new else []}
    return filled_query(text, tables={"rows": rows, "slots": slots}, names=names)


def points_by_number(rows: str, slots: str) -> exp.Query:
    """SELECT of region, row, n: each row of `rows_at_random` as a point of its own, in the region of its slot."""
    text = "SELECT slot.region, row.row, 1 AS n FROM rows AS row JOIN slots AS slot ON row.slot = slot.slot"
    return filled_query(text, tables={"rows": rows, "slots": slots})


def merged(slots: str, violating: str, level: int) -> exp.Query:
    """SELECT of the slots; if a region of a block violates, all slots of the block become one new region.

    A block of this level consists of two blocks of the level before; see sql/slicing/merged.sql.
    """
    return query_file("slicing", "merged", tables={"slots": slots, "violating": violating}, level=level)
