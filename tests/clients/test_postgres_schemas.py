"""A schema of an export that is no longer as it was written: no CHECK accepts it, and no export replaces it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partialmethod
from typing import Any

import psycopg
import pytest

import sqlanon
from sqlanon import EngineError, PrivacyViolation, UserError
from sqlanon.export.destinations.postgres_tables import PostgresTables
from tests.support.postgres import asked, run, url

MADE = """
    CREATE TABLE people AS SELECT 20 + i % 4 AS age, ['Flu', 'Cold', NULL][1 + i // 4 % 3] AS ill
    FROM range(48) AS t(i);
    CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 5);
    CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
    CREATE POLICY q ON people (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE l_diversity(l => 2);
    CREATE ANONYMIZED TABLE a AS POLICY q METHOD anatomy(l => 2);
"""


@pytest.fixture
def con() -> Iterator[sqlanon.Connection]:
    with sqlanon.connect() as connection:
        connection.execute(MADE)
        yield connection


def refused(con: sqlanon.Connection, target: str, said: str) -> None:
    """By CHECK, and by an export that would replace it."""
    with pytest.raises(PrivacyViolation, match=said):
        con.sql(f"CHECK '{target}'")
    with pytest.raises(UserError, match=f"is taken: .*{said}"):
        con.sql(f"EXPORT r TO '{target}' (REPLACE true)")


# A schema with one of these is no longer as an export writes it.
CHANGED = (
    ("CREATE TABLE published.raw AS SELECT 'Bob' AS name", "raw does not belong"),
    ("CREATE SEQUENCE published.s", "s does not belong"),
    ("CREATE VIEW published.v AS SELECT 1", "v does not belong"),
    ("CREATE INDEX i ON published.r (age)", "i does not belong"),
    (
        "CREATE FUNCTION published.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        r"function published.f\(\) does not belong",
    ),
    ("CREATE TYPE published.e AS ENUM ('x')", "type published.e does not belong"),
    ("ALTER TABLE published.r ENABLE ROW LEVEL SECURITY", "r has row-level security"),
    ("CREATE RULE x AS ON UPDATE TO published.r DO NOTHING", "r has rules"),
    ("CREATE TABLE public.part () INHERITS (published.r)", "r shares rows or columns"),
    ("ALTER TABLE published.r SET UNLOGGED", "r is not a table that outlasts"),
    ("ALTER TABLE published.certificate ADD COLUMN mine text", "certificate has other columns"),
    ("ALTER TABLE published.r ADD COLUMN more int", "r has other columns"),
    ("ALTER TABLE published.r RENAME COLUMN ill TO disease", "r has other columns"),
    (
        "UPDATE published.certificate SET markdown = '# Certificate of the release `r`'",
        "Markdown is not the one in JSON",
    ),
    (
        "UPDATE published.certificate SET json = regexp_replace(json, '{', '{\"x\": 1, \"x\": 2,')",
        "has a repeated key",
    ),
)


@pytest.mark.parametrize(("change", "said"), CHANGED, ids=[said for _, said in CHANGED])
def test_a_schema_that_is_not_as_it_was_written(con: sqlanon.Connection, postgres: str, change: str, said: str) -> None:
    target = url(postgres)
    con.sql(f"EXPORT r TO '{target}'")
    run(postgres, change)
    refused(con, target, said)


@pytest.mark.parametrize("name", ["r", "certificate"])
def test_a_view_in_the_place_of_a_table(con: sqlanon.Connection, postgres: str, name: str) -> None:
    """It shows the rows that were exported, and its function is not run for it."""
    target = url(postgres)
    con.sql(f"EXPORT r TO '{target}'")
    run(
        postgres,
        f"""
        CREATE SEQUENCE public.runs;
        CREATE FUNCTION public.noted() RETURNS bool LANGUAGE sql AS $$ SELECT nextval('public.runs') > 0 $$;
        ALTER TABLE published.{name} SET SCHEMA public;
        CREATE VIEW published.{name} AS SELECT * FROM public.{name} WHERE public.noted();
        """,
    )
    refused(con, target, f"{name} is not an ordinary table")
    assert asked(postgres, "SELECT is_called FROM public.runs") == [(False,)]


TYPED = """
    CREATE TABLE visits AS SELECT 1 AS a, DATE '2026-01-01' AS d, 30::BIGINT AS age, 1.5::DECIMAL(9,2) AS paid,
        [1, 2] AS n, TIMESTAMPTZ '2026-01-01 00:00:00+00' AS moment FROM range(6);
    CREATE POLICY v ON visits (a QUASI IDENTIFIER, d INSENSITIVE, age INSENSITIVE, paid INSENSITIVE, n INSENSITIVE,
        moment INSENSITIVE) REQUIRE k_anonymity(k => 5);
    CREATE ANONYMIZED TABLE typed AS POLICY v METHOD generalization;
"""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("ALTER d TYPE timestamp USING d + interval '13 hours'", "d of the table typed is of another type"),
        ("ALTER age TYPE numeric USING age + 0.3", "age of the table typed is of another type"),
        ("ALTER moment TYPE timestamptz(3)", "moment of the table typed is of another type"),
        ("ALTER paid TYPE numeric USING paid + 0.0004", "typed has values of other types"),
        ("ALTER n TYPE integer[] USING '[0:1]={1,2}'", "typed has values of other types"),
        ("ALTER n TYPE integer[] USING '{{1,2}}'", "typed has values of other types"),
    ],
)
def test_values_that_say_more_than_was_certified(
    con: sqlanon.Connection, postgres: str, change: str, said: str
) -> None:
    """They are those of the certificate once they are cast."""
    target = url(postgres)
    con.execute(TYPED)
    con.sql(f"EXPORT typed TO '{target}'")
    assert all(row[5] for row in con.sql(f"CHECK '{target}'").fetchall())
    run(postgres, f"ALTER TABLE published.typed {change}")
    refused(con, target, said)


def test_who_checks_may_be_in_another_time_zone(con: sqlanon.Connection, postgres: str) -> None:
    target = url(postgres)
    con.execute(TYPED)
    con.sql(f"EXPORT typed TO '{target}'")
    for zone in ("Asia/Tokyo", "America/New_York"):
        command = [sys.executable, "-m", "sqlanon", "verify", target]
        done = subprocess.run(command, env=os.environ | {"TZ": zone}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_nobody_writes_to_what_is_replaced(
    con: sqlanon.Connection, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From when it is read until it is dropped; a row that was written before that is seen."""
    target = url(postgres)
    con.sql(f"EXPORT r TO '{target}'")
    monkeypatch.setattr(PostgresTables, "write", partialmethod(_insert, PostgresTables.write, postgres))
    con.sql(f"EXPORT a TO '{target}' (REPLACE true)")
    monkeypatch.undo()
    monkeypatch.setenv("PGOPTIONS", "-c lock_timeout=200ms")
    with psycopg.connect(postgres) as writer:
        writer.execute("DELETE FROM published.a_sensitive")
        with pytest.raises(EngineError, match="lock timeout"):
            con.sql(f"EXPORT r TO '{target}' (REPLACE true)")
    with pytest.raises(UserError, match="a_sensitive was changed"):
        con.sql(f"EXPORT r TO '{target}' (REPLACE true)")


def _insert(tables: PostgresTables, write: Callable[..., None], postgres: str, *arguments: Any) -> None:
    """Another session's attempt while the new tables are written; its readers read."""
    with psycopg.connect(postgres, options="-c lock_timeout=200ms") as other:
        assert other.execute("SELECT count(*) FROM published.r").fetchone()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            other.execute("INSERT INTO published.r SELECT * FROM published.r")
    write(tables, *arguments)


def test_a_reader_without_rights(con: sqlanon.Connection, postgres: str) -> None:
    target = url(postgres)
    con.sql(f"EXPORT r TO '{target}'")
    run(postgres, "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN")
    as_reader = target.replace("postgres:@", "reader@").replace("postgres@", "reader@")
    with pytest.raises(UserError, match="a reader needs USAGE on the schema and SELECT on its tables"):
        con.sql(f"CHECK '{as_reader}'")
    run(postgres, "GRANT USAGE ON SCHEMA published TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA published TO reader")
    assert all(row[5] for row in con.sql(f"CHECK '{as_reader}'").fetchall())
