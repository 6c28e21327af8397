"""A row that describes a release, changed by hand: every statement refuses the release, and nothing is dropped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon import CatalogError, UserError
from sqlanon.catalog.releases import digests
from sqlanon.engines.duckdb import DuckDBEngine

SETUP = """
CREATE TABLE patients AS
SELECT i AS id, i // 2 AS person, 20 + i % 40 AS age, 'z' || i % 8 AS zip, 'd' || i % 4 AS disease
FROM range(160) AS t(i);
CREATE TABLE precious AS SELECT age, zip, disease FROM patients;
CREATE TABLE bounds AS SELECT DISTINCT disease AS value, 0.0 AS low, 1.0 AS high FROM patients;
CREATE HIERARCHY decades AS INTERVALS (10, 20);
CREATE HIERARCHY zips AS LEVELS (SELECT DISTINCT zip, CASE WHEN zip < 'z4' THEN 'low' ELSE 'high' END FROM patients);
CREATE HIERARCHY diseases AS LEVELS (
    SELECT DISTINCT disease, CASE WHEN disease < 'd2' THEN 'a' ELSE 'b' END FROM patients);
CREATE POLICY counted ON patients (person ENTITY, age QUASI IDENTIFIER USING decades, zip QUASI IDENTIFIER USING zips,
    disease SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE POLICY close ON patients (
    age QUASI IDENTIFIER USING decades, zip QUASI IDENTIFIER USING zips MIN LEVEL 1 MAX LEVEL 1,
    disease SENSITIVE USING diseases
) REQUIRE t_closeness(t => 0.9, distance => 'hierarchical'), value_ranges(ranges => bounds);
CREATE POLICY cut ON patients (age QUASI IDENTIFIER, zip QUASI IDENTIFIER USING zips, disease SENSITIVE)
REQUIRE k_anonymity(k => 4);
CREATE WORKLOAD w ON POLICY cut (queries => 2, dimensions => 1);
CREATE ANONYMIZED TABLE snapshot AS POLICY counted METHOD generalization;
CREATE ANONYMIZED VIEW live AS POLICY close METHOD generalization(recoding => 'local', suppression => 0.5);
CREATE ANONYMIZED VIEW labelled AS POLICY close METHOD generalization(suppression => 0.5);
CREATE ANONYMIZED VIEW regions AS POLICY cut METHOD mondrian;
CREATE ANONYMIZED TABLE buckets AS POLICY cut METHOD anatomy(l => 2);
CREATE ANONYMIZED TABLE compared AS POLICY counted;
"""
KINDS = {"snapshot": "TABLE", "live": "VIEW", "labelled": "VIEW", "regions": "VIEW", "buckets": "TABLE"}
# What MEASURE found is no description of a release, and exports are the user's to keep in order.
OTHERS = ("query_error", "release_figure", "release_export", "series_release")


@pytest.fixture(scope="module")
def house() -> Iterator[Any]:
    with sqlanon.connect() as connection:
        connection.sql(SETUP)
        connection.sql("CREATE SCHEMA mainx")
        yield connection


@pytest.fixture
def con(house: Any) -> Iterator[Any]:
    """A transaction that is rolled back: a failing statement aborts it anyway."""
    house.execute("BEGIN")
    yield house
    house.execute("ROLLBACK")


def described(connection: Any) -> list[tuple[str, str, str]]:
    """Each table that describes releases with its columns and their types."""
    query = """
        SELECT table_name, column_name, data_type FROM duckdb_columns()
        WHERE schema_name = 'anon' AND NOT starts_with(table_name, 'region_') AND table_name IN (
            SELECT table_name FROM duckdb_columns() WHERE schema_name = 'anon' AND column_name = 'release_id')
        ORDER BY ALL
    """
    return [row for row in connection.execute(query).fetchall() if row[0] not in OTHERS]


def changed(column: str, kind: str) -> str:
    """Another value than the column has, whatever it has."""
    if kind == "VARCHAR":
        return f"concat(\"{column}\", 'x')"
    if kind == "BOOLEAN":
        return f'NOT coalesce("{column}", false)'
    if kind == "TIMESTAMP":
        return f'"{column}" + INTERVAL 1 MICROSECOND'
    return f'coalesce("{column}", 0) + ' + ("0.000001" if kind.startswith("DECIMAL") else "1")


def statements(name: str) -> list[str]:
    """Everything that uses a release."""
    policy = {"snapshot": "counted", "live": "close", "labelled": "close"}.get(name, "cut")
    return [
        f"CHECK {name}",
        f"EXPORT {name} TO 'nowhere'",
        f"ESTIMATE SELECT count(*) FROM patients FROM RELEASE {name}",
        f"MEASURE {name} WITH WORKLOAD w",
        f"DROP ANONYMIZED {KINDS[name]} {name}",
        f"DROP ANONYMIZED {KINDS[name]} IF EXISTS {name}",
        f"CREATE ANONYMIZED TABLE IF NOT EXISTS {name} AS POLICY {policy} METHOD generalization",
        f"CREATE OR REPLACE ANONYMIZED TABLE {name} AS POLICY {policy} METHOD generalization",
        f"CREATE ANONYMIZED TABLE {name} AS POLICY {policy}",
    ]


def change(connection: Any, table: str, column: str, kind: str, own: str) -> None:
    """Gives a column of one of the release's rows another value."""
    first = f"(SELECT min(rowid) FROM anon.{table} WHERE release_id = '{own}')"
    connection.execute(f'UPDATE anon.{table} SET "{column}" = {changed(column, kind)} WHERE rowid = {first}')


def rows_of(connection: Any, table: str, own: str) -> int:
    [(count,)] = connection.execute(f"SELECT count(*) FROM anon.{table} WHERE release_id = ?", [own]).fetchall()
    return int(count)


def id_of(connection: Any, name: str) -> str:
    [(found,)] = connection.execute("SELECT release_id FROM anon.release WHERE object_name = ?", [name]).fetchall()
    return str(found)


def test_as_they_are_all_of_them_work(house: Any) -> None:
    for name in KINDS:
        assert all(row[-1] for row in house.sql(f"CHECK {name}").fetchall())


@pytest.mark.long
def test_every_column_counts(house: Any) -> None:
    """With another value in any column the digest is another one."""
    engine = DuckDBEngine(house.duckdb)
    every = [
        (table, column, kind) for table, column, kind in described(house) if (table, column) != ("release", "digest")
    ]
    left = {(table, column) for table, column, _ in every}
    for name in ("live", "labelled", "buckets", "compared"):
        own = id_of(house, name)
        before = digests(engine, [own])
        for table, column, kind in every:
            if (table, column) in left and rows_of(house, table, own):
                house.execute("BEGIN")
                change(house, table, column, kind, own)
                assert digests(engine, [own]) != before, (name, table, column)
                house.execute("ROLLBACK")
                left.remove((table, column))
        assert digests(engine, [own]) == before
    assert not left


@pytest.mark.long
@pytest.mark.parametrize("name", ["live", "buckets"])
def test_a_changed_column_is_refused(house: Any, name: str) -> None:
    own = id_of(house, name)
    every = statements(name)
    for place, (table, column, kind) in enumerate(described(house)):
        if not rows_of(house, table, own):
            continue
        house.execute("BEGIN")
        change(house, table, column, kind, own)
        # By these a release is found: there is none of its name then, but one of another, whose rows are not its own.
        found_by = table == "release" and column in ("schema_name", "object_name")
        with pytest.raises(UserError if found_by else CatalogError, match=name):
            house.sql(f"CHECK {name}" if found_by else every[place % len(every)])
        house.execute("ROLLBACK")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", KINDS)
def test_a_changed_release_is_refused_by_every_statement(house: Any, name: str) -> None:
    for statement in statements(name):
        house.execute("BEGIN")
        house.execute("UPDATE anon.release SET loss = 0.123 WHERE object_name = ?", [name])
        with pytest.raises(CatalogError, match=f"release main.{name}: its rows in the catalog were changed") as refused:
            house.sql(statement)
        assert f"\"object_name\" = '{name}'" in str(refused.value.hint)
        house.execute("ROLLBACK")
    assert not Path("nowhere").exists()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("change", ["DELETE FROM", "INSERT INTO"])
@pytest.mark.parametrize("name", ["live", "buckets"])
def test_a_row_less_or_more_is_refused(house: Any, name: str, change: str) -> None:
    own = id_of(house, name)
    for table in dict.fromkeys(table for table, _, _ in described(house)):
        if not rows_of(house, table, own) or (table == "release" and change == "DELETE FROM"):
            continue
        house.execute("BEGIN")
        one = f"SELECT * FROM anon.{table} WHERE release_id = '{own}' LIMIT 1"
        first = f"rowid = (SELECT min(rowid) FROM anon.{table} WHERE release_id = '{own}')"
        house.execute(
            f"INSERT INTO anon.{table} {one}" if change == "INSERT INTO" else f"DELETE FROM anon.{table} WHERE {first}"
        )
        with pytest.raises(CatalogError, match=name):
            house.sql(f"DROP ANONYMIZED {KINDS[name]} {name}")
        house.execute("ROLLBACK")


OBJECT = "INSERT INTO anon.release_object (release_id, kind, schema_name, object_name)"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE anon.release_object SET object_name = 'precious' WHERE object_name = 'snapshot'",
        f"{OBJECT} SELECT release_id, 'table', 'main', 'precious' FROM anon.release",
        # Equal to the release's own but for the case.
        f"{OBJECT} SELECT upper(release_id), 'table', 'main', 'precious' FROM anon.release",
        "UPDATE anon.release SET object_name = 'precious' WHERE object_name = 'snapshot'",
    ],
)
@pytest.mark.parametrize(
    "statement",
    ["DROP ANONYMIZED TABLE {}", "CREATE OR REPLACE ANONYMIZED TABLE {} AS POLICY counted METHOD generalization"],
)
def test_no_table_of_the_user_s_is_dropped(con: Any, change: str, statement: str) -> None:
    for name in ("snapshot", "precious"):
        con.execute(change)
        with suppress(UserError):
            con.sql(statement.format(name))
            # Rows under another identifier are nobody's.
            assert "upper" in change
            assert name == "snapshot"
            assert con.execute("SELECT count(*) FROM precious").fetchall() == [(160,)]
        con.execute("ROLLBACK; BEGIN")


