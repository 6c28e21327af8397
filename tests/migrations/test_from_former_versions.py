"""A catalog that the first sqlanon wrote: refused as it is, and whole after the migration."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal

import duckdb
import pytest

from sqlanon.catalog import hierarchies, migrations, policies, releases
from sqlanon.catalog.digests import digests, seal
from sqlanon.catalog.fingerprint import fingerprint
from sqlanon.catalog.migrations import Condition
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.policy import Attribute, Policy, Pseudonym, RelatedTable, Requirement, Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.release import Release, ReleaseAttribute, ReleaseObject
from sqlanon.domain.report import Measurement
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CatalogError, UserError
from sqlanon.releases.composition import sources_read
from sqlanon.session import connect

POLICY_JSON = (
    '{"policy":{"name":"hospital","source":{"name":["patients"]},"attributes":[{"name":"ssn","role":"identifier",'
    '"hierarchy":null,"min_level":null,"max_level":null,"weight":1.0,"pseudonym":{"key_variable":"KEY"}},{"name":"zip",'
    '"role":"quasi_identifier","hierarchy":"zip_prefix","min_level":null,"max_level":null,"weight":2.5,"pseudonym":null}'
    '],"requirements":[{"model":"k_anonymity","arguments":{"k":2}}]},"hierarchies":[{"definition":{"name":"zip_prefix",'
    '"kind":"prefixes","arguments":[4,3],"options":{},"query":null},"height":3,"digest":"DIGEST"}]}'
)
# Statements wrote the hospital's rows, a hand the clinic's.
ROWS = """
CREATE TABLE patients AS SELECT i // 4 AS zip, i AS ssn FROM range(8) AS t(i);
CREATE TABLE main.hospital_2026 AS SELECT ssn, zip FROM patients;
INSERT INTO anon.hierarchy (hierarchy, kind, arguments, height) VALUES ('zip_prefix', 'prefixes', '[4,3]', 3);
INSERT INTO anon.policy (policy, source) VALUES ('hospital', '["patients"]');
INSERT INTO anon.policy_attribute VALUES
    ('hospital', 1, 'ssn', 'identifier', NULL, NULL, NULL, 1, true, 'KEY'),
    ('hospital', 2, 'zip', 'quasi_identifier', 'zip_prefix', NULL, NULL, 2.5, false, NULL);
INSERT INTO anon.policy_requirement VALUES ('hospital', 1, 'k_anonymity', '{"k":2}');
INSERT INTO anon.policy (policy, query) VALUES ('clinic', 'SELECT zip FROM patients');
INSERT INTO anon.policy_attribute (policy, attribute, role) VALUES ('clinic', 'zip', 'quasi identifier');
INSERT INTO anon.policy_requirement (policy, model, arguments) VALUES ('clinic', 'K_anonymity', '{"K": 4}');
INSERT INTO anon.release VALUES
    ('0f0f', 'main', 'hospital_2026', 'table', 'hospital', 'FINGERPRINT', 'POLICY_JSON', 'generalization',
     '{"suppression":0.02}', 8, 8, 0, 0.125, 4, 3, 'ef', 'DuckDB 2.0.0', '0.1.0', TIMESTAMP '2026-11-21 10:30:00');
INSERT INTO anon.release_attribute VALUES
    ('0f0f', 1, 'ssn', 'identifier', NULL, NULL, NULL, 1),
    ('0f0f', 2, 'zip', 'quasi_identifier', 'zip_prefix', 0, 3, 2.5);
INSERT INTO anon.release_object VALUES ('0f0f', 'table', 'main', 'hospital_2026');
INSERT INTO anon.release_recoding VALUES ('0f0f', 'zip', '1', '1');
INSERT INTO anon.measurement VALUES
    ('0f0f', 'main.hospital_2026', 'k_anonymity', NULL, 2, 4, true, TIMESTAMP '2026-11-21 10:30:00');
