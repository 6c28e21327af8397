"""Databases that tests run on, and what they read from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

from sqlanon import Connection

__all__ = ["VISIT_ROLES", "one_thread", "rows", "tables", "visits"]

VISIT_ROLES = "visit IDENTIFIER, age QUASI IDENTIFIER, zip QUASI IDENTIFIER, ward INSENSITIVE, disease SENSITIVE"


@contextmanager
def one_thread() -> Iterator[Any]:
    """A plain DuckDB connection in memory, with one thread: a small table is answered no sooner by more."""
    with duckdb.connect(config={"threads": "1"}) as opened:
        opened.execute("SET enable_progress_bar = false")
        yield opened


def rows(con: Connection, query: str) -> list[Any]:
    """What plain DuckDB answers."""
    return list(con.duckdb.execute(query).fetchall())


def tables(con: Connection) -> set[str]:
    """The names of the tables that are not the catalog's."""
    return {name for (name,) in rows(con, "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'")}


def visits(*diseases: str, visit: str = "i", ward: bool = True) -> str:
    """CREATE TABLE visits: 120 rows of 40 ages and 8 zips, whose diseases come in turns.

    `visit` is an expression over the row's number `i`.
    """
    listed = ", ".join(f"'{disease}'" for disease in diseases)
    return (
        f"CREATE TABLE visits AS SELECT {visit} AS visit, 20 + (i * 7) % 40 AS age, 'z' || (i * 5) % 8 AS zip, "
        f"[{listed}][i % {len(diseases)} + 1] AS disease{', i % 6 AS ward' if ward else ''} FROM range(120) AS n(i)"
    )
