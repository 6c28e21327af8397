"""Builds WITH lists: named queries, each of which later ones can read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TypeVar

from sqlglot import exp

from sqlanon.sql.build.names import identifier, relation

_Query = TypeVar("_Query", bound=exp.Query)
# A named query, which later steps can read.
Step = tuple[str, exp.Query]
# Prefixes of the names of steps that number rows in no order: two readings have to give the same numbers.
COMPUTED_ONCE = ("coded_item", "coded_sensitive", "numbered_list", "combination")
# Prefixes of the names of steps that read themselves.
_RECURSIVE = ("rounds", "known_set")


def with_steps(query: _Query, steps: Sequence[Step]) -> _Query:
    """Prepends steps to a query as WITH; a step may be recursive."""
    for name, step in steps:
        query.with_(identifier(name), as_=step, materialized=name.startswith(COMPUTED_ONCE) or None, copy=False)
    if any(cte.alias.startswith(_RECURSIVE) for cte in query.ctes):
        query.args["with_"].set("recursive", True)
    return query


# Groupings that several parts of a query repeat become steps, each of which is computed once.


def shared_steps(query: exp.Query, known: Collection[str]) -> list[Step]:
    """Extracts groupings that occur repeatedly in a query as steps, which it returns; the query then reads these steps.

    Only groupings that read nothing but the steps in `known` are extracted, because other names may have another
    meaning there.
    """
    subqueries: dict[exp.Select, list[exp.Subquery]] = defaultdict(list)
    for part in query.find_all(exp.Subquery):
        grouping = part.this
        if not isinstance(grouping, exp.Select) or not grouping.args.get("group"):
            continue
        tables = {table.name for table in grouping.find_all(exp.Table)}
        if isinstance(part.parent, exp.From) and tables and tables <= {*known}:
            subqueries[grouping].append(part)
    steps: list[Step] = []
    for grouping, occurrences in subqueries.items():
        if len(occurrences) > 1:
            name = f"grouping_{len(steps)}"
            steps.append((name, grouping.copy()))
            for occurrence in occurrences:
                occurrence.replace(relation(name, as_=occurrence.alias))
    return steps


# Queries built without copies: sqlglot's own builders copy the whole query at each of their steps.


def select(
    *outputs: exp.Expr,
    of: exp.Table | exp.Subquery,
    joins: Sequence[exp.Join] = (),
    where: Sequence[exp.Expr] = (),
    group_by: Sequence[exp.Expr] = (),
    having: exp.Expr | None = None,
    distinct: bool = False,
) -> exp.Select:
    """Returns a SELECT of outputs from a relation and its joins, under all conditions."""
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
    """Joins all pairs of rows for which the condition is true."""
    return exp.Join(this=table, on=on)


def left_join(table: exp.Table | exp.Subquery, on: exp.Expr) -> exp.Join:
    """Joins all pairs of rows for which the condition is true, with NULLs for a row of the left side without a pair."""
    return exp.Join(this=table, side="LEFT", on=on)


def cross_join(table: exp.Table | exp.Subquery) -> exp.Join:
    """Joins all pairs of rows."""
    return exp.Join(this=table, kind="CROSS")


def semi_join(table: exp.Table | exp.Subquery, on: exp.Expr) -> exp.Join:
    """Keeps the rows for which the condition is true with some row of the table."""
    return exp.Join(this=table, kind="SEMI", on=on)


def anti_join(table: exp.Table | exp.Subquery, on: exp.Expr) -> exp.Join:
    """Keeps the rows for which the condition is true with no row of the table."""
    return exp.Join(this=table, kind="ANTI", on=on)
