"""Policies that join another release: what is refused, what CHECK, EXPORT and EXPLAIN say, what a failure leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlanon import CatalogError, Connection, PolicyError, PrivacyViolation, UserError
from sqlanon.catalog import policies
from sqlanon.domain.policy import JoinedRelease
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from tests.support.database import template
from tests.support.sequential_releases import SETUP

XY = "xy_anonymity(x => name, y => disease, k => 2)"
COLUMNS = "name INSENSITIVE, job QUASI IDENTIFIER USING jobs, class INSENSITIVE"
JOINED = "JOINED WITH RELEASE first ON (job)"
UNNAMED = "CREATE ANONYMIZED TABLE made AS POLICY second"
MADE = f"{UNNAMED} METHOD generalization"


def policy(columns: str = COLUMNS, joined: str = JOINED, required: str = f"k_anonymity(k => 1), {XY}") -> str:
    return f"CREATE OR REPLACE POLICY second ON two ({columns}) {joined} REQUIRE {required}"


@pytest.fixture
def con() -> Iterator[Connection]:
    with template(SETUP, policy()) as connection:
        yield connection


def explained(con: Connection, item: str) -> list[str]:
    rows = con.execute(f"EXPLAIN VERBOSE {MADE.removeprefix('CREATE ')}").fetchall()
    return [detail for _, named, detail in rows if named == item]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (
            {"joined": "JOINED WITH RELEASE first ON (name)"},
            "name, on which first is joined, is not a quasi-identifier",
        ),
        ({"joined": "JOINED WITH RELEASE first ON (job, JOB)"}, "named twice"),
        ({"joined": "JOINED WITH first ON (job)"}, "expected RELEASE"),
        ({"joined": ""}, "is about the join with another release, but the policy names none"),
        ({"required": "k_anonymity(k => 1)"}, "no requirement is about the join with first"),
        ({"required": XY}, "no requirement is about the classes of a release alone"),
        ({"required": "k_anonymity(k => 1), xy_anonymity(x => name, y => disease, k => 0)"}, "outside"),
        ({"required": "k_anonymity(k => 1), xy_anonymity(x => name, k => 2)"}, "needs y"),
        ({"required": f"k_anonymity(k => 1), {XY}, xy_anonymity(x => name, y => disease, k => 3)"}, "required twice"),
    ],
)
def test_policies_that_are_refused(con: Connection, parts: dict[str, str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        con.execute(policy(**parts))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (policy(joined="JOINED WITH RELEASE nothing ON (job)"), "there is no release nothing"),
        (policy(required="k_anonymity(k => 1), xy_anonymity(x => name, y => class, k => 2)"), "alone"),
        (
            policy(required="k_anonymity(k => 1), xy_anonymity(x => nobody, y => disease, k => 2)"),
            "neither release has",
        ),
        (
            policy(COLUMNS.replace("name INSENSITIVE", "name IDENTIFIER")),
            "neither release has a column name",
        ),
        (
            policy(COLUMNS.replace(" USING jobs", "")),
            "its hierarchy differs from the hierarchy of its labels in main.first",
        ),
        (
            policy(COLUMNS.replace("class INSENSITIVE", "class QUASI IDENTIFIER"), JOINED.replace("job", "class")),
            "main.first has no column class",
        ),
        ("CREATE OR REPLACE ANONYMIZED VIEW first AS POLICY first", "main.first is a live view"),
        ("CREATE OR REPLACE ANONYMIZED TABLE first AS POLICY first METHOD mondrian", "shows it by no level"),
        ("CREATE OR REPLACE ANONYMIZED TABLE first AS POLICY first METHOD trivial", "several tables"),
        ("DELETE FROM first WHERE job = 'Clerk'", "no longer has the rows"),
        ("ALTER TABLE first ADD COLUMN more INTEGER", "was changed after it was released"),
        ("DROP ANONYMIZED TABLE first", "there is no release first"),
        (
            "CREATE OR REPLACE HIERARCHY jobs AS LEVELS (SELECT DISTINCT job AS value, 'all' AS level_1 FROM one)",
            "its hierarchy differs",
        ),
    ],
)
def test_releases_that_cannot_be_joined(con: Connection, statement: str, words: str) -> None:
    if "mondrian" in statement or "trivial" in statement:
        con.execute(
            "CREATE OR REPLACE POLICY first ON one (job QUASI IDENTIFIER USING jobs, disease SENSITIVE) "
            "REQUIRE k_anonymity(k => 5)"
        )
    con.execute(statement)
    before = con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall()
    with pytest.raises((UserError, PrivacyViolation), match=words):
        con.execute(MADE)
    assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == before


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("CREATE ANONYMIZED VIEW made AS POLICY second", "a live view cannot check"),
        (f"{UNNAMED} METHOD mondrian", "does not look at the join with first"),
        (f"{UNNAMED} METHOD anatomy(l => 2)", "the join|sensitive"),
        (f"{UNNAMED} METHOD generalization(recoding => 'local')", "labels of several levels"),
        ("CREATE OR REPLACE ANONYMIZED TABLE first AS POLICY second", "cannot replace it"),
        ("CREATE ANONYMIZED STREAM s AS POLICY second ORDER BY class METHOD stream(k => 2, delay => 3)", "says JOINED"),
    ],
)
def test_statements_that_cannot_keep_it(con: Connection, statement: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        con.execute(statement)
    assert con.duckdb.execute("SELECT object_name FROM anon.release").fetchall() == [("first",)]


def test_types_that_differ_are_refused(con: Connection) -> None:
    con.execute("""
        CREATE TABLE numbers AS SELECT 1 AS age, 'p' AS ill;
        CREATE TABLE people AS SELECT 1.0 AS age, 'x' AS who;
        CREATE POLICY numbers ON numbers (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 1);
        CREATE ANONYMIZED TABLE numbers_2026 AS POLICY numbers METHOD generalization;
        CREATE POLICY people ON people (age QUASI IDENTIFIER, who INSENSITIVE) JOINED WITH RELEASE numbers_2026 ON (age)
        REQUIRE k_anonymity(k => 1), xy_anonymity(x => who, y => ill, k => 1);
    """)
    with pytest.raises(PolicyError, match=r"age cannot be compared: it is of type DECIMAL.* of type INTEGER"):
        con.execute("CREATE ANONYMIZED TABLE people_2026 AS POLICY people METHOD generalization")


def test_alter_keeps_what_is_joined(con: Connection) -> None:
    con.execute(f"ALTER POLICY second REQUIRE k_anonymity(k => 2), {XY}")
    stored = policies.load(DuckDBEngine(con.duckdb), "second")
    assert stored.joined == JoinedRelease(QualifiedName(("first",)), ("job",))
    assert ("joined", None, "first on (job)") in con.execute("DESCRIBE POLICY second").fetchall()
    with pytest.raises(PolicyError, match="no requirement is about the join"):
        con.execute("ALTER POLICY second REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match="not a quasi-identifier"):
        con.execute("ALTER POLICY second ALTER COLUMN job INSENSITIVE")


def test_a_row_that_was_written_by_hand(con: Connection) -> None:
    con.duckdb.execute("UPDATE anon.policy SET joined = '{\"release\": \"first\"}' WHERE policy = 'second'")
    with pytest.raises(PolicyError, match="its column joined in"):
        con.execute(MADE)


@pytest.mark.long
def test_check_asks_both_releases_as_they_are(con: Connection) -> None:
    con.execute(MADE)
    assert [row[1:] for row in con.execute("CHECK made").fetchall()] == [
        ("k_anonymity", None, 1.0, 2.0, True),
        ("xy_anonymity", "disease", 2.0, 2.0, True),
    ]
    con.duckdb.execute("UPDATE made SET job = 'Technical'")
    rows = con.execute("CHECK made").fetchall()
    assert rows[1][1:] == ("xy_anonymity", "disease", 2.0, 2.0, True)
    con.duckdb.execute("DELETE FROM first WHERE disease = 'HIV'")
    with pytest.raises(PrivacyViolation, match=r"main\.first no longer has the rows"):
        con.execute("CHECK made")


@pytest.mark.long
def test_check_tells_that_too_few_values_join(con: Connection) -> None:
    con.execute(policy(required="k_anonymity(k => 1), xy_anonymity(x => disease, y => name, k => 2)"))
    con.execute(MADE)
    con.duckdb.execute("UPDATE made SET name = 'Zoe'")
    assert con.execute("CHECK made").fetchall()[1][1:] == ("xy_anonymity", "name", 2.0, 1.0, False)
    con.duckdb.execute("UPDATE made SET job = 'nowhere'")
    assert con.execute("CHECK made").fetchall()[1][1:] == ("xy_anonymity", "name", 2.0, None, True)
    con.duckdb.execute("DROP TABLE made")
    with pytest.raises(UserError, match="is gone"):
        con.execute("CHECK made")


@pytest.mark.long
def test_another_release_of_the_name_is_not_the_one(con: Connection) -> None:
    con.execute(MADE)
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE first AS POLICY first METHOD generalization")
    with pytest.raises(PrivacyViolation, match=r"main\.first was replaced after main\.made"):
        con.execute("CHECK made")
    with pytest.raises(PrivacyViolation, match="was replaced after"):
        con.execute("EXPORT made TO 'nowhere.parquet'")
    con.execute("REFRESH ANONYMIZED TABLE made")
    assert all(row[-1] for row in con.execute("CHECK made").fetchall())
    con.duckdb.execute("UPDATE anon.release SET policy_json = replace(policy_json, '\"joined\"', '\"joint\"')")
    with pytest.raises(CatalogError):
        con.execute("CHECK made")


@pytest.mark.long
def test_an_export_states_the_join(con: Connection, tmp_path: Path) -> None:
    con.execute(MADE)
    con.execute(f"EXPORT made TO '{tmp_path / 'out'}/'")
    stated: dict[str, Any] = json.loads((tmp_path / "out" / "certificate.json").read_text())
    (proof,) = (entry for entry in stated["requirements"] if "joined_with" in entry)
    assert proof["requirement"] == "xy_anonymity(x => (name), y => disease, k => 2)"
    assert proof["arguments"] == {"k": 2, "x": ["name"], "y": "disease"}
    assert (proof["required"], proof["achieved"], proof["satisfied"]) == (2, 2, True)
    assert {name: proof["joined_with"][name] for name in ("release", "on")} == {"release": "first", "on": ["job"]}
    assert "JOINED WITH RELEASE" in stated["policy"]["statement"]
    assert "What the join with `first` tells" in (tmp_path / "out" / "certificate.md").read_text()
    rows = con.execute(f"CHECK '{tmp_path / 'out'}/'").fetchall()
    assert rows[-1][1:] == ("xy_anonymity", "disease", 2.0, 2.0, True, "stated by the certificate")
    proof["satisfied"] = False
    (tmp_path / "out" / "certificate.json").write_text(json.dumps(stated))
    with pytest.raises(PrivacyViolation, match="does not say that xy_anonymity"):
        con.execute(f"CHECK '{tmp_path / 'out'}/'")


@pytest.mark.long
def test_explain_says_what_the_join_comes_to(con: Connection) -> None:
    text = "xy_anonymity(x => (name), y => disease, k => 2)"
    assert explained(con, "joined with main.first") == [f"{text} comes to 2"]
    assert explained(con, "binding requirement") == [
        f"{text}: the join with another release violates it one level finer"
    ]
    assert f"not level 0: 0 of 5 rows would be suppressed; joined with main.first, {text} would come to 1" in explained(
        con, "job"
    )
    assert f"{text} of the join with first on (job)" in explained(con, "requirement")


def test_what_cannot_be_met_says_how_far_it_is(con: Connection) -> None:
    con.execute(policy(required="k_anonymity(k => 1), xy_linkability(x => name, y => disease, max => 0.5)"))
    with pytest.raises(PrivacyViolation, match=r"joined with main\.first, xy_linkability\(.*\) comes to 0\.6"):
        con.execute(MADE)
    assert con.duckdb.execute("SELECT object_name FROM anon.release").fetchall() == [("first",)]


def test_a_candidate_that_tells_too_much_is_not_published(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of the candidate does not rest on the search."""
    monkeypatch.setattr("sqlanon.methods.shared.lattice.node_evaluator.Nodes.joins", lambda *_: ())
    with pytest.raises(PrivacyViolation, match=r"made joined with main\.first would violate xy_anonymity.*reaches 1"):
        con.execute(MADE)
    assert con.duckdb.execute("SELECT object_name FROM anon.release").fetchall() == [("first",)]
    assert not con.duckdb.execute("SELECT 1 FROM duckdb_tables() WHERE table_name LIKE '%candidate_%'").fetchall()


