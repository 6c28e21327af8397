from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon.catalog import hierarchies, policies
from sqlanon.domain.policy import Attribute, HierarchyDefinition, Policy, Requirement, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import PolicyError
from tests.support.database import new_database
from tests.support.draws import draws

ZIP = HierarchyDefinition("zip_prefix", "prefixes", (4, 3, 2))
AGE = HierarchyDefinition("age", "intervals", (Decimal("2.5"), 5, 10), (("low", 0),))
SEX = HierarchyDefinition("work", "levels", query="SELECT * FROM work")
WORK = [
    ("Private", 0, "Private"),
    ("Private", 1, "Company"),
    ("Private", 2, "Employed"),
    ("State", 0, "State"),
    ("State", 1, "Government"),
    ("State", 2, "Employed"),
    (None, 0, None),
    (None, 1, "Unknown"),
    (None, 2, "Unknown"),
]


@pytest.fixture
def engine():
    with new_database() as connection:
        yield DuckDBEngine(connection.duckdb)


@pytest.fixture
def catalog(engine):
    """An engine whose catalog has the hierarchy zip_prefix."""
    hierarchies.save(engine, ZIP, 4)
    return engine


def insert_values(engine, name, rows):
    for value, level, label in rows:
        engine.run("INSERT INTO anon.hierarchy_value VALUES (?, ?, ?, ?)", [name, value, level, label])


def test_hierarchies_come_back_as_they_were(catalog):
    for definition, height in ((ZIP, 4), (AGE, 4)):
        saved = hierarchies.save(catalog, definition, height)
        assert saved.definition == definition
        assert saved.height == height
        assert hierarchies.load(catalog, definition.name.upper()) == saved
    assert hierarchies.listing(catalog) == ["zip_prefix", "age"]


def test_a_stored_hierarchy_comes_back_as_it_was(catalog):
    insert_values(catalog, "work", WORK)
    saved = hierarchies.save(catalog, SEX, 3)
    assert (saved.definition, saved.height) == (SEX, 3)
    assert hierarchies.load(catalog, "Work") == saved
    assert hierarchies.delete(catalog, "WORK")
    assert catalog.rows("SELECT count(*) FROM anon.hierarchy_value") == [(0,)]
    assert not hierarchies.exists(catalog, "work")


def test_saving_again_replaces_however_often_and_however_spelled(catalog):
    with catalog.transaction():
        for name in ("zip_prefix", "ZIP_PREFIX", "Zip_Prefix"):
            hierarchies.save(catalog, replace(ZIP, name=name), 4)
    assert hierarchies.listing(catalog) == ["Zip_Prefix"]


def test_a_database_without_a_catalog_has_no_hierarchies():
    engine = DuckDBEngine(duckdb.connect())
    assert hierarchies.listing(engine) == []
    assert not hierarchies.exists(engine, "zip")
    assert not hierarchies.delete(engine, "zip")
    assert hierarchies.used_by(engine, "zip") == []
    with pytest.raises(PolicyError, match="there is no hierarchy zip"):
        hierarchies.load(engine, "zip")


def test_a_name_that_is_near_is_offered(catalog):
    with pytest.raises(PolicyError) as missing:
        hierarchies.load(catalog, "ZIP_PREFIXES")
    assert missing.value.hint == "did you mean zip_prefix?"


def test_used_by_names_the_policies(catalog):
    for name in ("b", "a"):
        policies.save(
            catalog,
            Policy(
                name,
                Source(name=QualifiedName(("t",))),
                (
                    Attribute("x", Role.QUASI_IDENTIFIER, "ZIP_PREFIX"),
                    Attribute("y", Role.QUASI_IDENTIFIER, "zip_prefix"),
                ),
                (Requirement("k_anonymity", (("k", 2),)),),
            ),
        )
    assert hierarchies.used_by(catalog, "Zip_Prefix") == ["a", "b"]
    assert hierarchies.used_by(catalog, "zip") == []


