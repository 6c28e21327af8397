"""What DuckDB refuses, said so that a user knows what to do, and never with a row of the source."""

from __future__ import annotations

import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import sqlanon
from sqlanon import EngineError, PolicyError, SqlanonError, UserError
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.translated import in_use, translated
from tests.support.database import template_file
from tests.support.processes import running

PEOPLE = "CREATE TABLE people AS SELECT i % 2 AS age, i AS person FROM range(10) AS t(i);"
POLICY = "CREATE POLICY p ON people (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);"
TABLE = "CREATE ANONYMIZED TABLE released AS POLICY p METHOD generalization;"
VIEW = "CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization;"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return template_file(tmp_path / "people.duckdb", PEOPLE + POLICY + TABLE)


def contents(path: Path) -> Any:
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = connection.execute("SELECT schema_name, table_name, estimated_size FROM duckdb_tables() ORDER BY ALL")
        return tables.fetchall(), connection.execute(
            "SELECT view_name FROM duckdb_views() WHERE NOT internal"
        ).fetchall()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_another_process_holds(file: Path, read_only: bool) -> None:
    code = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(file)]
    with running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        holder.stdout.readline()
        with pytest.raises(UserError, match=rf"open in another process \(process {holder.pid}\)") as refused:
            sqlanon.connect(file, read_only=read_only)
        holder.communicate()
    assert "one writer, or any number of readers" in str(refused.value.hint)
    sqlanon.connect(file).close()


@pytest.mark.parametrize("path", ["missing.duckdb", "no folder/x.duckdb", "text.duckdb"])
def test_a_file_that_cannot_be_opened(tmp_path: Path, path: str) -> None:
    (tmp_path / "text.duckdb").write_text("no database" * 1000)
    with pytest.raises(UserError, match="cannot be opened"):
        sqlanon.connect(tmp_path / path, read_only=path.startswith("missing"))


@pytest.mark.long
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE POLICY other ON people (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)",
        "CREATE HIERARCHY h AS INTERVALS (5)",
        "CREATE HIERARCHY h AS LEVELS (SELECT 1, 2)",
        "CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY p METHOD generalization",
        "CREATE ANONYMIZED TABLE other AS POLICY p METHOD generalization",
        VIEW,
        "DROP ANONYMIZED TABLE released",
        "DROP POLICY p",
    ],
)
def test_a_database_that_is_open_for_reading_only(file: Path, statement: str) -> None:
    before = contents(file)
    with sqlanon.connect(file, read_only=True) as connection:
        with pytest.raises(UserError, match="open for reading only; nothing was written") as refused:
            connection.sql(statement)
        assert refused.value.hint
        assert refused.value.exit_code == 2
        assert connection.sql("CHECK released").fetchall()[0][-1] is True
        assert connection.sql("EXPLAIN ANONYMIZED TABLE other AS POLICY p METHOD generalization").fetchall()
    assert contents(file) == before