@pytest.mark.long
def test_minimality_is_not_asked_of_it(con: Connection) -> None:
    con.execute(policy(COLUMNS.replace("class INSENSITIVE", "class SENSITIVE"), required=f"l_diversity(l => 2), {XY}"))
    con.execute(MADE)
    with pytest.raises(PolicyError, match="join"):
        con.execute("ATTACK made WITH minimality()")


@pytest.mark.long
def test_values_of_x_may_join_at_higher_levels(con: Connection) -> None:
    """Neither figure is monotone: Bob matches no row by his own job, and one disease by what it is a part of."""
    con.execute("""
        CREATE TABLE few AS
        FROM (VALUES ('Banker', 'Cancer'), ('Banker', 'HIV'), ('Driver', 'Cold')) AS t(job, disease);
        CREATE TABLE staff AS FROM (VALUES ('Alice', 'Banker'), ('Bob', 'Engineer')) AS t(name, job);
        CREATE POLICY few ON few (job QUASI IDENTIFIER USING jobs MAX LEVEL 0, disease SENSITIVE)
        REQUIRE k_anonymity(k => 1);
        CREATE ANONYMIZED TABLE few_2026 AS POLICY few METHOD generalization;
    """)
    reached = []
    for level in range(3):
        con.execute(
            "CREATE OR REPLACE POLICY staff ON staff (name INSENSITIVE, job QUASI IDENTIFIER USING jobs "
            f"MIN LEVEL {level} MAX LEVEL {level}) JOINED WITH RELEASE few_2026 ON (job) REQUIRE k_anonymity(k => 1), "
            "xy_anonymity(x => name, y => disease, k => 1)"
        )
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE staff_2026 AS POLICY staff METHOD generalization")
        reached.append(con.execute("CHECK staff_2026").fetchall()[1][4])
    assert reached == [2, 1, 3]
