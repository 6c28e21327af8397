"""Caches answers of the database that hold while one statement runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from sqlanon.engines.base import Engine
from sqlanon.sql.build.render import RepeatedQuery
from sqlanon.sql.build.sql_files import sql_file

# The number of the transaction; outside of a user's transaction each statement has another one.
TRANSACTION = RepeatedQuery("SELECT system.main.txid_current()")

_Answers = dict[tuple[object, ...], list[tuple[Any, ...]]]

# The engine on which a statement runs, and its answers since the statement began.
_statement: ContextVar[tuple[Engine, _Answers] | None] = ContextVar("_statement", default=None)


class Session(NamedTuple):
    """A session at the beginning of a statement, read by `sql/statements/session.sql`.

    `settings` can change the meaning of a query's text; the first two are the collation and integer_division. `query`
    is the number of the query that read the session, and `foreign_databases` is the number of databases that another
    database system manages. `anon_columns` is the number of columns of the current database's schema anon, and
    `migration_columns` the number of existing columns among the three that its table schema_version must have.
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
    """Marks its block as one statement: answers of `rows_once` in it are cached until the block ends."""
    token = _statement.set((engine, {}))
    try:
        yield
    finally:
        _statement.reset(token)


def is_within_statement(engine: Engine) -> bool:
    """Whether a statement is running on this engine."""
    current = _statement.get()
    return current is not None and current[0] is engine


def rows_once(engine: Engine, query: RepeatedQuery, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """Returns the rows of a query, which are cached during a statement; it is for answers that no statement of sqlanon
    changes.
    """
    current = _statement.get()
    if current is None or not is_within_statement(engine):
        return engine.rows(query, parameters)
    key = (query, *parameters)
    if key not in current[1]:
        current[1][key] = engine.rows(query, parameters)
    return current[1][key]


def remember(engine: Engine, query: RepeatedQuery, rows: list[tuple[Any, ...]]) -> None:
    """Caches these rows as the answer to a query without parameters, until the current statement ends."""
    current = _statement.get()
    if current is not None and is_within_statement(engine):
        current[1][(query,)] = rows


def is_session_query(text: str) -> bool:
    """Whether a text is the query that reads a session."""
    return text == _session_query()


def session(engine: Engine) -> Session:
    """Returns the session at the beginning of the current statement; outside of a statement, the session as it is
    now.
    """
    return _session(rows_once(engine, _session_query()))


def reread_session(engine: Engine) -> Session:
    """Reads the session again, and caches it for the rest of the statement."""
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
    """Returns the name of the database that the connection writes to."""
    return session(engine).database


def settings_of_texts(engine: Engine) -> tuple[Any, ...]:
    """Returns the settings that can change a query's meaning: the collation, integer_division, and others."""
    return session(engine).settings
