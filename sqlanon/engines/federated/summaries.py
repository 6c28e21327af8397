"""Summaries of rows inside a query: steps and derived tables that group rows on Spark.

A query of a release has many steps, but few of them read rows: these steps are joined and grouped once, and all other
steps are computed from the groups. Spark computes a step again for each reader, and takes a second for a step of ten
rows. So groups are collected as tables of DuckDB, where the steps that read nothing else are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.engines.portable import spark_sql
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select


class _Step(NamedTuple):
    """A step of a query's WITH, and the earlier steps, which it may read."""

    node: exp.CTE
    visible: Mapping[str, _Step]


class _Part(NamedTuple):
    """A part of a query that is a query itself: its node in the tree, its body, and the steps that it may read."""

    node: exp.Expr
    body: exp.Query
    visible: Mapping[str, _Step]


def with_summaries(
    query: exp.Query, is_remote: Callable[[exp.Query], bool], table_of: Callable[[exp.Query], str]
) -> exp.Query:
    """Returns the query whose parts that group rows on Spark are replaced by temporary tables of DuckDB.

    If a part joins rows with steps that read no rows, these steps become such tables, too. `is_remote` tells whether a
    query reads rows on Spark; `table_of` makes a table of a query's rows, and returns its name.

    Raises EngineError for a query that is not portable. A portable query has no random numbers, so a step behind two of
    the tables may be computed twice.
    """
    spark_sql(query)
    names = [fold(step.alias) for step in query.find_all(exp.CTE)]
    if len(names) > len(set(names)) or any(steps.recursive for steps in query.find_all(exp.With)):
        return query
    whole = query.copy()

    def tabulate_steps(body: exp.Query, visible: Mapping[str, _Step]) -> None:
        """Makes tables of the steps that a query joins with rows and that do not read rows themselves."""
        for step in _read(body, _within(body, visible), prune=_is_with):
            if is_remote(alone := _alone(step.node.this, step.visible)):
                tabulate_steps(step.node.this, step.visible)
            elif not _is_table(step.node.this):
                _replace(step.node, table_of(alone))

    for part in _parts(whole, {}):
        if _is_grouped(part.body) and is_remote(_alone(part.body, part.visible)):
            tabulate_steps(part.body, part.visible)
            _replace(part.node, table_of(_alone(part.body, part.visible)))
    _drop_unread(whole)
    for part in [*_parts(whole, {}), _Part(whole, whole, {})]:
        if is_remote(_alone(part.body, part.visible)):
            tabulate_steps(part.body, part.visible)
    _drop_unread(whole)
    return whole


def tables_read(query: exp.Expr) -> list[exp.Table]:
    """Returns the tables that a query reads, without the names of its steps."""
    steps = {fold(step.alias) for step in query.find_all(exp.CTE)}
    return [table for table in query.find_all(exp.Table) if table.db or fold(table.name) not in steps]


def _parts(query: exp.Query, visible: Mapping[str, _Step]) -> Iterator[_Part]:
    """Yields the steps and derived tables inside a query, each after the parts that it reads.

    Queries inside expressions are left out, because they may read columns of the rows around them.
    """
    for node in query.ctes:
        yield from _parts(node.this, visible)
        yield _Part(node, node.this, visible)
        visible = {**visible, fold(node.alias): _Step(node, visible)}
    for inner in _inner(query):
        if isinstance(inner, exp.Subquery):
            yield from _parts(inner.this, visible)
            yield _Part(inner, inner.this, visible)
        elif isinstance(inner, exp.Query):
            yield from _parts(inner, visible)


def _inner(query: exp.Query) -> list[exp.Expr]:
    """Returns the inputs of a query: tables, queries in parentheses, and others."""
    if isinstance(query, exp.SetOperation):
        return [query.this, query.expression]
    sources = [query.args.get("from_"), *(query.args.get("joins") or ())]
    return [source.this for source in sources if source is not None]


def _within(query: exp.Query, visible: Mapping[str, _Step]) -> Mapping[str, _Step]:
    """Returns the steps that a query may read, by folded name: the visible ones and its own."""
    for node in query.ctes:
        visible = {**visible, fold(node.alias): _Step(node, visible)}
    return visible


def _is_grouped(query: exp.Query) -> bool:
    """Whether the query aggregates its rows: a row for each group, for each distinct row, or for all rows together."""
    if not isinstance(query, exp.Select):
        return False
    aggregates = all(isinstance(value.unalias(), exp.AggFunc) for value in query.selects)
    return bool(query.args.get("group") or query.args.get("distinct") or aggregates)


def _alone(body: exp.Query, visible: Mapping[str, _Step]) -> exp.Query:
    """Returns a part as a separate query, with the steps that it reads."""
    needed: dict[str, exp.CTE] = {}
    _need(body, visible, needed)
    whole = body.copy()
    if steps := [*(node.copy() for node in needed.values()), *whole.ctes]:
        whole.set("with_", exp.With(expressions=steps))
    return whole


def _need(body: exp.Query, visible: Mapping[str, _Step], needed: dict[str, exp.CTE]) -> None:
    """Adds the steps that a query reads to `needed`, in an order in which each step follows the steps that it reads."""
    for step in _read(body, visible):
        if (name := fold(step.node.alias)) not in needed:
            _need(step.node.this, step.visible, needed)
            needed[name] = step.node


def _read(
    body: exp.Query, visible: Mapping[str, _Step], prune: Callable[[exp.Expr], bool] | None = None
) -> list[_Step]:
    """Returns the visible steps that a query names, except inside nodes that `prune` skips."""
    tables = (node for node in body.walk(prune=prune) if isinstance(node, exp.Table) and not node.db)
    return [visible[name] for name in dict.fromkeys(fold(table.name) for table in tables) if name in visible]


def _is_with(node: exp.Expr) -> bool:
    return isinstance(node, exp.With)


def _is_table(query: exp.Query) -> bool:
    """Whether a step only reads a table, which is the form that `_replace` gives to a step."""
    return query.is_star and not any(part for name, part in query.args.items() if name not in ("expressions", "from_"))


def _replace(node: exp.Expr, table: str) -> None:
    node.set("this", select(exp.Star(), of=relation(table)))
    if isinstance(node, exp.CTE):
        node.set("materialized", None)


def _drop_unread(query: exp.Query) -> None:
    """Removes steps that nothing reads any more, beginning with the last."""
    for steps in list(query.find_all(exp.With)):
        for node in reversed(steps.expressions):
            if all(fold(table.name) != fold(node.alias) for table in query.find_all(exp.Table) if not table.db):
                node.pop()
        if not steps.expressions:
            steps.pop()