@pytest.mark.long
def test_what_is_kept_beside_a_live_view_counts(house: Any) -> None:
    own = id_of(house, "regions")
    tables = [
        row[0]
        for row in house.execute(
            "SELECT object_name FROM anon.release_object WHERE release_id = ? AND kind = 'table'", [own]
        ).fetchall()
    ]
    assert {table.partition("_")[0] for table in tables} == {"region", "place", "rank"}
    for table in tables:
        for statement in ("CHECK regions", "ESTIMATE SELECT count(*) FROM patients FROM RELEASE regions"):
            house.execute("BEGIN")
            house.execute(f"DELETE FROM anon.{table} WHERE rowid = (SELECT min(rowid) FROM anon.{table})")
            with pytest.raises(CatalogError, match=f"release main.regions: the rows of anon.{table}"):
                house.sql(statement)
            house.execute("ROLLBACK")
    # It can be made again, and dropped: its names are its own.
    for statement in (
        "CREATE OR REPLACE ANONYMIZED VIEW regions AS POLICY cut METHOD mondrian",
        "DROP ANONYMIZED VIEW regions",
    ):
        house.execute("BEGIN")
        house.execute(f"DELETE FROM anon.{tables[0]}")
        house.sql(statement)
        house.execute("ROLLBACK")


