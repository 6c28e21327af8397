"""A DuckDB connection that also understands sqlanon's statements."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from types import TracebackType
from typing import Any

from sqlanon.dispatch import Answer, run_statement
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.errors import SqlanonError, UserError
from sqlanon.sqlgen.normal_relations import literal_rows
from sqlanon.sqlgen.render import to_sql
from sqlanon.syntax.parser import parse_script
from sqlanon.syntax.statements import PassThrough, Statement

__all__ = ["Connection", "Observer", "StatementEvent", "connect"]

# Called with the stage, the SQL that it is about to run (or None), how much of how much is done, and in words how far
# that has come (or None).
Observer = Callable[[str, str | None, int | None, int | None, str | None], None]


@dataclass(frozen=True)
class StatementEvent:
    """One statement of a script, before it runs (`phase` 'start') and after it ('end').

    `result` is a DuckDB relation, or None where the statement returns nothing.
    """

    statement: Statement
    phase: str
    result: Any = None
    seconds: float = 0.0


def connect(
    database: str | PathLike[str] | Any = ":memory:",
    *,
    read_only: bool = False,
    config: Mapping[str, str] | None = None,
) -> Connection:
    """Opens a DuckDB database, or wraps a DuckDB connection that is already open.

    The result has DuckDB's own methods and also understands CREATE HIERARCHY, CREATE
    POLICY, CREATE ANONYMIZED VIEW | TABLE, EXPLAIN ANONYMIZED, CHECK, EXPORT and their
    DROPs. Nothing is written to the database before the first of them that has to.

    Raises UserError when the file cannot be opened.
    """
    if isinstance(database, str | PathLike):
        return Connection(open_database(fspath(database), read_only=read_only, config=dict(config or {})))
    return Connection(database)


class Connection:
    """DuckDB's connection with sqlanon's statements; every other method is DuckDB's own."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._observer: Observer | None = None
        self._stage = ""
        self._engine = DuckDBEngine(connection, self._observe_sql)

    @property
    def duckdb(self) -> Any:
        """The plain DuckDB connection underneath."""
        return self._connection

    def observe(self, observer: Observer | None) -> None:
        """Calls `observer` for each stage of a statement and each query that it runs."""
        self._observer = observer

    def sql(self, query: str, *arguments: Any, **named: Any) -> Any:
        """Runs a script; the last statement's result as a DuckDB relation, None if it returns nothing.

        Arguments are those of DuckDB's `sql` (alias, params) and go to the last statement,
        which then has to be SQL of DuckDB's.
        """
        result = None
        statements = parse_script(query)
        for place, statement in enumerate(statements):
            last = place == len(statements) - 1
            if isinstance(statement, PassThrough) and not last:
                # A relation runs when it is read, and nobody will read this one.
                self._connection.execute(statement.text)
            else:
                result = self._run(statement, arguments if last else (), named if last else {})
        return result

    query = sql

    def execute(self, query: str, parameters: Any = None) -> Connection:
        """Runs a script; its last result is then fetched from this connection, as with DuckDB."""
        statements = parse_script(query)
        for place, statement in enumerate(statements):
            given = parameters if place == len(statements) - 1 else None
            if isinstance(statement, PassThrough):
                self._connection.execute(statement.text, *([given] if given is not None else []))
            else:
                _refuse_parameters(statement, given)
                self._connection.execute(_answer_query(self._answer(statement)))
        return self

    def script(self, text: str, on_statement: Callable[[StatementEvent], None] | None = None) -> None:
        """Runs a script; `on_statement` is told before and after each statement, and reads the results."""
        if on_statement is None:
            self.execute(text)
            return
        tell = on_statement
        for statement in parse_script(text):
            tell(StatementEvent(statement, "start"))
            begun = time.perf_counter()
            result = self._run(statement, (), {})
            tell(StatementEvent(statement, "end", result, time.perf_counter() - begun))

    def cursor(self) -> Connection:
        """A second connection to the same database, with a transaction of its own."""
        return Connection(self._connection.cursor())

    def _run(self, statement: Statement, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if isinstance(statement, PassThrough):
            return self._connection.sql(statement.text, *arguments, **named)
        _refuse_parameters(statement, arguments or named)
        return self._connection.sql(_answer_query(self._answer(statement)))

    def _answer(self, statement: Statement) -> Answer:
        try:
            self._stage = ""
            return run_statement(self._engine, statement, self._observe_stage)
        except SqlanonError as error:
            raise error.at(statement.position) from None

    def _observe_stage(self, stage: str, done: int, total: int, detail: str | None = None) -> None:
        self._stage = stage
        if self._observer:
            self._observer(stage, None, done, total, detail)

    def _observe_sql(self, text: str) -> None:
        if self._observer:
            self._observer(self._stage, text, None, None, None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()


def _refuse_parameters(statement: Statement, given: object) -> None:
    if given:
        raise UserError(
            "sqlanon's own statements take no parameters", hint="write the values out", position=statement.position
        )


def _answer_query(answer: Answer) -> str:
    return to_sql(literal_rows(answer.columns, answer.rows))
