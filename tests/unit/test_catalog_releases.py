from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from sqlanon.catalog import exports, migrations, releases
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.releases import seal
from sqlanon.catalog.snapshot import hierarchies_of, policy_of, release_json
from sqlanon.domain.policy import Attribute, HierarchyDefinition, Policy, Requirement, Role
from sqlanon.domain.release import (
    ChoiceList,
    Comparison,
    Contender,
    Measurement,
    PrivacyReport,
    Reading,
    Release,
    ReleaseAttribute,
    ReleaseObject,
)
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CatalogError, InternalError, UserError
from tests.support.database import new_database

POLICY = Policy(
    "hospital",
    Source(query="SELECT * FROM patients"),
    (Attribute("zip", Role.QUASI_IDENTIFIER, "zip_prefix", weight=Decimal("0.5")),),
    (Requirement("t_closeness", (("t", Decimal("0.3")),)),),
)
HIERARCHY = StoredHierarchy(HierarchyDefinition("zip_prefix", "prefixes", (4, 3)), 3, "ab" * 32)
TYPES = {"zip": "VARCHAR"}
NAME = QualifiedName(("main", "hospital_pub"))
RELEASE = Release(
    release_id="0f" * 16,
    name=NAME,
    kind="table",
    policy="hospital",
    policy_fingerprint="cd" * 32,
    policy_json=release_json(POLICY, [HIERARCHY], TYPES),
    method="generalization",
    method_arguments=(("suppression", Decimal("0.02")),),
    source_rows=100,
    released_rows=98,
    suppressed_rows=2,
    loss=0.125,
    nodes=4,
    nodes_checked=3,
    content_fingerprint="ef",
    engine_version="DuckDB 2.0.0",
    sqlanon_version="0.1.0",
    created_at=datetime(2026, 11, 21, 10, 30, 0, 123456),
    attributes=(
        ReleaseAttribute("zip", Role.QUASI_IDENTIFIER, "zip_prefix", 1, 3, Decimal("0.5"), reading=Reading.LABEL),
        ReleaseAttribute("disease", Role.SENSITIVE, reading=Reading.EXACT),
    ),
    objects=(ReleaseObject("table", NAME), ReleaseObject("view", QualifiedName(("anon", "classes")))),
    nodes_pruned=1,
    proven_optimal=False,
    loss_bound=0.0625,
    loss_name="granularity_loss",
    sources=("ab" * 32, QualifiedName(("main", "patients"))),
    comparison=Comparison(
        (
            Contender(MethodCall("generalization"), refused="k_anonymity(k => 4) cannot be met"),
            Contender(MethodCall("generalization", (("recoding", "local"),)), None, Fraction(1, 2), 3, 0.75),
            Contender(MethodCall("mondrian"), None, Fraction(1, 4), 0, None, "it loses least"),
        ),
        500_000,
        datetime(2026, 11, 20, 1, 2, 3),
    ),
    choices=(ChoiceList("zip", "names", None, "ab" * 32), ChoiceList("disease", 's."n"', "KEY", "cd" * 32)),
)
# A row each of the tables that other stages write.
FROZEN = {
    "release_recoding": "'zip', '1', '1*'",
    "release_taxonomy": "'disease', 'Flu', 1, 'respiratory'",
    "release_value_range": "0, 'Flu', 0.1, NULL",
    "release_known_triple": "0, NULL, 1, 2, 3",
    "release_round": "1, 'zip', 2, 10",
    "query_error": "'w', 1, '[]', 'n', 1, 1, 0, 1, 1, 0, true, 'estimated'",
    "release_figure": "'p_loss', 'disease', 0.25, TIMESTAMP '2026-01-01'",
}
MEASURED = (
    Measurement("l_diversity", "disease", 3.0, 4.0, True),
    Measurement("l_diversity", "disease", 2.0, 1.5, False),
    Measurement("granularity_loss", None, None, 0.125, None),
)


@pytest.fixture
def engine():
    with new_database() as connection:
        yield DuckDBEngine(connection.duckdb)


def save(engine: DuckDBEngine, release: Release) -> None:
    """What the last stage of a release does."""
    releases.save(engine, release)
    seal(engine, release.release_id)


def test_a_release_comes_back_as_it_was(engine):
    save(engine, RELEASE)
    assert releases.load(engine, NAME) == RELEASE
    assert releases.listing(engine) == [(RELEASE.name, RELEASE)]


