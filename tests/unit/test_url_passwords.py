"""Passwords in the URLs of databases: no error shows one, whatever is in it, and the catalog keeps none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon import PolicyError, SqlanonError, UserError
from sqlanon.clients.terminal.cli import app
from sqlanon.engines.postgres_url import database_url
from sqlanon.errors import without_passwords

URLS = [
    "postgresql://reader@srv:Xq7szW9@h/d",
    "postgresql://u:Xq7s zW9@h/d",
    "postgresql://u:Xq7s'zW9@h/d",
    'postgresql://u:Xq7s"zW9@h/d',
    "postgresql://u:Xq7s#zW9@h/d?schema=x",
    "postgresql://u:Xq7s/zW9@h/d?schema=x",
    "postgresql://u:Xq7s?zW9@h/d",
    "postgresql://u:Xq7s?x=zW9@h/d",
    "postgresql://u:Xq7s@zW9@h/d",
    "postgresql://u%3AXq7szW9@h/d",
    "postgresql://u:Xq7szW9",
    "postgresql://[::1:Xq7szW9@/d",
    "postgresql://u:Xq7s[zW9@h/d",
    "postgresql://h/d?passwor%64=Xq7szW9",
    "postgresql://h/d?schema=x&password=Xq7s&zW9",
    "postgresql://h/d?password=Xq7s'zW9",
    "postgresql:u:Xq7szW9@h/d",
    "postgresql:/u:Xq7szW9@h/d",
    "jdbc:postgresql://u:Xq7szW9@h/d",
    "mysql://reader@srv:Xq7szW9@h/d",
    "mysql://u:Xq7s zW9@h/d",
    "postgre\tsql://u:Xq7szW9@h/d",
    "host=h dbname=d user=u password=Xq7szW9",
    "password = Xq7szW9 host = h",
    "dbname=d password='Xq7s zW9'",
    "service=s sslpassword=Xq7szW9",
]
ROLES = "(a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)"


@pytest.fixture
def con(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlanon.Connection]:
    monkeypatch.chdir(tmp_path)
    with sqlanon.connect("x.duckdb") as connection:
        connection.execute(f"""
            CREATE TABLE t AS SELECT 1 AS a FROM range(4);
            CREATE POLICY p ON t {ROLES};
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization
        """)
        yield connection


def shows(text: str) -> bool:
    return any(part in text for part in ("Xq7s", "zW9"))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "path",
    ["host=h dbname=d", "host=/run/postgresql dbname=d", "service=warehouse", "PORT = 5432", "out/x;password=abc"],
)
def test_keywords_of_a_connection_are_no_path(con: sqlanon.Connection, tmp_path: Path, path: str) -> None:
    with pytest.raises(UserError, match="list of PostgreSQL's connection keywords"):
        con.execute(f"EXPORT r TO '{path}'")
    assert [each.name for each in tmp_path.iterdir() if not each.name.startswith("x.duckdb")] == []


@pytest.mark.one_in(5)
@pytest.mark.parametrize("path", ["user=5/x.parquet", "year=2026", "./host=h", "ports=1", "a host=h"])
def test_a_folder_of_a_partition_is_a_path(con: sqlanon.Connection, tmp_path: Path, path: str) -> None:
    con.execute(f"EXPORT r TO '{path}'")
    assert (tmp_path / path).exists()


@pytest.mark.one_in(27)
@pytest.mark.parametrize("url", URLS)
def test_no_statement_shows_a_password(con: sqlanon.Connection, tmp_path: Path, url: str) -> None:
    """Nor does it make a folder of such a name, or ask a server."""
    literal = url.replace("'", "''")
    query = "SELECT count(*) FROM r"
    for statement in (
        f"EXPORT r TO '{literal}'",
        f"EXPORT r TO '{literal}' (FORMAT nothing)",
        f"EXPORT r TO '{literal}' (NOTHING)",
        f'EXPORT r TO "{url}"',
        f"EXPORT r TO\n'{literal}'",
        f"CHECK '{literal}'",
        f"ATTACK '{literal}' WITH homogeneity",
        f"ESTIMATE FROM RELEASE '{literal}' ({query})",
    ):
        with pytest.raises(SqlanonError) as caught:
            con.sql(statement)
        error = caught.value
        assert not shows(f"{error} {error.args} {error.message} {error.hint} {error.excerpt} {error.quoted}"), statement
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("x.duckdb")] == []


@pytest.mark.one_in(26)
@pytest.mark.parametrize("url", URLS)
def test_no_command_shows_a_password(con: sqlanon.Connection, tmp_path: Path, url: str) -> None:
    con.close()
    Path("script.sql").write_text("EXPORT r TO '{}';\n".format(url.replace("'", "''")), encoding="utf-8")
    for command in (
        ["verify", url],
        ["verify", url, "--json"],
        ["import", url, "t", "--into", "t2", "--database", "x.duckdb"],
        ["import", url, "t", "--into", "t2", "--database", "x.duckdb", "--json"],
        ["export", "r", url, "--database", "x.duckdb", "--json"],
        ["run", "script.sql", "--database", "x.duckdb", "--json"],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2, (command, done.output)
        assert not shows(done.output + done.stderr.replace("script.sql", "")), command


def test_what_a_url_may_be() -> None:
    url = database_url("postgresql://srv%40reader@h:5432,[::1]:5433/d?schema=a%20b&sslmode=require")
    assert url.called == "postgresql://h:5432,[::1]:5433/d"
    assert url.schemas == ("a b",)
    assert database_url("postgresql://u:@/d?host=/tmp").uri == "postgresql://u:@/d?host=%2Ftmp"


@pytest.mark.parametrize("url", [*URLS, "postgresql://h:port/d", "postgresql://h/d#x", "postgresql://h/a b"])
def test_what_no_url_is(url: str) -> None:
    """It is refused before a driver sees it."""
    with pytest.raises(UserError, match=r"malformed|has a password in it") as raised:
        database_url(url)
    assert not shows(str(raised.value))


@pytest.mark.parametrize(
    "said",
    [
        "postgresql://h:5432/d?schema=a%20b#_certificate: it is gone",
        "see https://example.org/page.html for more",
        "the password is wrong",
        "the path C:/data is none",
    ],
)
def test_messages_without_passwords_stay_whole(said: str) -> None:
    assert without_passwords(said) == said


TEXTS = [
    "postgresql://u@h/d?password=Xq7szW9",
    "postgresql://u@h/d?passwor%64=Xq7szW9",
    "password=Xq7szW9 host=h",
    "service=x password = Xq7szW9",
    "host=h passwd=Xq7szW9",
    "Server=h;Pwd=Xq7szW9",
    "postgresql://reader@srv:Xq7szW9@h/d",
    "postgresql://u:Xq7s zW9@h/d",
    "postgresql:u:Xq7szW9@h/d",
    "mysql://u:Xq7s'zW9@h/d",
    "https://u:Xq7szW9@h/x.parquet",
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("text", TEXTS)
def test_no_query_that_is_kept_has_a_password(con: sqlanon.Connection, text: str) -> None:
    literal = text.replace("'", "''")
    for query in (
        f"SELECT a FROM t WHERE '{literal}' <> ''",
        f"SELECT a FROM t WHERE $$ {text} $$ <> ''",
        f"SELECT a FROM t WHERE '{literal[:7]}' || '{literal[7:]}' <> ''",
        f'SELECT a, a AS "{text}" FROM t',
    ):
        with pytest.raises(PolicyError, match="has a password in it") as raised:
            con.sql(f"CREATE POLICY w ON ({query}) {ROLES}")
        assert not shows(str(raised.value))
    with pytest.raises(PolicyError, match="the query of the hierarchy h has a password in it") as raised:
        con.sql(f"CREATE HIERARCHY h AS LEVELS (SELECT a::VARCHAR AS l0, '{literal}' AS l1 FROM t)")
    assert not shows(str(raised.value))
    kept = con.sql("SELECT * FROM anon.policy").fetchall() + con.sql("SELECT * FROM anon.hierarchy").fetchall()
    assert not shows(json.dumps(kept, default=str))


def test_other_texts_are_kept(con: sqlanon.Connection) -> None:
    query = "SELECT a FROM t WHERE 'password' <> 'https://example.org/a?b=c' AND '12:30' <> 'a@b'"
    con.sql(f"CREATE POLICY w ON ({query}) {ROLES}")
