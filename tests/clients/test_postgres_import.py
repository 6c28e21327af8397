"""sqlanon import from a PostgreSQL server."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon.terminal.cli import app


def imported(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["import", *arguments, "--database", "into.duckdb"])
    return done.stderr if done.exit_code else ""


def test_a_table_is_imported(postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the schema that the name, the URL or the search path says, in its types, and then it is a source."""
    monkeypatch.chdir(tmp_path)
    with psycopg.connect(postgres) as connection:
        connection.execute('''
            CREATE SCHEMA "the clinic";
            CREATE TYPE sexes AS ENUM ('f', 'm');
            CREATE TABLE "the clinic"."select" AS
            SELECT i AS id, (20 + i % 4)::smallint AS age, (ARRAY['f', 'm'])[1 + i % 2]::sexes AS "the ""sex""",
                (i / 4.0)::numeric(10, 2) AS bill, i::numeric AS any_number, DATE '2020-02-29' + i AS day,
                CASE WHEN i > 2000 THEN 'ü' || i END AS note, gen_random_uuid() AS key, '{"a": 1}'::jsonb AS more
            FROM generate_series(1, 4000) AS t(i)
        ''')
    said = imported(postgres, '"the clinic"."select"', "--into", "patients")
    assert said == ""
    assert imported(f"{postgres}&schema=the%20clinic", '"select"', "--into", "patients", "--replace") == ""
    with sqlanon.connect("into.duckdb") as connection:
        kinds = dict(row[:2] for row in connection.sql("DESCRIBE patients").fetchall())
        assert kinds["bill"] == "DECIMAL(10,2)"
        assert [kinds[name] for name in ("age", "day", "note", 'the "sex"')] == [
            "SMALLINT",
            "DATE",
            "VARCHAR",
            "VARCHAR",
        ]
        assert connection.sql("SELECT count(*), count(note), sum(bill) FROM patients").fetchall() == [
            (4000, 2000, Decimal("2000500.00"))
        ]
        connection.sql('''
            CREATE POLICY p ON patients (age QUASI IDENTIFIER, "the ""sex""" QUASI IDENTIFIER, bill SENSITIVE)
            REQUIRE k_anonymity(k => 5); CREATE ANONYMIZED TABLE r AS POLICY p
        ''')
        connection.sql(f"EXPORT r TO '{postgres}&schema=published'; CHECK '{postgres}&schema=published'")
    assert "there is a table main.patients" in imported(postgres, "published.r", "--into", "patients")
    assert "does not exist" in imported(postgres, "nowhere.nothing")
    assert "s3cret" not in imported("postgresql://u:s3cret@h/db", "people")