def test_a_release_without_numbers_comes_back_as_it_was(engine):
    bare = replace(RELEASE, kind="view", nodes=None, nodes_checked=None, content_fingerprint=None)
    bare = replace(bare, nodes_pruned=None, proven_optimal=None, loss_bound=None, comparison=None)
    bare = replace(bare, attributes=(), objects=(), method_arguments=())
    save(engine, bare)
    assert releases.load(engine, NAME) == bare


@pytest.mark.parametrize(
    ("parts", "schema", "found"),
    [
        (("hospital_pub",), "main", True),
        (("HOSPITAL_PUB",), "Main", True),
        (("hospital_pub",), "other", False),
        (("main", "hospital_pub"), "other", True),
        (("other", "hospital_pub"), "main", False),
        (("memory", "main", "hospital_pub"), "other", True),
        (("elsewhere", "main", "hospital_pub"), "main", False),
    ],
)
def test_how_a_release_is_found(engine, parts, schema, found):
    save(engine, RELEASE)
    name = QualifiedName(parts)
    assert (releases.find(engine, name, schema) is not None) == found
    if not found:
        with pytest.raises(UserError, match="there is no release"):
            releases.load(engine, name, schema)


def test_a_name_that_is_near_is_offered(engine):
    with pytest.raises(UserError, match="there is no release hospitl_pub"):
        releases.load(engine, QualifiedName(("hospitl_pub",)))
    save(engine, RELEASE)
    with pytest.raises(UserError) as missing:
        releases.load(engine, QualifiedName(("hospitl_pub",)))
    assert missing.value.hint == "did you mean hospital_pub?"


def test_a_release_is_recorded_once(engine):
    save(engine, RELEASE)
    with pytest.raises(UserError, match="exists already"):
        releases.save(engine, replace(RELEASE, release_id="1", name=QualifiedName(("MAIN", "Hospital_Pub"))))
    with pytest.raises(InternalError):
        releases.save(engine, replace(RELEASE, name=QualifiedName(("x",))))


def test_a_release_is_sealed_beside_the_others(engine):
    """The other releases are those that `known` returns, and the digest is that of `seal`."""
    other = replace(RELEASE, release_id="1f" * 16, name=QualifiedName(("main", "other")))
    save(engine, RELEASE)
    exports.record(engine, RELEASE, "parquet")
    releases.save(engine, other)
    beside = exports.seal_beside(engine, other.release_id)
    assert beside == exports.known(engine, but=other.release_id)
    assert [(one.name, one.sources, one.exported_at is None) for one in beside.releases] == [
        (NAME, RELEASE.sources, False)
    ]
    kept = engine.rows("SELECT digest FROM anon.release ORDER BY release_id")
    seal(engine, other.release_id)
    assert engine.rows("SELECT digest FROM anon.release ORDER BY release_id") == kept
    engine.run("UPDATE anon.release SET loss = 0.5 WHERE release_id = ?", [RELEASE.release_id])
    # A release whose rows were changed says nothing of its sources.
    [changed] = exports.seal_beside(engine, other.release_id).releases
    assert changed.sources is None


def test_delete_forgets_one_release_whole(engine):
    other = replace(RELEASE, release_id="1f" * 16, name=QualifiedName(("main", "other")))
    for release in (RELEASE, other):
        releases.save(engine, release)
        releases.save_measurements(engine, release, MEASURED)
        for table, row in FROZEN.items():
            engine.run(f"INSERT INTO anon.{table} VALUES (?, {row})", [release.release_id])
        exports.record(engine, release, "parquet")
        seal(engine, release.release_id)
    releases.delete(engine, RELEASE.release_id)
    # What was given away stays given away.
    assert [(one.name, one.stands) for one in exports.known(engine).releases] == [(other.name, True), (NAME, False)]
    (_, listed), *others = releases.listing(engine)
    zips, disease = other.attributes
    assert (listed, others) == (replace(other, attributes=(replace(zips, rounds=(2,)), disease)), [])
    tables = {
        name for (name,) in engine.rows("SELECT table_name FROM duckdb_columns() WHERE column_name = 'release_id'")
    }
    assert tables == {
        "release",
        "release_attribute",
        "release_object",
        "release_comparison",
        "release_choice",
        "release_export",
        "reader_grant",
        "series_release",
        "measurement",
        *FROZEN,
    }
    for table in tables - {"release_export", "reader_grant", "series_release"}:
        assert {row[0] for row in engine.rows(f"SELECT release_id FROM anon.{table}")} == {other.release_id}
    with engine.transaction():
        for _ in range(3):
            releases.delete(engine, other.release_id)
            save(engine, other)
    assert releases.listing(engine) == [(other.name, other)]


