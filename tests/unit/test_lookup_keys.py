"""Joined tables: keys that are one for the join are found, whatever they are as the table has them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, connect
from sqlanon.errors import PolicyError
from tests.support.database import template
from tests.support.estimates.figures import figures_of

METHODS = ("generalization", "anatomy(l => 2)", "mondrian", "mondrian(publish => 'none')")
REPEATED = "several rows for one k"
UNCAST = "cannot be cast to the type that they are compared in"

# Values of a column and keys of a table, which DuckDB compares after casting one of them, or both.
JOINED: dict[tuple[str, str], tuple[list[Any], list[Any]]] = {
    ("INTEGER", "VARCHAR"): ([0, 1, 2, 3, None], ["1", "01", "+1", " 1 ", "2", "1e0", "1.4", "3", "x", None]),
    ("VARCHAR", "INTEGER"): (["0", "1", "01", "2", "x", None], [0, 1, 2, 3, None]),
    ("DATE", "VARCHAR"): (
        ["2020-01-01", "2020-02-03", None],
        ["2020-01-01", "2020-1-1", "2020-02-03", "infinity", None],
    ),
    ("TIMESTAMP", "DATE"): (["2020-01-01 00:00:00", "2020-01-01 01:00:00", None], ["2020-01-01", "2020-01-02", None]),
    ("DATE", "TIMESTAMP"): (["2020-01-01", "2020-01-02", None], ["2020-01-01 00:00:00", "2020-01-01 01:00:00", None]),
    ("DECIMAL(4,1)", "DOUBLE"): (["0.1", "0.3", "1.0", None], [0.1, 0.30000000000000004, 0.3, 1.0, None]),
    ("DOUBLE", "BIGINT"): ([2.0**53, 1.0, None], [2**53, 2**53 + 1, 1, None]),
    ("FLOAT", "DECIMAL(10,9)"): ([0.1, 1.5, None], ["0.100000000", "0.100000001", "1.500000000", None]),
    ("BIGINT", "DECIMAL(20,2)"): ([1, 2, None], ["1.00", "1.40", "2.00", None]),
    ("BOOLEAN", "VARCHAR"): ([True, False, None], ["true", "t", "yes", "false", None]),
    ("VARCHAR", "VARCHAR"): (["a", "A", "a ", None], ["a", "A", "a ", None]),
}


def refusal(con: Connection, query: str) -> str:
    with pytest.raises(PolicyError) as caught:
        con.sql(f"ESTIMATE {query} FROM RELEASE r")
    return str(caught.value)


def answered(con: Connection, query: str) -> tuple[Any, str]:
    """The figures of a query, or why it is refused."""
    try:
        (row,) = figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE r"))
    except PolicyError as error:
        return (), str(error)
    return row, ""


def installed(method: str, own: str = "INTEGER") -> Connection:
    return template(f"""
        CREATE TABLE s AS SELECT i AS no, (i % 4)::{own} AS ward FROM range(12) AS n(i);
        CREATE POLICY p ON s (no QUASI IDENTIFIER, ward SENSITIVE) REQUIRE k_anonymity(k => 2);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method};
    """)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("method", METHODS)
def test_texts_that_are_one_number_are_one_key(method: str) -> None:
    with installed(method) as con:
        con.execute("CREATE TABLE k AS FROM (VALUES ('1'), ('01'), ('001'), ('0001')) AS t(k)")
        query = "SELECT count(*) AS n FROM s JOIN k ON s.ward = k.k WHERE no < 12"
        assert con.duckdb.execute(query).fetchall() == [(12,)]
        assert REPEATED in refusal(con, query)
        assert REPEATED in refusal(con, "SELECT count(*) AS n FROM s JOIN k ON k.k = s.ward")
        con.execute("CREATE TABLE wards AS SELECT k AS ward FROM k")
        assert "several rows for one ward" in refusal(con, "SELECT count(*) AS n FROM s JOIN wards USING (ward)")
        con.execute("CREATE OR REPLACE TABLE k AS FROM (VALUES ('01'), ('2'), (NULL), (NULL)) AS t(k)")
        ((_, _, low, high),) = figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE r"))
        assert low <= con.duckdb.execute(query).fetchall()[0][0] <= high


@pytest.mark.long
def test_keys_that_are_no_number_are_named() -> None:
    with installed("generalization") as con:
        con.execute("CREATE TABLE k AS FROM (VALUES ('1'), ('x')) AS t(k)")
        found = refusal(con, "SELECT count(*) AS n FROM s JOIN k ON s.ward = k.k")
        assert "s.ward = k.k" in found
        assert UNCAST in found
        con.execute("CREATE OR REPLACE TABLE k AS SELECT DATE '2020-01-01' AS k")
        assert "s.ward = k.k" in refusal(con, "SELECT count(*) AS n FROM s JOIN k ON s.ward = k.k")
    with installed("generalization", "VARCHAR") as con:
        con.execute("CREATE TABLE k AS SELECT 1 AS k; UPDATE s SET ward = 'x' WHERE ward = '0'")
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        assert UNCAST in refusal(con, "SELECT count(*) AS n FROM s JOIN k ON s.ward = k.k")


@pytest.mark.one_in(12)
@pytest.mark.parametrize("kinds", JOINED)
def test_the_truth_is_within_the_bounds_or_a_key_is_there_twice(kinds: tuple[str, str]) -> None:
    values, keys = JOINED[kinds]

    @settings(max_examples=3, deadline=None, suppress_health_check=[*HealthCheck])
    @given(
        st.lists(st.sampled_from(values), min_size=6, max_size=6),
        st.lists(st.sampled_from(keys), min_size=1, max_size=3),
        st.sampled_from(METHODS),
    )
    def holds(own: list[Any], joined: list[Any], method: str) -> None:
        with connect(config={"threads": "1"}) as con:
            con.execute(f"CREATE TABLE s (no INTEGER, ward {kinds[0]}); CREATE TABLE k (k {kinds[1]})")
            con.execute(f"CREATE TABLE every (ward {kinds[0]})")
            con.duckdb.executemany("INSERT INTO s VALUES (?, ?)", [*enumerate(own)])
            con.duckdb.executemany("INSERT INTO k VALUES (?)", [[one] for one in joined])
            con.duckdb.executemany("INSERT INTO every VALUES (?)", [[one] for one in dict.fromkeys(values)])
            con.execute("CREATE POLICY p ON s (no QUASI IDENTIFIER, ward INSENSITIVE) REQUIRE k_anonymity(k => 2)")
            if "anatomy" in method or "none" in method:
                method = "generalization"
            con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
            query = "SELECT count(*) AS n FROM s JOIN k ON s.ward = k.k WHERE no < 4"
            figures, refused = answered(con, query)
            if REPEATED in refused:
                joined_with = "SELECT count(*) AS n FROM every JOIN k ON every.ward = k.k GROUP BY every.ward"
                twice = con.duckdb.execute(f"SELECT max(n) > 1 FROM ({joined_with})").fetchall()[0][0]
                same = con.duckdb.execute("SELECT count(k) > count(DISTINCT k) FROM k").fetchall()[0][0]
                assert same or twice, (own, joined)
            elif refused:
                # A comparison that fails for a key, or for a value, is no answer.
                assert UNCAST in refused
                assert "x" in joined or "x" in own
            else:
                truth = con.duckdb.execute(query).fetchall()[0][0]
                assert figures[2] <= truth <= figures[3], (own, joined)

    holds()