def test_other_releases_do_not_suffer(con: Any) -> None:
    con.execute("UPDATE anon.release SET loss = 0.123 WHERE object_name = 'snapshot'")
    assert con.sql("CHECK buckets").fetchall()
    [(warning,)] = {
        (row[-2],) for row in con.sql("CREATE ANONYMIZED TABLE fresh AS POLICY cut METHOD generalization").fetchall()
    }
    assert "main.snapshot (its source is not known)" in warning
    with pytest.raises(UserError, match=r"there is no release main\.snapshop"):
        con.sql("CHECK snapshop")


def test_the_way_out_by_hand(con: Any) -> None:
    con.execute("UPDATE anon.release SET loss = 0.123 WHERE object_name = 'snapshot'")
    con.execute("DROP TABLE snapshot; DELETE FROM anon.release WHERE schema_name = 'main' AND object_name = 'snapshot'")
    con.sql("CREATE ANONYMIZED TABLE snapshot AS POLICY counted METHOD generalization")
    assert con.sql("CHECK snapshot").fetchall()[0][-1]


def test_regions_of_moments_are_the_same_in_every_time_zone() -> None:
    with sqlanon.connect() as con:
        con.execute(
            "CREATE TABLE t AS SELECT TIMESTAMPTZ '2024-03-31 00:30:00+00' + to_hours((i % 48)::INTEGER) AS t, "
            "i % 2 AS y FROM range(480) t(i) UNION ALL SELECT unnest(['infinity'::TIMESTAMPTZ, NULL]), 1;"
            "CREATE POLICY p ON t (t QUASI IDENTIFIER, y SENSITIVE) REQUIRE k_anonymity(k => 20);"
            "SET TimeZone = 'UTC'; CREATE ANONYMIZED VIEW v AS POLICY p METHOD mondrian;"
            "SET TimeZone = 'America/New_York'"
        )
        assert all(row[-1] for row in con.execute("CHECK v").fetchall())
