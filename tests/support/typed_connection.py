"""What a type checker says of a connection: `make lint` reads this file, and nobody runs it.

Each `assert_type` has to hold, and each line that is ignored has to be an error of just that kind.
"""

from __future__ import annotations

from pathlib import Path
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
    """Of a data frame it makes one of the same kind, which knows its release."""
    released: pandas.DataFrame = sqlanon.anonymize(frame, known=["age"], secret="disease", l=None)
    assert_type(sqlanon.anonymize(frame, quasi_identifiers=["age"], k=3).script, str)
    assert_type(sqlanon.anonymize(Path("people.csv"), known="age").remarks, tuple[str, ...])
    assert_type(sqlanon.release_of(released).script, str)
    sqlanon.anonymize(frame)  # type: ignore[call-overload]
    sqlanon.anonymize(frame, ["age"])  # type: ignore[call-overload]
    sqlanon.anonymize(frame, quasi_ids=["age"])  # type: ignore[call-overload]


def of_policies(connection: Connection, frame: pandas.DataFrame) -> None:
    """Of policies, models and methods as objects."""
    policy = sqlanon.Policy("p", source="t", quasi_identifiers={"age": "bands"}, require=[sqlanon.KAnonymity(k=5)])
    assert_type(connection.policy("p"), sqlanon.Policy)
    assert_type(policy.sql(or_replace=True), str)
    assert_type(policy.requirements, tuple[sqlanon.Requirement, ...])
    assert_type(sqlanon.anonymize(frame, policy=policy, method=sqlanon.Mondrian(mode="relaxed")).script, str)
    assert_type(sqlanon.AnonymizedTable("r", policy, method=sqlanon.Slicing(l=2), columns="each").sql(), str)
    sqlanon.Requirement("of_another_package", k=5, of=["a", "b"])

    sqlanon.anonymize(frame, policy=policy, k=5)  # type: ignore[call-overload]
    sqlanon.KAnonymity()  # type: ignore[call-arg]
    sqlanon.KAnonymity(k="5")  # type: ignore[arg-type]
    sqlanon.LDiversity(l=2, variant="distnct")  # type: ignore[arg-type]
    sqlanon.Mondrian(mod="strict")  # type: ignore[call-arg]
    sqlanon.Policy("p", source="t", require=["k_anonymity(k => 5)"])  # type: ignore[list-item]
