"""Typical counts: those of a workload, each compared as ESTIMATE and the source answer it."""

from __future__ import annotations

from statistics import mean, median

import pytest

from sqlanon import Connection
from sqlanon.assess.workloads.summary import TypicalCounts, typical_counts
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.release.existing.loaded import load_release
from tests.support.database import template

SETUP = """
CREATE TABLE people AS SELECT i % 5 AS age, (i * 7) % 13 % 4 AS ward, ['flu', 'cold', 'x'][1 + i % 11 % 3] AS ill
FROM range(120) AS t(i);
CREATE POLICY p ON people (age QUASI IDENTIFIER, ward QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 30);
CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian;
CREATE POLICY exact ON people (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE ANONYMIZED TABLE same AS POLICY exact METHOD mondrian;
"""


@pytest.fixture
def con() -> Connection:
    return template(SETUP)


def counts(con: Connection, name: str, queries: int = 10) -> TypicalCounts:
    engine = DuckDBEngine(con.duckdb)
    return typical_counts(engine, load_release(engine, QualifiedName((name,))), queries)


def test_errors_are_those_of_estimates_and_of_the_source(con: Connection) -> None:
    typical = counts(con, "r")
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 10, dimensions => 1)")
    errors = []
    for (text,) in con.duckdb.execute("SELECT sql FROM anon.workload").fetchall():
        (actual,) = con.duckdb.execute(text).fetchall()[0]
        estimated = con.execute(f"ESTIMATE {text} FROM RELEASE r").fetchall()[0][0]
        errors += [abs(estimated - actual) / actual] if actual else []
    assert (typical.columns, typical.compared, typical.reason) == (2, len(errors), None)
    assert typical.median == pytest.approx(median(errors))
    assert typical.mean == pytest.approx(mean(errors))
    assert max(errors) > 0


def test_a_release_of_exact_values_has_no_error_and_nothing_is_recorded(con: Connection) -> None:
    assert counts(con, "same") == TypicalCounts(2, counts(con, "same").compared, 0.0, 0.0)
    for table in ("anon.workload", "anon.query_error"):
        assert con.duckdb.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]


def test_a_source_that_is_gone_is_a_reason(con: Connection) -> None:
    con.execute("DROP TABLE people")
    typical = counts(con, "r")
    assert typical.median is None
    assert "people" in (typical.reason or "")
    # The transaction goes on.
    assert con.duckdb.execute("SELECT count(*) FROM r").fetchall() == [(120,)]
