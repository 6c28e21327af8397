"""Columns of every type DuckDB has, as quasi-identifiers and as columns that are published as they are."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from sqlanon import Connection, DataError, PolicyError, connect

# Each type with literals of it; NULL is added. Some are equal to DuckDB though they print differently.
TYPES = {
    "TINYINT": ["1", "-128"],
    "SMALLINT": ["1", "-3"],
    "INTEGER": ["1", "2147483647"],
    "BIGINT": ["9223372036854775807", "-9223372036854775808"],
    "HUGEINT": ["'-170141183460469231731687303715884105728'", "1"],
    "UTINYINT": ["255", "0"],
    "USMALLINT": ["65535"],
    "UINTEGER": ["4294967295"],
    "UBIGINT": ["18446744073709551615"],
    "UHUGEINT": ["'340282366920938463463374607431768211455'", "0"],
    "BIGNUM": ["'123456789012345678901234567890123456789012345'", "'-1'"],
    "DECIMAL(5,2)": ["1.25", "-0.01"],
    "DECIMAL(38,10)": ["1234567890123456789012345678.0123456789"],
    "FLOAT": ["'nan'", "'inf'", "'-inf'", "'-0.0'", "'0.0'", "-('nan'::FLOAT)"],
    "DOUBLE": ["'nan'", "'inf'", "'-inf'", "'-0.0'::DOUBLE", "'0.0'", "-('nan'::DOUBLE)"],
    "VARCHAR": ["'a'", "''", "'é'", "'A'", "'a '"],
    "BLOB": [r"'\xAA\x00'", "''", r"'\x00'"],
    "BIT": ["'101'", "'0101'"],
    "BOOLEAN": ["true", "false"],
    "DATE": ["'2020-01-01'", "'infinity'", "'5877642-06-25 (BC)'"],
    "TIME": ["'12:00:00'", "'24:00:00'"],
    "TIME_NS": ["'12:00:00.000000001'"],
    "TIMETZ": ["'12:00:00+00'", "'13:00:00+01'"],
    "TIMESTAMP": ["'2020-01-01 01:02:03.4'", "'-infinity'"],
    "TIMESTAMP_S": ["'2020-01-01 01:02:03'"],
    "TIMESTAMP_MS": ["'2020-01-01 01:02:03.004'"],
    "TIMESTAMP_NS": ["'2020-01-01 01:02:03.123456789'", "'2020-01-01 01:02:03.123456788'"],
    "TIMESTAMPTZ": ["'2020-01-01 01:02:03+00'", "'2020-01-01 02:02:03+01'"],
    "INTERVAL": ["'1 month'", "'30 days'", "'720 hours'", "'31 days'"],
    "UUID": ["'6e8bc430-9c3a-11d9-9669-0800200c9a66'"],
    "JSON": ["""'{"a":1}'""", """'{"a": 1}'""", "'null'"],
    "GEOMETRY": ["'POINT(1 2)'", "'POINT(2 1)'"],
    "VARIANT": ["1::VARIANT", "'1'::VARIANT"],
    "INTEGER[]": ["[1, NULL]", "[]", "[1]", "[NULL]"],
    "INTEGER[2]": ["[1, NULL]", "[1, 2]"],
    "STRUCT(a INTEGER, b VARCHAR)": ["{'a': 1, 'b': NULL}", "{'a': NULL, 'b': NULL}"],
    "MAP(VARCHAR, INTEGER)": ["MAP{'a': 1}", "MAP{'a': NULL}", "MAP{}"],
    "UNION(n INTEGER, s VARCHAR)": ["union_value(n := 1)", "union_value(s := '1')"],
    "ENUM('x', 'it''s', 'withheld')": ["'x'", "'it''s'"],
    "ENUM('x', 'withheld')[]": ["['x']", "['x', NULL]"],
    "STRUCT(a ENUM('x', 'withheld'), \"B c\" INTEGER)": ["{'a': 'x', 'B c': 1}", "{'a': NULL, 'B c': 1}"],
    "MAP(ENUM('x', 'withheld'), INTEGER)": ["MAP{'x': 1}"],
    "UNION(n INTEGER, e ENUM('x', 'withheld'))": [
        "union_value(e := 'x'::ENUM('x', 'withheld'))",
        "union_value(n := 1)",
    ],
    "STRUCT(e ENUM('x', 'withheld')[], m MAP(VARCHAR, ENUM('withheld')))": ["{'e': ['x'], 'm': MAP{'k': NULL}}"],
}
KINDS = ("TABLE", "VIEW")


def _source(kind: str) -> Connection:
    """Three rows of each literal and of NULL, in the columns q, v and w."""
    con = connect(config={"threads": "1"})
    con.execute("SET timezone = 'UTC'")
    con.execute(f"CREATE TABLE source (q {kind}, v {kind}, w {kind}, i INTEGER, one INTEGER DEFAULT 1)")
    for literal in [*TYPES[kind], "NULL"]:
        con.execute(
            f"INSERT INTO source BY NAME SELECT {literal} AS q, q AS v, q AS w, "
            "(SELECT count(*) FROM source) + j AS i FROM range(3) r(j)"
        )
    return con


def _groups(con: Connection, name: str, column: str) -> Counter[tuple[int, ...]]:
    """The rows that GROUP BY puts together, by their i."""
    query = f"SELECT list_sort(list(i)) FROM {name} GROUP BY {column}"
    return Counter(tuple(rows) for (rows,) in con.duckdb.execute(query).fetchall())


def _type(con: Connection, name: str, column: str) -> str:
    return {str(row[0]): str(row[1]) for row in con.duckdb.execute(f"DESCRIBE {name}").fetchall()}[column]


@pytest.mark.one_in(45)
@pytest.mark.parametrize("kind", TYPES)
def test_any_type_keeps_its_values_and_groups_as_group_by_does(kind: str) -> None:
    con = _source(kind)
    con.execute(
        "CREATE POLICY p ON source "
        "(q QUASI IDENTIFIER MAX LEVEL 0, w QUASI IDENTIFIER MIN LEVEL 1, v INSENSITIVE, i SENSITIVE) "
        "REQUIRE k_anonymity(k => 3)"
    )
    for made in KINDS:
        con.execute(f"CREATE OR REPLACE ANONYMIZED {made} out AS POLICY p METHOD generalization(suppression => 1)")
        assert _groups(con, "out", "q") == _groups(con, "source", "q")
        # What is equal is published alike: two spellings of one value would tell its rows apart.
        texts = con.duckdb.execute("SELECT max(n) FROM (SELECT count(DISTINCT q::VARCHAR) n FROM out GROUP BY q)")
        assert texts.fetchall() == [(1,)]
        same = "SELECT count(*) FROM out JOIN source USING (i) WHERE out.{0} IS NOT DISTINCT FROM source.{0}"
        rows = con.duckdb.execute("SELECT count(*) FROM source").fetchall()
        assert con.duckdb.execute(same.format("q")).fetchall() == rows
        assert con.duckdb.execute(same.format("v")).fetchall() == rows
        unnamed = re.sub(r"ENUM\([^)]*\)", "VARCHAR", _type(con, "source", "v"))
        assert _type(con, "out", "v").replace(" ", "") == unnamed.replace(" ", "")
        assert con.duckdb.execute("SELECT DISTINCT w, typeof(w) FROM out").fetchall() == [("*", "VARCHAR")]
        text = con.duckdb.execute("SELECT string_agg(sql) FROM duckdb_views() WHERE NOT internal").fetchall()[0][0]
        assert "withheld" not in (text or "")
    # One way of making it for half of the types: the other way reads the same SELECT.
    _names_the_respondent(con, KINDS[len(kind) % 2])
    con.close()


def _names_the_respondent(con: Connection, made: str) -> None:
    """One class with as many respondents as GROUP BY makes groups of what is not NULL, and one where all is NULL."""
    known = con.duckdb.execute("SELECT 1 FROM source WHERE q IS NOT NULL GROUP BY q").fetchall()
    respondents = max(len(known), 1)
    con.execute(
        "CREATE OR REPLACE POLICY respondents ON source (one QUASI IDENTIFIER, q ENTITY, i SENSITIVE) "
        f"REQUIRE k_anonymity(k => {respondents})"
    )
    con.execute(f"CREATE OR REPLACE ANONYMIZED {made} out AS POLICY respondents")
    assert [name for name, *_ in con.duckdb.execute("DESCRIBE out").fetchall()] == ["one", "i"]
    con.execute("CHECK out")
    assert con.fetchall() == [("main.out", "k_anonymity", None, respondents, respondents, True)]


def test_classes_of_a_named_enum_type() -> None:
    con = connect()
    con.execute("CREATE TYPE mood AS ENUM ('sad', 'ok', 'withheld')")
    con.execute("CREATE TABLE source (q mood, s mood)")
    con.execute("INSERT INTO source VALUES ('sad', 'ok'), ('sad', 'sad'), ('withheld', 'withheld')")
    con.execute("CREATE HIERARCHY h AS LEVELS (FROM (VALUES ('sad', 'bad'), ('ok', 'good'), ('withheld', 'secret')) t)")
    con.execute(
        "CREATE POLICY p ON source (q QUASI IDENTIFIER USING h MAX LEVEL 1, s SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    for made in KINDS:
        con.execute(f"CREATE OR REPLACE ANONYMIZED {made} out AS POLICY p METHOD generalization(suppression => 0.4)")
        assert sorted(con.execute("FROM out").fetchall()) == [("sad", "ok"), ("sad", "sad")]
        assert [_type(con, "out", name) for name in "qs"] == ["VARCHAR", "VARCHAR"]


@pytest.mark.parametrize(
    ("kind", "hierarchy"),
    [
        ("DATE", "INTERVALS (5)"),
        ("DOUBLE", "PREFIXES (1)"),
        ("INTEGER[]", "PREFIXES (1)"),
        ("TIMESTAMPTZ", "CALENDAR (YEAR)"),
    ],
)
def test_a_hierarchy_that_does_not_fit_the_type_is_refused(kind: str, hierarchy: str) -> None:
    con = connect()
    con.execute(f"CREATE TABLE source (q {kind}, s INTEGER)")
    con.execute(f"CREATE HIERARCHY h AS {hierarchy}")
    with pytest.raises(PolicyError, match="does not fit the column q") as raised:
        con.execute(
            "\n CREATE POLICY p ON source (q QUASI IDENTIFIER USING h, s SENSITIVE) REQUIRE k_anonymity(k => 2)"
        )
    assert raised.value.position is not None
    assert raised.value.position.line == 2
    assert con.execute("SELECT count(*) FROM anon.policy").fetchall() == [(0,)]


@pytest.mark.long
def test_stored_values_are_compared_in_the_type_of_the_column() -> None:
    """A hierarchy of texts covers integers, dates and booleans; what is no value of the type cannot occur."""
    for kind, values in (("INTEGER", "1, 2"), ("DATE", "'2020-01-01', '2020-01-02'"), ("BOOLEAN", "true, false")):
        con = connect()
        con.execute(f"CREATE TABLE source AS SELECT unnest([{values}])::{kind} AS q, unnest([1, 2]) AS s")
        con.execute(
            "CREATE HIERARCHY h AS LEVELS "
            "(SELECT q::VARCHAR, 'known' FROM source UNION ALL SELECT 'no such value', 'known')"
        )
        con.execute("CREATE POLICY p ON source (q QUASI IDENTIFIER USING h, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
        for made in KINDS:
            con.execute(f"CREATE OR REPLACE ANONYMIZED {made} out AS POLICY p")
            assert sorted(con.execute("FROM out").fetchall()) == [("known", 1), ("known", 2)]


def test_two_texts_of_one_value_are_refused() -> None:
    """The labels of '1' and '01' would be the same value's, and no path of the hierarchy holds both."""
    con = connect()
    con.execute("CREATE TABLE source AS SELECT 1 + i % 3 AS q, i AS s FROM range(9) r(i)")
    con.execute(
        "CREATE HIERARCHY h AS LEVELS "
        "(FROM (VALUES ('1', 'a', 'Z'), ('01', 'b', 'Y'), ('2', 'b', 'Y'), ('3', 'a', 'Z')) t)"
    )
    con.execute("CREATE POLICY p ON source (q QUASI IDENTIFIER USING h, s SENSITIVE) REQUIRE k_anonymity(k => 3)")
    for made in KINDS:
        with pytest.raises(DataError, match="under several texts: '1'"):
            con.execute(f"CREATE ANONYMIZED {made} out AS POLICY p")
