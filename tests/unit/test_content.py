"""The fingerprint of a release's rows: nested values that hash alike are different rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from sqlanon import PrivacyViolation, connect
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.release.existing.objects import fingerprint_of, fingerprint_query
from tests.support.database import template
from tests.support.draws import draws

# For each type values of which no two are the same.
VALUES = {
    "INTEGER[]": ["NULL", "[]", "[NULL]", "[NULL, NULL]", "[0]"],
    "INTEGER[][]": ["NULL", "[]", "[NULL]", "[[]]", "[[NULL]]", "[[], NULL]", "[[1], [2]]", "[[1, 2]]", "[[1, 2], []]"],
    "VARCHAR[]": ["NULL", "[]", "[NULL]", "['NULL']", "['']", "['a, b']", "['a', 'b']", "['[]']"],
    "INTEGER[2]": ["NULL", "[NULL, NULL]", "[1, NULL]", "[NULL, 1]"],
    "STRUCT(a INTEGER)": ["NULL", "{'a': NULL}", "{'a': 0}"],
    "STRUCT(a INTEGER, b STRUCT(c INTEGER[]))": [
        "NULL",
        "{'a': NULL, 'b': NULL}",
        "{'a': NULL, 'b': {'c': NULL}}",
        "{'a': NULL, 'b': {'c': []}}",
        "{'a': NULL, 'b': {'c': [NULL]}}",
    ],
    "STRUCT(a INTEGER)[]": ["NULL", "[]", "[NULL]", "[{'a': NULL}]", "[NULL, {'a': NULL}]", "[{'a': NULL}, NULL]"],
    "MAP(INTEGER, INTEGER[])": ["NULL", "MAP {}", "MAP {1: NULL}", "MAP {1: []}", "MAP {1: [NULL]}"],
    "UNION(n INTEGER, t VARCHAR, l INTEGER[])": [
        "NULL",
        "union_value(n := 1)",
        "union_value(t := '1')",
        "union_value(n := NULL::INTEGER)",
        "union_value(t := NULL::VARCHAR)",
        "union_value(l := NULL::INTEGER[])",
        "union_value(l := []::INTEGER[])",
        "union_value(l := [NULL]::INTEGER[])",
    ],
    "VARIANT": ["NULL", "[]::INTEGER[]", "[NULL]::INTEGER[]", "[[]]::INTEGER[][]", "{'a': NULL}", "'NULL'", "1", "'1'"],
    "VARIANT[]": ["NULL", "[]", "[NULL]", "[[]::INTEGER[]::VARIANT]", "[{'a': NULL}::VARIANT]"],
}


def fingerprint(engine: DuckDBEngine, value: str, kind: str = "INTEGER[][]") -> str:
    engine.connection.execute(f'CREATE OR REPLACE TABLE t AS SELECT 1 AS i, CAST({value} AS {kind}) AS "snap ""shot"')
    return fingerprint_of(engine, exp.select(exp.Star()).from_("t"))


@pytest.mark.parametrize("kind", VALUES)
def test_nested_values_are_told_apart(kind: str) -> None:
    engine = DuckDBEngine(connect().duckdb)
    values = VALUES[kind]
    assert len({fingerprint(engine, value, kind) for value in values}) == len(values)


LISTS = st.none() | st.lists(st.none() | st.lists(st.none() | st.integers(0, 1), max_size=2), max_size=3)


@pytest.fixture(scope="module")
def engine() -> DuckDBEngine:
    return DuckDBEngine(connect().duckdb)


@pytest.mark.drawn
@settings(max_examples=draws(20, long=300), deadline=None)
@given(first=LISTS, second=LISTS)
def test_lists_have_one_fingerprint_if_they_are_the_same(engine: DuckDBEngine, first: Any, second: Any) -> None:
    one, other = (fingerprint(engine, repr(each).replace("None", "NULL")) for each in (first, second))
    assert (one == other) == (first == second)


def test_the_time_zone_does_not_matter() -> None:
    engine = DuckDBEngine(connect().duckdb)
    values = set()
    for zone in ("UTC", "America/New_York"):
        engine.connection.execute(f"SET TimeZone = '{zone}'")
        values.add(fingerprint(engine, "['2026-01-01 00:00:00+00']", "TIMESTAMPTZ[]"))
    assert len(values) == 1


def test_tables_without_nested_columns_have_the_former_query() -> None:
    rows = exp.select(exp.Star()).from_("t")
    assert fingerprint_query(rows, [("a", "INTEGER"), ("b", "VARCHAR")]) == fingerprint_query(rows, ())


@pytest.fixture
def release() -> Any:
    """A connection with a release of lists and structs."""
    return template("""
        CREATE TABLE t AS SELECT i % 2 AS w, []::INTEGER[] AS l, {'a': NULL::INTEGER} AS s, [[1], [2]] AS v, i AS d
        FROM range(8) AS t(i);
        CREATE POLICY p ON t (w QUASI IDENTIFIER, l INSENSITIVE, s INSENSITIVE, v INSENSITIVE, d SENSITIVE)
        REQUIRE k_anonymity(k => 2);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
    """)


CHANGES = ["l = NULL", "l = [NULL]", "s = NULL", "v = [[1, 2]]", "v = NULL"]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_release_is_not_exported(release: Any, tmp_path: Path, change: str) -> None:
    release.execute(f"EXPORT r TO '{tmp_path}/as-made/'")
    release.duckdb.execute(f"UPDATE r SET {change} WHERE d < 4")
    with pytest.raises(PrivacyViolation, match="no longer has the rows"):
        release.execute(f"EXPORT r TO '{tmp_path}/changed/'")
    assert not (tmp_path / "changed").exists()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_release_is_not_checked(change: str) -> None:
    """CHECK needs the rows that were made where it cannot count again, as of a public table."""
    con = template("""
        CREATE TABLE t AS SELECT i % 2 AS w, []::INTEGER[] AS l, {'a': NULL::INTEGER} AS s, [[1], [2]] AS v, i AS d
        FROM range(8) AS t(i);
        CREATE TABLE everybody AS SELECT i % 2 AS w FROM range(20) AS t(i);
        CREATE POLICY p ON t (w QUASI IDENTIFIER, l INSENSITIVE, s INSENSITIVE, v INSENSITIVE, d SENSITIVE)
        AGAINST everybody REQUIRE k_map(k => 2);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
    """)
    con.execute("CHECK r")
    con.duckdb.execute(f"UPDATE r SET {change} WHERE d < 4")
    with pytest.raises(PrivacyViolation, match="not as it was"):
        con.execute("CHECK r")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("nested", ["v", "[v]", "{'a': v}", "MAP {v: v}"])
def test_a_release_keeps_the_fingerprint_of_its_columns(nested: str) -> None:
    """Tables without nested columns are not described: their fingerprint is that of what they would be described as."""
    with connect() as con:
        con.execute(f"""
            CREATE TABLE t AS SELECT q, {nested} AS v, 's' AS s
            FROM (SELECT i // 4 AS q, i % 3 AS v FROM range(20) AS t(i));
            CREATE HIERARCHY tens AS INTERVALS (10);
            CREATE POLICY p ON t (q QUASI IDENTIFIER USING tens, v INSENSITIVE, s SENSITIVE)
            REQUIRE k_anonymity(k => 2);
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
        """)
        engine = DuckDBEngine(con.duckdb)
        [(stored,)] = engine.rows("SELECT content_fingerprint FROM anon.release")
        rows = exp.select(exp.Star()).from_("r")
        assert stored == engine.rows(fingerprint_query(rows, engine.columns(rows)))[0][0]
