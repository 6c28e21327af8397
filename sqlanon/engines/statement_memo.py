"""Answers of the database that hold as long as one statement runs, so that it is asked once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.sqlgen.build.repeated import RepeatedQuery
from sqlanon.sqlgen.build.sql_files import sql_file

__all__ = ["current_database", "is_within_statement", "rows_once", "settings_of_texts", "within_statement"]

_Answers = dict[tuple[object, ...], list[tuple[Any, ...]]]

# The engine on which a statement runs, and what it has answered since the statement began.
_statement: ContextVar[tuple[Engine, _Answers] | None] = ContextVar("_statement", default=None)

_CURRENT_DATABASE = RepeatedQuery("SELECT system.main.current_database()")


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


def current_database(engine: Engine) -> str:
    """The name of the database that the connection writes to."""
    return str(rows_once(engine, _CURRENT_DATABASE)[0][0])


def settings_of_texts(engine: Engine) -> tuple[Any, ...]:
    """The settings by which the text of a query means what it does: the collation, integer_division, and others."""
    return rows_once(engine, sql_file("statements", "settings_of_texts"))[0]
