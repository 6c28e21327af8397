"""The catalog is made by the migrations that ship, and brought up to date by those that a file lacks."""

from __future__ import annotations

import gzip
import hashlib
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from sqlanon import assets, connect
from sqlanon.catalog import hierarchies, migrations, policies, releases
from sqlanon.catalog.migrations import Condition, Migration
from sqlanon.clients.terminal.cli import app
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CatalogError, EngineError, UserError

FIRST = Migration(
    1,
    "first",
    "CREATE SCHEMA IF NOT EXISTS anon; CREATE TABLE anon.schema_version (version INTEGER, slug VARCHAR, "
    "sha256 VARCHAR, applied_at TIMESTAMP); CREATE TABLE anon.policy (policy VARCHAR);",
)
SECOND = Migration(2, "second", "ALTER TABLE anon.policy ADD COLUMN source VARCHAR;")
THIRD = Migration(3, "third", "CREATE TABLE anon.extra (x INTEGER);")
BROKEN = Migration(3, "broken", "CREATE TABLE anon.half (x INTEGER); SELECT * FROM anon.no_such_table;")


@pytest.fixture
def engine():
    connection = duckdb.connect()
    yield DuckDBEngine(connection)
    connection.close()


def tables(engine):
    return {name for (name,) in engine.rows("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'anon'")}


def test_a_new_database_has_no_catalog(engine):
    assert migrations.state(engine).condition is Condition.ABSENT
    assert migrations.ready(engine) is False
    migrations.require_current(engine)
    assert tables(engine) == set()


def test_install_makes_the_catalog_once(engine):
    migrations.install(engine)
    migrations.install(engine)
    assert migrations.state(engine) == migrations.State(Condition.CURRENT, len(migrations.known_migrations()))
    assert tables(engine) == {
        "schema_version",
        "hierarchy",
        "hierarchy_value",
        "policy",
        "policy_attribute",
        "policy_requirement",
        "policy_constraint",
        "policy_related_table",
        "release",
        "release_attribute",
        "release_recoding",
        "release_taxonomy",
        "release_value_range",
        "release_known_triple",
        "release_round",
        "release_comparison",
        "release_choice",
        "release_object",
        "release_export",
        "measurement",
        "workload",
        "query_error",
        "release_figure",
        "candidate",
        "series",
        "series_requirement",
        "series_release",
        "series_member",
        "series_class",
        "series_value",
        "stream",
        "stream_batch",
        "stream_member",
        "job",
        "budget",
        "budget_entry",
        "budget_grant",
        "reader",
        "reader_grant",
    }
    recorded = engine.rows("SELECT version, slug, sha256, applied_at IS NOT NULL FROM anon.schema_version")
    slugs = ("catalog", "budgets", "masks", "automatic_hierarchies", "uncounted_sources", "comparisons", "rho")
    slugs = (*slugs, "known_triples", "choice_lists", "samples", "hidden_nodes", "readers", "budget_grants")
    files = [f"{number:04}_{slug}.sql" for number, slug in enumerate(slugs, start=1)]
    digests = [hashlib.sha256(assets.read("sql", "catalog", file).encode()).hexdigest() for file in files]
    assert recorded == [(number, slug, digests[number - 1], True) for number, slug in enumerate(slugs, start=1)]
    others = tables(engine) - {"schema_version"}
    assert [engine.rows(f"FROM anon.{name}") for name in sorted(others)] == [[]] * len(others)


def test_a_database_without_a_catalog_gets_it_at_once():
    """Each migration is one script, and one row that says so."""
    with duckdb.connect() as connection:
        sent = []
        migrations.create(DuckDBEngine(connection, sent.append))
        assert len([text for text in sent if "anon." in text]) == 2 * len(migrations.known_migrations())


def test_moments_are_utc_without_a_time_zone(engine):
    migrations.install(engine)
    engine.run("SET TimeZone = 'Asia/Tokyo'")
    engine.run("INSERT INTO anon.policy (policy, source) VALUES ('p', 't')")
    age, kind = engine.rows(
        "SELECT epoch_us(current_timestamp) - epoch_us(created_at), typeof(created_at) FROM anon.policy"
    )[0]
    assert abs(age) < 60_000_000
    assert kind == "TIMESTAMP"


