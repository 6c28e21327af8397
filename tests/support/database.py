"""Databases that tests run on, and what they read from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import duckdb

from sqlanon import Connection, connect

__all__ = [
    "ONE_THREAD",
    "VISIT_ROLES",
    "new_database",
    "one_thread",
    "rows",
    "tables",
    "template",
    "template_file",
    "visits",
    "written",
]

# The configuration of a small database: more threads cost more than they help.
ONE_THREAD = {"threads": "1"}

VISIT_ROLES = "visit IDENTIFIER, age QUASI IDENTIFIER, zip QUASI IDENTIFIER, ward INSENSITIVE, disease SENSITIVE"


@contextmanager
def one_thread() -> Iterator[Any]:
    """A plain DuckDB connection in memory, with one thread: a small table is answered no sooner by more."""
    with duckdb.connect(config=ONE_THREAD) as opened:
        opened.execute("SET enable_progress_bar = false")
        yield opened


def template(*setup: str | Callable[[Connection], object]) -> Connection:
    """A database in memory, with one thread, in which scripts and functions have run, one after the other.

    The set-up runs once per process; each call returns a new copy of what it left in the database, ids and timestamps
    included. A copy lacks what belongs to a connection: temporary tables and settings. A test that needs other ids in
    each database, or that is about the set-up itself, runs the script on `connect()`.
    """
    connection = connect(config=ONE_THREAD)
    connection.duckdb.execute(f"ATTACH '{_file_after(*setup)}' AS template (READ_ONLY)")
    connection.duckdb.execute("COPY FROM DATABASE template TO memory")
    connection.duckdb.execute("DETACH template")
    return connection


def template_file(path: Path, *setup: str | Callable[[Connection], object]) -> Path:
    """Makes this file a copy of the database in which scripts and functions have run, as `template` does in memory."""
    return Path(copy(_file_after(*setup, name=path.name), path))


def new_database() -> Connection:
    """A database in memory, with one thread and without a table, in which sqlanon has made its catalog."""
    return template("CREATE HIERARCHY h AS INTERVALS (2)", "DROP HIERARCHY h")


@cache
def _file_after(*setup: str | Callable[[Connection], object], name: str = "memory.duckdb") -> Path:
    """A file of this name in which the set-up has run; a database is called as its file, or memory."""
    file = Path(mkdtemp(dir=_templates().name), name)
    with connect(file, config=ONE_THREAD) as connection:
        for step in setup:
            if isinstance(step, str):
                connection.execute(step)
            else:
                step(connection)
    return file


@cache
def _templates() -> TemporaryDirectory[str]:
    """The folder of this process's templates; Python removes it when the process ends."""
    return TemporaryDirectory(prefix="sqlanon-templates-")


def rows(con: Connection, query: str) -> list[Any]:
    """What plain DuckDB answers."""
    return list(con.duckdb.execute(query).fetchall())


def tables(con: Connection) -> set[str]:
    """The names of the tables that are not the catalog's."""
    return {name for (name,) in rows(con, "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'")}


def written(row: tuple[Any, ...]) -> str:
    """A row as text, a float with 12 digits.

    DuckDB adds up in the order in which its threads are done, so the last digits of a sum may differ from run to run.
    """
    return repr(tuple(float(f"{value:.12g}") if isinstance(value, float) else value for value in row))


def visits(*diseases: str, visit: str = "i", ward: bool = True) -> str:
    """CREATE TABLE visits: 120 rows of 40 ages and 8 zips, whose diseases come in turns.

    `visit` is an expression over the row's number `i`.
    """
    listed = ", ".join(f"'{disease}'" for disease in diseases)
    return (
        f"CREATE TABLE visits AS SELECT {visit} AS visit, 20 + (i * 7) % 40 AS age, 'z' || (i * 5) % 8 AS zip, "
        f"[{listed}][i % {len(diseases)} + 1] AS disease{', i % 6 AS ward' if ward else ''} FROM range(120) AS n(i)"
    )
