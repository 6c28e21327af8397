from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon.catalog import hierarchies, policies
from sqlanon.domain.policy import Attribute, Policy, Pseudonym, RelatedTable, Requirement, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import PolicyError
from tests.support.database import new_database
from tests.support.draws import draws

HOSPITAL = Policy(
    name="hospital",
    source=Source(name=QualifiedName(("patients",))),
    attributes=(
        Attribute("ssn", Role.IDENTIFIER, pseudonym=Pseudonym("HOSPITAL_KEY")),
        Attribute("patient", Role.ENTITY, pseudonym=Pseudonym()),
        Attribute("sex", Role.QUASI_IDENTIFIER),
        Attribute("zip", Role.QUASI_IDENTIFIER, "zip_prefix", 1, 3, Decimal("2.5")),
        Attribute("disease", Role.SENSITIVE, "diseases"),
        Attribute("ward", Role.INSENSITIVE),
    ),
    requirements=(
        Requirement("k_anonymity", (("k", 4),)),
        Requirement("t_closeness", (("t", Decimal("0.3")), ("distance", "hierarchical"))),
        Requirement("value_ranges", (("ranges", QualifiedName(("main", "my ranges"))),)),
    ),
)


@pytest.fixture
def engine():
    with new_database() as connection:
        yield DuckDBEngine(connection.duckdb)


def with_attribute(attribute):
    return replace(HOSPITAL, attributes=(*HOSPITAL.attributes, attribute))


def test_a_policy_comes_back_as_it_was(engine):
    policies.save(engine, HOSPITAL)
    assert policies.load(engine, "hospital") == HOSPITAL
    assert policies.load(engine, "HOSPITAL") == HOSPITAL
    policies.save(engine, replace(HOSPITAL, source=Source(query="SELECT * FROM patients")))
    assert policies.load(engine, "Hospital").source == Source(query="SELECT * FROM patients")


@pytest.mark.parametrize(
    "against", [Source(name=QualifiedName(("main", "my; voters"))), Source(query="SELECT * FROM voters")]
)
def test_the_public_table_comes_back_as_it_was(engine, against):
    policies.save(engine, replace(HOSPITAL, against=against))
    assert policies.load(engine, "hospital") == replace(HOSPITAL, against=against)
    policies.save(engine, HOSPITAL)
    assert policies.load(engine, "hospital").against is None


def test_a_model_may_be_required_in_several_ways(engine):
    required = (
        Requirement("t_closeness", (("t", Decimal("0.3")),)),
        Requirement("t_closeness", (("t", Decimal("0.3")), ("attribute", QualifiedName(("disease",))))),
        Requirement("t_closeness", (("t", Decimal("0.3")), ("distance", "hierarchical"))),
        Requirement("t_closeness", (("t", Decimal("0.3")), ("jointly", True))),
    )
    policies.save(engine, replace(HOSPITAL, requirements=required))
    assert policies.load(engine, "hospital").requirements == required


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)


