"""SHOW, DESCRIBE POLICY and ALTER POLICY."""

from __future__ import annotations

import pytest

from sqlanon import Connection, PolicyError, UserError, connect
from sqlanon.statements.parser import parse_script
from sqlanon.statements.policies.create_policy import CreatePolicy
from tests.support.database import template

POLICY = "CREATE POLICY p ON t (a QUASI IDENTIFIER USING tens, s SENSITIVE) REQUIRE k_anonymity(k => 3)"


@pytest.fixture
def con() -> Connection:
    return template(
        "CREATE TABLE t AS SELECT i % 5 AS a, i % 3 AS b, i % 4 AS s FROM range(120) AS r(i)",
        "CREATE HIERARCHY tens AS INTERVALS (10)",
        POLICY,
    )


@pytest.mark.parametrize("kind", ["POLICIES", "HIERARCHIES", "RELEASES", "WORKLOADS"])
def test_a_database_without_a_catalog_has_none_and_gets_none(kind: str) -> None:
    bare = connect()
    assert bare.execute(f"SHOW {kind}").fetchall() == []
    assert bare.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]


def test_what_was_made_is_listed(con: Connection) -> None:
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 7)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.1)")
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
    assert con.execute("SHOW POLICIES").fetchall() == [("p", "t", "a", "s", "k_anonymity(k => 3)")]
    assert con.execute("SHOW HIERARCHIES").fetchall() == [
        ("tens", "intervals", 2, 'CREATE HIERARCHY "tens" AS INTERVALS (10)')
    ]
    assert con.execute("SHOW WORKLOADS").fetchall() == [("w", 7)]
    listed = con.sql("SHOW RELEASES").df()
    assert list(listed.release) == ["main.r", "main.v"]
    assert list(listed.kind) == ["table", "view"]
    assert list(listed.method) == ["generalization(suppression => 0.1)", "generalization"]
    assert list(listed.state) == ["there", "there"]
    con.execute("DROP TABLE r")
    assert list(con.sql("SHOW RELEASES").df().state) == ["dropped or changed", "there"]


def test_a_policy_that_was_broken_by_hand_is_listed_without_details(con: Connection) -> None:
    con.execute("UPDATE anon.policy_attribute SET role = 'nothing'")
    assert con.execute("SHOW POLICIES").fetchall() == [("p", None, None, None, None)]
    with pytest.raises(UserError):
        con.execute("DESCRIBE POLICY p")


def test_a_description_ends_with_the_statement(con: Connection) -> None:
    rows = con.execute("DESCRIBE POLICY P").fetchall()
    assert rows[:-1] == [
        ("source", None, "t"),
        ("column", "a", 'QUASI IDENTIFIER USING "tens"'),
        ("column", "s", "SENSITIVE"),
        ("requirement", "k_anonymity", "k_anonymity(k => 3)"),
    ]
    assert rows[-1][0] == "statement"
    (again,), (first,) = parse_script(rows[-1][2]), parse_script(POLICY)
    assert isinstance(again, CreatePolicy)
    assert again == first


@pytest.mark.parametrize(
    ("action", "policy"),
    [
        ("ADD COLUMN b QUASI IDENTIFIER", POLICY.replace("s SENSITIVE", "s SENSITIVE, b QUASI IDENTIFIER")),
        ("ADD b INSENSITIVE", POLICY.replace("s SENSITIVE", "s SENSITIVE, b INSENSITIVE")),
        ("ALTER COLUMN A QUASI IDENTIFIER USING tens MAX LEVEL 1", POLICY.replace("a QUASI", "A QUASI").replace(
            "USING tens", "USING tens MAX LEVEL 1")),
        ("DROP COLUMN s", POLICY.replace(", s SENSITIVE", "")),
        ("REQUIRE k_anonymity(5), l_diversity(2)", POLICY.replace("k => 3)", "k => 5), l_diversity(l => 2)")),
        ("ADD REQUIRE l_diversity(2)", POLICY.replace("k => 3)", "k => 3), l_diversity(l => 2)")),
        ("RENAME TO q", POLICY.replace("POLICY p", "POLICY q")),
        ("RENAME TO P", POLICY.replace("POLICY p", "POLICY P")),
    ],
)  # fmt: skip
def test_a_change_is_the_policy_that_would_have_been_made(con: Connection, action: str, policy: str) -> None:
    assert con.execute(f"ALTER POLICY p {action}").fetchall() == [("ALTER POLICY", "p", "altered")]
    (made,) = con.execute("SELECT policy FROM anon.policy").fetchall()
    described = con.execute(f"DESCRIBE POLICY {made[0]}").fetchall()
    assert parse_script(described[-1][2]) == parse_script(policy)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("ADD COLUMN a INSENSITIVE", "has the column a already"),
        ("ADD COLUMN nix QUASI IDENTIFIER", "no column nix"),
        ("ALTER COLUMN b INSENSITIVE", "does not name the column b"),
        ("DROP COLUMN b", "does not name the column b"),
        ("DROP COLUMN a", "no quasi-identifier"),
        ("REQUIRE l_diversity(l => 2, attribute => a)", "not a sensitive attribute"),
        ("ADD REQUIRE k_anonymity(5)", r"policy p requires k_anonymity\(k => 3\) already"),
        ("RENAME TO other", "exists already"),
    ],
)
def test_what_cannot_be_changed_leaves_the_policy_alone(con: Connection, action: str, said: str) -> None:
    con.execute(POLICY.replace("POLICY p", "POLICY other"))
    before = con.execute("DESCRIBE POLICY p").fetchall()
    with pytest.raises(PolicyError, match=said):
        con.execute(f"ALTER POLICY p {action}")
    assert con.execute("DESCRIBE POLICY p").fetchall() == before
    assert con.execute("SELECT count(*) FROM anon.policy").fetchall() == [(2,)]


def test_releases_keep_the_policy_they_were_made_with(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    before = con.execute("CHECK r").fetchall()
    con.execute("ALTER POLICY p REQUIRE k_anonymity(1000)")
    assert con.execute("CHECK r").fetchall() == before


def test_if_exists(con: Connection) -> None:
    assert con.execute("ALTER POLICY IF EXISTS nix DROP COLUMN a").fetchall() == [("ALTER POLICY", "nix", "absent")]
    with pytest.raises(PolicyError, match="there is no policy nix"):
        con.execute("ALTER POLICY nix DROP COLUMN a")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE anon.release SET released_rows = 7 WHERE object_name = 'r'",
        "UPDATE anon.release SET method_arguments = '{' WHERE object_name = 'r'",
        "UPDATE anon.release SET digest = NULL WHERE object_name = 'r'",
    ],
)
def test_a_release_with_a_damaged_entry_hides_no_other(con: Connection, damage: str) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    con.execute("CREATE ANONYMIZED VIEW v AS POLICY p")
    con.duckdb.execute(damage)
    damaged, whole = con.execute("SHOW RELEASES").fetchall()
    assert damaged == ("main.r", *(None,) * 6, "its catalog entry cannot be read")
    assert (whole[0], whole[-1]) == ("main.v", "there")
    with pytest.raises(UserError):
        con.execute("CHECK r")
