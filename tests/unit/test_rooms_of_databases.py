"""Rooms of a database: checked copies of granted releases in a file that holds nothing else."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from contextlib import closing, contextmanager

import duckdb
import pytest

import sqlanon
from sqlanon.catalog import releases
from sqlanon.catalog.releases import seal
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.statement_memo import within_statement
from sqlanon.errors import CatalogError, PrivacyViolation, SqlanonError, UserError
from sqlanon.export.room import fill_room
from tests.support.database import template_file
from tests.support.methods import CALLS, EXAMPLE
from tests.support.methods import SETUP as METHODS
from tests.support.names import quoted

# Of 61 rows one has a disease and a ward that no class may show; the others are in order of their age.
SETUP = """
CREATE TABLE patients AS
    SELECT i AS no, i // 2 AS age, 'z' || (i % 3) AS zip, 'd' || (i % 4) AS disease FROM range(60) AS t(i);
INSERT INTO patients VALUES (60, 119, 'z9canary', 'canary of the withheld row');
CREATE HIERARCHY ages AS INTERVALS (10, 30);
CREATE POLICY p ON patients (age QUASI IDENTIFIER USING ages, zip QUASI IDENTIFIER, disease SENSITIVE)
REQUIRE k_anonymity(k => 3), l_diversity(l => 2);
CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization(suppression => 0.1);
CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.1);
"""


@contextmanager
def source_of(file):
    with closing(open_database(str(file), read_only=True)) as connection:
        engine = DuckDBEngine(connection)
        with within_statement(engine):
            yield engine


def filled(file, room, *names):
    """Fills a room with releases as the keeper does."""
    with source_of(file) as engine:
        found = [releases.load(engine, QualifiedName(("main", name))) for name in names]
        fill_room(engine, room, found)
        return [made.name.parts for release in found for made in release.published]


def rows_of(file, *parts):
    with duckdb.connect(str(file), read_only=True) as connection:
        return Counter(map(repr, connection.execute(f"FROM {'.'.join(map(quoted, parts))}").fetchall()))


@pytest.fixture
def file(tmp_path):
    return template_file(tmp_path / "clinic.duckdb", SETUP)


def changed(file, text, *, sealed=()):
    """Changes the database by hand; `sealed` are releases whose digest is computed again, as an attacker can."""
    with duckdb.connect(str(file)) as connection:
        connection.execute(text)
        for name in sealed:
            [(release_id,)] = connection.execute(
                "SELECT release_id FROM anon.release WHERE object_name = ?", [name]
            ).fetchall()
            seal(DuckDBEngine(connection), release_id)


def test_a_room_has_the_rows_of_its_releases_and_nothing_else(file, tmp_path):
    room = tmp_path / "room.duckdb"
    digest = hashlib.md5(file.read_bytes()).hexdigest()
    assert filled(file, room, "live", "r") == [("main", "live"), ("main", "r")]
    assert rows_of(room, "main", "live") == rows_of(file, "main", "live") != Counter()
    assert rows_of(room, "main", "r") == rows_of(file, "main", "r")
    with duckdb.connect(str(room), read_only=True) as connection:
        assert sorted(connection.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall()) == [
            ("main", "live"),
            ("main", "r"),
        ]
        assert connection.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchall() == [(0,)]
    assert hashlib.md5(file.read_bytes()).hexdigest() == digest
    assert [path.name for path in tmp_path.iterdir() if path != file] == ["room.duckdb"]


def test_no_byte_of_a_withheld_row_is_in_a_room(file, tmp_path):
    room = tmp_path / "room.duckdb"
    filled(file, room, "live", "r")
    content = room.read_bytes()
    assert b"canary" in file.read_bytes()
    assert b"canary" not in content
    # Neither the source nor the view's text.
    assert b"patients" not in content
    assert b"SECURE" not in content


def test_the_rows_of_a_live_view_are_in_another_order_each_time(file, tmp_path):
    orders = set()
    for turn in range(3):
        room = tmp_path / f"{turn}.duckdb"
        filled(file, room, "live")
        with duckdb.connect(str(room), read_only=True) as connection:
            orders.add(tuple(connection.execute("FROM live").fetchall()))
    with duckdb.connect(str(file), read_only=True) as connection:
        orders.add(tuple(connection.execute("FROM live").fetchall()))
    assert len(orders) == 4


@pytest.mark.one_in(5)
@pytest.mark.parametrize("method", [name for name in CALLS if name != EXAMPLE])
def test_a_snapshot_by_any_method(method, tmp_path):
    policy, call = CALLS[method]
    made = f"CREATE ANONYMIZED TABLE made AS POLICY {policy} METHOD {call}"
    file, room = tmp_path / "house.duckdb", tmp_path / "room.duckdb"
    template_file(file, METHODS)
    with sqlanon.connect(str(file)) as connection:
        connection.execute(made)
    tables = filled(file, room, "made")
    assert tables
    for parts in tables:
        assert rows_of(room, *parts) == rows_of(file, *parts)
    assert any(rows_of(room, *parts) for parts in tables)


LIVE = {
    "entity": """
        CREATE POLICY q ON patients (no ENTITY, age QUASI IDENTIFIER USING ages, disease SENSITIVE)
        REQUIRE k_anonymity(k => 3)""",
    "k_map": """
        CREATE TABLE everybody AS SELECT i // 4 AS age FROM range(400) AS t(i);
        CREATE POLICY q ON patients (age QUASI IDENTIFIER USING ages, disease SENSITIVE) AGAINST everybody
        REQUIRE k_map(k => 20)""",
    "a query": """
        CREATE POLICY q ON (SELECT age, disease FROM patients WHERE no < 60) (age QUASI IDENTIFIER USING ages,
        disease SENSITIVE) REQUIRE k_anonymity(k => 4)""",
    "t_closeness": """
        CREATE POLICY q ON patients (age QUASI IDENTIFIER USING ages, disease SENSITIVE)
        REQUIRE k_anonymity(k => 4), t_closeness(t => 0.3)""",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("policy", LIVE)
def test_a_live_view_whose_requirements_its_rows_may_not_answer(policy, file, tmp_path):
    with sqlanon.connect(str(file)) as connection:
        connection.execute(LIVE[policy])
        connection.execute("CREATE ANONYMIZED VIEW other AS POLICY q METHOD generalization(suppression => 0.2)")
    filled(file, tmp_path / "room.duckdb", "other")
    assert rows_of(tmp_path / "room.duckdb", "main", "other") == rows_of(file, "main", "other") != Counter()


def test_schemas_and_hostile_names(file, tmp_path):
    names = ['a "b".c', "it's", "select", "ünï"]
    with sqlanon.connect(str(file)) as connection:
        for name in names:
            connection.execute(f"CREATE SCHEMA {quoted(name)}")
            made = f"{quoted(name)}.{quoted(name)}"
            connection.execute(f"CREATE ANONYMIZED VIEW {made} AS POLICY p METHOD generalization(suppression => 0.1)")
    room = tmp_path / "room.duckdb"
    with source_of(file) as engine:
        fill_room(engine, room, [releases.load(engine, QualifiedName((name, name))) for name in names])
    for name in names:
        assert rows_of(room, name, name) == rows_of(file, name, name) != Counter()


# What is refused.


def refused(file, room, kind, match, *names):
    with pytest.raises(kind, match=match) as error:
        filled(file, room, *(names or ("live",)))
    return error.value


def test_a_view_that_was_replaced_by_hand(file, tmp_path):
    changed(file, "CREATE OR REPLACE VIEW live AS SELECT age::VARCHAR AS age, zip, disease FROM patients")
    refused(file, tmp_path / "room.duckdb", CatalogError, r"the view main\.live was changed after")


def test_a_view_without_its_guard_is_caught_by_its_copy(file, tmp_path):
    """Somebody who can write the file writes the digests, too: the requirement is recomputed from the copy."""
    changed(
        file,
        """CREATE OR REPLACE VIEW live AS SELECT age::VARCHAR AS age, zip, disease FROM patients;
           UPDATE anon.release_object SET digest = (SELECT sha256(sql) FROM duckdb_views() WHERE view_name = 'live')
           WHERE object_name = 'live'""",
        sealed=["live"],
    )
    error = refused(file, tmp_path / "room.duckdb", PrivacyViolation, "does not meet k_anonymity: its copy reaches 1.0")
    assert "canary" not in str(error)


def test_a_changed_snapshot(file, tmp_path):
    changed(file, "UPDATE r SET disease = 'd9' WHERE rowid = 3")
    refused(file, tmp_path / "room.duckdb", PrivacyViolation, "does not have the rows that were checked", "r")


def test_a_release_whose_rows_in_the_catalog_were_changed(file, tmp_path):
    changed(file, """UPDATE anon.release SET policy_json = replace(policy_json, '"k":3', '"k":1')""")
    refused(file, tmp_path / "room.duckdb", CatalogError, "its rows in the catalog were changed")


def test_a_source_that_is_gone(file, tmp_path):
    changed(file, "DROP TABLE patients CASCADE")
    error = refused(file, tmp_path / "room.duckdb", SqlanonError, r"main\.live")
    assert "canary" not in str(error)


def test_an_error_quotes_no_value(file, tmp_path):
    """A query that is the source may fail with a value in its message."""
    with sqlanon.connect(str(file)) as connection:
        connection.execute("""
            CREATE POLICY q ON (SELECT age, CASE WHEN age > 200 THEN error('canary ' || disease) ELSE disease END AS d
            FROM patients) (age QUASI IDENTIFIER USING ages, d SENSITIVE) REQUIRE k_anonymity(k => 3);
            CREATE ANONYMIZED VIEW failing AS POLICY q METHOD generalization(suppression => 0.1);
            INSERT INTO patients VALUES (61, 201, 'z', 'secret')
        """)
    error = refused(file, tmp_path / "room.duckdb", UserError, r"main\.failing cannot be read", "failing")
    assert "secret" not in repr(error) + str(error.__cause__) + str(error.hint)


def test_a_release_of_the_rows_of_an_enum(file, tmp_path):
    """Its dictionary has the withheld value: releases have text instead."""
    with sqlanon.connect(str(file)) as connection:
        connection.execute("""
            CREATE TYPE diseases AS ENUM (SELECT DISTINCT disease FROM patients);
            CREATE TABLE typed AS SELECT age, zip, disease::diseases AS disease FROM patients;
            CREATE POLICY q ON typed (age QUASI IDENTIFIER USING ages, zip QUASI IDENTIFIER, disease SENSITIVE)
            REQUIRE k_anonymity(k => 3);
            CREATE ANONYMIZED VIEW of_typed AS POLICY q METHOD generalization(suppression => 0.1);
        """)
    filled(file, tmp_path / "room.duckdb", "of_typed")
    assert b"canary" not in (tmp_path / "room.duckdb").read_bytes()


def test_the_file_is_its_owners_alone(file, tmp_path):
    before = os.umask(0o077)
    try:
        filled(file, tmp_path / "room.duckdb", "live")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "room.duckdb").stat().st_mode) == 0o600
