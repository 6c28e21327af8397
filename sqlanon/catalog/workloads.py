"""Workloads as rows of `anon.workload`, one row for each query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog import _rows, migrations
from sqlanon.domain.identifiers import UPPER, fold, nearest
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending
from sqlanon.sql.build.names import column, identifier, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.syntax.query_text import query_text


@dataclass(frozen=True)
class _QueryRow:
    query_id: int | None
    sql: str | None


def save(engine: Engine, queries: exp.Query) -> None:
    """Writes the queries of a SELECT of workload, query_id and sql."""
    names = [identifier(name) for name in ("workload", "query_id", "sql")]
    rows = select(exp.Star(), of=subquery(queries, "query"), order_by=[ascending(column("query_id"))])
    engine.run(exp.insert(rows, relation(("anon", "workload")), columns=names))


def listing(engine: Engine) -> list[str]:
    """Returns the names of all workloads."""
    if not migrations.ready(engine):
        return []
    return list(dict.fromkeys(_rows.read_names(engine, "workload", "workload")))


def counts(engine: Engine) -> list[tuple[str, int]]:
    """Returns the name of each workload, with the number of its queries."""
    folded = f.call("translate", column("workload"), UPPER, UPPER.lower())
    query = select(f.any_value(column("workload")), f.count(), of=relation(("anon", "workload")), group_by=[folded])
    return [(str(name), int(n)) for name, n in engine.rows(query.order_by(ascending(f.min(column("rowid")))))]


def exists(engine: Engine, name: str) -> bool:
    return fold(name) in map(fold, listing(engine))


def delete(engine: Engine, name: str) -> None:
    """Deletes a workload, and the errors that were measured with it."""
    for table in ("workload", "query_error"):
        _rows.delete(engine, table, {"workload": name})


def forget_errors(engine: Engine, name: str, release_id: str) -> None:
    """Deletes the errors of a release that were measured with a workload."""
    _rows.delete(engine, "query_error", {"workload": name, "release_id": release_id})


def load(engine: Engine, name: str, one_query: Callable[[str], str] = query_text) -> list[tuple[int, str]]:
    """Loads the number and the text of each query, whether a statement or a user's own INSERT wrote it.

    `one_query` is `query_text`, or an equivalent function. Raises UserError if there is no query, if a number occurs
    twice, or if a text is not one query.
    """
    rows = _rows.read(engine, "workload", _QueryRow, {"workload": name}, order=("query_id",))
    if not rows:
        hint = nearest(name, listing(engine)) or "make it with CREATE WORKLOAD, or INSERT INTO anon.workload"
        raise UserError(f"there is no workload {name}", hint=hint)
    queries: dict[int, str] = {}
    for row in rows:
        number, text = row.query_id, row.sql
        if number is None or text is None:
            raise UserError(f"workload {name}: a row of anon.workload has no query_id or no sql")
        if number in queries:
            raise UserError(f"workload {name}: query {number} has two rows in anon.workload")
        try:
            queries[int(number)] = one_query(str(text))
        except UserError as error:
            raise UserError(f"workload {name}: query {number} is not one SELECT: {error.message}") from None
    return list(queries.items())
