"""ESTIMATE with marginals against the oracle, whose leaves weigh what the marginals say, on random releases."""

from __future__ import annotations

from math import isclose
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.errors import PolicyError, PrivacyViolation
from tests.oracles.estimates import Cell, Figures, estimates
from tests.support.database import template
from tests.support.draws import draws
from tests.support.estimates.figures import figures_of
from tests.support.estimates.queries import LISTED, NUMBERS, Query, Task, queries, quoted, tables
from tests.support.estimates.released_rows import QUASI, released_rows

pytestmark = pytest.mark.drawn

RELEASES = ("global", "suppressed", "local", "view", "range", "ancestor", "bounds", "flat")
# Values that the oracle knows of, below whichever label.
VALUES: dict[str, tuple[Any, ...]] = {
    "number": NUMBERS,
    "kind": (*LISTED, "elk", None),
    "code": ("11", "12", "15", "21", None),
}
TYPES = {"number": "INTEGER"}
Marginals = dict[str, dict[Any, float]]

weights = st.sampled_from([0, 1, 1, 2, 0.25, 1000])
marginals: st.SearchStrategy[Marginals] = st.fixed_dictionaries(
    {}, optional={name: st.dictionaries(st.sampled_from(VALUES[name]), weights) for name in QUASI}
)


def weighed(cell: Cell, frequent: dict[Any, float] | None) -> list[tuple[Any, float | None]]:
    return [(value, w if frequent is None else float(frequent.get(value, 0))) for value, w in cell]


def asked(con: Connection, query: Query, given_: Marginals) -> Figures:
    named = ", ".join(f"{quoted(name)} => m_{name}" for name in given_)
    (row,) = figures_of(con.sql(f"ESTIMATE {query.sql} FROM RELEASE r" + (f" MARGINALS ({named})" if named else "")))
    return Figures(*row)


def close(left: float | None, right: float | None) -> bool:
    return left is right if left is None or right is None else isclose(left, right, rel_tol=1e-9, abs_tol=1e-6)


def check(con: Connection, task: Task, query: Query, given_: Marginals) -> None:
    for name, frequent in given_.items():
        con.duckdb.execute(f"CREATE OR REPLACE TABLE m_{name} ({quoted(name)} {TYPES.get(name, 'VARCHAR')}, n DOUBLE)")
        for value, n in frequent.items():
            con.duckdb.execute(f"INSERT INTO m_{name} VALUES (?, ?)", [value, n])
    rows = [
        {name: weighed(cell, given_.get(name)) for name, cell in row.items()} for row in released_rows(con, task, query)
    ]
    ((withheld,),) = con.duckdb.execute(
        "SELECT CASE kind WHEN 'table' THEN suppressed_rows END FROM anon.release"
    ).fetchall()
    number = query.number if query.argument else None
    wanted = estimates(rows, query.function, query.holds, query.key, number, withheld, grouped=False)[0]
    found = asked(con, query, given_)
    unknown = any(
        not sum(weight for _, weight in leaf if weight) or any(weight is None for _, weight in leaf)
        for row in rows
        for leaf in row.values()
    )
    about = (query.sql, given_, found, wanted)
    assert close(found.value, wanted.value) or (found.value is None and unknown), about
    if query.function not in ("min", "max"):
        assert close(found.spread, wanted.spread) or (found.spread is None and unknown), about
    assert close(found.low, wanted.low), about
    assert close(found.high, wanted.high), about
    ((truth,),) = con.duckdb.execute(query.sql).fetchall()
    if truth is not None:
        assert found.low is None or found.low <= truth + 1e-9 * max(1, abs(truth)), about
        assert found.high is None or truth - 1e-9 * max(1, abs(truth)) <= found.high, about


