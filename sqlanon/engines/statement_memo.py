"""Answers of the database that hold as long as one statement runs, so that it is asked once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from sqlanon.engines.base import Engine
from sqlanon.sql.build.render import RepeatedQuery
from sqlanon.sql.build.sql_files import sql_file

# The number of the transaction, which is another one in each statement outside of a transaction of the user's.
TRANSACTION = RepeatedQuery("SELECT system.main.txid_current()")

_Answers = dict[tuple[object, ...], list[tuple[Any, ...]]]

# The engine on which a statement runs, and what it has answered since the statement began.
_statement: ContextVar[tuple[Engine, _Answers] | None] = ContextVar("_statement", default=None)


class Session(NamedTuple):
    """A session as it is when a statement begins, from `sql/statements/session.sql`.

    `settings` are those by which the text of a query means what it does; the first two are the collation and
    integer_division. `query` is the number of the query that has read it, `foreign_databases` how many databases have
    a catalog that is not DuckDB's. `anon_columns` is the number of columns of the current database's schema anon, and
    `migration_columns` of those that its table schema_version has to have, which are three.
    """

    settings: tuple[Any, ...]
    database: str
    schema: str
    search_path: str
    transaction: int
    query: int
    connections: int
    databases: tuple[str, ...]
    foreign_databases: int
    schemas: tuple[str, ...]
    anon_columns: int
    migration_columns: int


@contextmanager
def within_statement(engine: Engine) -> Iterator[None]:
    """One statement runs within the block: what `rows_once` has read there is not read again."""
    token = _statement.set((engine, {}))
    try:
        yield
    finally:
        _statement.reset(token)


def is_within_statement(engine: Engine) -> bool:
    """Whether a statement runs on this engine."""
    current = _statement.get()
    return current is not None and current[0] is engine


def rows_once(engine: Engine, query: RepeatedQuery, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """The rows of a query whose answer no statement of sqlanon's changes, such as the names of the databases."""
    current = _statement.get()
    if current is None or not is_within_statement(engine):
        return engine.rows(query, parameters)
    key = (query, *parameters)
    if key not in current[1]:
        current[1][key] = engine.rows(query, parameters)
    return current[1][key]


def remember(engine: Engine, query: RepeatedQuery, rows: list[tuple[Any, ...]]) -> None:
    """Takes these rows for the answer to a query without parameters, as long as the statement that runs does."""
    current = _statement.get()
    if current is not None and is_within_statement(engine):
        current[1][(query,)] = rows


def is_session_query(text: str) -> bool:
    """Whether a query is the one that reads a session."""
    return text == _session_query()


def session(engine: Engine) -> Session:
    """The session as it was at the beginning of the statement that runs; outside of a statement, as it is."""
    return _session(rows_once(engine, _session_query()))


def session_anew(engine: Engine) -> Session:
    """The session as it is now, which the rest of the statement takes for that of its beginning."""
    rows = engine.rows(_session_query())
    remember(engine, _session_query(), rows)
    return _session(rows)


def _session_query() -> RepeatedQuery:
    return sql_file("statements", "session")


def _session(rows: list[tuple[Any, ...]]) -> Session:
    (row,) = rows
    *settings, database, schema, search_path, transaction, query, connections = row[:-5]
    databases, foreign, schemas, columns, migrations = row[-5:]
    return Session(
        settings=tuple(settings),
        database=database,
        schema=schema,
        search_path=search_path,
        transaction=transaction,
        query=query,
        connections=connections,
        databases=tuple(databases),
        foreign_databases=foreign,
        schemas=tuple(schemas),
        anon_columns=columns,
        migration_columns=migrations,
    )


def current_database(engine: Engine) -> str:
    """The name of the database that the connection writes to."""
    return session(engine).database


def settings_of_texts(engine: Engine) -> tuple[Any, ...]:
    """The settings by which the text of a query means what it does: the collation, integer_division, and others."""
    return session(engine).settings
