"""Ranks an attribute's values and gives each a position, by value or depth first along the hierarchy."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    ascending,
    big,
    cast,
    if_,
    infix,
    integer,
    is_null,
    or_zero,
    order_by,
    paren,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select, subquery
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
    levels = range(1, bound.height)
    path = [column("value")] if by_value(bound) else [column(rank_name(i)) for i in reversed(range(bound.height))]
    # The order states the place of NULL: a session may have another default.
    order = order_by(*(ascending(part) for each in path for part in (is_null(each), each)))
    number = window(f.row_number(), order=order) - 1
    numbered = select(exp.Star(), alias(big(number), "rank"), of=relation(tree))
    firsts = []
    for level in levels:
        above = [column(rank_name(i)) for i in range(level, bound.height)]
        firsts.append(alias(window(f.min(column("rank")), partition_by=above), first_name(level)))
    columns = [column(name) for name in ("value", "n", "leaf")]
    leaves = [column(leaves_name(level)) for level in levels]
    return select(
        *columns,
        alias(column("rank"), rank_name(0)),
        alias(_position(bound), "position"),
        *firsts,
        *leaves,
        of=subquery(numbered, "numbered"),
    )


def _position(bound: BoundAttribute) -> exp.Expr:
    rank = cast(column("rank"), "DOUBLE")
    known = as_double(bound) if by_value(bound) else None
    if known is None:
        return rank
    least, most, count = (_over(function(this=known.copy())) for function in (exp.Min, exp.Max, exp.Count))
    mean = (most - least) / (count - 1)
    several = count > 1
    gap = if_(several, mean, 1)
    behind = most + gap
    position = f.coalesce(known, behind, exp.cast(literal(0), exp.DataType.Type.DOUBLE))
    # Infinities and NaN have no distance from other values; after the greatest number NULL would be infinite.
    spread = paren(paren(behind) - least)
    finite = f.coalesce(f.call("isfinite", spread), exp.true())
    always = _over(f.bool_and(f.call("isfinite", known)))
    # An infinite date or time has no rank either, because its number is NULL.
    numbered = count.eq(_over(f.count(column("value"))))
    sound = and_(finite, f.coalesce(always, exp.true()), numbered)
    return if_(sound, position, rank)


def _over(aggregate: exp.Expr) -> exp.Window:
    return window(aggregate)


def ranked_summary(table: str) -> exp.Select:
    """Returns one row: the number of values, their span, and whether positions equal the ranks plus an offset."""
    span = f.max(column("position")) - f.min(column("position"))
    first = subquery(select(f.min(column("position")), of=relation(table)))
    same = infix(column("position") - first, "=", cast(column(rank_name(0)), "DOUBLE"))
    plain = f.coalesce(f.bool_and(same), exp.true())
    return select(f.count(), or_zero(span), plain, of=relation(table))


def ancestors(tables: Sequence[str], heights: Sequence[int]) -> exp.Query | None:
    """Returns dim, level, rank, first: the first rank below each value's ancestor at inner levels; None if there are
    none.
    """
    parts: list[exp.Query] = []
    for index, (table, height) in enumerate(zip(tables, heights, strict=True)):
        for level in range(1, height):
            named = {"dim": literal(index), "level": literal(level), "rank": column(rank_name(0))}
            named |= {"first": column(first_name(level))}
            casts = [alias(integer(tree), name) for name, tree in named.items()]
            parts.append(select(*casts, of=relation(table)))
    return union_all(parts) if parts else None
