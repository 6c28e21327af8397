"""Budgets that add up rho: what it allows, which accounting is chosen, and noise of the normal distribution."""

from __future__ import annotations

import random
from decimal import Decimal
from math import exp, inf, log, sqrt

import pytest

from sqlanon.catalog import budgets
from sqlanon.catalog.accounting import accounting_of, epsilon_of, most_rho, rho_of, share_of
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CatalogError, PrivacyViolation
from sqlanon.sources import noise
from sqlanon.statements.parser import parse_script
from sqlanon.statements.run import run_statement
from tests.oracles.noise import discrete_gaussian
from tests.support.database import template

VISITS = """
CREATE TABLE visits AS SELECT i // 3 AS patient, 'd' || i % 4 AS disease, i::DECIMAL(9, 2) AS bill FROM range(30) t (i);
CREATE POLICY visits ON visits (patient ENTITY, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE BUDGET b ON POLICY visits (epsilon => 1, delta => 1e-6, accounting => 'zcdp');
"""
KEYS = "keys => ('d0', 'd1', 'd2', 'd3')"
BY_DISEASE = "SELECT disease, {} AS n FROM visits GROUP BY disease"
ONE = Decimal(1)


@pytest.fixture
def con():
    with template(VISITS) as connection:
        yield connection


def answer(con, query, arguments):
    [statement] = parse_script(f"ESTIMATE {query} UNDER BUDGET b ({arguments})")
    return run_statement(DuckDBEngine(con.duckdb), statement)


# E61: total epsilon 1, standard deviations of equal counts.
@pytest.mark.parametrize(
    ("answers", "delta", "deviation"),
    [
        (1, "1e-6", 4.531), (10, "1e-6", 14.328), (11, "1e-6", 15.027), (50, "1e-6", 32.038), (100, "1e-6", 45.309),
        (1, "1e-9", 5.779), (10, "1e-9", 18.274), (17, "1e-9", 23.826), (50, "1e-9", 40.862), (100, "1e-9", 57.787),
    ],
)  # fmt: skip
def test_normal_noise_of_equal_counts(answers, delta, deviation):
    rho = float(most_rho(ONE, Decimal(delta)))
    assert sqrt(answers / (2 * rho)) == pytest.approx(deviation, abs=6e-4)


@pytest.mark.parametrize(("delta", "first"), [("1e-6", 11), ("1e-9", 17)])
def test_the_accounting_with_less_noise_is_chosen(delta, first):
    assert accounting_of(ONE, Decimal(delta), first) == "zcdp"
    assert accounting_of(ONE, Decimal(delta), first - 1) == "basic"
    assert accounting_of(ONE, Decimal(0), 10**6) == "basic"


def test_the_accounting_is_chosen_by_the_number_of_answers_and_told(con):
    engine = DuckDBEngine(con.duckdb)
    text = "CREATE BUDGET c{0} ON POLICY visits (epsilon => 1, delta => 1e-6, answers => {0})"
    told = {n: run_statement(engine, *parse_script(text.format(n))).remarks for n in (10, 11, 50)}
    less = "with less noise than by the other accounting"
    assert told == {
        10: (f"accounting basic: 10 equal answers may cost epsilon => 0.1 each, {less}",),
        11: (f"accounting zcdp: 11 equal answers may cost epsilon => 0.066545 each, {less}",),
        50: (f"accounting zcdp: 50 equal answers may cost epsilon => 0.031212 each, {less}",),
    }
    assert [row[9] for row in con.execute("SHOW BUDGETS").fetchall()] == ["zcdp", "basic", "zcdp", "zcdp"]


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "3", "20"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
def test_opendp_says_the_same_of_a_sum_of_rho(epsilon, delta):
    """OpenDP's curve of normal noise whose rho is the greatest that is allowed; and the definition, on a grid."""
    opendp = noise._opendp()
    rho = float(most_rho(Decimal(epsilon), Decimal(delta)))
    normal = noise._gaussian(1.0)
    curve = opendp.c.make_zCDP_to_approxDP(normal).map(sqrt(2 * rho))
    assert curve.epsilon(float(delta)) <= float(epsilon) * (1 + 1e-6)
    assert float(epsilon_of(Decimal(rho), Decimal(delta))) == pytest.approx(float(epsilon), rel=1e-6)
    assert curve.epsilon(float(delta)) == pytest.approx(float(epsilon), rel=1e-3)
    least = inf
    for step in range(-400, 1_600):
        alpha = 1 + exp(step / 100)
        log_delta = (alpha - 1) * (alpha * rho - float(epsilon)) - log(alpha - 1) + alpha * log(1 - 1 / alpha)
        least = min(least, log_delta)
    assert least == pytest.approx(log(float(delta)), rel=1e-4)


