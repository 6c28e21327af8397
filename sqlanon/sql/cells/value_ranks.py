"""Ranks an attribute's values and gives each a position, by value or depth first along the hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    cast,
    union_all,
)
from sqlanon.sql.build.names import column
from sqlanon.sql.build.sql_files import Names, filled, filled_query, query_file, select_file, sql_file
from sqlanon.sql.cells.cells import leaves_name, rank_name
from sqlanon.sql.hierarchies.base import builder, functional

_DOUBLE = exp.DataType.build("DOUBLE")

_INTEGER = exp.DataType.build("INTEGER")

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "REAL", "DECIMAL")


def first_name(level: int) -> str:
    """Returns the name of the column with the first rank below a value's ancestor at a level."""
    return f"first_{level}"


def by_value(bound: BoundAttribute) -> bool:
    """Whether values are ranked in their own order instead of along the hierarchy."""
    if bound.hierarchy is None:
        return True
    return not builder(bound.hierarchy.kind).STORED and functional(bound.hierarchy.kind).KEEPS_ORDER


def is_numeric(bound: BoundAttribute) -> bool:
    """Whether values have a distance: numbers and times that are ranked in their own order."""
    return by_value(bound) and as_double(bound) is not None


def is_number(bound: BoundAttribute) -> bool:
    """Whether values are numbers."""
    return bound.published_type.upper().removeprefix("U").partition("(")[0] in _NUMBERS


def as_double(bound: BoundAttribute) -> exp.Expr | None:
    """Converts a value to DOUBLE, as a number, days or seconds; None for another type."""
    kind = bound.published_type.upper()
    value = column("value")
    if kind == "DATE":
        start = exp.cast(exp.Literal.string("1970-01-01"), exp.DataType.Type.DATE)
        days = f.call("date_diff", exp.Literal.string("day"), start, value)
        return cast(days, "DOUBLE")
    if kind.startswith("TIMESTAMP"):
        return f.call("epoch", value)
    if is_number(bound):
        return cast(value, "DOUBLE")
    return None


def ranked(bound: BoundAttribute, tree: str) -> exp.Select:
    """Returns an attribute's values in order: value, n, leaf, rank_0, position, and first_i and leaves_i by level.

    `tree` is the table of `cells.tree`; rank_0 counts from 0. NULL is last unless a hierarchy places it. If values have
    a distance, `position` is the value as a number (a date in days), and NULL comes after the greatest value, at the
    mean distance of neighbors; otherwise it is the rank. first_i is the first rank below the value's ancestor at level
    i.
    """
    path = ["value"] if by_value(bound) else [rank_name(i) for i in reversed(range(bound.height))]
    # The order states the place of NULL: a session may have another default.
    order = [part for name in path for part in (filled("{name} IS NULL", names={"name": name}), column(name))]
    levels = range(1, bound.height)
    text = 'min(rank) OVER (PARTITION BY {above}) AS "{first}"'
    above = {level: [rank_name(i) for i in range(level, bound.height)] for level in levels}
    firsts = [filled(text, names={"above": above[level], "first": first_name(level)}) for level in levels]
    names: Names = {"order": order, "firsts": firsts, "leaves": [*map(leaves_name, levels)], "tree": tree}
    return select_file("cell_keys", "ranked", names=names, position=_position(bound))


def _position(bound: BoundAttribute) -> exp.Expr:
    known = as_double(bound) if by_value(bound) else None
    if known is None:
        return cast(column("rank"), "DOUBLE")
    gap = filled(_GAP, known=known)
    return filled(sql_file("hierarchies", "position"), known=known, gap=gap)


_GAP = """CASE WHEN count($known) OVER () > 1
    THEN (max($known) OVER () - min($known) OVER ()) / (count($known) OVER () - 1) ELSE 1 END"""


@dataclass(frozen=True)
class RankedSummary:
    """A summary of an attribute's ranked values: their number, and the distance from the first to the last.

    `plain` is whether the positions equal the ranks plus an offset, `leaves` the number of all values below the root,
    and `null` the rank of NULL, which is None if no value is NULL.
    """

    count: int = 0
    span: float = 0.0
    plain: bool = True
    leaves: int = 0
    null: int | None = None


def ranked_summaries(tables: Sequence[str]) -> exp.Query:
    """SELECT of number, and the fields of `RankedSummary`, a row for each table of `ranked` that has rows.

    All tables are read by one query, because planning a query takes longer than reading such a table.
    """
    text = "SELECT $index AS number, rank_0, position, leaf, value IS NULL AS is_null FROM ranked"
    each = [filled_query(text, tables={"ranked": table}, index=index) for index, table in enumerate(tables)]
    return query_file("cell_keys", "ranked_summaries", tables={"ranked": union_all(each)})


def ancestors(tables: Sequence[str], heights: Sequence[int]) -> exp.Query | None:
    """Returns dim, level, rank, first: the first rank below each value's ancestor at inner levels; None if there are
    none.
    """
    query = """SELECT $dim::INTEGER AS dim, $level::INTEGER AS level, rank_0::INTEGER AS rank,
        {first}::INTEGER AS first FROM ranked"""
    parts = [
        filled_query(query, tables={"ranked": table}, names={"first": first_name(level)}, dim=index, level=level)
        for index, (table, height) in enumerate(zip(tables, heights, strict=True))
        for level in range(1, height)
    ]
    return union_all(parts) if parts else None