@pytest.mark.drawn
@settings(max_examples=draws(8, long=60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=names, source=names, column=names, hierarchy=st.none() | names, key=st.none() | names)
def test_any_name_works(engine, name, source, column, hierarchy, key):
    policy = Policy(
        name,
        Source(name=QualifiedName((source,))),
        (
            Attribute(column, Role.QUASI_IDENTIFIER, hierarchy),
            Attribute(column + "x", Role.IDENTIFIER, pseudonym=Pseudonym(key)),
        ),
        (Requirement("k_anonymity", (("k", 2),)),),
    )
    policies.save(engine, HOSPITAL)
    policies.save(engine, policy)
    assert policies.load(engine, name) == policy
    related = RelatedTable(source + "x", policy.source, column + "k", (Attribute(column + "y", Role.SENSITIVE),))
    of_two = (*policy.attributes[:1], Attribute(column + "x", Role.ENTITY))
    several = replace(policy, attributes=of_two, related=(related, replace(related, name=source + "y", attributes=())))
    with pytest.raises(PolicyError, match="has a role"):
        policies.save(engine, several)
    several = replace(several, related=several.related[:1])
    policies.save(engine, several)
    assert policies.load(engine, name) == several
    assert name in hierarchies.used_by(engine, hierarchy or column) or hierarchy is None
    assert policies.delete(engine, name)
    assert not policies.exists(engine, name)


def test_saving_again_replaces_however_often_and_however_spelled(engine):
    with engine.transaction():
        for name in ("hospital", "Hospital", "HOSPITAL", "hospital"):
            policies.save(engine, replace(HOSPITAL, name=name))
    assert policies.listing(engine) == ["hospital"]
    counts = engine.rows(
        "SELECT (SELECT count(*) FROM anon.policy), (SELECT count(*) FROM anon.policy_attribute), "
        "(SELECT count(*) FROM anon.policy_requirement)"
    )
    assert counts == [(1, 6, 3)]


def test_only_a_to_z_are_the_same_in_both_cases_as_in_duckdb(engine):
    engine.run('CREATE TABLE "Ärzte" (x INTEGER)')
    engine.run('CREATE TABLE "ärzte" (x INTEGER)')
    policies.save(engine, replace(HOSPITAL, name="Ärzte"))
    assert policies.exists(engine, "ÄRZTE")
    assert not policies.exists(engine, "ärzte")


def test_a_database_without_a_catalog_has_no_policies():
    engine = DuckDBEngine(duckdb.connect())
    assert policies.listing(engine) == []
    assert not policies.exists(engine, "hospital")
    assert not policies.delete(engine, "hospital")
    with pytest.raises(PolicyError, match="there is no policy hospital"):
        policies.load(engine, "hospital")
    assert engine.rows("SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'anon'") == [(0,)]


def test_a_name_that_is_near_is_offered(engine):
    policies.save(engine, HOSPITAL)
    with pytest.raises(PolicyError) as missing:
        policies.load(engine, "hospitl")
    assert missing.value.hint == "did you mean hospital?"


def test_delete(engine):
    policies.save(engine, HOSPITAL)
    assert policies.delete(engine, "HOSPITAL")
    assert not policies.delete(engine, "hospital")
    assert engine.rows("SELECT count(*) FROM anon.policy_attribute") == [(0,)]


BY_HAND = """
INSERT INTO anon.policy (policy, source) VALUES ('clinic', 'main.patients');
INSERT INTO anon.policy_attribute (policy, attribute, role) VALUES
    ('clinic', 'sex', 'quasi identifier'), ('Clinic', 'zip', 'QUASI-IDENTIFIER'), ('clinic', 'ward', 'insensitive');
INSERT INTO anon.policy_requirement (policy, model, arguments) VALUES ('clinic', 'K_anonymity', '{"K": 4}');
"""


def test_a_policy_by_hand(engine):
    policies.save(engine, HOSPITAL)
    engine.run(BY_HAND)
    assert policies.load(engine, "CLINIC") == Policy(
        "clinic",
        Source(name=QualifiedName(("main", "patients"))),
        (
            Attribute("sex", Role.QUASI_IDENTIFIER),
            Attribute("zip", Role.QUASI_IDENTIFIER),
            Attribute("ward", Role.INSENSITIVE),
        ),
        (Requirement("k_anonymity", (("k", 4),)),),
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("UPDATE anon.policy SET source = 'a b'", "source in anon.policy cannot be read"),
        ("UPDATE anon.policy SET source = NULL", "needs one source"),
        ("UPDATE anon.policy SET query = 'FROM t'", "needs one source"),
        ("UPDATE anon.policy SET against = 'a b'", "against in anon.policy cannot be read"),
        ("UPDATE anon.policy SET against = 'voters', against_query = 'FROM t'", "AGAINST needs one public table"),
        (
            "INSERT INTO anon.policy_requirement (policy, model) VALUES ('clinic', 'k_anonymity')",
            "k_anonymity is required twice",
        ),
        ("INSERT INTO anon.policy (policy, source) VALUES ('CLINIC', 't')", "has 2 rows"),
        (
            "UPDATE anon.policy_attribute SET role = 'secret' WHERE attribute = 'zip'",
            "zip has the unknown role 'secret'",
        ),
        ("UPDATE anon.policy_attribute SET key_variable = 'K' WHERE attribute = 'ward'", "ward has a key"),
        ("UPDATE anon.policy_attribute SET weight = 0 WHERE attribute = 'zip'", "weight of zip is 0"),
        ("UPDATE anon.policy_attribute SET min_level = -1 WHERE attribute = 'zip'", "zip has no level -1"),
        ("UPDATE anon.policy_attribute SET attribute = 'ZIP'", "the column ZIP is named twice"),
        ("UPDATE anon.policy_attribute SET role = 'sensitive'", "no quasi-identifier"),
        ("DELETE FROM anon.policy_requirement", "requires nothing"),
        ("UPDATE anon.policy_requirement SET arguments = '{k: 4}'", "arguments of K_anonymity"),
        ("""UPDATE anon.policy_requirement SET arguments = '{"k": 4, "K": 5}'""", "given twice"),
        ("""UPDATE anon.policy_requirement SET arguments = '{"k": 4, "k": 5}'""", "has a key twice"),
        ("UPDATE anon.policy_requirement SET arguments = '[4]'", "must be an object"),
    ],
)
def test_a_policy_by_hand_is_validated(engine, change, problem):
    policies.save(engine, HOSPITAL)
    policies.delete(engine, "hospital")
    engine.run(BY_HAND)
    engine.run(change)
    with pytest.raises(PolicyError, match=problem) as refused:
        policies.load(engine, "clinic")
    assert "clinic" in refused.value.message
    assert refused.value.hint


def test_null_weight_and_pseudonym_are_the_defaults(engine):
    policies.save(engine, HOSPITAL)
    engine.run(BY_HAND)
    engine.run("UPDATE anon.policy_attribute SET weight = NULL, pseudonym = NULL WHERE lower(policy) = 'clinic'")
    assert policies.load(engine, "clinic").attributes[1] == Attribute("zip", Role.QUASI_IDENTIFIER)