def test_the_ledger_adds_up_rho(con):
    """E61: with epsilon => 0.0312 each, 50 counts are paid for, where sums of epsilons would pay for 32."""
    engine = DuckDBEngine(con.duckdb)
    budget = budgets.load(engine, "b")
    for _ in range(50):
        budgets.spend(engine, budget, "a query", Decimal("0.0312"), Decimal(0))
    with pytest.raises(
        PrivacyViolation, match=r"has a rho of .* left, and the answer would cost 0\.000487;"
    ) as refused:
        budgets.spend(engine, budget, "a query", Decimal("0.0312"), Decimal(0))
    price = Decimal(refused.value.hint.split("=> ")[1].split()[0])
    assert price < Decimal("0.0312")
    budgets.spend(engine, budget, "a query", price, Decimal(0))
    [row] = con.execute("SHOW BUDGETS").fetchall()
    assert row[3] == pytest.approx(1, abs=1e-4)
    assert row[3] + row[4] == pytest.approx(1)
    assert row[7] == 51
    con.execute("UPDATE anon.budget SET spent_rho = 0")
    with pytest.raises(CatalogError, match="do not add up"):
        budgets.spend(engine, budget, "a query", Decimal("0.01"), Decimal(0))


def test_deltas_of_answers_leave_less_rho(con):
    engine = DuckDBEngine(con.duckdb)
    budget, delta = budgets.load(engine, "b"), Decimal("9e-7")
    budgets.spend(engine, budget, "a query", Decimal("0.1"), delta)
    left = budgets.left(engine, budget)
    assert left.most_rho(Decimal(0)) == most_rho(ONE, Decimal("1e-7")) - rho_of(Decimal("0.1"))
    with pytest.raises(PrivacyViolation, match="with its delta of 1e-7"):
        budgets.spend(engine, budget, "a query", Decimal("0.01"), Decimal("1e-7"))


def test_answers_are_priced_and_given_by_rho(con):
    query, arguments = BY_DISEASE.format("count(*)"), f"epsilon => 0.1, rows => 2, {KEYS}"
    cursor = con.execute(f"EXPLAIN ESTIMATE {query} UNDER BUDGET b ({arguments})")
    explained = dict(zip([name for name, *_ in cursor.description], cursor.fetchone(), strict=True))
    assert (explained["noise"], explained["answers_left"]) == ("discrete Gaussian, scale 20", 4)
    assert explained["expected_error"] == pytest.approx(20 * sqrt(2 / 3.14159265), rel=1e-3)
    told = answer(con, query, arguments)
    assert len(told.rows) == 4
    assert "by accounting 'zcdp' the answer cost a rho of 0.00500" in told.remarks
    assert con.execute("SELECT epsilon, rho FROM anon.budget_entry").fetchall() == [(Decimal("0.1"), Decimal("0.005"))]
    for figure in ("sum(bill)", "avg(bill)", "median(bill)"):
        of_values = "candidates => (1, 5, 9)" if figure == "median(bill)" else "low => 0, high => 9"
        answer(con, BY_DISEASE.format(figure), f"epsilon => 0.01, {of_values}, {KEYS}")
    answer(con, BY_DISEASE.format("count(*)"), "epsilon => 0.01, keys => found, delta => 1e-9")
    assert con.execute("SHOW BUDGETS").fetchone()[7] == 5


