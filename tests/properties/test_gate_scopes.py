"""An admitted statement reads releases alone: the oracle is DuckDB's plan on a database that has the source, too."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import duckdb
import pytest
from hypothesis import event, given, settings

from sqlanon.clients.serve.gate import admit
from sqlanon.clients.serve.refused import Refused
from sqlanon.domain.values import QualifiedName
from tests.support.door.drawn_queries import TABLES, Drawn, queries
from tests.support.draws import draws
from tests.support.policies import BUDGET

pytestmark = pytest.mark.drawn

GRANTED = {QualifiedName(("main", "sick")): ("v",), QualifiedName(("main", "r")): ("v",)}


@cache
def database() -> duckdb.DuckDBPyConnection:
    """The source and the releases in one database, whose plans leave nothing out that a statement names."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE SCHEMA arch")
    for name, values in TABLES.items():
        connection.execute(f"CREATE TABLE {name} AS SELECT unnest({list(values)}) AS v")
    connection.execute("PRAGMA disable_optimizer")
    return connection


def decision(statement: str) -> tuple[set[str] | None, str]:
    """Returns the releases that an admitted statement reads, or why it is refused."""
    try:
        return {name.name for name in admit(statement, GRANTED).reads}, ""
    except Refused as refused:
        return None, str(refused)


def tables_read(connection: duckdb.DuckDBPyConnection, statement: str) -> set[str] | None:
    """Returns the tables that DuckDB's plan of a statement scans; None if DuckDB has no plan for it."""
    try:
        [(_, plan)] = connection.execute(f"EXPLAIN (FORMAT json) {statement}").fetchall()
    except duckdb.Error:
        return None
    tables: set[str] = set()
    todo: list[Any] = [json.loads(plan)]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo += node
        elif isinstance(node, dict):
            todo += node.get("children", [])
            info = node.get("extra_info", {})
            tables |= {info["Table"]} if "Table" in info else set()
    return {table.removeprefix("memory.").removeprefix("main.") for table in tables}


def seen(connection: duckdb.DuckDBPyConnection, statement: str) -> str:
    """Returns the names and the values of a statement's answer; nothing if it fails."""
    try:
        result = connection.execute(statement)
        return str([column[0] for column in result.description or []]) + str(result.fetchmany(1000))
    except duckdb.Error:
        return ""


@given(query=queries())
@settings(BUDGET, max_examples=draws(20, long=1000))
def test_no_admitted_statement_reads_the_source(query: Drawn) -> None:
    planned, (reads, reason) = tables_read(database(), query.text), decision(query.text)
    if reads is None:
        event("refused" if planned else "refused, and DuckDB has no plan")
        assert reason.startswith(("no release of this name", "the statement is not SQL", "a PIVOT without a list"))
    elif planned is not None:
        event("admitted")
        # A CTE that nothing reads is not planned.
        assert planned <= reads
    if reads is not None and not query.recursive:
        event("run")
        assert "777" not in seen(database(), query.text)


@given(query=queries())
@settings(BUDGET, max_examples=draws(10, long=150))
def test_the_oracle_sees_the_source(query: Drawn) -> None:
    """A statement that names the source by its schema reads it, whatever is around it."""
    statement = f"SELECT v FROM main.kin UNION ALL FROM ({query.text}) AS q(v)"
    planned = tables_read(database(), statement)
    assert planned is None or "kin" in planned
    assert decision(statement)[0] is None


@pytest.mark.parametrize(
    ("statement", "tables"),
    [
        ("WITH kin AS (FROM kin) FROM kin", {"kin"}),
        ("WITH kin AS (FROM sick) FROM kin", {"sick"}),
        ("WITH RECURSIVE kin AS ((FROM kin) UNION (FROM kin)) FROM kin", {"kin"}),
        ("(WITH kin AS (FROM sick) FROM kin) UNION ALL FROM kin", {"kin", "sick"}),
        ('WITH "\u212ain" AS (FROM sick) FROM kin', {"kin"}),
        ("WITH a AS (FROM x), x AS (FROM sick) FROM a", {"x"}),
        ("WITH arch AS (FROM sick) FROM arch.r", {"arch.r"}),
    ],
)
def test_the_plan_tells_who_reads_what(statement: str, tables: set[str]) -> None:
    assert tables_read(database(), statement) == tables