def test_an_older_catalog_is_refused_and_migrated(engine):
    assert migrations.migrate(engine, [FIRST]) == [FIRST]
    newer = [FIRST, SECOND, THIRD]
    assert migrations.state(engine, newer) == migrations.State(Condition.OLDER, 1)
    for refuse in (migrations.ready, migrations.require_current, migrations.install):
        with pytest.raises(CatalogError, match="version 1, and this sqlanon reads version 3") as refused:
            refuse(engine, newer)
        assert "sqlanon migrate" in refused.value.hint
    assert migrations.pending(engine, newer) == (SECOND, THIRD)
    assert migrations.migrate(engine, newer) == [SECOND, THIRD]
    assert migrations.state(engine, newer).condition is Condition.CURRENT
    assert migrations.migrate(engine, newer) == []
    assert engine.rows("SELECT source FROM anon.policy") == []


def test_each_migration_has_a_transaction_of_its_own(engine):
    migrations.migrate(engine, [FIRST])
    begun = []

    @contextmanager
    def transaction():
        begun.append(True)
        with engine.transaction():
            yield

    with pytest.raises(EngineError):
        migrations.migrate(engine, [FIRST, SECOND, BROKEN], transaction)
    assert len(begun) == 2
    assert migrations.state(engine, [FIRST, SECOND]).condition is Condition.CURRENT
    assert "half" not in tables(engine)


# A database that 0.1.0 has written: sql/examples/hospital.sql, CREATE WORKLOAD counts ON POLICY hospital (queries => 5)
# and MEASURE hospital_release WITH WORKLOAD counts.
WRITTEN_BY_0_1_0 = Path(__file__).with_name("written_by_0_1_0.duckdb.gz")


def test_a_database_of_the_former_version_answers_as_before(tmp_path):
    file = tmp_path / "hospital.duckdb"
    file.write_bytes(gzip.decompress(WRITTEN_BY_0_1_0.read_bytes()))
    with connect(str(file)) as connection:
        with pytest.raises(CatalogError, match="a catalog of version 1, and this sqlanon reads version 13"):
            connection.execute("SHOW RELEASES")
        engine = DuckDBEngine(connection.duckdb)
        assert [migration.slug for migration in migrations.migrate(engine, transaction=engine.transaction)] == [
            "budgets",
            "masks",
            "automatic_hierarchies",
            "uncounted_sources",
            "comparisons",
            "rho",
            "known_triples",
            "choice_lists",
            "samples",
            "hidden_nodes",
            "readers",
            "budget_grants",
        ]
        assert connection.execute("CHECK hospital_release").fetchall() == [
            ("main.hospital_release", "k_anonymity", None, 4.0, 4.0, True)
        ]
        assert connection.execute("SHOW WORKLOADS").fetchall() == [("counts", 5)]
        assert len(connection.execute("MEASURE hospital_release WITH WORKLOAD counts").fetchall()) > 0
        # Its method was named, as far as anyone wrote down: a repeated CREATE compares, and records it.
        connection.execute("INSERT INTO patients FROM patients; INSERT INTO patients FROM patients")
        assert connection.execute("FROM anon.release_comparison").fetchall() == []
        connection.execute("CREATE OR REPLACE ANONYMIZED TABLE hospital_release AS POLICY hospital")
        assert connection.execute("SELECT count(*) FROM anon.release_comparison").fetchall() == [(3,)]
        assert connection.execute("SHOW BUDGETS").fetchall() == []
        connection.execute("CREATE BUDGET b ON POLICY hospital (epsilon => 1)")
        assert connection.execute("SHOW BUDGETS").fetchone()[:5] == ("b", "hospital", 1.0, 0.0, 1.0)


# The child, whose third migration ends before its text is run, or before it is recorded.
KILLED = """
import os, signal, sys
import duckdb
from sqlanon.catalog import migrations
from sqlanon.engines.duckdb import DuckDBEngine

path, before, *texts = sys.argv[1:]
named = enumerate(zip(texts[::2], texts[1::2]), start=1)
steps = [migrations.Migration(number, slug, text) for number, (slug, text) in named]
engine = DuckDBEngine(duckdb.connect(path))
run = engine.run

def killed(text, *rest):
    third = text == texts[5] if before == "text" else rest == ([3, texts[4], steps[2].sha256],)
    if third:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(text, *rest)

engine.run = killed
migrations.migrate(engine, steps, engine.transaction)
"""