@pytest.mark.long
@pytest.mark.parametrize("release", RELEASES)
def test_leaves_weigh_what_the_marginals_say(release: str) -> None:
    plain = queries().filter(lambda query: query.group is None)

    @settings(max_examples=draws(2, long=3), deadline=None, suppress_health_check=[*HealthCheck])
    @given(tables(release), st.lists(st.tuples(plain, marginals), min_size=3, max_size=3))
    def holds(task: Task, some: list[tuple[Query, Marginals]]) -> None:
        try:
            con = task.install()
        except PrivacyViolation:
            return
        with con:
            for query, given_ in some:
                check(con, task, query, given_)

    holds()


CLASSES = """
CREATE TABLE visits AS SELECT i AS age, ['Flu', 'Cold'][1 + i % 2] AS disease FROM range(8) AS t(i);
CREATE POLICY visits ON visits (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 4);
CREATE ANONYMIZED TABLE released AS POLICY visits METHOD generalization;
CREATE TABLE ages AS SELECT i AS age, 8 - i AS n FROM range(8) AS t(i);
"""


@pytest.fixture
def visits() -> Connection:
    """Two classes of four rows, both with the age `*`; age i is (8 - i) / 36 of the marginal."""
    return template(CLASSES)


def one(con: Connection, query: str, weighed: str) -> tuple[Any, ...]:
    (row,) = figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE released MARGINALS ({weighed})"))
    return row


def test_a_count_and_a_sum_by_hand(visits: Connection) -> None:
    """8 + 7 + 6 of 36 are below 3; 4 rows have the flu."""
    query = "SELECT count(*) AS n, sum(age) AS s FROM visits WHERE age < 3 AND disease = 'Flu'"
    found = one(visits, query, "age => ages")
    assert found[0] == pytest.approx(4 * 21 / 36)
    assert found[1] == pytest.approx((4 * 21 / 36 * 15 / 36) ** 0.5)
    assert found[2:4] == (0, 4)
    assert found[4] == pytest.approx(4 * (7 * 1 + 6 * 2) / 36)


def test_a_value_that_is_not_in_the_marginal_is_possible_and_not_counted_on(visits: Connection) -> None:
    visits.execute("CREATE TABLE old AS SELECT 70 AS age, 1 AS n")
    assert one(visits, "SELECT count(*) AS n FROM visits WHERE age < 3", "age => old") == (0.0, 0.0, 0, 8)


def test_below_a_label_without_any_of_its_values_nothing_is_known(visits: Connection) -> None:
    visits.execute("CREATE TABLE nobody AS SELECT 70 AS age, 0 AS n")
    assert one(visits, "SELECT count(*) AS n FROM visits WHERE age < 3", "age => nobody") == (None, None, 0, 8)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("weighed", "why"),
    [
        ("disease => ages", "disease is no quasi-identifier of main.released"),
        ("age => ages, AGE => ages", "AGE is given twice"),
        ("age => none", "there is no table or view none"),
        ("age => visits", "visits reads the source"),
        ("age => three", "does not have two columns, age and a number"),
        ("age => texts", "does not have two columns, age and a number"),
        ("age => negative", "below 0"),
        ("age => missing", "NULL"),
        ("age => endless", "not finite"),
        ("age => twice", "several rows for one value"),
        ("age => words", "values that are no BIGINT"),
    ],
)
def test_what_says_nothing_of_frequencies_is_refused(visits: Connection, weighed: str, why: str) -> None:
    visits.execute("""
        CREATE TABLE three AS SELECT age, n, n AS again FROM ages;
        CREATE TABLE texts AS SELECT age, n::VARCHAR AS n FROM ages;
        CREATE TABLE negative AS SELECT age, -n AS n FROM ages;
        CREATE TABLE missing AS SELECT age, nullif(n, 1) AS n FROM ages;
        CREATE TABLE endless AS SELECT age, n / 0.0::DOUBLE AS n FROM ages;
        CREATE TABLE twice AS FROM ages UNION ALL FROM ages;
        CREATE TABLE words AS SELECT 'Flu' AS age, 1 AS n;
    """)
    with pytest.raises(PolicyError) as caught:
        one(visits, "SELECT count(*) AS n FROM visits", weighed)
    assert why in str(caught.value)
    assert "Flu" not in str(caught.value)
