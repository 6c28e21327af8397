"""DuckDB behind the engine protocol."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import duckdb
from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Query
from sqlanon.errors import EngineError, SqlanonError, UserError
from sqlanon.sqlgen.render import to_sql

__all__ = ["DuckDBEngine", "open_database", "translated"]

Observer = Callable[[str], None]


def open_database(path: str, *, read_only: bool = False, config: dict[str, str] | None = None) -> Any:
    """A DuckDB connection whose progress bar never prints into a program's output.

    Raises UserError when another process holds the file, or when there is no such
    file to read.
    """
    try:
        connection = duckdb.connect(path, read_only=read_only, config=dict(config or {}))
    except duckdb.Error as error:
        raise _cannot_open(path, error) from None
    if "lock_configuration" not in (config or {}):
        connection.execute("SET enable_progress_bar = false")
    return connection


def _cannot_open(path: str, error: duckdb.Error) -> UserError:
    text = str(error)
    holder = re.search(r"PID (\d+)", text)
    if "lock on file" in text:
        who = f" (process {holder.group(1)})" if holder else ""
        return UserError(
            f"the database {path} is open in another process{who}",
            hint="close it there: a DuckDB file has one writer, or any number of readers",
        )
    return UserError(f"the database {path} cannot be opened: {text.splitlines()[0]}")


def translated(error: duckdb.Error, query: str | None = None) -> SqlanonError:
    """An engine error without the values that a message may quote.

    DuckDB's conversion and constraint errors print the offending value, so only
    catalog, binder and parser messages, which speak of names, are passed on. What the
    database file itself does not allow is the user's to change: a UserError.
    """
    if problem := _file_refuses(str(error), query):
        return problem
    kind = type(error).__name__
    speaks_of_names = (
        duckdb.CatalogException,
        duckdb.BinderException,
        duckdb.ParserException,
        duckdb.PermissionException,
        duckdb.TransactionException,
        duckdb.OutOfMemoryException,
        duckdb.IOException,
    )
    message = (
        str(error).strip() if isinstance(error, speaks_of_names) else "the message may hold values and is withheld"
    )
    return EngineError(f"DuckDB {kind}: {message}", query=query)


def _file_refuses(text: str, query: str | None) -> UserError | None:
    """The error of a file that is open for reading only, or too old for a secure view."""
    if read_only := re.search(r'database "(.*)" which is attached in read-only mode', text):
        return UserError(
            f"the database {read_only.group(1)} is open for reading only; nothing was written",
            hint="open it without read_only, or copy it to a file that you may write",
            query=query,
        )
    if "Current transaction is aborted" in text:
        return UserError("an earlier error has aborted the transaction", hint="ROLLBACK first")
    if "CREATE SECURE VIEW is only supported for storage versions" in text:
        return UserError(
            "a live view needs a database file of storage version 2.0.0 or higher, and this one is older: "
            "a plain view would show suppressed rows in errors and statistics",
            hint="copy it over, ATTACH 'new.duckdb' AS newer; COPY FROM DATABASE <this one> TO newer; "
            "then open new.duckdb. A snapshot, CREATE ANONYMIZED TABLE, works in this file too",
            query=query,
        )
    return None


class DuckDBEngine:
    """One DuckDB connection; `observe` is called with the text of every query before it runs."""

    def __init__(self, connection: Any, observe: Observer | None = None) -> None:
        self.connection = connection
        self._observe = observe

    def _execute(self, query: Query, parameters: Sequence[object]) -> Any:
        text = query if isinstance(query, str) else to_sql(query)
        if self._observe:
            self._observe(text)
        try:
            return self.connection.execute(text, list(parameters)) if parameters else self.connection.execute(text)
        except duckdb.Error as error:
            raise translated(error, text) from None

    def rows(self, query: Query, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        result = self._execute(query, parameters)
        try:
            return list(result.fetchall())
        except duckdb.Error as error:
            raise translated(error) from None

    def run(self, query: Query, parameters: Sequence[object] = ()) -> None:
        self.rows(query, parameters)

    def columns(self, query: Query) -> list[Column]:
        described = exp.Describe(this=query) if isinstance(query, exp.Expr) else "DESCRIBE " + query
        return [(name, kind) for name, kind, *_ in self.rows(described)]

    def version(self) -> str:
        return "DuckDB " + str(duckdb.__version__)

    def in_transaction(self) -> bool:
        """Whether the user has begun a transaction on this connection.

        A second BEGIN would abort it, so the question is put otherwise: outside a
        transaction each statement has an id of its own.
        """
        first, second = (self.rows("SELECT txid_current()") for _ in range(2))
        return first == second

    def tables_of(self, query: str) -> list[QualifiedName]:
        """The tables that a user's query reads, through views too, with what it says of their schemas."""
        try:
            names = self.connection.get_table_names(query, qualified=True)
        except duckdb.Error as error:
            raise translated(error, query) from None
        tables = (exp.to_table(name, dialect="duckdb") for name in names)
        return [QualifiedName(tuple(part.name for part in table.parts)) for table in tables]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside happens, or nothing.

        Inside a transaction that the user began, a failure aborts all of it, as any
        statement of DuckDB's that fails there does: what is left is to ROLLBACK.
        """
        joined = self.in_transaction()
        if not joined:
            self.connection.execute("BEGIN TRANSACTION")
        try:
            yield
            if not joined:
                self.connection.execute("COMMIT")
        except BaseException as error:
            self._abort() if joined else self._rollback()
            if isinstance(error, duckdb.Error):
                raise translated(error) from None
            raise

    def _abort(self) -> None:
        with suppress(duckdb.Error):
            # A second BEGIN is an error, and an error aborts the transaction. If one has done so before, the better.
            self.connection.execute("BEGIN TRANSACTION")

    def _rollback(self) -> None:
        with suppress(duckdb.Error):
            # A failed COMMIT has already ended the transaction: then nothing is left to roll back.
            self.connection.execute("ROLLBACK")
