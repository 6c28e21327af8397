"""CHECK of any relation: every model with all that a policy could say for it, against the oracles."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import isclose

import pytest

from sqlanon import Connection, DataError, PolicyError, connect
from tests.oracles.models.support import Class, Table
from tests.support.models.patients import (
    DISEASES,
    RANGES,
    arguments,
    asked,
    database,
    exactly,
    oracle,
)


@pytest.fixture
def con() -> Connection:
    return database()


ASKED = (
    asked("k_anonymity"),
    asked("hierarchical_t_closeness", attribute="disease"),
    asked("personalized", attribute="disease"),
    asked("k_map"),
    asked("delta_presence"),
    asked("value_ranges", attribute="disease"),
    "l_diversity(l => 2)",
)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("source", ["t", "coded", "(SELECT * FROM coded)"])
def test_all_that_a_policy_can_say(con: Connection, source: str) -> None:
    """Of a table, of one with ENUMs, whose order is not that of their texts, and of a query."""
    con.execute("CREATE TABLE t AS SELECT zip, sex, disease, ward, wish FROM source WHERE wish IS DISTINCT FROM '*'")
    con.execute("CREATE TABLE coded AS FROM t; CREATE TABLE public AS SELECT sex AS Sex, zip AS ZIP FROM voters")
    for column in ("zip", "disease"):
        texts = con.duckdb.execute(f"SELECT list(DISTINCT {column} ORDER BY {column} DESC) FROM t").fetchall()[0][0]
        con.execute(f"CREATE TYPE {column}s AS ENUM {tuple(text for text in texts if text)}")
        con.execute(f"ALTER TABLE coded ALTER {column} TYPE {column}s")
    rows = con.execute(
        f"CHECK {source} (Zip, sex) SENSITIVE Disease USING diseases, ward AGAINST public REQUIRE {', '.join(ASKED)}"
    ).fetchall()
    found = con.duckdb.execute("SELECT zip, sex, disease, wish, ward FROM t").fetchall()
    classes: dict[Class, list[int]] = defaultdict(list)
    for number, row in enumerate(found):
        classes[row[:2]].append(number)
    table = Table(
        dict(classes),
        [row[2] for row in found],
        taxonomy={**DISEASES, None: ((None, "own"), (None, "own"))},
        ranges={value: (exactly(low), exactly(high)) for value, (low, high) in RANGES.items()},
        guards=[row[3] for row in found],
        public=Counter(con.duckdb.execute("SELECT zip, sex FROM voters").fetchall()),
    )
    names = ["k_anonymity", "hierarchical_t_closeness", "personalized", "k_map", "delta_presence", "value_ranges"]
    assert [row[1] for row in rows] == [*names, "distinct_l_diversity", "distinct_l_diversity"]
    for name, row in zip(names, rows, strict=False):
        assert isclose(row[4], float(oracle(name).achieved(table, **arguments(name))), abs_tol=1e-12), name
        assert row[5] == (not oracle(name).violating(table, **arguments(name))), name
    assert [row[2] for row in rows[6:]] == ["disease", "ward"]
    wards = Table(dict(classes), [row[4] for row in found])
    assert [row[4] for row in rows[6:]] == [oracle("distinct_l_diversity").achieved(t, l=2) for t in (table, wards)]


FARTHEST = "t_closeness(t => 1, distance => 'hierarchical')"
REFUSED = (
    ("(zip) REQUIRE l_diversity(l => 2)", "there is no sensitive attribute"),
    ("(zip) SENSITIVE zip REQUIRE l_diversity(l => 2)", "named as a quasi-identifier and as SENSITIVE"),
    ("(zip) SENSITIVE nope REQUIRE l_diversity(l => 2)", "has no column nope"),
    ("(zip) REQUIRE k_map(k => 2)", "there is none"),
    ("(zip) AGAINST voters REQUIRE k_anonymity(k => 2)", "no requirement uses the public table"),
    ("(ward) AGAINST voters REQUIRE k_map(k => 2)", "has no column ward"),
    (f"(zip) SENSITIVE disease REQUIRE {FARTHEST}", "needs a hierarchy"),
    ("(zip) SENSITIVE disease USING nope REQUIRE l_diversity(l => 2)", "no hierarchy nope"),
    (f"(zip) SENSITIVE disease USING lacks REQUIRE {FARTHEST}", "lacks values of the column disease: 'cold'"),
    ("(zip) SENSITIVE disease REQUIRE value_ranges(ranges => nope)", "no such table"),
    ("(zip) SENSITIVE disease USING diseases REQUIRE personalized(p => 1, guarding => nope)", "needs a column nope"),
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("text", "what"), REFUSED)
def test_what_is_refused(con: Connection, text: str, what: str) -> None:
    con.execute("CREATE OR REPLACE HIERARCHY lacks AS LEVELS (SELECT 'flu', 'lung')")
    with pytest.raises((PolicyError, DataError), match=what):
        con.execute(f"CHECK source {text}")


def test_a_sensitive_column_that_nothing_asks_about(con: Connection) -> None:
    found = con.execute("CHECK source (zip) SENSITIVE disease REQUIRE k_anonymity(k => 2)").fetchall()
    assert [row[1:3] for row in found] == [("k_anonymity", None)]


def test_a_figure_may_be_infinite() -> None:
    con = connect()
    con.execute("CREATE TABLE t AS SELECT 1 AS a, 'flu' AS s FROM range(3)")
    for asked_for in ("l_diversity(l => 2, c => 3, variant => 'recursive')",):
        [row] = con.execute(f"CHECK t (a) SENSITIVE s REQUIRE {asked_for}").fetchall()
        assert row[2:] == ("s", 3.0, float("inf"), False)
        assert con.sql(f"CHECK t (a) SENSITIVE s REQUIRE {asked_for}").df()["achieved"][0] == float("inf")
    con.execute("CREATE TABLE d AS SELECT 2 AS a")
    [row] = con.execute("CHECK t (a) AGAINST d REQUIRE delta_presence(min => 0, max => 1)").fetchall()
    assert row[3:] == (1.0, float("inf"), False)


def test_check_needs_no_catalog() -> None:
    con = connect()
    con.execute("CREATE TABLE t AS SELECT i % 2 AS a, i AS s FROM range(6) AS r(i)")
    found = con.execute("CHECK t (a) SENSITIVE s REQUIRE t_closeness(t => 0.5), l_diversity(l => 3)").fetchall()
    assert [row[1:] for row in found] == [
        ("equal_t_closeness", "s", 0.5, 0.5, True),
        ("distinct_l_diversity", "s", 3.0, 3.0, True),
    ]
    assert con.execute("SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'anon'").fetchall() == [(0,)]
    with pytest.raises(PolicyError, match="no hierarchy h"):
        con.execute("CHECK t (a) SENSITIVE s USING h REQUIRE l_diversity(l => 3)")


@pytest.mark.parametrize("recoding", ["global", "local"])
def test_a_release_with_labels_of_a_stored_hierarchy_is_a_table_like_any_other(recoding: str) -> None:
    con = connect()
    con.execute(f"""
        CREATE TABLE t AS
            SELECT CASE WHEN i < 8 THEN 'a' WHEN i < 20 THEN 'b' ELSE 'c' END AS w, i % 2 AS s FROM range(40) AS r(i);
        CREATE HIERARCHY h AS LEVELS (SELECT * FROM (VALUES ('a', 'x'), ('b', 'x'), ('c', 'y')) AS v(value, level_1));
        CREATE POLICY p ON t (w QUASI IDENTIFIER USING h, s SENSITIVE) REQUIRE k_anonymity(k => 10);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(recoding => '{recoding}');
    """)
    assert con.duckdb.execute("SELECT DISTINCT w FROM r WHERE length(w) = 1 AND w IN ('x', 'y')").fetchall()
    assert con.sql("CHECK r (w) REQUIRE k_anonymity(k => 10)").fetchall()[0][-1] is True
    con.execute("CREATE POLICY again ON r (w QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 10)")
    assert con.sql("CHECK r").fetchall()[0][-1] is True