"""
POLICY = Policy(
    "hospital",
    Source(QualifiedName(("patients",))),
    (
        Attribute("ssn", Role.IDENTIFIER, pseudonym=Pseudonym("KEY")),
        Attribute("zip", Role.QUASI_IDENTIFIER, "zip_prefix", weight=Decimal("2.5")),
    ),
    (Requirement("k_anonymity", (("k", 2),)),),
)


@pytest.fixture
def path(tmp_path):
    """A database file with a catalog of version 1 and rows in it."""
    found = str(tmp_path / "hospital.duckdb")
    with duckdb.connect(found) as connection:
        engine = DuckDBEngine(connection)
        migrations.migrate(engine, migrations.known_migrations()[:1])
        connection.execute(ROWS.replace("POLICY_JSON", POLICY_JSON))
    return found


@pytest.fixture
def engine(path):
    """The database of a former version after its migration."""
    connection = duckdb.connect(path)
    made = DuckDBEngine(connection)
    applied = migrations.migrate(made, transaction=made.transaction)
    assert [str(migration) for migration in applied] == [
        "0002_privacy_models",
        "0003_fragments",
        "0004_ledger",
        "0005_readings",
        "0006_spread",
        "0007_pivot",
        "0008_figures",
        "0009_candidates",
        "0010_series",
        "0011_streams",
        "0012_related_tables",
        "0013_joined",
        "0014_jobs",
        "0015_checksums",
        "0016_value_sets",
        "0017_bound_names",
        "0018_loss_metric",
    ]
    yield made
    connection.close()


@pytest.mark.parametrize("read_only", [False, True])
def test_it_is_refused_as_it_is(path, read_only):
    with duckdb.connect(path, read_only=read_only) as connection:
        engine = DuckDBEngine(connection)
        assert migrations.state(engine) == migrations.State(Condition.OLDER, 1)
        for refused in (
            lambda: policies.load(engine, "hospital"),
            lambda: policies.delete(engine, "hospital"),
            lambda: releases.listing(engine),
            lambda: migrations.install(engine),
        ):
            with pytest.raises(CatalogError, match=r"catalog of version 1, and this sqlanon reads version \d") as older:
                refused()
            assert "sqlanon migrate" in older.value.hint
        assert [version for version, *_ in engine.rows("FROM anon.schema_version")] == [1]


def test_statements_are_refused_with_what_to_do(path):
    with connect(path) as session:
        for statement in ("CHECK hospital_2026", "DROP POLICY hospital", "CREATE HIERARCHY h AS PREFIXES (2)"):
            with pytest.raises(CatalogError, match="version 1"):
                session.sql(statement)
        # What is not ours goes on as before.
        assert session.sql("SELECT count(*) FROM hospital_2026").fetchall() == [(8,)]


def test_a_file_open_for_reading_only_cannot_be_migrated(path):
    with duckdb.connect(path, read_only=True) as connection:
        engine = DuckDBEngine(connection)
        with pytest.raises(UserError, match="open for reading only"):
            migrations.migrate(engine, transaction=engine.transaction)
        assert migrations.state(engine).version == 1


def test_policies_are_what_they_were(engine):
    assert policies.load(engine, "hospital") == POLICY
    assert policies.load(engine, "clinic") == Policy(
        "clinic",
        Source(query="SELECT zip FROM patients"),
        (Attribute("zip", Role.QUASI_IDENTIFIER),),
        (Requirement("k_anonymity", (("k", 4),)),),
    )
    assert hierarchies.used_by(engine, "zip_prefix") == ["hospital"]


def test_a_release_is_what_it_was(engine):
    ((_, found),) = releases.listing(engine)
    assert found == Release(
        release_id="0f0f",
        name=QualifiedName(("main", "hospital_2026")),
        kind="table",
        policy="hospital",
        policy_fingerprint="FINGERPRINT",
        policy_json=POLICY_JSON,
        method="generalization",
        method_arguments=(("suppression", Decimal("0.02")),),
        source_rows=8,
        released_rows=8,
        suppressed_rows=0,
        loss=0.125,
        nodes=4,
        nodes_checked=3,
        content_fingerprint="ef",
        engine_version="DuckDB 2.0.0",
        sqlanon_version="0.1.0",
        created_at=datetime(2026, 11, 21, 10, 30),
        attributes=(
            ReleaseAttribute("ssn", Role.IDENTIFIER, reading=Reading.TOKEN),
            ReleaseAttribute("zip", Role.QUASI_IDENTIFIER, "zip_prefix", 0, 3, Decimal("2.5"), reading=Reading.EXACT),
        ),
        objects=(ReleaseObject("table", QualifiedName(("main", "hospital_2026"))),),
    )
    assert (found.nodes_pruned, found.proven_optimal, found.loss_bound, found.loss_name) == (None, None, None, None)
    assert releases.measurements(engine, found) == [
        Measurement("k_anonymity", None, 2.0, 4.0, True),
        Measurement("granularity_loss", None, None, 0.125, None),
    ]
    assert engine.rows("SELECT DISTINCT release FROM anon.measurement") == [("hospital_2026",)]
    # What it was made from was not recorded, and follows from the policy that it carries.
    assert found.sources is None
    assert sources_read(engine, found) == (QualifiedName(("main", "patients")),)
    assert policy_of(found) == POLICY
    stored = hierarchies_of(found)
    assert fingerprint(policy_of(found), stored) == fingerprint(POLICY, stored)
    releases.delete(engine, found.release_id)
    assert releases.listing(engine) == []


def test_what_is_new_can_be_written(engine):
    against = Policy(
        "hospital", POLICY.source, POLICY.attributes, (Requirement("k_map", (("k", 2),)),), Source(query="FROM voters")
    )
    policies.save(engine, against)
    assert policies.load(engine, "hospital") == against
    engine.run("UPDATE anon.policy SET against = 'main.voters', against_query = NULL WHERE policy = 'hospital'")
    assert policies.load(engine, "hospital").against == Source(QualifiedName(("main", "voters")))


def test_constraints_can_be_written(engine):
    constrained = replace(POLICY, requirements=(), confidential=(("ssn", "zip"),))
    policies.save(engine, constrained)
    assert policies.load(engine, "hospital") == constrained


def test_related_tables_can_be_written(engine):
    entity = Attribute("ssn", Role.ENTITY)
    visits = RelatedTable("visits", Source(query="FROM v"), "who", (Attribute("ward", Role.SENSITIVE),))
    related = replace(POLICY, attributes=(entity, POLICY.attributes[1]), related=(visits,))
    policies.save(engine, related)
    assert policies.load(engine, "hospital") == related


def test_a_new_catalog_and_a_migrated_one_are_the_same(engine):
    columns = (
        "SELECT table_name, column_name, data_type, is_nullable, column_default FROM duckdb_columns() "
        "WHERE schema_name = 'anon' ORDER BY table_name, column_index"
    )
    with duckdb.connect() as connection:
        fresh = DuckDBEngine(connection)
        migrations.install(fresh)
        assert engine.rows(columns) == fresh.rows(columns)


# What later catalogs have besides, each from the version that brought it.
LATER = {
    2: (
        "UPDATE anon.release SET nodes_pruned = 1, proven_optimal = false, loss_bound = 0.1, "
        "loss_name = 'discernibility'",
        "INSERT INTO anon.release_taxonomy VALUES ('0f0f', 'zip', '1', 1, '1*'), ('0f0f', 'zip', NULL, 0, NULL)",
        "INSERT INTO anon.release_value_range VALUES ('0f0f', 0, 'Flu', 0.1, 'infinity')",
        "INSERT INTO anon.release_round VALUES ('0f0f', 1, 'zip', 2, 10)",
    ),
    3: (
        "UPDATE anon.release_attribute SET fragment = 'qi', source = 'ZIP' WHERE attribute = 'zip'",
        "INSERT INTO anon.query_error VALUES ('0f0f', 'w', 1, '[]', 'n', 1, 1, 0, 1, 1, 0, true, 'estimated')",
    ),
}
OTHER = """
INSERT INTO anon.release BY NAME
SELECT * REPLACE ('1f1f' AS release_id, 'other' AS object_name, NULL AS loss) FROM anon.release;
INSERT INTO anon.release_attribute BY NAME SELECT * REPLACE ('1f1f' AS release_id) FROM anon.release_attribute;
"""


@pytest.fixture(params=[1, 2, 3])
def migrated(request, tmp_path):
    """A catalog of each version before, with two releases, after its migration."""
    with duckdb.connect(str(tmp_path / "old.duckdb")) as connection:
        engine = DuckDBEngine(connection)
        migrations.migrate(engine, migrations.known_migrations()[:1])
        connection.execute(ROWS.replace("POLICY_JSON", POLICY_JSON))
        for version in range(2, request.param + 1):
            migrations.migrate(engine, migrations.known_migrations()[:version])
            for statement in LATER[version]:
                connection.execute(statement)
        connection.execute(OTHER)
        migrations.migrate(engine, transaction=engine.transaction)
        yield engine


def test_releases_are_sealed_as_they_stand(migrated):
    digest = "SELECT release_id, digest FROM anon.release ORDER BY ALL"
    before = migrated.rows(digest)
    assert digests(migrated, ["0f0f", "1f1f"]) == dict(before)
    assert len({found for _, found in before}) == 2
    for release_id, _ in before:
        seal(migrated, release_id)
    assert migrated.rows(digest) == before
    first, second = (release for _, release in releases.listing(migrated))
    assert (first.name.name, second.name.name) == ("hospital_2026", "other")
    migrated.run("UPDATE anon.release_attribute SET level = 2 WHERE release_id = '0f0f' AND attribute = 'zip'")
    with pytest.raises(CatalogError, match=r"main\.hospital_2026: its rows"):
        releases.load(migrated, first.name)
    assert releases.load(migrated, second.name) == second


def test_what_was_minimized_is_among_the_questions(migrated):
    """Under its name, at the moment of the last check; of a release without a loss there is none."""
    losses = migrated.rows(
        "SELECT release_id, release, question, achieved, measured_at FROM anon.measurement WHERE required IS NULL"
    )
    name = (
        "discernibility" if migrated.rows("SELECT count(loss_name) FROM anon.release") != [(0,)] else "granularity_loss"
    )
    assert losses == [("0f0f", "hospital_2026", name, 0.125, datetime(2026, 11, 21, 10, 30))]
    assert migrated.rows("FROM anon.release_export") == []


# Three releases by regions, one of buckets and one by levels, all with the name that their losses had.
BY_METHOD = {
    "ranges": "mondrian",
    "labels": "MONDRIAN(publish => 'ancestor')",
    "changed": "mondrian(publish => 'centroid')",
    "buckets": "mondrian(publish => 'none')",
    "levels": "generalization",
}


@pytest.mark.long
def test_a_loss_that_was_counted_otherwise_has_a_name_of_its_own():
    with connect() as session:
        session.execute("CREATE TABLE people AS SELECT i // 3 AS age, i % 4 AS ill FROM range(60) t(i)")
        session.execute("CREATE HIERARCHY ages AS INTERVALS (2, 4)")
        session.execute(
            "CREATE POLICY p ON people (age QUASI IDENTIFIER USING ages, ill SENSITIVE) REQUIRE k_anonymity(k => 5)"
        )
        for name, method in BY_METHOD.items():
            session.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD {method}")
        engine = DuckDBEngine(session.duckdb)
        engine.run("DELETE FROM anon.schema_version WHERE version >= 18")
        engine.run("UPDATE anon.release SET released_rows = 7 WHERE object_name = 'changed'")
        sealed = dict(engine.rows("SELECT object_name, digest FROM anon.release"))
        migrations.migrate(engine, transaction=engine.transaction)
        known = dict.fromkeys(("ranges", "labels", "changed"), "loss_metric")
        known |= dict.fromkeys(("buckets", "levels"), "granularity_loss")
        assert dict(engine.rows("SELECT object_name, loss_name FROM anon.release")) == known
        questions = "SELECT DISTINCT release, question FROM anon.measurement WHERE required IS NULL"
        assert dict(engine.rows(questions)) == known
        digest = dict(engine.rows("SELECT object_name, digest FROM anon.release"))
        assert {name for name in sealed if digest[name] == sealed[name]} == {"buckets", "levels"}
        for name in BY_METHOD:
            if name == "changed":
                with pytest.raises(CatalogError, match=r"main\.changed: its rows"):
                    session.execute(f"CHECK {name}")
            else:
                session.execute(f"CHECK {name}")
        tables = "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, 'former')"
        assert engine.rows(tables) == []
        (made, *_) = session.sql("REFRESH ANONYMIZED TABLE ranges").columns[5:]
        assert made == "granularity_loss"
