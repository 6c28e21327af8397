"""What a type checker says of a connection: `make lint` reads this file, and nobody runs it.

Each `assert_type` has to hold, and each line that is ignored has to be an error of just that kind.
"""

from __future__ import annotations

from typing import Any, assert_type

import duckdb
import pandas

import sqlanon
from sqlanon import Connection, connect


def typed(path: str, plain: duckdb.DuckDBPyConnection, frame: pandas.DataFrame) -> None:
    """Of DuckDB's methods and sqlanon's."""
    connection = connect(path, read_only=True, config={"threads": 2})
    assert_type(connection, Connection)
    assert_type(connect(plain).duckdb, duckdb.DuckDBPyConnection)

    assert_type(connection.sql("CHECK r"), duckdb.DuckDBPyRelation)
    assert_type(connection.query("SELECT ?", params=[1]).fetchall(), list[tuple[Any, ...]])
    assert_type(connection.execute("SELECT $a", {"a": 1}).fetchone(), tuple[Any, ...] | None)
    assert_type(connection.execute(connection.extract_statements("SELECT 1")[0]), Connection)
    assert_type(connection.read_csv("people.csv", header=True), duckdb.DuckDBPyRelation)

    for returned in (
        connection.append("people", frame),
        connection.begin(),
        connection.checkpoint(),
        connection.commit(),
        connection.create_function("f", len, ["VARCHAR"], "INTEGER"),
        connection.cursor(),
        connection.duplicate(),
        connection.executemany("INSERT INTO people VALUES (?)", [[1]]),
        connection.register("people", frame),
        connection.remove_function("f"),
        connection.rollback(),
        connection.unregister("people"),
    ):
        assert_type(returned, Connection)
    with connection as entered:
        assert_type(entered, Connection)

    connection.sqll("SELECT 1")  # type: ignore[attr-defined]
    connection.nonsense  # type: ignore[attr-defined] # noqa: B018
    connection.sql(1)  # type: ignore[arg-type]
    connection.register("people")  # type: ignore[call-arg]
    connect(1)  # type: ignore[arg-type]


def observed(event: sqlanon.StatementEvent) -> None:
    """Of what `script` calls its second argument with."""
    assert_type(event.result, duckdb.DuckDBPyRelation | None)


def anonymized(frame: pandas.DataFrame) -> None:
    """Of a data frame it makes one of the same kind."""
    assert_type(sqlanon.anonymize(frame, quasi_identifiers=["age"], k=3), pandas.DataFrame)
    sqlanon.anonymize(frame)  # type: ignore[call-arg]