def test_a_database_without_a_catalog_has_no_releases():
    engine = DuckDBEngine(duckdb.connect())
    assert releases.listing(engine) == []
    assert releases.find(engine, NAME) is None
    releases.delete(engine, "x")


def test_the_last_check_is_what_was_measured(engine):
    save(engine, RELEASE)
    assert releases.measurements(engine, RELEASE) == []
    releases.save_measurements(engine, RELEASE, MEASURED[2:])
    engine.run("UPDATE anon.measurement SET measured_at = measured_at - INTERVAL 1 SECOND")
    releases.save_measurements(engine, RELEASE, MEASURED)
    assert releases.measurements(engine, RELEASE) == list(MEASURED)
    assert engine.rows("SELECT count(*), any_value(release) FROM anon.measurement") == [(4, "hospital_pub")]


def test_a_report_is_satisfied_if_something_was_required_and_all_of_it_is_met():
    met, missed, loss = MEASURED
    assert PrivacyReport((met, loss)).satisfied
    assert not PrivacyReport((met, missed)).satisfied
    assert not PrivacyReport((loss,)).satisfied
    assert not PrivacyReport(()).satisfied
    assert PrivacyReport(MEASURED).violated == (missed,)


def test_a_release_carries_its_policy_and_hierarchies(engine):
    save(engine, RELEASE)
    found = releases.load(engine, NAME)
    assert policy_of(found) == POLICY
    assert hierarchies_of(found) == (HIERARCHY,)


def test_a_release_carries_its_public_table():
    for against in (Source(QualifiedName(("main", "voters"))), Source(query="SELECT zip FROM voters")):
        policy = replace(POLICY, against=against)
        assert policy_of(replace(RELEASE, policy_json=release_json(policy, [], TYPES))) == policy


# Each key that the copy of a policy has: without it nothing is read.
KEYS = sorted(set(re.findall(r'"(\w+)":', RELEASE.policy_json)) - {*TYPES, "k", "t"})


def test_a_copy_of_a_policy_has_no_more_than_it_needs():
    assert [
        *("arguments", "attributes", "definition", "digest", "height", "hierarchies", "hierarchy", "kind"),
        *("max_level", "min_level", "model", "name", "options", "policy", "pseudonym", "query", "requirements"),
        *("role", "source", "types", "weight"),
    ] == KEYS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        RELEASE.policy_json.replace('"requirements"', '"against":"voters","requirements"'),
        RELEASE.policy_json.replace('"requirements"', '"against":{},"requirements"'),
        "null",
        RELEASE.policy_json[:-1],
        RELEASE.policy_json.replace('"quasi_identifier"', '"any"'),
        *(RELEASE.policy_json.replace(f'"{key}"', '"another"') for key in KEYS),
        "[" * 9999,
    ],
)
def test_a_changed_copy_of_the_policy_is_refused(text):
    with pytest.raises(CatalogError, match="hospital_pub: the policy"):
        policy_of(replace(RELEASE, policy_json=text))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE anon.release SET kind = 'macro'",
        "UPDATE anon.release SET method_arguments = '{'",
        "UPDATE anon.release_attribute SET role = 'any'",
        "INSERT INTO anon.release SELECT * FROM anon.release",
    ],
)
def test_changed_rows_of_a_release_are_refused(engine, change):
    save(engine, RELEASE)
    engine.run(change)
    with pytest.raises(CatalogError, match="hospital_pub"):
        releases.load(engine, NAME)


def test_hostile_names(engine):
    for name in ('a"; DROP TABLE anon.release; --', "it's.$1", "select", "Ω" * 200, "a.b"):
        release = replace(RELEASE, release_id=name[:9], name=QualifiedName(("my schema", name)))
        save(engine, release)
        assert releases.load(engine, QualifiedName((name,)), "My Schema") == release
    assert len(releases.listing(engine)) == 5


def test_the_documentation_describes_every_table_and_column(engine):
    migrations.install(engine)
    page = (Path(__file__).parents[2] / "docs" / "catalog.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", page, flags=re.MULTILINE)
    described = {
        heading.strip("`").removeprefix("anon."): re.findall(r"^\| `(\w+)` \|", body, flags=re.MULTILINE)
        for heading, _, body in (section.partition("\n") for section in sections)
        if heading.startswith("`anon.")
    }
    found: dict[str, list[str]] = {}
    for table, column in engine.rows(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'anon' ORDER BY 1, column_index"
    ):
        found.setdefault(table, []).append(column)
    assert described == found
