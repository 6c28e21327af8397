"""EXPORT to a PostgreSQL server: what is in the schema, what is replaced, what CHECK says, and what an error keeps."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon import EngineError, PrivacyViolation, UserError
from sqlanon.clients.terminal.cli import app
from tests.support.column_types import TYPES
from tests.support.postgres import asked, run, url

SCHEMA = 'the "schema", select'
COLUMN = '"the ""ward"", ü"'
MADE = f"""
    CREATE TABLE people AS
    SELECT i AS id, 20 + i % 40 AS age, ['a', 'b;--', NULL, ''][1 + i % 4] AS {COLUMN},
        ['Flu', 'Cold', NULL][1 + i // 4 % 3] AS ill
    FROM range(480) AS r(i);
    CREATE HIERARCHY tens AS INTERVALS (20, 40);
    CREATE POLICY p ON people (id IDENTIFIER, age QUASI IDENTIFIER USING tens MIN LEVEL 1,
        {COLUMN} QUASI IDENTIFIER MAX LEVEL 0, ill SENSITIVE) REQUIRE k_anonymity(k => 5);
    CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
    CREATE POLICY q ON people (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE l_diversity(l => 2);
    CREATE ANONYMIZED TABLE a AS POLICY q METHOD anatomy(l => 2);
"""


@pytest.fixture
def con() -> Iterator[sqlanon.Connection]:
    with sqlanon.connect() as connection:
        connection.execute(MADE)
        yield connection


def schemas(postgres: str) -> set[str]:
    mine = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema|public)'"
    return {name for (name,) in asked(postgres, mine)}


def texts(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(map(repr, rows))


def test_the_schema_has_the_release(con: sqlanon.Connection, postgres: str) -> None:
    """Under the names that it has, with its certificate and comments, and nothing else; and the receiver checks it."""
    target = url(postgres, "the%20%22schema%22%2C%20select")
    [answer] = con.sql(f"EXPORT r TO '{target}'").fetchall()
    assert answer[:2] == ("main.r", "postgres")
    assert "postgres@" not in answer[2] + answer[4]
    assert answer[2].endswith("?schema=the%20%22schema%22%2C%20select#r")
    quoted = '"' + SCHEMA.replace('"', '""') + '"'
    assert texts(asked(postgres, f"SELECT * FROM {quoted}.r")) == texts(con.sql("FROM r").fetchall())
    assert schemas(postgres) == {SCHEMA}
    tables = f"SELECT relname FROM pg_class WHERE relnamespace = '{quoted}'::regnamespace ORDER BY 1"
    assert asked(postgres, tables) == [("certificate",), ("r",)]
    [(stated, markdown)] = asked(postgres, f"SELECT json::jsonb, markdown FROM {quoted}.certificate")
    assert stated["release"] == "r"
    assert "/" not in stated["contents"][0]["name"]
    assert markdown.startswith("# Certificate of the release `r`")
    comments = f"SELECT col_description('{quoted}.r'::regclass, n), obj_description('{quoted}'::regnamespace) FROM "
    [(of_age, of_schema)] = asked(postgres, comments + "generate_series(1, 1) AS n")
    assert of_age.startswith("quasi identifier: the label of the row's value")
    assert "anonymized release r" in of_schema
    checked = con.sql(f"CHECK '{target}'").fetchall()
    assert {(row[1], row[-1]) for row in checked} == {
        ("files_as_certified", "recomputed from the files"),
        ("k_anonymity", "recomputed from the files"),
    }
    assert all(row[5] for row in checked)
    assert CliRunner().invoke(app, ["verify", target]).exit_code == 0
    assert con.sql(f"ATTACK '{target}' WITH homogeneity").fetchall()
    with pytest.raises(UserError, match="an estimate reads the files"):
        con.sql(f"ESTIMATE SELECT count(*) FROM people FROM RELEASE '{target}'")


def test_an_earlier_export_is_replaced_and_nothing_else(con: sqlanon.Connection, postgres: str) -> None:
    target = url(postgres)
    con.sql(f"EXPORT r TO '{target}' (FORMAT postgres)")
    with pytest.raises(UserError, match="exists already"):
        con.sql(f"EXPORT a TO '{target}'")
    con.sql(f"EXPORT a TO '{target}' (REPLACE true)")
    assert {row[1] for row in con.sql(f"CHECK '{target}'").fetchall()} >= {"distinct_l_diversity"}
    found = asked(postgres, "SELECT relname FROM pg_class WHERE relnamespace = 'published'::regnamespace ORDER BY 1")
    assert found == [("a_qi",), ("a_sensitive",), ("certificate",)]
    for changed, said in (
        ("UPDATE published.a_sensitive SET bucket = bucket + 1", "a_sensitive was changed since"),
        ("CREATE TABLE published.mine (x int)", "mine does not belong to the export"),
        ("DROP TABLE published.a_qi", "the table a_qi of the export is missing"),
        ("ALTER TABLE published.a_qi ADD COLUMN more int", "has other columns than"),
        ("UPDATE published.certificate SET json = '{}'", "has no certificate of an export"),
    ):
        con.sql(f"EXPORT a TO '{url(postgres, 'other')}'")
        run(postgres, changed.replace("published", "other"))
        with pytest.raises(UserError, match=f"is taken: .*{said}"):
            con.sql(f"EXPORT r TO '{url(postgres, 'other')}' (REPLACE true)")
        run(postgres, "DROP SCHEMA other CASCADE")
    run(postgres, "CREATE SCHEMA other; CREATE FUNCTION other.f() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    with pytest.raises(UserError, match="depend"):
        con.sql(f"EXPORT r TO '{url(postgres, 'other')}' (REPLACE true)")
    run(postgres, "DROP FUNCTION other.f()")
    con.sql(f"EXPORT r TO '{url(postgres, 'other')}'")
    run(postgres, "CREATE VIEW public.reader AS SELECT * FROM other.r")
    with pytest.raises(UserError, match="depend"):
        con.sql(f"EXPORT r TO '{url(postgres, 'other')}' (REPLACE true)")
    assert schemas(postgres) == {"published", "other"}


def test_changed_rows_are_noticed(con: sqlanon.Connection, postgres: str) -> None:
    target = url(postgres)
    con.sql(f"EXPORT r TO '{target}'")
    run(postgres, "UPDATE published.r SET ill = 'Mild' WHERE ctid = (SELECT min(ctid) FROM published.r)")
    with pytest.raises(PrivacyViolation, match="r has other rows than the certificate"):
        con.sql(f"CHECK '{target}'")
    with pytest.raises(UserError, match="has no certificate of an export"):
        con.sql(f"CHECK '{url(postgres, 'nowhere')}'")
    with pytest.raises(UserError, match="names no schema"):
        con.sql(f"CHECK '{postgres}'")


def test_a_signature_is_one_of_the_rows(
    con: sqlanon.Connection, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "release.key"
    assert CliRunner().invoke(app, ["keygen", str(key)]).exit_code == 0
    monkeypatch.setenv("RELEASE_KEY", str(key))
    target = url(postgres)
    con.sql(f"EXPORT r TO '{target}' (SIGN KEY 'RELEASE_KEY')")
    signed = f"CHECK '{target}' SIGNED BY '{key}.pub'"
    assert all(row[5] for row in con.sql(signed).fetchall())
    run(postgres, "UPDATE published.r SET ill = 'Mild' WHERE ctid = (SELECT min(ctid) FROM published.r)")
    with pytest.raises(PrivacyViolation, match="has other rows"):
        con.sql(signed)


def test_the_password_comes_from_the_environment(
    con: sqlanon.Connection, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By libpq itself; and what the server says of a refused user is said."""
    monkeypatch.setenv("PGUSER", "nobody_there")
    without_user = url(postgres).replace("postgres:@", "").replace("postgres@", "")
    with pytest.raises(UserError, match="nobody_there"):
        con.sql(f"EXPORT r TO '{without_user}'")
    monkeypatch.setenv("PGUSER", "postgres")
    con.sql(f"EXPORT r TO '{without_user}'")


def test_what_a_schema_cannot_be_asked(con: sqlanon.Connection, postgres: str) -> None:
    for options, said in (
        ("FORMAT csv", "the format is csv"),
        ("PARTITION_BY (ill)", "PARTITION_BY is for files"),
        ("REPORT true", "REPORT is for files"),
        ("DICTIONARY true", "DICTIONARY is for files"),
    ):
        with pytest.raises(UserError, match=said):
            con.sql(f"EXPORT r TO '{url(postgres)}' ({options})")
    with pytest.raises(UserError, match="FORMAT postgres writes to a database"):
        con.sql("EXPORT r TO 'out/' (FORMAT postgres)")
    con.sql("CREATE ANONYMIZED TABLE certificate AS POLICY p METHOD generalization")
    with pytest.raises(UserError, match="cannot hold a release named certificate"):
        con.sql(f"EXPORT certificate TO '{url(postgres)}'")
    assert schemas(postgres) == set()


def test_a_user_without_rights(con: sqlanon.Connection, postgres: str) -> None:
    run(postgres, "DROP ROLE IF EXISTS poor; CREATE ROLE poor LOGIN")
    poor = url(postgres).replace("postgres:@", "poor@").replace("postgres@", "poor@")
    with pytest.raises(UserError, match="permission denied for database"):
        con.sql(f"EXPORT r TO '{poor}'")


def test_a_reader_holds_it_up_for_a_while(
    con: sqlanon.Connection, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it fails, and the earlier export stays; a reader who began with the earlier one reads it to its end."""
    target = url(postgres)
    con.sql(f"EXPORT r TO '{target}'")
    monkeypatch.setenv("PGOPTIONS", "-c lock_timeout=200ms")
    with psycopg.connect(postgres) as reader:
        before = reader.execute("SELECT count(*) FROM published.r").fetchall()
        with pytest.raises(EngineError, match="lock timeout"):
            con.sql(f"EXPORT a TO '{target}' (REPLACE true)")
        assert reader.execute("SELECT count(*) FROM published.r").fetchall() == before
    assert schemas(postgres) == {"published"}
    assert con.sql("SELECT count(*) FROM anon.release_export").fetchall() == [(1,)]
    con.sql(f"EXPORT a TO '{target}' (REPLACE true)")


def test_a_server_that_is_gone(con: sqlanon.Connection, postgres: str) -> None:
    """Before the export, and while it is at work: it fails, and the catalog does not count it."""
    with pytest.raises(EngineError, match="Connection refused"):
        con.sql("EXPORT r TO 'postgresql://localhost:1/db?schema=x'")
    con.sql("CREATE TABLE many AS SELECT i % 9 AS a, i AS b FROM range(1_500_000) AS t(i)")
    con.sql("CREATE POLICY m ON many (a QUASI IDENTIFIER, b INSENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.sql("CREATE ANONYMIZED TABLE large AS POLICY m METHOD generalization")

    def end() -> None:
        with psycopg.connect(postgres, autocommit=True) as killer:
            while not killer.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND query LIKE 'COPY%' AND pid <> pg_backend_pid()"
            ).fetchall():
                pass

    thread = threading.Thread(target=end)
    thread.start()
    with pytest.raises(EngineError):
        con.sql(f"EXPORT large TO '{url(postgres)}'")
    thread.join()
    assert schemas(postgres) == set()
    assert con.sql("SELECT count(*) FROM anon.release_export").fetchall() == [(0,)]


def test_every_type(con: sqlanon.Connection, postgres: str) -> None:
    """Read back as it is, or as the text that DuckDB writes."""
    finite = TYPES | {"DATE": "DATE '0044-03-15 (BC)' + i::INTEGER", "TIMESTAMP": "TIMESTAMP '1969-12-31 23:59:59'"}
    columns = ", ".join(f'({value})::{kind} AS "{kind}"' for kind, value in finite.items())
    roles = ", ".join(f'"{kind}" INSENSITIVE' for kind in TYPES)
    con.sql(f"CREATE TABLE typed AS SELECT 1 AS a, {columns} FROM range(5) AS r(i)")
    con.sql(f"CREATE POLICY t ON typed (a QUASI IDENTIFIER, {roles}) REQUIRE k_anonymity(k => 4)")
    con.sql(
        f"CREATE ANONYMIZED TABLE all_types AS POLICY t METHOD generalization; EXPORT all_types TO '{url(postgres)}'"
    )
    assert con.sql(f"CHECK '{url(postgres)}'").fetchall()
    for kind in ("BOOLEAN", "SMALLINT", "VARCHAR", "UBIGINT", "UUID"):
        found = asked(postgres, f'SELECT "{kind}"::text FROM published.all_types')
        assert texts(found) == texts(con.sql(f'SELECT "{kind}"::VARCHAR FROM all_types').fetchall())


@pytest.mark.parametrize(
    "value",
    [
        "DATE 'infinity'",
        "TIMESTAMP 'infinity'",
        "TIMESTAMP '-infinity'",
        "TIMESTAMPTZ 'infinity'",
        "'a' || chr(0)",
    ],
)
def test_what_postgres_has_no_value_for(con: sqlanon.Connection, postgres: str, value: str) -> None:
    con.sql(f"CREATE TABLE odd AS SELECT 1 AS a, {value} AS b FROM range(4)")
    con.sql("CREATE POLICY o ON odd (a QUASI IDENTIFIER, b INSENSITIVE) REQUIRE k_anonymity(k => 4)")
    con.sql("CREATE ANONYMIZED TABLE odd_r AS POLICY o METHOD generalization")
    with pytest.raises(sqlanon.DataError, match=r"cannot (hold|store a value)"):
        con.sql(f"EXPORT odd_r TO '{url(postgres)}'")
    assert schemas(postgres) == set()


def test_a_jobs_archive_leaves_it_out(postgres: str, tmp_path: Path) -> None:
    script = tmp_path / "release.sql"
    script.write_text(
        "CREATE OR REPLACE POLICY p ON (SELECT i % 3 AS a FROM range(60) AS t(i)) (a QUASI IDENTIFIER)\n"
        "REQUIRE k_anonymity(k => 5); CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization;\n"
        f"EXPORT r TO '{url(postgres)}' (REPLACE true);\n",
        encoding="utf-8",
    )
    sqlanon.connect(tmp_path / "x.duckdb").close()
    command = ["job", "run", str(script), "-d", str(tmp_path / "x.duckdb"), "--archive", str(tmp_path / "kept")]
    for _ in range(2):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output + done.stderr
        assert "nothing to do" not in done.output + done.stderr
    assert not (tmp_path / "kept").exists() or not os.listdir(tmp_path / "kept")