def test_rows_without_a_position_come_last_in_the_order_of_their_insertion(engine):
    policies.save(engine, HOSPITAL)
    engine.run("INSERT INTO anon.policy_attribute (policy, attribute, role) VALUES ('hospital', 'b', 'insensitive')")
    engine.run("INSERT INTO anon.policy_attribute (policy, attribute, role) VALUES ('hospital', 'a', 'insensitive')")
    engine.run("UPDATE anon.policy_attribute SET position = 0 WHERE attribute = 'ward'")
    found = [attribute.name for attribute in policies.load(engine, "hospital").attributes]
    assert found == ["ward", "ssn", "patient", "sex", "zip", "disease", "b", "a"]


INVALID = [
    (replace(HOSPITAL, name=""), "needs a name"),
    (replace(HOSPITAL, source=Source()), "needs one source"),
    (replace(HOSPITAL, against=Source()), "AGAINST needs one public table"),
    (
        replace(HOSPITAL, requirements=(Requirement("k", (("k", 2),)), Requirement("K", (("k", 3),)))),
        "K is required twice",
    ),
    (replace(HOSPITAL, attributes=HOSPITAL.attributes[:2]), "no quasi-identifier"),
    (replace(HOSPITAL, requirements=()), "requires nothing"),
    (replace(HOSPITAL, requirements=(Requirement(""),)), "names no model"),
    (replace(HOSPITAL, requirements=(Requirement("k_anonymity", (("k", 1), ("K", 2))),)), "given twice"),
    (with_attribute(Attribute("", Role.INSENSITIVE)), "has no name"),
    (with_attribute(Attribute("ZIP", Role.SENSITIVE)), "the column ZIP is named twice"),
    (with_attribute(Attribute("e", Role.ENTITY)), "patient and e are each an ENTITY"),
    (with_attribute(Attribute("a", Role.INSENSITIVE, "h")), "a is INSENSITIVE and cannot use a hierarchy"),
    (with_attribute(Attribute("a", Role.IDENTIFIER, "h")), "a is IDENTIFIER and cannot use a hierarchy"),
    (with_attribute(Attribute("a", Role.QUASI_IDENTIFIER, "")), "a uses a hierarchy without a name"),
    (with_attribute(Attribute("a", Role.SENSITIVE, min_level=1)), "has MIN LEVEL and no hierarchy"),
    (with_attribute(Attribute("a", Role.SENSITIVE, max_level=1)), "cannot have levels"),
    (with_attribute(Attribute("a", Role.SENSITIVE, weight=Decimal(2))), "cannot have a weight"),
    (with_attribute(Attribute("a", Role.QUASI_IDENTIFIER, pseudonym=Pseudonym())), "cannot be a pseudonym"),
    (with_attribute(Attribute("a", Role.IDENTIFIER, pseudonym=Pseudonym(""))), "the key of a has no name"),
    (with_attribute(Attribute("a", Role.QUASI_IDENTIFIER, min_level=2, max_level=1)), "MIN LEVEL 2 above MAX LEVEL 1"),
    (with_attribute(Attribute("a", Role.QUASI_IDENTIFIER, min_level=-1)), "no level -1"),
    (with_attribute(Attribute("a", Role.QUASI_IDENTIFIER, max_level=2**31)), "no level 2147483648"),
    *(
        (with_attribute(Attribute("a", Role.QUASI_IDENTIFIER, weight=Decimal(weight))), "weight of a is")
        for weight in ("0", "-1", "NaN", "Infinity")
    ),
    *(
        (with_attribute(Attribute("a", Role.QUASI_IDENTIFIER, weight=Decimal(weight))), "cannot be kept exactly")
        for weight in ("0.0000001", "1.0000000000000000000000000000000001", "1e12", "1e999999", "1e-999999")
    ),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("policy", "problem"), INVALID)
def test_a_policy_that_contradicts_itself_is_refused(engine, policy, problem):
    with pytest.raises(PolicyError, match=problem):
        policies.validate(policy)
    with pytest.raises(PolicyError, match=problem):
        policies.save(engine, policy)


weights = st.decimals(min_value="0.000001", max_value="999999999999", places=6)


@pytest.mark.drawn
@settings(max_examples=draws(10, long=40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(weights)
def test_weights_are_kept_exactly(engine, weight):
    policies.save(engine, with_attribute(Attribute("a", Role.QUASI_IDENTIFIER, weight=weight)))
    assert policies.load(engine, "hospital").attributes[-1].weight == weight


def test_a_number_that_cannot_be_kept_is_refused(engine):
    policy = replace(HOSPITAL, requirements=(Requirement("t_closeness", (("t", Decimal("1E-100000")),)),))
    with pytest.raises(PolicyError, match="t_closeness cannot be stored"):
        policies.save(engine, policy)
