"""Typical counts: those of a workload, each compared as ESTIMATE and the source answer it."""

from __future__ import annotations

from statistics import mean, median

import pytest

from sqlanon import Connection
from sqlanon.assess.workloads import measure
from sqlanon.assess.workloads.summary import typical_counts
from sqlanon.domain.summary import CountError
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


def counts(con: Connection, name: str, queries: int = 10) -> CountError:
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
    same = counts(con, "same")
    assert same == CountError(same.compared, 2, 0.0, 0.0, drawn=10)
    for table in ("anon.workload", "anon.query_error"):
        assert con.duckdb.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]


def test_a_source_that_is_gone_is_a_reason(con: Connection) -> None:
    con.execute("DROP TABLE people")
    typical = counts(con, "r")
    assert typical.median is None
    assert "people" in (typical.reason or "")
    # The transaction goes on.
    assert con.duckdb.execute("SELECT count(*) FROM r").fetchall() == [(120,)]


@pytest.mark.one_in(3)
def test_counts_that_are_not_answered_are_told_with_the_reason(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    con.execute("""
        CREATE TABLE visits AS SELECT i % 20 AS age, i % 4 AS ill, i % 3 AS ward,
            TIME '00:00:00' + INTERVAL (i % 30 * 20) MINUTE AS seen FROM range(120) AS t(i);
        CREATE POLICY v ON visits (age QUASI IDENTIFIER, seen QUASI IDENTIFIER, ward QUASI IDENTIFIER, ill SENSITIVE)
        REQUIRE k_anonymity(k => 4);
        CREATE ANONYMIZED TABLE rv AS POLICY v METHOD mondrian;
        CREATE WORKLOAD w ON POLICY v (queries => 36, dimensions => 1)""")
    # Each of the others would be refused for the same labels.
    monkeypatch.setattr(measure, "answer_alone", None)
    con.execute("MEASURE RELEASE rv WITH WORKLOAD w")
    typical = counts(con, "rv", 36)
    texts = [text for (text,) in con.duckdb.execute("SELECT sql FROM anon.workload").fetchall()]
    answered = [text for text in texts if "seen" not in text]
    assert (typical.drawn, typical.unanswered) == (36, 36 - len(answered))
    query = "SELECT actual, estimated FROM anon.query_error WHERE estimated IS NOT NULL AND actual > 0"
    errors = [abs(estimated - actual) / actual for actual, estimated in con.duckdb.execute(query).fetchall()]
    assert typical.compared == len(errors) >= 20
    assert typical.median == pytest.approx(median(errors))
    why = "seen: what is below its labels is not known for the type TIME"
    assert typical.left_out == f" ({len(answered)} of 36 counts; the others are not answered: {why})"
    # A few answers are no error of a typical count.
    few = counts(con, "rv", 10)
    assert few.median is None
    assert (few.reason or "").endswith(f"of 10 counts: {why}")


def test_columns_are_named_where_estimate_answers_null(con: Connection) -> None:
    con.execute("""
        CREATE TABLE places AS SELECT i % 4 AS ill, (1000 + i % 40)::VARCHAR AS zip FROM range(160) AS t(i);
        CREATE POLICY z ON places (zip QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 8);
        CREATE ANONYMIZED TABLE rz AS POLICY z METHOD mondrian""")
    rows = con.execute("ESTIMATE SELECT count(*) AS n FROM places WHERE zip = '1001' FROM RELEASE rz").fetchall()
    assert rows[0][0] is None
    reason = counts(con, "rz", 4).reason or ""
    assert reason.endswith(": the release does not say which values of zip each label stands for")
