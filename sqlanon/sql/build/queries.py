"""Builds queries: SELECT with its clauses, joins and subqueries.

sqlglot's own methods copy the whole query at each step. `select` builds a query at once, and `extend` adds to it in
place. Both copy an argument that is in a tree already.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from sqlglot import exp

from sqlanon.sql.build.names import argument, free, free_all

_Query = TypeVar("_Query", bound=exp.Query)


def select(
    *outputs: exp.Expr,
    of: exp.Expr | None = None,
    joins: Iterable[exp.Join] = (),
    where: Iterable[exp.Expr | None] = (),
    group_by: Iterable[exp.Expr] = (),
    having: exp.Expr | None = None,
    qualify: exp.Expr | None = None,
    order_by: Iterable[exp.Expr] = (),
    limit: Any = None,
    distinct: bool = False,
) -> exp.Select:
    """Returns a SELECT of outputs from a relation and its joins, with all conditions; the result is a new query."""
    return extend(
        exp.Select(),
        *outputs,
        of=of,
        joins=joins,
        where=where,
        group_by=group_by,
        having=having,
        qualify=qualify,
        order_by=order_by,
        limit=limit,
        distinct=distinct,
    )


def extend(
    query: _Query,
    *outputs: exp.Expr,
    of: exp.Expr | None = None,
    joins: Iterable[exp.Join] = (),
    where: Iterable[exp.Expr | None] = (),
    group_by: Iterable[exp.Expr] = (),
    having: exp.Expr | None = None,
    qualify: exp.Expr | None = None,
    order_by: Iterable[exp.Expr] = (),
    limit: Any = None,
    distinct: bool = False,
) -> _Query:
    """Adds outputs, joins, conditions, keys and sort keys to a query in place, sets its other clauses, and returns it.

    A condition is joined by AND with the query's existing conditions.
    """
    _append(query, "expressions", outputs)
    if of is not None:
        query.set("from_", exp.From(this=free(of)))
    _append(query, "joins", joins)
    conditions = [condition for condition in where if condition is not None]
    if conditions:
        _conjoin(query, "where", exp.Where, conditions)
    _append_keys(query, "group", exp.Group, group_by)
    if having is not None:
        _conjoin(query, "having", exp.Having, [having])
    if qualify is not None:
        _conjoin(query, "qualify", exp.Qualify, [qualify])
    _append_keys(query, "order", exp.Order, order_by)
    if limit is not None:
        query.set("limit", exp.Limit(expression=argument(limit)))
    if distinct:
        query.set("distinct", exp.Distinct())
    return query


def _append(query: exp.Query, clause: str, nodes: Iterable[exp.Expr]) -> None:
    new = free_all(nodes)
    if new:
        query.set(clause, [*(query.args.get(clause) or ()), *new])


def _append_keys(query: exp.Query, clause: str, kind: type[exp.Group | exp.Order], keys: Iterable[exp.Expr]) -> None:
    new = free_all(keys)
    if new:
        existing = query.args.get(clause)
        query.set(clause, kind(expressions=[*(existing.expressions if existing else ()), *new]))


def _conjoin(
    query: exp.Query, clause: str, kind: type[exp.Where | exp.Having | exp.Qualify], conditions: Iterable[exp.Expr]
) -> None:
    existing = query.args.get(clause)
    new = free_all(conditions)
    query.set(clause, kind(this=exp.and_(*([existing.this] if existing else []), *new, copy=False)))


def subquery(query: exp.Query, name: str | None = None) -> exp.Subquery:
    """Returns a query in parentheses, as a relation under a name or as a value."""
    alias = exp.TableAlias(this=exp.to_identifier(name)) if name else None
    return exp.Subquery(this=free(query), alias=alias)


def inner_join(table: exp.Expr, on: exp.Expr) -> exp.Join:
    """Joins all pairs of rows for which the condition is true."""
    return _join(table, on)


def left_join(table: exp.Expr, on: exp.Expr) -> exp.Join:
    """Joins all pairs of rows for which the condition is true, and adds NULLs to a row of the left side that has no
    pair.
    """
    return _join(table, on, side="LEFT")


def full_join(table: exp.Expr, on: exp.Expr) -> exp.Join:
    """Joins all pairs of rows for which the condition is true, and adds NULLs to a row of either side that has no
    pair.
    """
    return _join(table, on, side="FULL")


def cross_join(table: exp.Expr) -> exp.Join:
    """Joins all pairs of rows."""
    return _join(table, kind="CROSS")


def semi_join(table: exp.Expr, on: exp.Expr) -> exp.Join:
    """Keeps the rows for which the condition is true for some row of the table."""
    return _join(table, on, kind="SEMI")


def anti_join(table: exp.Expr, on: exp.Expr) -> exp.Join:
    """Keeps the rows for which the condition is true for no row of the table."""
    return _join(table, on, kind="ANTI")


def _join(table: exp.Expr, on: exp.Expr | None = None, **kind: str) -> exp.Join:
    return exp.Join(this=free(table), **kind, on=None if on is None else free(on))