def test_a_read_only_database_without_a_catalog(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as plain:
        plain.execute(PEOPLE)
    with sqlanon.connect(tmp_path / "x.duckdb", read_only=True) as connection:
        with pytest.raises(UserError, match="open for reading only"):
            connection.sql(POLICY)
        with pytest.raises(UserError, match="no policies"):
            connection.sql(TABLE)


@pytest.mark.long
def test_a_file_of_an_older_storage_version(tmp_path: Path) -> None:
    """It takes snapshots, refuses live views, and the way that the hint names leads to a file that takes both."""
    old, new = tmp_path / "old.duckdb", tmp_path / "new.duckdb"
    with duckdb.connect() as plain:
        plain.execute(f"ATTACH '{old}' AS old (STORAGE_VERSION 'v1.0.0')")
        plain.execute("USE old; " + PEOPLE)
    with sqlanon.connect(old) as connection:
        connection.sql(POLICY)
        with pytest.raises(UserError, match=r"storage version 2\.0\.0") as refused:
            connection.sql(VIEW)
        hint = str(refused.value.hint)
        assert "COPY FROM DATABASE" in hint
        assert "CREATE ANONYMIZED TABLE" in hint
        assert connection.sql("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
        connection.sql(TABLE)
        assert connection.sql("CHECK released").fetchall()[0][-1] is True
        way = hint.split(";")[:2]
        assert all(part.split()[:2] in (["copy", "it"], ["COPY", "FROM"]) for part in way)
        connection.sql(f"ATTACH '{new}' AS newer; COPY FROM DATABASE old TO newer")
    with sqlanon.connect(new) as connection:
        connection.sql(VIEW)
        assert connection.sql("CHECK live").fetchall()[0][-1] is True
        assert connection.sql("CHECK released").fetchall()[0][-1] is True


# Values that stand in the source and nowhere else.
SECRET = "Xq7secret"
SECRET_NUMBER = 918273645
SOURCE = f"""
CREATE TABLE people AS SELECT i % 2 AS age, '{SECRET}' || i AS name, {SECRET_NUMBER} + i AS number, '{{}}' AS doc
FROM range(10) AS t(i);
"""
FAILING = {
    "cast": "SELECT age, name::INTEGER AS q FROM people",
    "overflow": "SELECT age, (number * number * number * number)::BIGINT AS q FROM people",
    "narrow": "SELECT age, number::TINYINT AS q FROM people",
    "date": "SELECT age, strptime(name, '%Y') AS q FROM people",
    "json": "SELECT age, name::JSON AS q FROM people",
    "regular expression": "SELECT age, regexp_matches('x', name || '(') AS q FROM people",
    "error": "SELECT age, error(name) AS q FROM people",
    "enum": "SELECT age, name::ENUM('a') AS q FROM people",
    "uuid": "SELECT age, name::UUID AS q FROM people",
    "time zone": "SELECT age, timezone(name, TIMESTAMP '2000-01-01') AS q FROM people",
    "scalar subquery": "SELECT age, (SELECT name FROM people) AS q FROM people",
    "array": "SELECT age, [name]::VARCHAR[2] AS q FROM people",
    "chr": "SELECT age, chr(number) AS q FROM people",
    "square root": "SELECT age, sqrt(-number) AS q FROM people",
    "date parts": "SELECT age, make_date(number, 1, 1) AS q FROM people",
    "struct": "SELECT age, {'a': name}::STRUCT(a INTEGER) AS q FROM people",
    "division": "SELECT age, number // 0 + error(name) AS q FROM people",
    "unknown column": "SELECT age, nam AS q FROM people",
    "unknown table": "SELECT * FROM peopl",
    "syntax": "SELECT age FROM people WHERE",
}


def silent(error: SqlanonError) -> bool:
    """Neither the message nor a printed traceback shows a value."""
    printed = "".join(traceback.format_exception(error))
    return all(secret not in printed for secret in (SECRET, str(SECRET_NUMBER)[:7]))


def raised_by(connection: Any, statement: str) -> SqlanonError | None:
    try:
        connection.sql(statement)
    except SqlanonError as error:
        return error
    return None


@pytest.mark.one_in(48)
@pytest.mark.parametrize("query", FAILING)
def test_an_error_in_the_query_of_a_policy_shows_no_value(query: str) -> None:
    connection = sqlanon.connect()
    connection.sql(SOURCE)
    policy = f"CREATE POLICY p ON ({FAILING[query]}) (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)"
    releases = [TABLE, VIEW, "EXPLAIN ANONYMIZED " + TABLE.removeprefix("CREATE ANONYMIZED ")]
    raised = [error for statement in (policy, *releases) if (error := raised_by(connection, statement))]
    assert all(map(silent, raised))
    if query not in ("square root", "chr", "division"):
        assert raised, "nothing has failed"


@pytest.mark.long
@pytest.mark.parametrize("query", FAILING)
def test_an_error_in_the_query_of_a_hierarchy_or_a_check_shows_no_value(query: str) -> None:
    connection = sqlanon.connect()
    connection.sql(SOURCE)
    for statement in (
        f"CREATE HIERARCHY h AS LEVELS ({FAILING[query]})",
        f"CREATE HIERARCHY h AS PARENTS ({FAILING[query]})",
        f"CHECK ({FAILING[query]}) (age, q) REQUIRE k_anonymity(k => 2)",
    ):
        error = raised_by(connection, statement)
        assert error is None or silent(error)


def test_an_error_raised_while_a_live_view_is_checked_shows_no_value() -> None:
    """The policy's own view raises it, on rows that came after the release."""
    connection = sqlanon.connect()
    connection.sql("CREATE TABLE people AS SELECT '1' AS age FROM range(10)")
    connection.sql("CREATE POLICY p ON (SELECT age::INTEGER AS age FROM people) (age QUASI IDENTIFIER) "
                   "REQUIRE k_anonymity(k => 2)")  # fmt: skip
    connection.sql(VIEW)
    connection.sql(f"INSERT INTO people VALUES ('{SECRET}')")
    for statement in ("CHECK live", TABLE, "CREATE OR REPLACE " + VIEW.removeprefix("CREATE ")):
        with pytest.raises(SqlanonError) as failed:
            connection.sql(statement)
        assert silent(failed.value)


def test_a_violation_carries_a_query_and_no_row() -> None:
    connection = sqlanon.connect()
    connection.sql(SOURCE)
    # Even `*` for every name is too small a class: where MAX LEVEL keeps a level, its label would be named.
    connection.sql(
        "CREATE POLICY p ON people (name QUASI IDENTIFIER, number QUASI IDENTIFIER) REQUIRE k_anonymity(k => 11)"
    )
    for statement in (TABLE, VIEW, "EXPLAIN ANONYMIZED " + TABLE.removeprefix("CREATE ANONYMIZED ")):
        with pytest.raises(sqlanon.PrivacyViolation) as refused:
            connection.sql(statement)
        assert silent(refused.value)
        assert SECRET not in str(refused.value.query)


@pytest.mark.parametrize(
    "error",
    [duckdb.ConversionException, duckdb.ConstraintException, duckdb.InvalidInputException, duckdb.OutOfRangeException,
     duckdb.DataError, duckdb.Error, duckdb.InternalException, duckdb.TransactionException, duckdb.FatalException,
     duckdb.TypeMismatchException, duckdb.SerializationException, duckdb.NotImplementedException],
)  # fmt: skip
def test_only_messages_that_speak_of_names_are_passed_on(error: type[duckdb.Error]) -> None:
    assert SECRET not in str(translated(error(f"Could not convert string '{SECRET}'")))
    assert "people" in str(translated(duckdb.CatalogException("Table with name people does not exist")))


def failure(statement: str, connection: duckdb.DuckDBPyConnection | None = None) -> str:
    """What is said of the error that DuckDB raises."""
    with pytest.raises(duckdb.Error) as failed:
        (connection or duckdb.connect()).execute(statement).fetchall()
    return translated(failed.value).message


HOLDING = (
    f"SELECT '{SECRET}'::INTEGER",
    f"SELECT error('{SECRET}')",
    f"SELECT error('No open result set {SECRET}')",
    f"SELECT json_extract('{{{SECRET}', '$.a')",
    f"SELECT strptime('{SECRET}', '%Y')",
    f"SELECT regexp_matches('a', '[{SECRET}' || range) FROM range(1)",
    f"CREATE TABLE k(id VARCHAR PRIMARY KEY); INSERT INTO k VALUES ('{SECRET}'), ('{SECRET}')",
    f"CREATE TABLE k(i VARCHAR PRIMARY KEY); CREATE TABLE f(i VARCHAR REFERENCES k); INSERT INTO f VALUES ('{SECRET}')",
    f"CREATE TYPE e AS ENUM ('{SECRET}', '{SECRET}')",
    f"SELECT '{SECRET}'::DATE",
    f"SELECT list_sort([1], '{SECRET}')",
    f"SELECT TIMESTAMPTZ '2020-01-01' AT TIME ZONE '{SECRET}'",
)
VALUELESS = {
    "SELECT 1; SELECT a": 'column "a"',
    "FROM nothing": "nothing does not exist",
    "SELECT ?": "Values were not provided",
    "SET threads = 0": "at least 1 thread",
    "SET lock_configuration = true; SET threads = 2": "the configuration has been locked",
    "CREATE TABLE k(id INT PRIMARY KEY); CREATE TABLE f(id INT REFERENCES k); DROP TABLE k": "Could not drop the table",
    "COMMIT": "no transaction is active",
    "BEGIN; BEGIN": "cannot start a transaction within a transaction",
    "CREATE SEQUENCE s MAXVALUE 2; SELECT nextval('s') FROM range(3)": "reached maximum value",
    "FROM 'none.csv'": "No files found",
    "SELECT (FROM range(2))": "More than one row returned by a subquery",
    "VACUUM FULL": "FULL is not yet implemented",
}


@pytest.mark.parametrize("statement", HOLDING)
def test_a_message_that_holds_a_value_is_withheld(statement: str) -> None:
    assert SECRET not in failure(statement)


@pytest.mark.parametrize("statement", VALUELESS)
def test_a_message_that_can_hold_none_is_passed_on(statement: str) -> None:
    assert VALUELESS[statement].lower() in failure(statement).lower()


def test_a_commit_that_fails_does_not_say_for_which_value(tmp_path: Path) -> None:
    """Two transactions have written the same key, and the second hears it when it commits."""
    first = duckdb.connect(str(tmp_path / "x.duckdb"))
    first.execute("CREATE TABLE k(id VARCHAR PRIMARY KEY)")
    second = first.cursor()
    for connection in (first, second):
        connection.execute("BEGIN").execute("INSERT INTO k VALUES (?)", [SECRET])
    first.execute("COMMIT")
    assert SECRET not in failure("COMMIT", second)


def test_how_a_connection_is_used_is_the_users_to_change() -> None:
    connection = sqlanon.connect()
    connection.close()
    with pytest.raises(UserError, match="already closed") as refused:
        connection.sql("CHECK r")
    assert refused.value.exit_code == 2
    told = translated(in_use())
    assert isinstance(told, UserError)
    assert "use a separate connection from cursor()" in told.message


def test_a_table_with_computed_columns_is_read_once() -> None:
    """A column may be computed with random(): then two reads differ, and classes would be counted of other rows."""
    connection = sqlanon.connect()
    connection.sql("""
        CREATE TABLE people (age INTEGER, noise INTEGER AS ((random() * 3)::INTEGER));
        INSERT INTO people SELECT i % 3 FROM range(300) AS t(i);
        CREATE POLICY p ON people (age QUASI IDENTIFIER, noise QUASI IDENTIFIER MAX LEVEL 0)
        REQUIRE k_anonymity(k => 5);
        CREATE ANONYMIZED TABLE released AS POLICY p METHOD generalization;
        CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization(suppression => 0.5);
    """)
    for _ in range(5):
        sizes = connection.duckdb.execute("SELECT count(*) FROM live GROUP BY ALL").fetchall()
        assert sizes
        assert min(n for (n,) in sizes) >= 5


@pytest.mark.parametrize("second", ["DROP TABLE victim", "SELECT 2", "CREATE HIERARCHY h AS INTERVALS (5)"])
def test_a_query_in_the_catalog_is_one_query(second: str) -> None:
    """A row written by hand is not trusted more than a statement."""
    connection = sqlanon.connect()
    connection.sql(PEOPLE + POLICY + "CREATE TABLE victim AS SELECT 1 AS a")
    connection.duckdb.execute("UPDATE anon.policy SET source = NULL, query = ?", ["SELECT * FROM people; " + second])
    for statement in (TABLE, VIEW):
        with pytest.raises(PolicyError, match="not a single query"):
            connection.sql(statement)
    assert connection.sql("FROM victim").fetchall() == [(1,)]
    assert connection.sql("SELECT count(*) FROM anon.hierarchy").fetchall() == [(0,)]


def test_a_transaction_of_the_users_is_joined_and_rolled_back_with_him() -> None:
    connection = sqlanon.connect()
    connection.sql(PEOPLE + POLICY)
    engine = DuckDBEngine(connection.duckdb)
    connection.sql("BEGIN")
    assert engine.in_transaction()
    connection.sql(TABLE + VIEW)
    connection.sql("ROLLBACK")
    assert not engine.in_transaction()
    assert connection.sql("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
    assert connection.sql("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchall() == [(0,)]
    with pytest.raises(EngineError, match="CatalogException"):
        engine.run("SELECT * FROM released")


@pytest.mark.long
def test_no_query_that_an_observer_sees_holds_a_value() -> None:
    """`-v` prints these texts: they name columns, and hierarchy and policy names, never what the rows hold."""
    seen: list[str] = []
    connection = sqlanon.connect()
    connection.sql(SOURCE)
    connection.observe(lambda stage, text, *_: seen.append(text or ""))
    connection.sql(f"""
        CREATE HIERARCHY h AS LEVELS (SELECT name, 'some' FROM people);
        CREATE HIERARCHY widths AS INTERVALS (10, 100);
        CREATE POLICY p ON people (
            age ENTITY PSEUDONYM, name QUASI IDENTIFIER USING h, number QUASI IDENTIFIER USING widths
        ) REQUIRE k_anonymity(k => 2);
        {TABLE}
        CREATE OR REPLACE POLICY p ON (SELECT * FROM people) (
            age ENTITY, name QUASI IDENTIFIER USING h, number QUASI IDENTIFIER USING widths
        ) REQUIRE k_anonymity(k => 2);
        {VIEW}
        CHECK released; CHECK live;
    """)
    assert len(seen) > 50
    assert not any(SECRET in text or str(SECRET_NUMBER)[:7] in text for text in seen)


def test_arrays_are_a_view_until_the_block_ends() -> None:
    engine = DuckDBEngine(duckdb.connect())
    with engine.readable("numbers", {"number": np.arange(3), "half": np.array([1, 1, 2], dtype=np.int32)}):
        assert engine.rows("SELECT half, sum(number) FROM numbers GROUP BY half ORDER BY half") == [(1, 1), (2, 2)]
    assert engine.rows("SELECT count(*) FROM duckdb_views() WHERE NOT internal") == [(0,)]


def test_a_view_of_arrays_does_not_make_the_next_statement_list_the_macros() -> None:
    connection = sqlanon.connect()
    connection.sql(
        "CREATE TABLE t AS SELECT range % 10 AS a FROM range(100);"
        "CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 5)"
    )
    release = "CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD mondrian"
    connection.sql(release)
    connection.sql(release)
    texts: list[str] = []
    connection.observe(lambda stage, text, *_: texts.append(text) if text else None)
    connection.sql(release)
    assert not [text for text in texts if "duckdb_functions" in text]