@pytest.mark.parametrize("before", ["text", "record"])
def test_migrations_go_on_where_a_killed_process_has_ended(tmp_path, before):
    path = str(tmp_path / "hospital.duckdb")
    steps = [FIRST, SECOND, THIRD]
    with duckdb.connect(path) as connection:
        migrations.migrate(DuckDBEngine(connection), steps[:1])
        connection.execute("INSERT INTO anon.policy VALUES ('p')")
    texts = [text for step in steps for text in (step.slug, step.text)]
    killed = subprocess.run([sys.executable, "-c", KILLED, path, before, *texts], check=False)
    assert killed.returncode == -signal.SIGKILL
    with duckdb.connect(path) as connection:
        engine = DuckDBEngine(connection)
        assert migrations.state(engine, steps) == migrations.State(Condition.OLDER, 2)
        assert tables(engine) == {"schema_version", "policy"}
        assert migrations.migrate(engine, steps, engine.transaction) == [THIRD]
        assert engine.rows("FROM anon.policy") == [("p", None)]


@pytest.fixture
def older(tmp_path, monkeypatch):
    """The path of a database whose catalog lacks the last of the migrations that ship, with a release in it."""
    path = str(tmp_path / "older.duckdb")
    with connect(path) as session:
        session.execute(
            "CREATE TABLE patients AS SELECT i // 4 AS zip FROM range(8) AS t(i);"
            "CREATE POLICY hospital ON patients (zip QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);"
            "CREATE ANONYMIZED TABLE released AS POLICY hospital METHOD generalization"
        )
    last = len(migrations.known_migrations()) + 1
    steps = (*migrations.known_migrations(), Migration(last, "extra", THIRD.text))
    monkeypatch.setattr(migrations, "known_migrations", lambda: steps)
    return path


@pytest.mark.parametrize("read_only", [False, True])
def test_nothing_reads_or_writes_an_older_catalog(older, read_only):
    with duckdb.connect(older, read_only=read_only) as connection:
        engine = DuckDBEngine(connection)
        for refused in (
            lambda: policies.load(engine, "hospital"),
            lambda: policies.delete(engine, "hospital"),
            lambda: hierarchies.used_by(engine, "any"),
            lambda: releases.listing(engine),
            lambda: migrations.install(engine),
        ):
            with pytest.raises(
                CatalogError, match=r"catalog of version \d+, and this sqlanon reads version \d"
            ) as error:
                refused()
            assert "sqlanon migrate" in error.value.hint


def test_an_older_catalog_that_is_open_for_reading_only_is_not_migrated(older):
    with duckdb.connect(older, read_only=True) as connection:
        engine = DuckDBEngine(connection)
        with pytest.raises(UserError, match="open for reading only"):
            migrations.migrate(engine, transaction=engine.transaction)
        assert migrations.state(engine).condition is Condition.OLDER


def test_the_command_brings_an_older_catalog_up_to_date(older):
    with connect(older) as session:
        for statement in ("CHECK released", "DROP POLICY hospital", "CREATE HIERARCHY h AS PREFIXES (2)"):
            with pytest.raises(CatalogError, match="sqlanon migrate"):
                session.sql(statement)
        # What is not ours goes on as before.
        assert session.sql("SELECT count(*) FROM released").fetchall() == [(8,)]
    done = CliRunner().invoke(app, ["migrate", older])
    assert (done.exit_code, "_extra" in done.output) == (0, True)
    with connect(older) as session:
        assert all(row[-1] for row in session.sql("CHECK released").fetchall())
        assert "extra" in tables(DuckDBEngine(session.duckdb))


def test_a_newer_catalog_is_refused(engine):
    migrations.migrate(engine, [FIRST, SECOND, THIRD])
    for refuse in (migrations.ready, migrations.install, migrations.pending, migrations.migrate):
        with pytest.raises(
            CatalogError,
            match=r"newer sqlanon \(catalog version 3, this sqlanon reads versions up to "
            "2\\)",
        ) as refused:
            refuse(engine, [FIRST, SECOND])
        assert "upgrade" in refused.value.hint