def test_hierarchies_by_hand(catalog):
    catalog.run("INSERT INTO anon.hierarchy (hierarchy, kind, arguments) VALUES ('decades', 'INTERVALS', '[5, 10]')")
    catalog.run("INSERT INTO anon.hierarchy (hierarchy, kind) VALUES ('work', 'levels')")
    insert_values(catalog, "work", WORK)
    decades = hierarchies.load(catalog, "decades")
    assert decades.definition == HierarchyDefinition("decades", "intervals", (5, 10))
    assert decades.height == 3
    assert hierarchies.load(catalog, "work").height == 3


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("('h', 'circles', '[]', '{}', NULL, NULL)", "no kind of hierarchy 'circles'"),
        ("('h', 'base', '[]', '{}', NULL, NULL)", "no kind of hierarchy 'base'"),
        ("('h', 'intervals', '[5', '{}', NULL, NULL)", "arguments cannot be read"),
        ("('h', 'intervals', '{}', '{}', NULL, NULL)", "arguments cannot be read"),
        ("('h', 'intervals', '[5]', '[]', NULL, NULL)", "options cannot be read"),
        ("('h', 'intervals', '[5, 7]', '{}', NULL, NULL)", "h.*nest"),
        ("('h', 'intervals', '[5, 10]', '{}', NULL, 2)", "has height 2, but its top level is 3"),
        ("('h', 'intervals', '[5, 10]', '{}', 'FROM t', NULL)", "h.*quer"),
        ("('h', 'levels', '[]', '{}', NULL, NULL)", "h lists no values"),
        ("('ZIP_prefix', 'prefixes', '[4]', '{}', NULL, NULL)", "has 2 rows"),
    ],
)
def test_a_hierarchy_by_hand_is_validated(catalog, row, problem):
    name = row.split("'")[1]
    catalog.run(
        "INSERT INTO anon.hierarchy (hierarchy, kind, arguments, options, query, height) VALUES " + row,
    )
    with pytest.raises(PolicyError, match=problem) as refused:
        hierarchies.load(catalog, name)
    assert name in refused.value.message


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("INSERT INTO anon.hierarchy_value VALUES ('WORK', 'Self', 0, 'Self')", "spelled in another way: 'WORK'"),
        ("INSERT INTO anon.hierarchy_value VALUES ('work', 'State', -1, 'x')", r"'State' \(level -1\)"),
        (
            "INSERT INTO anon.hierarchy_value VALUES ('work', 'State', 3, '*')",
            "no label at some level: 'Private', NULL",
        ),
        (
            "UPDATE anon.hierarchy_value SET label = NULL WHERE value = 'State'",
            r"NULL: 'State' \(level 0\), 'State' \(",
        ),
        (
            "UPDATE anon.hierarchy_value SET label = NULL WHERE value IS NULL",
            r"NULL: NULL \(level 1\), NULL \(level 2\)",
        ),
        (
            "INSERT INTO anon.hierarchy_value VALUES ('work', 'State', 1, 'Other')",
            r"several labels.*'State' \(level 1\)",
        ),
        ("INSERT INTO anon.hierarchy_value VALUES ('work', NULL, 1, 'Other')", r"several labels.*NULL \(level 1\)"),
        ("UPDATE anon.hierarchy_value SET label = 'x' WHERE level = 0 AND value = 'State'", "differ.*: 'State'\n"),
        ("UPDATE anon.hierarchy_value SET label = 'x' WHERE level = 0 AND value IS NULL", "differ.*: NULL\n"),
        ("DELETE FROM anon.hierarchy_value WHERE level = 1 AND value = 'State'", "no label at some level: 'State'\n"),
        ("DELETE FROM anon.hierarchy_value WHERE level = 0 AND value IS NULL", "no label at some level: NULL\n"),
        (
            "UPDATE anon.hierarchy_value SET label = 'Company' WHERE level = 1 AND value IS NULL",
            r"'Company' \(level 1\) in 'Employed' and 'Unknown'",
        ),
    ],
)
def test_stored_labels_that_are_no_hierarchy_are_named(catalog, change, problem):
    insert_values(catalog, "work", WORK)
    hierarchies.save(catalog, SEX)
    catalog.run("UPDATE anon.hierarchy SET height = NULL")
    catalog.run(change)
    with pytest.raises(PolicyError, match=problem) as refused:
        hierarchies.load(catalog, "work")
    assert refused.value.message.startswith("hierarchy work: ")
    assert refused.value.hint


