"""EXPLAIN ESTIMATE ... UNDER BUDGET: the price and the error of an answer, before anything is spent or read."""

from __future__ import annotations

from fractions import Fraction
from math import log

import pytest

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import PolicyError, StatementError
from sqlanon.estimates.noisy import figures
from sqlanon.estimates.noisy.rows import Units
from sqlanon.sources import noise
from sqlanon.statements.parser import parse_script
from sqlanon.statements.run import run_statement
from tests.oracles.noise import discrete_laplace, permute_and_flip
from tests.support.database import template

VISITS = """
CREATE TABLE visits AS SELECT i // 2 AS patient, 'flu' AS disease, i::DECIMAL(9, 2) AS bill FROM range(40) AS t (i);
CREATE POLICY visits ON visits (patient ENTITY, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE BUDGET b ON POLICY visits (epsilon => 2, delta => 1e-8);
"""
BY_DISEASE = "SELECT disease, count(*) AS n FROM visits GROUP BY disease"


@pytest.fixture
def con():
    with template(VISITS) as connection:
        yield connection


def explained(con, query, arguments):
    cursor = con.execute(f"EXPLAIN ESTIMATE {query} UNDER BUDGET b ({arguments})")
    return dict(zip([name for name, *_ in cursor.description], cursor.fetchone(), strict=True))


def test_a_count_is_priced_and_nothing_is_spent(con):
    query, arguments = "SELECT count(*) FROM visits", "epsilon => 0.5, rows => 2"
    assert explained(con, query, arguments) == {
        "groups": 1,
        "noise": "discrete Laplace, scale 4",
        "expected_error": pytest.approx(3.9587, abs=1e-4),
        "error_95": 12.0,
        "enough_rows": 120,
        "epsilon": 0.5,
        "delta": 0.0,
        "remaining": 2.0,
        "answers_left": 4,
    }
    assert con.execute("SHOW BUDGETS").fetchone()[3] == 0
    assert con.execute("DESCRIBE BUDGET b").fetchall() == []
    con.execute(f"ESTIMATE {query} UNDER BUDGET b ({arguments})")
    assert explained(con, query, arguments)["answers_left"] == 3


@pytest.mark.parametrize(
    ("query", "arguments", "error", "enough"),
    [
        (
            "SELECT disease, count(DISTINCT patient) AS n FROM visits GROUP BY disease",
            "rows => 9, keys => ('a', 'b')",
            6,
            60,
        ),
        ("SELECT sum(bill) FROM visits", "low => 0, high => 5", 14.98, 30),
        ("SELECT sum(bill) FROM visits", "low => 0, high => 5, bound => 'entity'", 14.98, 30),
        (BY_DISEASE, "keys => found, delta => 1e-9", 3, 30),
        (BY_DISEASE, "rows => 4, keys => found, delta => 1e-9", 12, 120),
        ("SELECT median(bill) FROM visits", "candidates => (1, 2, 3)", 5, 50),
        ("SELECT quantile(bill, 0.9) FROM visits", "candidates => (1, 2, 3)", 8, 80),
        ("SELECT avg(bill) FROM visits", "low => 0, high => 5", None, 79),
    ],
)
def test_errors_are_told(con, query, arguments, error, enough):
    answer = explained(con, query, f"epsilon => 1, {arguments}")
    assert (answer["error_95"], answer["enough_rows"]) == (error, enough)


def test_answers_left_are_those_of_epsilon_and_of_delta(con):
    found = "epsilon => 0.1, keys => found, delta => 3e-9"
    assert explained(con, BY_DISEASE, found)["answers_left"] == 3
    assert explained(con, BY_DISEASE, found)["groups"] is None
    con.execute("DROP BUDGET b")
    assert explained(con, "SELECT count(*) FROM visits", "epsilon => 0.1")["answers_left"] == 0


def test_no_row_is_read(con):
    sent = []
    [statement] = parse_script(
        "EXPLAIN ESTIMATE SELECT avg(bill) FROM visits UNDER BUDGET b (epsilon => 1, low => 0, high => 9)"
    )
    run_statement(DuckDBEngine(con.duckdb, sent.append), statement)
    assert not [query for query in sent if '"visits"' in query and not query.startswith("DESCRIBE")]


@pytest.mark.parametrize("verb", ["ESTIMATE", "EXPLAIN ESTIMATE"])
def test_groups_that_are_too_small_are_refused_with_the_number_that_would_do(con, verb):
    statement = f"{verb} SELECT count(*) FROM visits UNDER BUDGET b (epsilon => 0.5, smallest => {{}})"
    with pytest.raises(
        PolicyError, match="above 10 % in a group of 40: groups of 60 or more would do; nothing was"
    ) as refused:
        con.execute(statement.format(40))
    assert refused.value.hint == "ask for larger groups, or pay about epsilon => 0.75"
    assert con.execute("SHOW BUDGETS").fetchone()[3] == 0
    con.execute(statement.format(60))
    con.execute(statement.format(40).replace("0.5", "0.75"))


def test_an_estimate_from_a_release_is_not_explained(con):
    with pytest.raises(StatementError, match="an estimate from a release costs nothing"):
        con.execute("EXPLAIN ESTIMATE SELECT count(*) FROM visits FROM RELEASE r")


def test_what_cannot_be_answered_is_refused_where_it_stands(con):
    with pytest.raises(PolicyError, match="the source has no such column") as refused:
        con.execute("EXPLAIN ESTIMATE SELECT count(bil) FROM visits UNDER BUDGET b (epsilon => 1)")
    assert "bill" in refused.value.hint
    with pytest.raises(PolicyError, match="has no argument 'epsilo'"):
        con.execute("EXPLAIN ESTIMATE SELECT count(*) FROM visits UNDER BUDGET b (epsilo => 1)")


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0, 30.0])
def test_the_expected_error_is_that_of_the_distribution(scale):
    law = discrete_laplace(scale)
    assert noise.expected_error(scale) == pytest.approx(sum(abs(z) * p for z, p in law.items()))


@pytest.mark.parametrize("rows", [0, 1, 10, 29])
def test_an_average_of_enough_rows_is_within_a_tenth_of_the_range(rows):
    """At the ends of both intervals, with values that are all great, all small, or around the middle."""
    units = Units("BIGINT", 0, -3, 7)
    count_width, sum_width = 6, 70
    enough = count_width + -(-5 * (sum_width // 10 + count_width))
    count = enough + rows
    for total in (10 * count, -10 * count, 0):
        truth = float(2 + Fraction(total, 2 * count))
        for z, y in ((a * count_width, b * sum_width) for a in (-1, 1) for b in (-1, 1)):
            [answer, *_] = figures._average(units, count + z, total + y, count_width, sum_width)
            assert answer is not None
            assert abs(answer - truth) <= 1.0 + 1e-9


@pytest.mark.parametrize(("epsilon", "candidates"), [(0.2, 3), (1.0, 6), (2.0, 7)])
def test_a_quantile_is_off_by_more_ranks_in_5_of_100_answers_at_most(epsilon, candidates):
    ranks = log(candidates / 0.05) / epsilon
    for step in (1, 3, 10):
        # The median of values that lie evenly, `step` ranks apart: a score is twice a rank.
        off = [abs(i - candidates // 2) * step for i in range(candidates)]
        chosen = permute_and_flip([2.0 * rank for rank in off], 1 / epsilon)
        assert sum(p for p, rank in zip(chosen, off, strict=True) if rank > ranks) <= 0.05