def test_a_catalog_of_the_shipped_version_is_newer_than_none_known(engine):
    migrations.install(engine)
    with pytest.raises(CatalogError, match="newer sqlanon"):
        migrations.require_current(engine, [])


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE anon.schema_version SET sha256 = 'x' WHERE version = 1",
        "UPDATE anon.schema_version SET slug = 'x' WHERE version = 2",
        "DELETE FROM anon.schema_version WHERE version = 1",
        "DELETE FROM anon.schema_version",
        "INSERT INTO anon.schema_version SELECT * FROM anon.schema_version WHERE version = 2",
        "INSERT INTO anon.schema_version (version, slug, sha256) VALUES (9, 'far', 'x')",
        "INSERT INTO anon.schema_version (version, slug, sha256) VALUES (NULL, 'none', 'x')",
    ],
)
def test_a_changed_catalog_is_refused(engine, change):
    migrations.migrate(engine, [FIRST, SECOND])
    engine.run(change)
    for refuse in (migrations.ready, migrations.migrate):
        with pytest.raises(CatalogError, match="was changed"):
            refuse(engine, [FIRST, SECOND])


def test_a_migration_whose_text_changed_is_refused(engine):
    migrations.migrate(engine, [FIRST, SECOND])
    other = Migration(2, "second", SECOND.text + " ")
    with pytest.raises(CatalogError, match="0002_second is not the one"):
        migrations.ready(engine, [FIRST, other])
    with pytest.raises(CatalogError, match="0002_second is not the one"):
        migrations.ready(engine, [FIRST, other, THIRD])


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE anon.mine (x INTEGER)",
        "CREATE VIEW anon.mine AS SELECT 1 AS x",
        "CREATE TABLE anon.schema_version (version INTEGER)",
    ],
)
def test_a_schema_anon_that_is_the_users_is_left_alone(engine, made):
    engine.run("CREATE SCHEMA anon")
    engine.run(made)
    for refuse in (migrations.ready, migrations.install, migrations.migrate):
        with pytest.raises(CatalogError, match="did not make"):
            refuse(engine)
    assert tables(engine) | {"mine"} == {"mine"} | ({"schema_version"} if "schema_version" in made else set())


@pytest.mark.parametrize("name", ["anon", "ANON"])
def test_an_empty_schema_anon_is_used(engine, name):
    engine.run(f"CREATE SCHEMA {name}")
    engine.run("CREATE MACRO anon.k_anonymity(x) AS x")
    migrations.install(engine)
    assert migrations.ready(engine)


def test_a_database_named_anon_is_refused(tmp_path):
    # DuckDB cannot tell its schema anon from the database itself.
    connection = duckdb.connect(str(tmp_path / "anon.duckdb"))
    with pytest.raises(CatalogError, match="database named anon"):
        migrations.install(DuckDBEngine(connection))
    connection.close()


def test_installation_is_undone_with_its_transaction(engine):
    engine.run("BEGIN TRANSACTION")
    migrations.install(engine)
    assert migrations.ready(engine)
    engine.run("ROLLBACK")
    assert migrations.state(engine).condition is Condition.ABSENT


def test_the_catalog_is_there_when_the_file_is_opened_again(tmp_path):
    path = str(tmp_path / "hospital.duckdb")
    with duckdb.connect(path) as connection:
        migrations.install(DuckDBEngine(connection))
    with duckdb.connect(path) as connection:
        connection.execute("INSERT INTO anon.policy (policy, source) VALUES ('p', 't')")
        assert migrations.ready(DuckDBEngine(connection))
    with duckdb.connect(path, read_only=True) as connection:
        assert migrations.ready(DuckDBEngine(connection))


def test_shipped_migrations_are_numbered_in_order():
    known = migrations.known_migrations()
    assert [migration.version for migration in known] == list(range(1, len(known) + 1))
    assert str(known[0]) == "0001_catalog"


def test_why_names_are_not_unique_keys(engine):
    # An index over the folded name would find Hospital and hospital, which a primary key
    # does not, but DuckDB then refuses what a later migration may need. If this test
    # fails one day, such indexes may come.
    engine.run("CREATE TABLE named (name VARCHAR, source VARCHAR)")
    engine.run("CREATE UNIQUE INDEX by_name ON named (lower(name))")
    with pytest.raises(EngineError):
        engine.run("ALTER TABLE named RENAME COLUMN source TO relation")
