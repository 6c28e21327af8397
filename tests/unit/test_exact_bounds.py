"""Bounds of ESTIMATE and MEASURE to the last digit: exact where the aggregate's type is, and rounded outward else."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from math import isfinite, isnan
from typing import Any

import pytest

from sqlanon import Connection
from tests.support.database import new_database
from tests.support.estimates.figures import figures_of

EDGE = 2**53


@pytest.fixture
def con() -> Iterator[Connection]:
    with new_database() as connection:
        yield connection


def release(con: Connection, columns: str, rows: int = 40, method: str = "generalization") -> None:
    con.execute(f"CREATE TABLE s AS SELECT i % 4 AS a, {columns} FROM range({rows}) AS n(i)")
    con.execute("CREATE POLICY p ON s (a QUASI IDENTIFIER, x INSENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")


def estimated(con: Connection, query: str) -> tuple[Any, ...]:
    (row,) = figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE r"))
    return row


def types(con: Connection, query: str) -> list[str]:
    return [str(kind) for kind in con.sql(f"ESTIMATE {query} FROM RELEASE r").types[:-1]]


def measured(con: Connection, *queries: str) -> dict[str, Any]:
    con.duckdb.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [*enumerate(queries)])
    return {figure: value for _, _, figure, value in con.sql("MEASURE r WITH WORKLOAD w").fetchall()}


@pytest.mark.long
def test_a_sum_of_decimals_is_exact_and_keeps_its_type(con: Connection) -> None:
    release(con, "(i * 0.01)::DECIMAL(10, 2) AS x")
    query = "SELECT sum(x) FROM s WHERE a = 1"
    assert con.duckdb.execute(query).fetchall() == [(Decimal("1.90"),)]
    assert estimated(con, query) == (1.9, 0.0, Decimal("1.90"), Decimal("1.90"))
    assert types(con, query) == ["DOUBLE", "DOUBLE", "DECIMAL(38,2)", "DECIMAL(38,2)"]
    assert types(con, "SELECT min(x), avg(x), count(x) FROM s")[2:] == [
        *("DECIMAL(10,2)", "DECIMAL(10,2)"),
        *["DOUBLE"] * 6,
        *("BIGINT", "BIGINT"),
    ]
    # Asked together, and each by itself.
    assert (
        measured(con, *(f"SELECT sum(x), avg(x), min(x) FROM s WHERE a = {a}" for a in range(4)))["bounds_hit_rate"]
        == 1
    )
    con.execute("DROP WORKLOAD w")
    assert measured(con, "SELECT a, sum(x), avg(x) FROM s GROUP BY a")["bounds_hit_rate"] == 1


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("kind", "values", "summed"),
    [
        ("BIGINT", "18014398509481998 // 2 + (i % 8 // 4) * 2", "HUGEINT"),
        ("UBIGINT", "18446744073709551615 - i", "HUGEINT"),
        ("HUGEINT", "100000000000000000000000007 - i", "HUGEINT"),
        ("DECIMAL(38,10)", "1234567890123456789.0123456789 + i", "DECIMAL(38,10)"),
        ("INTEGER", "2147483647 - i", "HUGEINT"),
        ("BOOLEAN", "i % 3 = 0", "HUGEINT"),
    ],
)
def test_sums_and_ends_above_what_a_double_holds(con: Connection, kind: str, values: str, summed: str) -> None:
    release(con, f"({values})::{kind} AS x", rows=8)
    for condition in ("a = 1", "a IN (0, 2)"):
        query = f"SELECT sum(x), min(x), max(x) FROM s WHERE {condition}"
        added, least, most = con.duckdb.execute(query).fetchall()[0]
        row = estimated(con, query)
        assert (row[2:4], row[6:8], row[10:12]) == ((added, added), (least, least), (most, most))
        assert types(con, query)[2::4] == [summed, kind, kind]
    averaged = f"SELECT {'sum' if kind == 'BOOLEAN' else 'avg'}(x) FROM s WHERE a = 1"
    _, _, low, high = estimated(con, averaged)
    assert low <= con.duckdb.execute(averaged).fetchall()[0][0] <= high
    assert measured(con, "SELECT sum(x), min(x), max(x) FROM s WHERE a = 1", averaged)["bounds_hit_rate"] == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", ["mondrian", "mondrian(bounds => true)"])
def test_ends_of_ranges_are_exact(con: Connection, method: str) -> None:
    con.execute(f"CREATE TABLE s AS SELECT {EDGE} + i AS x, i % 2 AS y FROM range(8) AS n(i)")
    con.execute("CREATE POLICY p ON s (x QUASI IDENTIFIER, y SENSITIVE) REQUIRE k_anonymity(k => 4)")
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    for low, high in ((0, 3), (4, 7)):
        row = estimated(con, f"SELECT min(x), max(x), sum(x) FROM s WHERE x BETWEEN {EDGE + low} AND {EDGE + high}")
        assert (row[2], row[7]) == (EDGE + low, EDGE + high)
        assert row[10:12] == (4 * (EDGE + low), 4 * (EDGE + high))
    assert estimated(con, f"SELECT count(*) FROM s WHERE x = {EDGE + 1}")[2:] == (0, 4)


@pytest.mark.long
def test_longer_numbers_than_can_be_added_up_have_no_bounds(con: Connection) -> None:
    release(con, "170141183460469231731687303715884105727::HUGEINT - i AS x", rows=8)
    _, _, low, high, _, _, least, most = estimated(con, "SELECT sum(x), min(x) FROM s WHERE a < 3")
    assert (low, high) == (None, None)
    assert least == most == 170141183460469231731687303715884105727 - 6


@pytest.mark.long
def test_a_sum_of_doubles_holds_in_whatever_order_they_are_added(con: Connection) -> None:
    """1e16 + 1 - 1e16 is 0, 1 or 2: the order decides."""
    release(con, "[1e16, 1.0, -1e16, 0.1, 1.0, 0.3, 1e16, -1e16][1 + i % 8] AS x", rows=400)
    query = "SELECT sum(x), avg(x) FROM s WHERE a IN (0, 1, 2, 3)"
    _, _, low, high, _, _, least, most = estimated(con, query)
    for order in ("a, x", "x", "x DESC", "abs(x)", "hash(x)"):
        added, mean = con.duckdb.execute(query.replace("FROM s", f"FROM (FROM s ORDER BY {order})")).fetchall()[0]
        assert low <= added <= high
        assert least <= mean <= most
    assert measured(con, query, "SELECT sum(x) FROM s WHERE a IN (1)", "SELECT avg(x) FROM s")["bounds_hit_rate"] == 1


def test_doubles_that_are_added_up_exactly_are_bounded_exactly(con: Connection) -> None:
    release(con, "(i % 10) / 4 AS x")
    query = "SELECT sum(x), avg(x) FROM s WHERE a = 1"
    added, mean = con.duckdb.execute(query).fetchall()[0]
    assert estimated(con, query) == (added, 0.0, added, added, mean, 0.0, mean, mean)


@pytest.mark.long
@pytest.mark.parametrize("method", ["generalization", "mondrian", "mondrian(publish => 'none')"])
@pytest.mark.parametrize(
    "values", ["1e200 * i", "'nan'::DOUBLE", "if(i % 8 = 1, 'inf'::DOUBLE, -1e308)", "-1e308 * (i % 2)"]
)
def test_nothing_is_not_a_number(con: Connection, method: str, values: str) -> None:
    con.execute(f"CREATE TABLE s AS SELECT i % 4 AS a, ({values})::DOUBLE AS x, i % 3 AS y FROM range(40) AS n(i)")
    con.execute(
        "CREATE POLICY p ON s (a QUASI IDENTIFIER, x QUASI IDENTIFIER, y SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    asked = "SELECT sum(x), avg(x), min(x), max(x) FROM s"
    for query in (asked, f"{asked} WHERE a < 3", f"{asked} WHERE x > 1e201", f"{asked} WHERE y = 1 AND x < 1"):
        row = estimated(con, query)
        assert not any(isinstance(part, float) and isnan(part) for part in row), query
        assert all(part is None or isfinite(part) for part in row[:8]), query
        for place, truth in enumerate(con.duckdb.execute(query).fetchall()[0]):
            low, high = row[4 * place + 2 : 4 * place + 4]
            # DuckDB orders what is no number behind all numbers.
            assert low is None or truth is None or isnan(truth) or low <= truth, query
            assert high is None or truth is None or truth <= high, query


@pytest.mark.long
def test_infinite_days_and_moments_are_compared_like_others(con: Connection) -> None:
    con.execute(
        "CREATE TABLE s AS SELECT ['infinity', '-infinity', '2020-01-01', '2020-06-01'][1 + i % 4]::DATE AS d, "
        "['infinity', '2020-01-01 01:00:00', '-infinity', NULL][1 + i % 4]::TIMESTAMP AS m, i % 3 AS y "
        "FROM range(24) AS n(i)"
    )
    con.execute("CREATE HIERARCHY months AS CALENDAR (MONTH, YEAR)")
    conditions = [
        *("d < '2020-03-01'", "d = 'infinity'", "d > '-infinity'", "d BETWEEN '2020-01-01' AND '2020-01-31'"),
        *(
            "d IN ('2020-06-01', 'infinity')",
            "d IS NULL",
            "m <= '2020-01-01'",
            "m > '2020-01-01 00:59:00'",
            "m IS NOT NULL",
        ),
    ]
    for using, methods in (
        ("", ["mondrian", "mondrian(bounds => true)", "generalization(recoding => 'local', suppression => 0.5)"]),
        ("USING months", ["mondrian(publish => 'ancestor')"]),
        ("USING months MIN LEVEL 1", ["generalization"]),
    ):
        con.execute(
            f"CREATE OR REPLACE POLICY p ON s (d QUASI IDENTIFIER {using}, m QUASI IDENTIFIER {using}, y SENSITIVE) "
            "REQUIRE k_anonymity(k => 4)"
        )
        for method in methods:
            con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
            for condition in conditions:
                query = f"SELECT count(*) AS n FROM s WHERE {condition}"
                truth = con.duckdb.execute(query).fetchall()[0][0]
                _, _, low, high = estimated(con, query)
                assert low <= truth <= high, (method, condition)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", ["INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "DOUBLE", "DATE", "TIMESTAMP"])
def test_the_last_value_of_a_type_is_below_a_star_and_in_an_open_interval(con: Connection, kind: str) -> None:
    last = {
        **{
            "INTEGER": 2**31 - 1,
            "BIGINT": 2**63 - 1,
            "HUGEINT": 2**127 - 1,
            "UTINYINT": 255,
            "DOUBLE": 1.7976931348623157e308,
        },
        **{"DATE": "'infinity'", "TIMESTAMP": "'infinity'"},
    }[kind]
    con.execute(f"CREATE TABLE s AS SELECT CASE WHEN i < 2 THEN {last} END::{kind} AS x FROM range(4) AS n(i)")
    con.execute("CREATE POLICY p ON s (x QUASI IDENTIFIER MIN LEVEL 1) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert estimated(con, f"SELECT count(*) FROM s WHERE x = {last}")[2:] == (0, 4)
    if kind in ("INTEGER", "BIGINT", "HUGEINT"):
        con.execute("CREATE HIERARCHY h AS INTERVALS (10, high => 90)")
        con.execute(
            "CREATE OR REPLACE POLICY p ON s (x QUASI IDENTIFIER USING h MIN LEVEL 1) REQUIRE k_anonymity(k => 2)"
        )
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        assert estimated(con, f"SELECT count(*) FROM s WHERE x >= {last}")[2:] == (0, 2)
