"""The ledger of a series: other rows than were written are noticed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from sqlanon import CatalogError, Connection, PolicyError
from sqlanon.catalog import ledger
from sqlanon.republication.series import respondents
from tests.support.database import template

KEY = "a key that nobody knows"
SETUP = """
CREATE TABLE people AS SELECT 'p' || i AS name, i // 2 AS age, 'd' || i % 2 AS disease FROM range(12) AS t(i);
CREATE POLICY p ON people (name ENTITY, age QUASI IDENTIFIER MAX LEVEL 0, disease SENSITIVE)
    REQUIRE k_anonymity(k => 2);
"""
MADE = "CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization IN SERIES monthly"
BEGUN = "CREATE SERIES monthly ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 2)"


@pytest.fixture(autouse=True, scope="module")
def _key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("SERIES_KEY", KEY)
        yield


@pytest.fixture
def con() -> Iterator[Connection]:
    with template(SETUP) as connection:
        yield connection


@pytest.fixture(scope="module")
def shared() -> Iterator[Connection]:
    """A series of three releases, from the second of which some are away."""
    with template(SETUP, BEGUN, make_three) as connection:
        yield connection


@pytest.fixture
def series(shared: Connection) -> Iterator[Connection]:
    """What a test changes is undone."""
    shared.duckdb.execute("BEGIN")
    yield shared
    shared.duckdb.execute("ROLLBACK")


def make_three(con: Connection) -> None:
    con.execute(MADE)
    con.duckdb.execute("CREATE TABLE everybody AS FROM people; DELETE FROM people WHERE age = 0")
    con.execute(MADE)
    con.execute(MADE)
    con.duckdb.execute("INSERT INTO people FROM everybody WHERE age = 0")


def checksums(con: Connection) -> list[Any]:
    query = "SELECT checksum FROM anon.series_release ORDER BY position"
    return [checksum for (checksum,) in con.duckdb.execute(query).fetchall()]


OTHER_ROWS = [
    # Of the first release, which is long past, and of the last.
    *(
        f"UPDATE anon.series_{table} SET {column} = {value} WHERE position = {position} "
        f"AND rowid = (SELECT min(rowid) FROM anon.series_{table} WHERE position = {position})"
        for position in (1, 3)
        for table, column, value in (
            ("member", "class_no", "class_no + 1"),
            ("member", "respondent", "uuid()"),
            ("member", "position", "position + 1"),
            ("member", "series_id", "'another'"),
            ("class", "class_no", "class_no + 1"),
            ("class", "attribute", "'another'"),
            ("class", "value_set", "uuid()"),
            ("class", "position", "position - 1"),
            ("class", "series_id", "'another'"),
            ("release", "digest", "'another'"),
            ("release", "position", "7"),
            ("release", "series_id", "'another'"),
        )
    ),
    # Of the sets of values, which the first release had already.
    *(
        f"UPDATE anon.series_value SET {column} = {value} WHERE rowid = 0"
        for column, value in (
            ("value_set", "uuid()"),
            ("attribute", "'another'"),
            ("value", "'another'"),
            ("value", "NULL"),
            ("n", "n + 1"),
            ("position", "position + 1"),
            ("series_id", "'another'"),
        )
    ),
    # Two respondents who change places, so that all sums of their columns stay.
    "UPDATE anon.series_member SET class_no = 1 - class_no WHERE position = 2 AND rowid IN "
    "(SELECT min(rowid) FROM anon.series_member WHERE position = 2 AND class_no < 2 GROUP BY class_no)",
    *(f"DELETE FROM anon.series_{table} WHERE position = 2" for table in ("member", "class", "release")),
    *(
        f"DELETE FROM anon.series_{table} WHERE rowid = (SELECT min(rowid) FROM anon.series_{table})"
        for table in ("member", "class", "value")
    ),
    "INSERT INTO anon.series_member SELECT series_id, 1, 0, uuid() FROM anon.series",
    "INSERT INTO anon.series_member SELECT series_id, 0, 0, uuid() FROM anon.series",
    "INSERT INTO anon.series_member SELECT series_id, 4, 0, uuid() FROM anon.series",
    "INSERT INTO anon.series_class SELECT series_id, 1, 99, 'disease', uuid() FROM anon.series",
    "INSERT INTO anon.series_class SELECT series_id, -1, 0, 'disease', uuid() FROM anon.series",
    "INSERT INTO anon.series_class FROM anon.series_class LIMIT 1",
    "INSERT INTO anon.series_value SELECT series_id, 1, uuid(), 'disease', 'x', 1 FROM anon.series",
    "INSERT INTO anon.series_value SELECT series_id, -1, uuid(), 'disease', 'x', 1 FROM anon.series",
    "INSERT INTO anon.series_value FROM anon.series_value LIMIT 1",
    "UPDATE anon.series SET digest = 'another'",
    "UPDATE anon.series SET entity_type = 'INTEGER'",
    "UPDATE anon.series_requirement SET model = 'composition'",
    "UPDATE anon.series_requirement SET arguments = '{\"m\":1}'",
    "DELETE FROM anon.series_requirement",
    "INSERT INTO anon.series_requirement SELECT series_id, 2, 'composition', '{\"max\":0.1}' FROM anon.series",
    "DELETE FROM anon.series_release WHERE position = 3; DELETE FROM anon.series_member WHERE position = 3; "
    "DELETE FROM anon.series_class WHERE position = 3",
]


@pytest.mark.one_in(15)
@pytest.mark.parametrize("statement", [MADE, "CHECK r IN SERIES monthly"])
@pytest.mark.parametrize("change", OTHER_ROWS)
def test_other_rows_are_noticed(series: Connection, change: str, statement: str) -> None:
    if statement != MADE and "series_release" in change:
        # By then r may be in no series.
        return
    series.duckdb.execute(change)
    with pytest.raises(CatalogError, match="the rows of its ledger were changed"):
        series.execute(statement)


def test_nothing_is_published_then() -> None:
    con = template(SETUP, BEGUN, make_three)
    released = con.duckdb.execute("SELECT * FROM r ORDER BY ALL").fetchall()
    con.duckdb.execute("UPDATE anon.series_member SET class_no = class_no + 1 WHERE position = 1")
    with pytest.raises(CatalogError, match="the rows of its ledger were changed"):
        con.execute(MADE)
    assert con.duckdb.execute("SELECT * FROM r ORDER BY ALL").fetchall() == released
    assert con.execute("SHOW SERIES").fetchall() == [("monthly", "p", 3, 12)]


@pytest.mark.long
def test_digests_are_compared_where_checksums_are_not_what_they_should_be(
    series: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in another version of DuckDB, whose hash may be another."""
    before = checksums(series)
    assert len(set(before)) == 3
    compared: list[int] = []
    digest = ledger.ledger_digest

    def counted(engine: Any, series: Any, position: int, *rest: str) -> str:
        compared.append(position)
        return digest(engine, series, position, *rest)

    monkeypatch.setattr(ledger, "ledger_digest", counted)
    series.execute(MADE)
    assert compared == []
    series.duckdb.execute("UPDATE anon.series_release SET checksum = 'another' WHERE position = 2")
    series.execute(MADE)
    assert compared == [1, 2, 3, 4]
    after = checksums(series)
    assert after[:3] == before
    assert len(set(after)) == 5
    compared.clear()
    series.execute(MADE)
    assert compared == []


