"""sqlanon import from a PostgreSQL server."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon.clients.terminal.cli import app


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
            REQUIRE k_anonymity(k => 5); CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization
        ''')
        connection.sql(f"EXPORT r TO '{postgres}&schema=published'; CHECK '{postgres}&schema=published'")
    assert "there is a table main.patients" in imported(postgres, "published.r", "--into", "patients")
    assert "does not exist" in imported(postgres, "nowhere.nothing")
    assert "s3cret" not in imported("postgresql://u:s3cret@h/db", "people")


def test_types_that_duckdb_does_not_have_are_text(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with psycopg.connect(postgres) as connection:
        connection.execute("""
            CREATE DOMAIN small AS int; CREATE TYPE pair AS (x int, y text);
            CREATE TABLE kinds (gone int, address inet, clock timetz, bits bit(3), span int4range, word tsvector,
                id oid, age small, two pair, days date[], ages int[], digits numeric, padded char(3), names name[]);
            ALTER TABLE kinds DROP COLUMN gone;
            INSERT INTO kinds VALUES ('10.0.0.1', '12:00:00+02', '101', '[1,3)', 'a b', 4000000000, 3, (1, 'x'),
                '{2026-01-01,infinity}', '{1,NULL}', 'NaN', 'a', '{n}')
        """)
    assert imported(postgres, "kinds") == ""
    with sqlanon.connect("into.duckdb") as connection:
        assert connection.sql("FROM kinds").fetchall() == [
            (
                *("10.0.0.1/32", "12:00:00+02", "101", "[1,3)", "'a' 'b'", "4000000000", 3, "(1,x)"),
                *(["2026-01-01", "infinity"], [1, None], "NaN", "a  ", ["n"]),
            )
        ]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("'infinity'::date AS x", "the column x of t has infinite dates"),
        ("'-infinity'::timestamp AS x", "the column x of t has infinite timestamps"),
        ("'infinity'::timestamptz AS x", "the column x of t has infinite timestamps"),
        ("'294270-01-01'::timestamp AS x", "the column x of t has infinite timestamps, or such as are after"),
        ("'10000000 hours'::interval AS x", "the column x of t has intervals of more"),
        ("'{{1,2},{3,4}}'::int[] AS x", "the column x of t has lists of lists"),
        ("'{{10.0.0.1},{10.0.0.2}}'::inet[] AS x", "the column x of t has lists of lists"),
        ("'[5:6]={1,2}'::int[] AS x", "the column x of t has lists of lists"),
        ("'NaN'::numeric(5, 2) AS x", "the column x of t has numbers that are NaN"),
        ("'12.34'::money AS x", "the column x of t is money"),
        ('3 AS "A", 4 AS a', "the columns A and a of t have the same name in DuckDB"),
    ],
)
def test_what_would_be_another_value_is_refused(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with psycopg.connect(postgres) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT {columns}")
    assert said in imported(postgres, "t")
    with sqlanon.connect("into.duckdb") as opened:
        assert opened.sql("SELECT count(*) FROM duckdb_tables() WHERE table_name = 't'").fetchall() == [(0,)]


def test_errors_say_what_it_was_and_no_value(postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with psycopg.connect(postgres) as connection:
        connection.execute("""
            CREATE TABLE people AS SELECT 'SECRET'::text AS x;
            CREATE VIEW bad AS SELECT x::int FROM people;
            CREATE VIEW dated AS SELECT x::date FROM people
        """)
    for view, said in (("bad", "a value of bad cannot be read"), ("dated", "cannot compute a value of the table")):
        message = imported(postgres, view)
        assert said in message
        assert "SECRET" not in message
        assert "transaction" not in message
    message = imported(f"{postgres}&sslmode=SECRET", "people")
    assert "libpq cannot use the URL" in message
    assert "SECRET" not in message
