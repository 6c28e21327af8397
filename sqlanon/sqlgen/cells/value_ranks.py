"""The values of an attribute in their order, each with its rank and its position.

The order is that of the values, or along the hierarchy, depth first.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.hierarchies.base import builder, functional
from sqlanon.sqlgen.build.expressions import union_all
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.cells.cells import leaves_name, rank_name

__all__ = ["ancestors", "by_value", "first_name", "is_number", "is_numeric", "ranked", "ranked_summary"]

_DOUBLE = exp.DataType.build("DOUBLE")

_INTEGER = exp.DataType.build("INTEGER")

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "REAL", "DECIMAL")


def first_name(level: int) -> str:
    """The column of the ranked values with the first rank below a value's ancestor at this level."""
    return f"first_{level}"


def by_value(bound: BoundAttribute) -> bool:
    """Whether the order of the ranks is that of the values; else it is that of the hierarchy."""
    if bound.hierarchy is None:
        return True
    return not builder(bound.hierarchy.kind).STORED and functional(bound.hierarchy.kind).KEEPS_ORDER


def is_numeric(bound: BoundAttribute) -> bool:
    """Whether values have a distance: numbers and times in the order of their values."""
    return by_value(bound) and _as_double(bound) is not None


def is_number(bound: BoundAttribute) -> bool:
    """Whether values are numbers."""
    return bound.published_type.upper().removeprefix("U").partition("(")[0] in _NUMBERS


def _as_double(bound: BoundAttribute) -> exp.Expr | None:
    """A value as a number, days or seconds; None for what is neither a number nor a time."""
    kind = bound.published_type.upper()
    value = column("value")
    if kind == "DATE":
        start = exp.cast(exp.Literal.string("1970-01-01"), exp.DataType.Type.DATE)
        days = exp.Anonymous(this="date_diff", expressions=[exp.Literal.string("day"), start, value])
        return exp.Cast(this=days, to=_DOUBLE.copy())
    if kind.startswith("TIMESTAMP"):
        return exp.Anonymous(this="epoch", expressions=[value])
    if is_number(bound):
        return exp.Cast(this=value, to=_DOUBLE.copy())
    return None


def ranked(bound: BoundAttribute, tree: str) -> exp.Select:
    """An attribute's values in their order: value, n, leaf, rank_0, position, and first_i and leaves_i a level.

    `tree` is the table of `cells.tree`; rank_0 counts from 0. NULL, where no hierarchy
    places it, is last. `position` is the value as a number where values have a distance
    (a date in days), else the rank; NULL then stands behind the greatest value at the
    mean distance of neighbours. first_i is the first rank below the value's ancestor at
    level i.
    """
    levels = range(1, bound.height)
    path = [column("value")] if by_value(bound) else [column(rank_name(i)) for i in reversed(range(bound.height))]
    # Where NULL stands is said in so many words: a session may have an order of its own.
    order = exp.Order(
        expressions=[
            exp.Ordered(this=part, nulls_first=False)
            for each in path
            for part in (exp.Is(this=each.copy(), expression=exp.Null()), each)
        ]
    )
    number = exp.Sub(this=exp.Window(this=exp.RowNumber(), order=order), expression=literal(1))
    numbered = exp.select(exp.Star(), alias(exp.Cast(this=number, to=exp.DataType.build("BIGINT")), "rank")).from_(
        relation(tree)
    )
    firsts = []
    for level in levels:
        above = [column(rank_name(i)) for i in range(level, bound.height)]
        firsts.append(alias(exp.Window(this=exp.Min(this=column("rank")), partition_by=above), first_name(level)))
    kept = [column(name) for name in ("value", "n", "leaf")]
    leaves = [column(leaves_name(level)) for level in levels]
    return exp.select(
        *kept, alias(column("rank"), rank_name(0)), alias(_position(bound), "position"), *firsts, *leaves
    ).from_(numbered.subquery("numbered"), copy=False)


def _position(bound: BoundAttribute) -> exp.Expr:
    rank = exp.Cast(this=column("rank"), to=_DOUBLE.copy())
    known = _as_double(bound) if by_value(bound) else None
    if known is None:
        return rank
    least, most, count = (_over(function(this=known.copy())) for function in (exp.Min, exp.Max, exp.Count))
    mean = exp.Div(
        this=exp.Paren(this=exp.Sub(this=most.copy(), expression=least.copy())),
        expression=exp.Paren(this=exp.Sub(this=count.copy(), expression=literal(1))),
    )
    several = exp.GT(this=count.copy(), expression=literal(1))
    gap = exp.Case(ifs=[exp.If(this=several, true=mean)], default=literal(1))
    behind = exp.Add(this=most.copy(), expression=gap)
    position = exp.Coalesce(this=known, expressions=[behind, exp.cast(literal(0), exp.DataType.Type.DOUBLE)])
    # Infinities and numbers that are none have no distance from others.
    spread = exp.Paren(this=exp.Sub(this=most.copy(), expression=least.copy()))
    finite = exp.Coalesce(this=exp.Anonymous(this="isfinite", expressions=[spread]), expressions=[exp.true()])
    every = _over(exp.LogicalAnd(this=exp.Anonymous(this="isfinite", expressions=[known.copy()])))
    # Nor has a date or a time that is infinite: its number is NULL.
    numbered = exp.EQ(this=count.copy(), expression=_over(exp.Count(this=column("value"))))
    sound = exp.and_(finite, exp.Coalesce(this=every, expressions=[exp.true()]), numbered)
    return exp.Case(ifs=[exp.If(this=sound, true=position)], default=rank)


def _over(aggregate: exp.Expr) -> exp.Window:
    return exp.Window(this=aggregate)


def ranked_summary(table: str) -> exp.Select:
    """One row: how many values, how far the last is from the first, and whether positions are ranks and an offset."""
    span = exp.Sub(this=exp.Max(this=column("position")), expression=exp.Min(this=column("position")))
    first = exp.select(exp.Min(this=column("position"))).from_(relation(table)).subquery()
    same = exp.EQ(
        this=exp.Sub(this=column("position"), expression=first),
        expression=exp.Cast(this=column(rank_name(0)), to=_DOUBLE.copy()),
    )
    plain = exp.Coalesce(this=exp.LogicalAnd(this=same), expressions=[exp.true()])
    return exp.select(exp.Count(this=exp.Star()), exp.Coalesce(this=span, expressions=[literal(0)]), plain).from_(
        relation(table)
    )


def ancestors(tables: Sequence[str], heights: Sequence[int]) -> exp.Query | None:
    """dim, level, rank, first: the first rank below each value's ancestor at each inner level; None without any."""
    parts: list[exp.Query] = []
    for place, (table, height) in enumerate(zip(tables, heights, strict=True)):
        for level in range(1, height):
            named = {"dim": literal(place), "level": literal(level), "rank": column(rank_name(0))}
            named |= {"first": column(first_name(level))}
            casts = [alias(exp.Cast(this=tree, to=_INTEGER.copy()), name) for name, tree in named.items()]
            parts.append(exp.select(*casts).from_(relation(table)))
    return union_all(parts) if parts else None