def test_respondents_are_keyed_digests(series: Connection) -> None:
    stored = series.duckdb.execute("SELECT DISTINCT respondent FROM anon.series_member").fetchall()
    key = respondents.key_of("monthly", "SERIES_KEY")
    digests = {hashlib.blake2b(f"p{i}".encode(), key=key, digest_size=16).hexdigest() for i in range(12)}
    assert {respondent.hex for (respondent,) in stored} == digests


def test_another_key_is_noticed(series: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERIES_KEY", KEY + "!")
    with pytest.raises(PolicyError, match="no respondent would be recognized"):
        series.execute(MADE)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["VARCHAR", "INTEGER", "TIMESTAMPTZ"])
def test_classes_are_numbered_whatever_columns_are_called(con: Connection, kind: str) -> None:
    name = {"VARCHAR": "'p' || i", "INTEGER": "i", "TIMESTAMPTZ": "TIMESTAMPTZ '2020-01-01' + INTERVAL (i) DAY"}[kind]
    con.duckdb.execute(
        f'CREATE TABLE odd AS SELECT {name} AS class_no, nullif(i // 4, 1) AS class_key0, i // 2 AS "Class_Key_1", '
        "'d' || i % 2 AS class_key1 FROM range(12) AS t(i)"
    )
    con.execute(
        "CREATE POLICY odd ON odd (class_no ENTITY, class_key0 QUASI IDENTIFIER MAX LEVEL 0, "
        '"Class_Key_1" QUASI IDENTIFIER MAX LEVEL 0, class_key1 SENSITIVE) REQUIRE k_anonymity(k => 2)'
    )
    con.execute("CREATE SERIES s ON POLICY odd KEY 'SERIES_KEY' REQUIRE m_invariance(m => 2)")
    for _ in range(2):
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE o AS POLICY odd METHOD generalization IN SERIES s")
    assert [row[4] for row in con.execute("CHECK o IN SERIES s").fetchall()] == [0.5, 2.0]
    rows = con.duckdb.execute("SELECT class_no, count(*) FROM anon.series_member GROUP BY 1 ORDER BY 1").fetchall()
    assert rows == [(number, 4) for number in range(6)]
