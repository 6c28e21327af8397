"""Policies on rows that lie elsewhere: Parquet in many folders, an attached database, an imported SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon import UserError
from sqlanon.clients.terminal.cli import app

ROLES = "(id IDENTIFIER, year QUASI IDENTIFIER, age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2)"


@pytest.fixture
def con(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlanon.Connection]:
    monkeypatch.chdir(tmp_path)
    with sqlanon.connect("here.duckdb") as connection:
        connection.sql("""
            COPY (SELECT i AS id, 20 + i % 4 AS age, ['a', 'b'][1 + i // 4 % 2] AS ill, 2020 + i % 3 AS year
                  FROM range(240) AS t(i)) TO 'lake' (FORMAT parquet, PARTITION_BY (year))
        """)
        yield connection


@pytest.mark.one_in(9)
@pytest.mark.parametrize("source", ["'lake/*/*.parquet'", "read_parquet('lake/**/*.parquet')", "lake"])
def test_parquet_in_folders(con: sqlanon.Connection, source: str) -> None:
    """The folders' values are a column; a view of it is a source, too."""
    con.sql("CREATE VIEW lake AS SELECT * FROM 'lake/*/*.parquet'")
    con.sql(f"CREATE POLICY p ON {source} {ROLES}; CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    years = con.sql("SELECT year, count(*) FROM r GROUP BY year ORDER BY year").fetchall()
    assert years == [(2020, 80), (2021, 80), (2022, 80)]
    con.sql("COPY (SELECT 1 AS id, 20 AS age, 'a' AS ill FROM range(2)) TO 'lake/year=2020/more.parquet'")
    con.sql("REFRESH ANONYMIZED TABLE r; EXPORT r TO 'out' (PARTITION_BY (year))")
    assert con.sql("SELECT count(*) FROM 'out/r/year=2020/*.parquet'").fetchall() == [(82,)]


@pytest.mark.long
def test_an_attached_database(con: sqlanon.Connection) -> None:
    """A snapshot of it stands here without it; what needs the source says that it is gone."""
    con.sql("ATTACH 'there.duckdb' AS there; CREATE SCHEMA there.s")
    con.sql("CREATE TABLE there.s.people AS SELECT * FROM 'lake/*/*.parquet'")
    con.sql(f"CREATE POLICY p ON there.s.people {ROLES}; CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    with pytest.raises(UserError, match="a live view cannot read there"):
        con.sql("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
    with pytest.raises(UserError, match="belongs to the database there"):
        con.sql("EXPORT r TO 'there.duckdb' (REPLACE true)")
    con.sql("DETACH there; CHECK r; EXPORT r TO 'r.duckdb'")
    assert all(row[5] for row in con.sql("CHECK 'r.duckdb'").fetchall())
    with pytest.raises(UserError, match="ATTACH the database there first"):
        con.sql("REFRESH ANONYMIZED TABLE r")
    con.sql("ATTACH 'there.duckdb' AS there; REFRESH ANONYMIZED TABLE r")


@pytest.mark.parametrize("target", ["TO 'x' (FORMAT iceberg)", "TO 'ducklake:x.ducklake'", "TO 'x' (FORMAT ducklake)"])
def test_lakes_that_need_an_extension(con: sqlanon.Connection, target: str) -> None:
    con.sql(
        f"CREATE POLICY p ON 'lake/*/*.parquet' {ROLES}; CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization"
    )
    with pytest.raises(UserError, match="need extensions of DuckDB that have to be downloaded"):
        con.sql(f"EXPORT r {target}")


def imported(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["import", *arguments, "--database", "into.duckdb"])
    return done.stderr if done.exit_code else ""


@pytest.mark.long
def test_a_sqlite_file_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the types of its values, whatever its columns are declared as, and NULLs first."""
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("there.sqlite")) as file:
        file.execute('CREATE TABLE "the ""people""" (id INT, "a b" TEXT, mixed, some REAL, bytes, missing TEXT)')
        file.execute("CREATE TABLE bad (x); ")
        rows = [
            (i, None if i < 3000 else f"it's {i}", i if i % 2 else f"t{i}", i / 2, b"\0\xff", None) for i in range(4000)
        ]
        file.executemany('INSERT INTO "the ""people""" VALUES (?, ?, ?, ?, ?, ?)', rows)
        file.executemany("INSERT INTO bad VALUES (?)", [(b"x",), ("y",)])
        file.commit()
    assert imported("there.sqlite", '"the ""people"""', "--into", "main.people") == ""
    with sqlanon.connect("into.duckdb") as connection:
        kinds = [kind for _, kind, *_ in connection.sql("DESCRIBE people").fetchall()]
        assert kinds == ["BIGINT", "VARCHAR", "VARCHAR", "DOUBLE", "BLOB", "VARCHAR"]
        found = connection.sql("FROM people ORDER BY id").fetchall()
    assert found == [(i, text, str(mixed), some, content, None) for i, text, mixed, some, content, _ in rows]
    assert "there is a table main.people" in imported("there.sqlite", '"the ""people"""', "--into", "people")
    assert imported("there.sqlite", '"the ""people"""', "--into", "people", "--replace") == ""
    assert "bytes beside other values" in imported("there.sqlite", "bad")
    assert "there is no table nothing" in imported("there.sqlite", "nothing")
    assert "there is no file" in imported("nowhere.sqlite", "nothing")
    assert "not a SQLite database" in imported("into.duckdb", "nothing")
    assert "has a password in it" in (said := imported("postgresql://u:s3cret@h/db", "people"))
    assert "cannot be used as the path of a file" in (also := imported("mysql://u:s3cret@h/db", "people"))
    assert "s3cret" not in said + also
    assert "catalog, not releases" in imported("there.sqlite", "bad", "--into", "anon.bad")


def test_sqlite_values_and_names_that_would_be_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused, and the error says why. What is computed is a column as well."""
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("there.sqlite")) as file:
        file.execute("CREATE TABLE large (v)")
        file.executemany("INSERT INTO large VALUES (?)", [(9007199254740993,), (1.5,)])
        file.execute("CREATE TABLE texts AS SELECT CAST(x'ff41' AS TEXT) AS v")
        file.execute('CREATE TABLE nameless ("A", "")')
        file.execute("CREATE TABLE whole (v, twice AS (v * 2))")
        file.executemany("INSERT INTO whole (v) VALUES (?)", [(9007199254740993,), (1,)])
        file.commit()
    assert "the column v of large has fractions beside whole numbers" in imported("there.sqlite", "large")
    assert "a value of texts cannot be read" in imported("there.sqlite", "texts")
    assert "a column of nameless has the empty name" in imported("there.sqlite", "nameless")
    assert imported("there.sqlite", "whole") == ""
    with sqlanon.connect("into.duckdb") as connection:
        assert connection.sql("FROM whole ORDER BY v").fetchall() == [
            (1, 2),
            (9007199254740993, 18014398509481986),
        ]


def test_an_empty_table_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("there.sqlite")) as file:
        file.execute("CREATE TABLE empty (id INT, b BLOB)")
        file.commit()
    done = CliRunner().invoke(app, ["import", "there.sqlite", "empty", "--database", "into.duckdb", "--json"])
    assert json.loads(done.stdout) == {"database": "into.duckdb", "table": "empty", "rows": 0}