def test_a_height_that_the_labels_do_not_have_is_refused(catalog):
    insert_values(catalog, "work", WORK)
    with pytest.raises(PolicyError, match="levels that the hierarchy does not have"):
        hierarchies.save(catalog, SEX, 2)
    with pytest.raises(PolicyError, match="no label at some level"):
        hierarchies.save(catalog, SEX, 4)


def test_ten_values_are_named_and_how_many_more(catalog):
    insert_values(catalog, "work", WORK)
    hierarchies.save(catalog, SEX)
    insert_values(catalog, "work", [(f"v{i:02d}", 0, f"v{i:02d}") for i in range(25)])
    with pytest.raises(PolicyError) as refused:
        hierarchies.load(catalog, "work")
    assert refused.value.message.endswith("'v08', 'v09' and 15 more")


rows = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2), st.sampled_from(["a", "b", "x", "y", None])),
    min_size=1,
    max_size=9,
)
partitions = st.dictionaries(
    st.sampled_from(["a", "b", "c", None]), st.tuples(st.sampled_from("xy"), st.sampled_from("pq")), min_size=1
).map(
    lambda made: [
        (value, level, label) for value, labels in made.items() for level, label in enumerate((value, *labels))
    ]
)


def is_hierarchy(listed):
    """By the definition: one label a value and level, complete, and each level contains the one before."""
    height = max(level for _, level, _ in listed) + 1
    labels = {(value, level): label for value, level, label in listed}
    known = {value for value, _, _ in listed}
    if len(labels) < len(listed) or set(labels) != {(v, level) for v in known for level in range(height)}:
        return False
    if any(labels[v, 0] != v or any(labels[v, level] is None for level in range(1, height)) for v in known):
        return False
    for level in range(1, height - 1):
        for one in known:
            for other in known:
                if labels[one, level] == labels[other, level] and labels[one, level + 1] != labels[other, level + 1]:
                    return False
    return True


@pytest.mark.drawn
@settings(max_examples=draws(16, long=150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(listed=rows | partitions)
def test_the_checks_agree_with_the_definition(catalog, listed):
    hierarchies.delete(catalog, "work")
    insert_values(catalog, "work", listed)
    try:
        hierarchies.save(catalog, SEX)
        accepted = True
    except PolicyError:
        accepted = False
    assert accepted == is_hierarchy(listed)
    row = hierarchies.HierarchyRow("work", "levels", None, None, None, None)
    assert hierarchies.summaries_of(catalog, [row])["work"].sound == accepted


def test_the_digest_is_of_definition_and_labels_in_any_order(catalog):
    insert_values(catalog, "work", WORK)
    digest = hierarchies.save(catalog, SEX).digest
    hierarchies.delete(catalog, "work")
    catalog.run("SET default_collation = 'nocase'")
    insert_values(catalog, "work", WORK[::-1])
    assert hierarchies.save(catalog, SEX).digest == digest
    assert hierarchies.save(catalog, replace(SEX, query="FROM work")).digest != digest
    catalog.run("UPDATE anon.hierarchy_value SET label = 'Officials' WHERE label = 'Government'")
    assert hierarchies.save(catalog, SEX).digest != digest


def test_the_digest_tells_values_apart_that_look_alike(catalog):
    digests = set()
    for value in ("a", "a\n", 'a"', "NULL", None, ""):
        insert_values(catalog, "work", [(value, 0, value)])
        digests.add(hierarchies.save(catalog, SEX).digest)
        hierarchies.delete(catalog, "work")
    assert len(digests) == 6


def test_hostile_names(catalog):
    for name in ('a"; DROP TABLE anon.hierarchy; --', "it's.$1", "select", "Ω" * 200):
        definition = replace(SEX, name=name)
        insert_values(catalog, name, [("v'", 0, "v'"), ("v'", 1, "l'")])
        assert hierarchies.load(catalog, hierarchies.save(catalog, definition).definition.name).height == 2
        assert hierarchies.delete(catalog, name)
