"""Queries of parts that nothing else uses: sqlglot's own builders copy the whole query at each of their steps."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp


def select(
    *outputs: exp.Expr,
    of: exp.Table | exp.Subquery,
    joins: Sequence[exp.Join] = (),
    where: Sequence[exp.Expr] = (),
    group_by: Sequence[exp.Expr] = (),
    having: exp.Expr | None = None,
    distinct: bool = False,
) -> exp.Select:
    """The outputs of a relation and those joined with it, where all conditions hold."""
    query = exp.Select(expressions=list(outputs), from_=exp.From(this=of))
    if joins:
        query.set("joins", list(joins))
    if where:
        query.set("where", exp.Where(this=exp.and_(*where, copy=False)))
    if group_by:
        query.set("group", exp.Group(expressions=list(group_by)))
    if having is not None:
        query.set("having", exp.Having(this=having))
    if distinct:
        query.set("distinct", exp.Distinct())
    return query


def inner_join(table: exp.Table | exp.Subquery, on: exp.Expr) -> exp.Join:
    """With all pairs of rows for which the condition is true."""
    return exp.Join(this=table, on=on)


def left_join(table: exp.Table | exp.Subquery, on: exp.Expr) -> exp.Join:
    """The same, and with NULLs for a row before that is in none."""
    return exp.Join(this=table, side="LEFT", on=on)


def cross_join(table: exp.Table | exp.Subquery) -> exp.Join:
    """With all pairs of rows."""
    return exp.Join(this=table, kind="CROSS")


def semi_join(table: exp.Table | exp.Subquery, on: exp.Expr) -> exp.Join:
    """The rows before for which some row of the table makes the condition true."""
    return exp.Join(this=table, kind="SEMI", on=on)


def anti_join(table: exp.Table | exp.Subquery, on: exp.Expr) -> exp.Join:
    """The rows before for which no row of the table does."""
    return exp.Join(this=table, kind="ANTI", on=on)
