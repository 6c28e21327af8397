"""Estimates from buckets against every way in which the values of a bucket can belong to its rows."""

from __future__ import annotations

import random
from math import sqrt
from statistics import mean, stdev
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, connect
from sqlanon.errors import PrivacyViolation
from tests.oracles.dealt import Holds, drawn, extremes
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.estimates.figures import figures_of
from tests.support.estimates.queries import Task, quoted, tables

pytestmark = pytest.mark.drawn

METHODS = {"buckets": "r", "anatomy": "r_qi", "near": "r_qi"}
ROWS, DRAWS = 120, 1500
# The mean of the draws is further than so many of its standard errors from what is expected once in a million runs.
ERRORS = 5.0


def buckets(con: Connection, table: str, exact: str, value: str) -> tuple[dict[Any, list[Any]], dict[Any, list[Any]]]:
    """Of each bucket the rows, by one exact column, and the values."""
    source = f"SELECT bucket, {value} AS value, 1 AS count FROM r" if table == "r" else "FROM r_sensitive"
    rows: dict[Any, list[Any]] = {}
    values: dict[Any, list[Any]] = {}
    for bucket, one in con.duckdb.execute(f"SELECT bucket, {exact} FROM {table}").fetchall():
        rows.setdefault(bucket, []).append(one)
    for bucket, one, count in con.duckdb.execute(source).fetchall():
        values.setdefault(bucket, []).extend([one] * count)
    return rows, values


@pytest.mark.long
@pytest.mark.parametrize("release", METHODS)
def test_the_bounds_of_a_conjunction_are_reached(release: str) -> None:
    @settings(max_examples=draws(2, long=10), deadline=None, suppress_health_check=[*HealthCheck])
    @given(tables(release), st.integers(-2, 6), st.sampled_from([-7, 0, 3]), st.booleans())
    def holds(task: Task, number: int, value: int, mixed: bool) -> None:
        try:
            con = task.install()
        except PrivacyViolation:
            return
        word = "OR" if mixed else "AND"

        def satisfies(row: Any, held: Any) -> bool:
            found = (row is not None and row < number, held is not None and held <= value)
            return any(found) if mixed else all(found)

        with con:
            rows, values = buckets(con, METHODS[release], quoted("number"), quoted("value"))
            ((_, _, low, high),) = figures_of(
                con.sql(
                    f"ESTIMATE SELECT count(*) FROM t WHERE {quoted('number')} < {number} "
                    f"{word} {quoted('value')} <= {value} FROM RELEASE r"
                )
            )
            assert (low, high) == extremes(rows, values, satisfies)

    holds()


@pytest.fixture(scope="module", params=["anatomy(l => 3)", "anatomy(l => 3, grouping => 'near')"])
def visits(request: pytest.FixtureRequest) -> Connection:
    con = connect(config={"threads": "1"})
    con.execute(
        f"CREATE TABLE visits AS SELECT (i * 37) % 80 AS age, "
        f"['flu', 'cold', 'ulcer', 'asthma', 'gout'][1 + (i * i) % 5] AS disease FROM range({ROWS}) AS t(i);"
        "CREATE POLICY p ON visits (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 3);"
        "UPDATE visits SET disease = ['flu', 'cold', 'ulcer', 'asthma', 'gout'][1 + (age * 7) % 5];"
        f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {request.param}"
    )
    return con


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("where", "satisfies"),
    [
        ("age < 30 AND disease = 'flu'", lambda age, disease: age < 30 and disease == "flu"),
        ("age < 50 AND disease IN ('cold', 'gout')", lambda age, disease: age < 50 and disease in ("cold", "gout")),
        ("age < 20 OR disease = 'ulcer'", lambda age, disease: age < 20 or disease == "ulcer"),
        ("age >= 40 AND disease <> 'gout'", lambda age, disease: age >= 40 and disease != "gout"),
    ],
)
def test_the_estimate_is_the_mean_of_all_assignments(visits: Connection, where: str, satisfies: Holds) -> None:
    rows, values = buckets(visits, "r_qi", "age", "disease")
    generator = random.Random(20061)
    found = [drawn(rows, values, satisfies, generator) for _ in range(DRAWS)]
    ((estimate, spread, low, high),) = figures_of(
        visits.sql(f"ESTIMATE SELECT count(*) FROM visits WHERE {where} FROM RELEASE r")
    )
    assert abs(estimate - mean(found)) <= ERRORS * stdev(found) / sqrt(DRAWS) + 1e-9
    assert low <= min(found)
    assert max(found) <= high
    # Rows are taken to be independent of each other, and dealing without repetition makes them vary less.
    assert stdev(found) <= spread * (1 + ERRORS / sqrt(2 * DRAWS))


# Releases that are drawn again. With so few, the mean is further than this from what is expected once in 100,000 runs.
AGAIN, APART = 16, 6.5


@pytest.mark.long
@pytest.mark.parametrize(
    ("where", "share"), [("age < 2 AND disease = 'flu'", 0.1), ("age = 3 OR disease = 'gout'", 0.4)]
)
def test_the_estimate_is_unbiased_over_random_buckets(where: str, share: float) -> None:
    """Ages and diseases are independent: where they go together, random buckets mix them, and no mean undoes that."""
    con = new_database()
    con.execute(
        "CREATE TABLE visits AS SELECT i % 4 AS age, ['flu', 'cold', 'ulcer', 'asthma', 'gout'][1 + (i // 4) % 5] "
        f"AS disease FROM range({ROWS}) AS t(i);"
        "CREATE POLICY p ON visits (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 3);"
    )
    found: list[float] = []
    for _ in range(AGAIN):
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 3)")
        ((estimate, *_),) = figures_of(con.sql(f"ESTIMATE SELECT count(*) FROM visits WHERE {where} FROM RELEASE r"))
        found.append(estimate)
    assert stdev(found) > 0
    assert abs(mean(found) - share * ROWS) <= APART * stdev(found) / sqrt(AGAIN)