def test_explain_says_how_many_answers_either_accounting_pays_for(con):
    con.execute("CREATE BUDGET c ON POLICY visits (epsilon => 1, delta => 1e-6)")
    engine = DuckDBEngine(con.duckdb)
    for epsilon, basic, zcdp in (("0.1", 10, 9), ("0.05", 20, 38), ("0.01", 100, 974)):
        text = f"EXPLAIN ESTIMATE SELECT count(*) FROM visits UNDER BUDGET c (epsilon => {epsilon})"
        remark = run_statement(engine, *parse_script(text)).remarks[-1]
        assert remark == (
            f"a budget of epsilon 1 pays for {basic} answers with as much noise by accounting 'basic', "
            f"for {zcdp} by 'zcdp'"
        )


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.7, 40.0])
def test_normal_noise_goes_as_far_as_it_says(scale):
    law, made = discrete_gaussian(scale), noise.Gaussian(1.0, 1.0, scale)
    for confidence in (0.95, 0.975):
        width = made.within(confidence)
        assert sum(p for z, p in law.items() if abs(z) <= width) >= confidence
        assert width == 0 or sum(p for z, p in law.items() if abs(z) < width) < confidence
    assert made.expected_error == pytest.approx(sum(abs(z) * p for z, p in law.items()))
    large = noise.Gaussian(1.0, 1.0, 1_000.1)
    assert 0 <= large.width - noise.Gaussian(1.0, 1.0, 999.9).width <= 3


@pytest.mark.parametrize("squared", [1, 2, 3, 9, 10**20, 10**25 + 1])
@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1"])
def test_normal_noise_costs_at_most_what_is_written_down(squared, epsilon):
    rho = rho_of(Decimal(epsilon))
    made = noise.gaussian(squared, noise.not_above(rho))
    assert made.sensitivity**2 >= squared * (1 - 1e-15)
    assert Decimal(noise._gaussian(made.scale).map(made.sensitivity)) <= rho
    assert made.scale == pytest.approx(sqrt(squared) / float(epsilon), rel=1e-9)


QUERIES = [
    ("SELECT count(*) FROM visits", ""),
    (BY_DISEASE.format("count(*)"), KEYS),
    (BY_DISEASE.format("count(DISTINCT patient)"), KEYS),
    (BY_DISEASE.format("sum(bill)"), f"{KEYS}, low => -3, high => 20"),
    (BY_DISEASE.format("sum(bill)"), f"{KEYS}, low => 2, high => 20, bound => 'entity'"),
    (BY_DISEASE.format("avg(bill)"), f"{KEYS}, low => 0, high => 20"),
]


@pytest.mark.parametrize(("query", "arguments"), QUERIES)
def test_no_respondent_changes_more_than_normal_noise_is_made_for(con, monkeypatch, query, arguments):
    """The table is compared with the one without each of its respondents."""
    drawn = []
    monkeypatch.setattr(
        noise.Gaussian, "drawn", lambda self, values: drawn.append((self, list(values))) or list(values)
    )
    draw = random.Random(query)
    visits = [(draw.randrange(5), f"d{draw.randrange(5)}", draw.choice([None, -9, 1, 5, 99])) for _ in range(24)]
    rows = draw.choice([2, 3])

    def values(without):
        con.duckdb.execute("DELETE FROM visits")
        con.duckdb.executemany("INSERT INTO visits VALUES (?, ?, ?)", [row for row in visits if row[0] != without])
        drawn.clear()
        answer(con, query, f"epsilon => 0.05, rows => {rows}, {arguments}")
        return list(drawn)

    before = values(None)
    assert before
    assert sum(made.rho for made, _ in before) <= rho_of(Decimal("0.05"))
    for respondent in range(5):
        for (made, one), (_, other) in zip(before, values(respondent), strict=True):
            assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) <= made.sensitivity**2 * (1 + 1e-12)


def test_shares_add_up_to_no_more_than_there_is():
    for accounting in ("basic", "zcdp"):
        for answers in (1, 7, 1_000):
            share = share_of(ONE, Decimal("1e-6"), accounting, answers)
            total = answers * (share if accounting == "basic" else rho_of(share))
            assert total <= (1 if accounting == "basic" else most_rho(ONE, Decimal("1e-6")))
