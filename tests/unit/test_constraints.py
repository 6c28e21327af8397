"""CONFIDENTIAL and VISIBLE in policies: as text, as rows of the catalog, as what a policy must be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import pytest

from sqlanon.catalog import policies
from sqlanon.catalog._json import BadJson, PolicyObject, json_of, typed
from sqlanon.catalog.snapshot import fingerprint
from sqlanon.clients.session import connect
from sqlanon.domain.policy import Attribute, Policy, Requirement, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import PolicyError, StatementError
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.syntax.definitions import policy_text

COLUMNS = """ssn IDENTIFIER, dob QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE,
    treatment SENSITIVE"""
BEHIND_COLUMNS = "expected WITH TABLE, SAMPLE, CONFIDENTIAL, VISIBLE, AGAINST, JOINED WITH RELEASE or REQUIRE"
CLINIC = Policy(
    "clinic",
    Source(QualifiedName(("patients",))),
    (
        Attribute("ssn", Role.IDENTIFIER),
        *(Attribute(name, Role.QUASI_IDENTIFIER) for name in ("dob", "sex", "zip")),
        *(Attribute(name, Role.SENSITIVE) for name in ("disease", "treatment")),
    ),
    (),
    None,
    (("ssn",), ("dob", "sex", "zip", "disease"), ("disease", "treatment")),
    (("sex", "treatment"),),
)


@pytest.fixture
def engine():
    connection = duckdb.connect()
    yield DuckDBEngine(connection)
    connection.close()


def parsed(text: str) -> Policy:
    (statement,) = parse_script(text)
    assert isinstance(statement, CreatePolicy)
    return statement.policy


def written(behind: str) -> str:
    return f"CREATE POLICY clinic ON patients ({COLUMNS}) {behind}"


def test_they_are_read() -> None:
    text = "CONFIDENTIAL (ssn), (dob, sex, zip, disease), (disease, treatment) VISIBLE (sex, treatment)"
    assert parsed(written(text)) == CLINIC
    assert parsed(written(text.lower() + " require k_anonymity(k => 4)")) == replace(
        CLINIC, requirements=(Requirement("k_anonymity", (("k", 4),)),)
    )
    public = parsed(written("CONFIDENTIAL (ssn) AGAINST voters REQUIRE k_map(k => 2)"))
    assert (public.confidential, public.against) == ((("ssn",),), Source(QualifiedName(("voters",))))


def test_they_are_columns_too() -> None:
    policy = parsed('CREATE POLICY p ON t (confidential SENSITIVE, visible SENSITIVE) CONFIDENTIAL (visible, "a "" b")')
    assert policy.confidential == (("visible", 'a " b'),)


def test_the_text_of_a_policy_names_them() -> None:
    text = policy_text(CLINIC)
    assert text.endswith(
        '\n) CONFIDENTIAL ("ssn"), ("dob", "sex", "zip", "disease"), ("disease", "treatment") '
        'VISIBLE ("sex", "treatment")'
    )


@pytest.mark.parametrize(
    ("behind", "message", "hint"),
    [
        ("CONFIDENTIAL", 'expected "("', ""),
        ("CONFIDENTIAL ()", "expected a column", ""),
        ("CONFIDENTIAL (dob, DOB)", "the column DOB is named twice in one set", "name it once"),
        ("CONFIDENTIAL (dob) CONFIDENTIAL (sex)", 'expected ",", VISIBLE, AGAINST, JOINED WITH RELEASE or REQUIRE', ""),
        ("VISIBLE (dob) CONFIDENTIAL (sex)", 'expected ",", AGAINST, JOINED WITH RELEASE or REQUIRE', ""),
        ("VISIBLE (dob, sex)", 'expected ",", AGAINST, JOINED WITH RELEASE or REQUIRE', ""),
        ("CONFIDENTIAL (ssn) AGAINST voters", "expected REQUIRE", ""),
        ("CONFIDENTAL (ssn)", BEHIND_COLUMNS, "did you mean CONFIDENTIAL"),
        ("", BEHIND_COLUMNS, ""),
    ],
)
def test_what_is_wrong_in_the_text_is_told(behind: str, message: str, hint: str) -> None:
    with pytest.raises(StatementError) as refused:
        parse_script(written(behind))
    assert message in refused.value.message
    assert hint in (refused.value.hint or "")


def test_they_come_back_from_the_catalog(engine) -> None:
    policies.save(engine, CLINIC)
    assert policies.load(engine, "Clinic") == CLINIC
    policies.save(engine, replace(CLINIC, confidential=(("sex", "zip"), ("SSN",)), visible=()))
    assert policies.load(engine, "clinic").confidential == (("sex", "zip"), ("SSN",))
    assert policies.load(engine, "clinic").visible == ()
    policies.delete(engine, "CLINIC")
    assert engine.rows("SELECT count(*) FROM anon.policy_constraint") == [(0,)]


def test_rows_by_hand_count_like_those_of_statements(engine) -> None:
    policies.save(engine, replace(CLINIC, visible=()))
    engine.run("""INSERT INTO anon.policy_constraint (policy, kind, attributes) VALUES
        ('CLINIC', ' Visible', '["zip", "sex"]'), ('clinic', 'CONFIDENTIAL', '["dob"]')""")
    found = policies.load(engine, "clinic")
    assert (found.confidential[-1], found.visible) == (("dob",), (("zip", "sex"),))


@pytest.mark.parametrize(
    ("kind", "attributes", "problem"),
    [
        ("hidden", '["dob"]', "the unknown kind 'hidden'"),
        ("confidential", "dob", "cannot be read"),
        ("confidential", '{"name": "dob"}', "Expected `array`, got `object`"),
        ("visible", '["dob", 5]', "Expected `str`, got `int`"),
        ("confidential", "[]", r"CONFIDENTIAL \(\) names no column"),
        ("confidential", '["dob", "bod"]', "the policy has no column bod"),
        ("confidential", '["dob", "Dob"]', "names Dob twice"),
    ],
)
def test_rows_by_hand_are_validated(engine, kind, attributes, problem) -> None:
    policies.save(engine, CLINIC)
    engine.connection.execute(
        "INSERT INTO anon.policy_constraint (policy, kind, attributes) VALUES ('clinic', ?, ?)", [kind, attributes]
    )
    with pytest.raises(PolicyError, match=problem) as refused:
        policies.load(engine, "clinic")
    assert "clinic" in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize(
    ("confidential", "visible", "problem"),
    [
        ((("disease", "sex"),), (("zip", "Sex", "disease"),), r"VISIBLE \(zip, Sex, disease\) .* \(disease, sex\)"),
        ((("zip",),), (("zip",),), r"VISIBLE \(zip\) shows together what CONFIDENTIAL \(zip\)"),
        ((("zip",),), (("ssn", "sex"),), "ssn is IDENTIFIER"),
        ((), (("sex", "zip"),), "VISIBLE has no effect without CONFIDENTIAL"),
        ((("a",),), (), "no column a"),
    ],
)
def test_what_contradicts_itself_is_refused(engine, confidential, visible, problem) -> None:
    policy = replace(CLINIC, confidential=confidential, visible=visible, requirements=(Requirement("k_anonymity"),))
    with pytest.raises(PolicyError, match=problem) as refused:
        policies.save(engine, policy)
    assert refused.value.hint


def test_a_set_may_be_part_of_another(engine) -> None:
    sets = (("sex", "zip", "disease"), ("sex", "disease"), ("disease", "sex"), ("disease",))
    policies.save(engine, replace(CLINIC, confidential=sets, visible=()))
    assert policies.load(engine, "clinic").confidential == sets


def test_without_constraints_something_is_required_and_a_quasi_identifier_named(engine) -> None:
    for policy, problem in (
        (replace(CLINIC, confidential=(), visible=()), "requires nothing"),
        (
            replace(CLINIC, confidential=(), visible=(), attributes=CLINIC.attributes[-1:]),
            "no quasi-identifier",
        ),
    ):
        with pytest.raises(PolicyError, match=problem):
            policies.save(engine, policy)
    alone = replace(CLINIC, attributes=CLINIC.attributes[-2:], confidential=(("disease", "treatment"),), visible=())
    policies.save(engine, alone)
    assert policies.load(engine, "clinic") == alone


def policy_to_json(policy: Policy) -> dict[str, Any]:
    return json_of(PolicyObject.of(policy))


def policy_from_json(json_value: object) -> Policy:
    return typed(json_value, PolicyObject, "a policy").as_domain


def test_the_copy_that_a_release_carries_has_them() -> None:
    assert policy_from_json(policy_to_json(CLINIC)) == CLINIC
    assert {"confidential", "visible"}.isdisjoint(policy_to_json(replace(CLINIC, confidential=(), visible=())))
    for changed in ([["dob"], "sex"], {"dob": 1}, [[""]]):
        with pytest.raises(BadJson):
            policy_from_json({**policy_to_json(CLINIC), "visible": changed})
    variants = (CLINIC, replace(CLINIC, visible=()), replace(CLINIC, confidential=CLINIC.confidential[1:]))
    assert len({fingerprint(policy, []) for policy in variants}) == 3


@pytest.mark.one_in(6)
@pytest.mark.parametrize("method", ["", "METHOD generalization(suppression => 1)", "METHOD mondrian"])
@pytest.mark.parametrize(
    "statement", ["CREATE ANONYMIZED TABLE", "CREATE ANONYMIZED VIEW", "EXPLAIN VERBOSE ANONYMIZED TABLE", "OR REPLACE"]
)
def test_a_method_that_does_not_know_them_refuses(method, statement, tmp_path) -> None:
    name = method.split("(")[0].removeprefix("METHOD ") or "generalization"
    with connect(str(tmp_path / "clinic.duckdb")) as session:
        session.sql("""
            CREATE TABLE patients AS SELECT i AS ssn, i % 2 AS sex, i % 3 AS disease FROM range(8) AS t(i);
            CREATE POLICY clinic ON patients (ssn IDENTIFIER, sex QUASI IDENTIFIER, disease SENSITIVE)
            CONFIDENTIAL (sex, disease) REQUIRE k_anonymity(k => 1)
        """)
        head = "CREATE OR REPLACE ANONYMIZED TABLE" if statement == "OR REPLACE" else statement
        with pytest.raises(PolicyError, match=rf"the method {name} does not know .* \(sex, disease\)") as refused:
            session.sql(f"{head} released AS POLICY clinic {method}")
        assert refused.value.hint
        assert "released" not in {row[0] for row in session.sql("SHOW TABLES").fetchall()}


def test_a_policy_is_created_and_bound_with_them() -> None:
    with connect() as session:
        session.sql("CREATE TABLE patients AS SELECT 1 AS a, 2 AS b")
        session.sql("CREATE POLICY p ON patients (a SENSITIVE, b SENSITIVE) CONFIDENTIAL (A, b)")
        rows = session.sql("SELECT kind, attributes FROM anon.policy_constraint").fetchall()
        assert rows == [("confidential", '["A","b"]')]
        with pytest.raises(PolicyError, match="no column c"):
            session.sql("CREATE POLICY q ON patients (a SENSITIVE, b SENSITIVE) CONFIDENTIAL (a, c)")
        with pytest.raises(PolicyError, match="shows together"):
            session.sql("CREATE POLICY q ON patients (a SENSITIVE, b SENSITIVE) CONFIDENTIAL (a, b) VISIBLE (b, a)")
