"""The logger `sqlanon`: a record for each statement and stage, without values."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sqlanon import Connection, PrivacyViolation, SqlanonError, UserError, connect
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.statements.checks.check_export import CheckExport
from sqlanon.statements.run import run_statement

MADE = """
    CREATE TABLE patients AS SELECT 30 + i % 4 AS age, 'secret-' || i % 3 AS disease FROM range(40) r(i);
    CREATE POLICY clinic ON patients (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5);
    CREATE ANONYMIZED TABLE released AS POLICY clinic METHOD generalization;
"""
FIELDS = ("kind", "statement", "stage", "rows", "outcome", "error")


@pytest.fixture
def con() -> Connection:
    return connect()


def records(caplog: pytest.LogCaptureFixture, *, stages: bool = False) -> list[tuple[Any, ...]]:
    return [
        tuple(getattr(record, field) for field in FIELDS)
        for record in caplog.records
        if record.name == "sqlanon" and (stages or record.stage is None)
    ]


def test_a_record_for_each_statement(con: Connection, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level(logging.INFO, "sqlanon")
    con.sql(f"""{MADE} CHECK released; CHECK patients (age) REQUIRE k_anonymity(k => 11); SHOW RELEASES;
        EXPORT released TO '{tmp_path}/x' (FORMAT csv); CHECK '{tmp_path}/x';
        CHECK (SELECT age FROM patients WHERE disease = 'secret-1') (age) REQUIRE k_anonymity(k => 1);
        DROP ANONYMIZED TABLE released""")
    assert records(caplog) == [
        ("CreatePolicy", "CREATE POLICY clinic", None, None, "created", None),
        ("CreateRelease", "CREATE ANONYMIZED TABLE released", None, 40, "done", None),
        ("CheckRelease", "CHECK released", None, None, "satisfied", None),
        ("CheckRelation", "CHECK patients", None, None, "not satisfied", None),
        ("Show", "SHOW RELEASES", None, None, "done", None),
        ("ExportRelease", "EXPORT released", None, 40, "done", None),
        ("CheckExport", f"CHECK {tmp_path}/x", None, None, "satisfied", None),
        ("CheckRelation", "CHECK (query)", None, None, "satisfied", None),
        ("DropRelease", "DROP ANONYMIZED TABLE released", None, None, "dropped", None),
    ]
    levels = [record.levelname for record in caplog.records]
    assert levels == [*["INFO"] * 3, "WARNING", *["INFO"] * 5]
    assert all(0 <= record.seconds < 60 for record in caplog.records)
    assert caplog.messages[1].startswith("CREATE ANONYMIZED TABLE released: done (")


def test_a_record_for_each_stage_at_debug(con: Connection, caplog: pytest.LogCaptureFixture) -> None:
    con.sql(MADE)
    caplog.set_level(logging.DEBUG, "sqlanon")
    seen: list[str] = []
    con.observe(lambda stage, sql, *_: None if sql or stage in seen else seen.append(stage))
    con.sql("CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY clinic METHOD generalization")
    *stages, whole = caplog.records
    assert [record.stage for record in stages] == seen
    assert {(record.levelname, record.outcome) for record in stages} == {("DEBUG", "done")}
    assert (whole.levelname, whole.stage) == ("INFO", None)
    assert sum(record.seconds for record in stages) <= whole.seconds
    assert all("secret" not in str(vars(record)) for record in caplog.records)


def test_stages_need_no_observer(con: Connection, caplog: pytest.LogCaptureFixture) -> None:
    con.sql(MADE)
    caplog.set_level(logging.DEBUG, "sqlanon")
    con.sql("CREATE ANONYMIZED TABLE other AS POLICY clinic METHOD mondrian")
    assert {"bind", "solve", "publish"} <= {record.stage for record in caplog.records}


def test_an_error_is_named_by_its_class(con: Connection, caplog: pytest.LogCaptureFixture) -> None:
    """The text of an error may quote what the user wrote, and DuckDB's may quote a row."""
    con.sql("CREATE TABLE t AS SELECT 'secret-row' AS a, 'b' AS b")
    caplog.set_level(logging.DEBUG, "sqlanon")
    for statement in (
        "CHECK (SELECT CAST(a AS INT) AS a FROM t) (a) REQUIRE k_anonymity(k => 2)",
        "CREATE POLICY p ON t (secret_column QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)",
        "CHECK t (b) REQUIRE k_anonymity(k => 'secret-argument')",
    ):
        with pytest.raises(SqlanonError):
            con.sql(statement)
    whole = [record for record in caplog.records if record.stage is None]
    assert [(record.levelname, record.outcome, record.rows) for record in whole] == [("ERROR", "failed", None)] * 3
    assert [record.error for record in whole[1:]] == ["PolicyError", "PolicyError"]
    assert all("secret" not in str(vars(record)) for record in caplog.records)


def test_the_stage_in_which_a_statement_fails(con: Connection, caplog: pytest.LogCaptureFixture) -> None:
    con.sql(MADE)
    con.sql("CREATE OR REPLACE POLICY clinic ON patients (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 41)")
    caplog.set_level(logging.DEBUG, "sqlanon")
    with pytest.raises(PrivacyViolation):
        con.sql("CREATE ANONYMIZED TABLE other AS POLICY clinic METHOD generalization")
    stage, whole = caplog.records[-2:]
    assert (stage.stage, stage.outcome, stage.error) == ("solve", "failed", "PrivacyViolation")
    assert (whole.stage, whole.outcome, whole.error) == (None, "failed", "PrivacyViolation")


def test_no_password_and_no_second_line(con: Connection, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "sqlanon")
    # The parser refuses a URL with a password before there is a statement; a program may have made one itself.
    with pytest.raises(UserError):
        run_statement(DuckDBEngine(con.duckdb), CheckExport("postgresql://me:hunter2@localhost:1/d?schema=s"))
    with pytest.raises(UserError):
        con.sql('DROP POLICY "p\nERROR sqlanon forged"')
    assert "hunter2" not in caplog.text
    assert [record.statement for record in caplog.records] == [
        "CHECK postgresql://***",
        r"DROP POLICY p\nERROR sqlanon forged",
    ]


def test_a_program_without_logging_prints_nothing() -> None:
    program = "import sqlanon\ntry: sqlanon.connect().sql('DROP POLICY p')\nexcept sqlanon.UserError: pass"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("", "")
