"""Sums, averages, minima and maxima of buckets against every way in which their values can belong to their rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.errors import PrivacyViolation
from tests.oracles.dealt import figures, worlds
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.estimates.figures import figures_of
from tests.support.estimates.queries import Task, quoted, tables

METHODS = {"buckets": "r", "anatomy": "r_qi", "near": "r_qi"}
NUMBER, VALUE = quoted("number"), quoted("value")
FUNCTIONS = ("sum", "avg", "min", "max")


def shown(con: Connection, table: str) -> tuple[dict[Any, list[Any]], dict[Any, list[Any]]]:
    """The rows of each bucket, by their number, and its values."""
    source = f"SELECT bucket, {VALUE} AS value, 1 AS count FROM r" if table == "r" else "FROM r_sensitive"
    rows: dict[Any, list[Any]] = {}
    values: dict[Any, list[Any]] = {}
    for bucket, number in con.duckdb.execute(f"SELECT bucket, {NUMBER} FROM {table}").fetchall():
        rows.setdefault(bucket, []).append(number)
    for bucket, value, count in con.duckdb.execute(source).fetchall():
        values.setdefault(bucket, []).extend([value] * count)
    return rows, values


def near(found: float | None, wanted: float | Fraction | None) -> bool:
    if found is None or wanted is None:
        return found is wanted
    return abs(found - float(wanted)) <= 1e-6 * max(1, abs(wanted))


@pytest.mark.drawn
@pytest.mark.one_in(3)
@pytest.mark.parametrize("release", METHODS)
def test_figures_are_those_of_all_worlds(release: str) -> None:
    """Means, errors and ends are those of the worlds; of `OR` the ends are bounds that need not be reached."""

    @settings(max_examples=draws(2, long=12), deadline=None, suppress_health_check=[*HealthCheck])
    @given(
        tables(release, sizes=(5, 3, 1, 0)),
        st.integers(-2, 6),
        st.sampled_from([-7, 0, 3, 9]),
        st.sampled_from(["AND", "AND", "OR"]),
        st.booleans(),
    )
    def holds(task: Task, number: int, value: int, word: str, of_values: bool) -> None:
        try:
            con = task.install()
        except PrivacyViolation:
            return

        def argument(row: Any, held: Any) -> Any:
            parts = (row is not None and row < number, held is not None and held <= value)
            return (held if of_values else row) if (all(parts) if word == "AND" else any(parts)) else None

        with con:
            withheld = len(task.rows) - con.duckdb.execute(f"SELECT count(*) FROM {METHODS[release]}").fetchall()[0][0]
            every = [
                [Fraction(part) for pair in world if (part := argument(*pair)) is not None]
                for world in worlds(*shown(con, METHODS[release]))
            ]
            where = f"{NUMBER} < {number} {word} {VALUE} <= {value}"
            for function in FUNCTIONS:
                query = (
                    f"ESTIMATE SELECT {function}({VALUE if of_values else NUMBER}) FROM t WHERE {where} FROM RELEASE r"
                )
                ((estimate, spread, low, high),) = figures_of(con.sql(query))
                mean, error, least, greatest = figures(every, function)
                if function in ("sum", "avg"):
                    assert near(estimate, mean), (query, every)
                    assert near(spread, error), (query, every)
                if withheld:
                    continue
                if word == "AND":
                    assert near(low, least), (query, every)
                    assert near(high, greatest), (query, every)
                elif least is not None and greatest is not None:
                    assert low <= least + Fraction(1, 10**9), (query, every)
                    assert greatest <= high + Fraction(1, 10**9), (query, every)

    holds()


def published(rows: str, k: int) -> Connection:
    """A release of regions of `age` as buckets with the exact column `asked`."""
    con = new_database()
    con.execute(
        f"CREATE TABLE t AS FROM (VALUES {rows}) AS t (age, asked, pay);"
        f"CREATE POLICY p ON t (age QUASI IDENTIFIER, asked INSENSITIVE, pay SENSITIVE) REQUIRE k_anonymity(k => {k});"
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian(publish => 'none')"
    )
    return con


def test_a_sum_over_three_buckets() -> None:
    """Buckets {3, 6, 7}, {4, 8, 9}, {5, 10, 11} of which 1, 2 and 0 rows are asked for: 9 worlds of sums 15 to 24."""
    con = published(
        "(1, 1, 3), (1, 0, 6), (1, 0, 7), (2, 1, 4), (2, 1, 8), (2, 0, 9), (3, 0, 5), (3, 0, 10), (3, 0, 11)", 3
    )
    with con:
        assert con.sql("SELECT list_sort(list(pay)) FROM r GROUP BY bucket ORDER BY 1 ASC NULLS FIRST").fetchall() == [
            ([3, 6, 7],),
            ([4, 8, 9],),
            ([5, 10, 11],),
        ]
        ((estimate, spread, low, high),) = figures_of(
            con.sql("ESTIMATE SELECT sum(pay) FROM t WHERE asked = 1 FROM RELEASE r")
        )
        assert (round(estimate, 6), round(spread, 6), low, high) == (19.333333, 2.748737, 15, 24)


def test_a_sum_and_an_average_over_two_buckets() -> None:
    """Two of {3, 4, 6, 7} and one of {5, 8, 9, 10, 11}: 12 to 24, and 4 to 8; the variance is 10/3 + 106/25."""
    con = published(
        "(1, 1, 3), (2, 0, 4), (3, 1, 6), (4, 0, 7), (12, 0, 5), (13, 0, 8), (14, 0, 9), (15, 0, 10), (16, 1, 11)", 4
    )
    with con:
        query = "ESTIMATE SELECT sum(pay) AS s, avg(pay) AS a FROM t WHERE asked = 1 FROM RELEASE r"
        ((s, s_spread, s_low, s_high, a, a_spread, a_low, a_high),) = figures_of(con.sql(query))
        assert (round(s, 6), s_low, s_high, a_low, a_high) == (18.6, 12, 24, 4, 8)
        assert s_spread == pytest.approx((10 / 3 + 106 / 25) ** 0.5)
        assert (round(a, 6), a_spread) == (6.2, pytest.approx(s_spread / 3))
        # All rows of a bucket are asked for: nothing varies.
        ((total, spread, low, high),) = figures_of(
            con.sql("ESTIMATE SELECT sum(pay) FROM t WHERE age < 9 FROM RELEASE r")
        )
        assert (total, spread, low, high) == (20, 0, 20, 20)
        # Two of nine values are 10 or more; of the first bucket none.
        ((_, _, low, high),) = figures_of(
            con.sql("ESTIMATE SELECT sum(age) FROM t WHERE pay >= 10 AND age <> 16 FROM RELEASE r")
        )
        assert (low, high) == (12, 29)
