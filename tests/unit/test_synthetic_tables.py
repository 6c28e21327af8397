"""METHOD dp_synthetic: what a table of drawn rows shows, what it costs, and what may be asked of it."""

from __future__ import annotations

import json
import random
from collections import Counter
from decimal import Decimal
from itertools import combinations
from math import exp, sqrt

import numpy as np
import pytest

from sqlanon import connect
from sqlanon.errors import PolicyError, PrivacyViolation, UserError
from sqlanon.methods.noisy.tree import Cells, learned, plan
from sqlanon.sources import noise
from sqlanon.statements.frontiers import _candidates
from tests.oracles import synthetic_rows as oracle
from tests.support.database import rows, template

PEOPLE = """
CREATE TABLE people AS SELECT i % 300 AS who, CASE WHEN i % 11 <> 0 THEN (i % 70)::INTEGER END AS age,
    CASE WHEN i % 3 = 0 THEN 'flu' WHEN i % 70 > 40 THEN 'gout' ELSE 'cold' END AS disease, i % 2 = 0 AS urgent,
    ((i % 70) * 10.25)::DECIMAL(9, 2) AS bill, (i % 70)::DOUBLE / 7 AS weight FROM range(600) AS t(i);
CREATE HIERARCHY diseases AS LEVELS (FROM (VALUES ('asthma'), ('cold'), ('flu'), ('gout')));
CREATE HIERARCHY ages AS INTERVALS (10, 20, low => 0, high => 65);
CREATE HIERARCHY bills AS INTERVALS (100, low => 0, high => 1000);
CREATE HIERARCHY weights AS INTERVALS (2.5, low => 0, high => 10);
CREATE POLICY people ON people (who ENTITY, age QUASI IDENTIFIER USING ages, disease SENSITIVE USING diseases,
    urgent INSENSITIVE, bill QUASI IDENTIFIER USING bills, weight QUASI IDENTIFIER USING weights)
    REQUIRE k_anonymity(k => 5);
CREATE BUDGET b ON POLICY people (epsilon => 100, delta => 1e-6);
"""
RELEASE = "CREATE ANONYMIZED TABLE s AS POLICY people METHOD dp_synthetic"


@pytest.fixture
def con():
    with template(PEOPLE) as connection:
        yield connection


@pytest.fixture
def bare(monkeypatch):
    """No noise is added, and the greatest score is chosen."""
    for kind in (noise.Laplace, noise.Gaussian):
        monkeypatch.setattr(kind, "drawn", lambda self, values: list(values))
    monkeypatch.setattr(noise.Greatest, "drawn", lambda self, scores: max(range(len(scores)), key=scores.__getitem__))


def test_a_table_has_the_columns_of_the_source_in_their_types_and_values_of_their_domains(con, bare):
    [row] = con.execute(f"{RELEASE}(epsilon => 9, rows => 2) UNDER BUDGET b").fetchall()
    assert row[2:5] == (None, 600, 0)
    types = [row[:2] for row in rows(con, "DESCRIBE s")]
    assert types == [
        ("age", "INTEGER"),
        ("disease", "VARCHAR"),
        ("urgent", "BOOLEAN"),
        ("bill", "DECIMAL(9,2)"),
        ("weight", "DOUBLE"),
    ]
    for name, width, high in (("age", 10, 65), ("bill", 100, 1000), ("weight", 2.5, 10)):
        label = f"floor({name} / {width})"
        seen = Counter(dict(rows(con, f"SELECT {label}, count(*) FROM s GROUP BY 1")))
        inside = f"CASE WHEN {name} < {high} THEN {label} END"
        truth = dict(rows(con, f"SELECT {inside}, count(*) FROM people GROUP BY 1"))
        assert seen.keys() == truth.keys()
        assert all(abs(seen[key] - n) <= 13 for key, n in truth.items())
        assert rows(con, f"SELECT count(*) FROM s WHERE {name} < 0 OR {name} >= {high}") == [(0,)]
    # A pair of the tree has its counts: a disease says whether somebody is old.
    counts = dict(rows(con, "SELECT disease, count(*) FROM s GROUP BY 1"))
    assert counts == dict(rows(con, "SELECT disease, count(*) FROM people GROUP BY 1"))


def test_values_of_an_interval_differ(con, bare):
    con.execute(f"{RELEASE}(epsilon => 9, rows => 2, columns => (bill, weight), size => 2000) UNDER BUDGET b")
    [(rows_made, bills, weights, cents)] = rows(
        con, "SELECT count(*), count(DISTINCT bill), count(DISTINCT weight), count(DISTINCT bill % 1) FROM s"
    )
    assert rows_made == 2000
    assert min(bills, weights) > 1300
    assert cents > 80


def test_what_it_costs_and_certifies(con, tmp_path):
    con.execute(f"{RELEASE}(epsilon => 0.5, delta => 1e-9, columns => (age, disease)) UNDER BUDGET b")
    assert con.execute("SHOW BUDGETS").fetchall()[0][3:7] == (0.5, 99.5, 1e-6, 1e-9)
    checked = con.execute("CHECK s").fetchall()
    assert [row[1:] for row in checked] == [
        ("differential_privacy", "who", 0.5, 0.5, True),
        ("differential_privacy_delta", "who", 1e-9, 1e-9, True),
    ]
    con.execute(f"EXPORT s TO '{tmp_path}/out' (FORMAT parquet)")
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert certificate["rows"]["source"] is None
    assert {column["reading"] for column in certificate["columns"]} == {"domain_value"}
    assert "nobody's" in certificate["method"]["published"]
    with connect() as receiver:
        answers = receiver.execute(f"CHECK '{tmp_path}/out'").fetchall()
    stated = [row[1] for row in answers if row[6] == "stated by the certificate"]
    assert stated == ["differential_privacy", "differential_privacy_delta"]


def test_a_budget_that_adds_up_rho_pays_for_what_the_noise_costs(con):
    """E66: rho 0.014973 is all that epsilon 1 and delta 1e-9 allow; epsilon^2 / 2 would be 0.5."""
    con.execute("CREATE BUDGET z ON POLICY people (epsilon => 1, delta => 1e-9, accounting => 'zcdp')")
    paid = f"{RELEASE}(epsilon => 1, rows => 2, delta => 1e-9) UNDER BUDGET z"
    explained = [row[2] for row in con.execute("EXPLAIN " + paid.removeprefix("CREATE ")).fetchall()]
    enough = "which has 1 left, enough for 1 such release by accounting 'zcdp', at a rho of 0.0150"
    assert f"epsilon 1 and delta 1e-9 of budget z, {enough}" in explained
    con.execute(paid)
    entries = rows(con, "SELECT epsilon, delta, rho FROM anon.budget_entry")
    assert entries == [(1, 0, pytest.approx(Decimal("0.014973"), abs=Decimal("1e-6")))]
    assert [row[1:] for row in con.execute("CHECK s").fetchall()] == [
        ("differential_privacy", "who", 1.0, 1.0, True),
        ("differential_privacy_delta", "who", 1e-9, 1e-9, True),
    ]
    with pytest.raises(PrivacyViolation, match=r"the answer would cost 0\.0150; nothing was spent"):
        con.execute(paid.replace("TABLE s", "TABLE t"))
    # Another promise is not what the entry pays for.
    con.execute("UPDATE anon.budget_entry SET rho = 0.02; UPDATE anon.budget SET spent_rho = 0.02")
    assert not all(row[-1] for row in con.execute("CHECK s").fetchall())


def test_a_budget_that_adds_up_rho_pays_less_for_steps_than_for_their_sum(con):
    """Two columns: two counts with epsilon 1/4 each, and a pair with 1/2."""
    con.execute("CREATE BUDGET z ON POLICY people (epsilon => 9, delta => 1e-9, accounting => 'zcdp')")
    con.execute(f"{RELEASE}(epsilon => 1, columns => (disease, urgent)) UNDER BUDGET z")
    [(rho,)] = rows(con, "SELECT rho FROM anon.budget_entry")
    assert float(rho) == pytest.approx((2 / 16 + 1 / 4) / 2)


def test_a_table_without_rows_and_one_of_a_respondent(con):
    con.execute("CREATE TABLE nobody AS FROM people LIMIT 0; INSERT INTO nobody (who, age) VALUES (1, 3), (1, 3)")
    con.execute(
        "CREATE POLICY nobody ON nobody (who ENTITY, age QUASI IDENTIFIER USING ages, urgent INSENSITIVE) "
        "REQUIRE k_anonymity(k => 2); CREATE BUDGET c ON POLICY nobody (epsilon => 100)"
    )
    for delete in ("", "DELETE FROM nobody"):
        con.execute(delete or "SELECT 1").fetchall()
        con.execute(
            RELEASE.replace("POLICY people", "POLICY nobody").replace("CREATE", "CREATE OR REPLACE")
            + "(epsilon => 1) UNDER BUDGET c"
        )
        [(made,)] = rows(con, "SELECT count(*) FROM s")
        assert 0 <= made < 100


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("(epsilon => 1, columns => (who)) UNDER BUDGET b", "publishes no column who"),
        ("(epsilon => 1, size => 0) UNDER BUDGET b", "size must be a whole number from 1"),
        ("(epsilon => 1, delta => 0.1) UNDER BUDGET b", "has to be from 0 to 0.001"),
        ("(epsilon => 1)", "lacks its argument 'budget'"),
        ("(epsilon => 1) UNDER BUDGET wide", "combinations of values, and at most 200000 have counts"),
    ],
)
def test_arguments_are_refused(con, call, message):
    if "wide" in call:
        con.execute("CREATE HIERARCHY fine AS INTERVALS (0.001, low => 0, high => 60)")
        con.execute("CREATE HIERARCHY days AS INTERVALS (1, low => 0, high => 70)")
        con.execute("ALTER POLICY people ALTER COLUMN weight QUASI IDENTIFIER USING fine")
        con.execute("ALTER POLICY people ALTER COLUMN age QUASI IDENTIFIER USING days")
        call = call.replace("wide", "b")
    with pytest.raises(UserError, match=message) as refused:
        con.execute(f"{RELEASE}{call}")
    assert refused.value.hint
    assert con.execute("SHOW BUDGETS").fetchall()[0][3] == 0


def test_a_list_has_no_domain(con):
    con.execute("CREATE TABLE lists AS SELECT i AS who, ['a'] AS items FROM range(9) AS t(i)")
    con.execute(
        "CREATE POLICY lists ON lists (who ENTITY, items QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2); "
        "CREATE BUDGET c ON POLICY lists (epsilon => 1)"
    )
    with pytest.raises(PolicyError, match="are only known from the rows"):
        con.execute(RELEASE.replace("POLICY people", "POLICY lists") + "(epsilon => 1) UNDER BUDGET c")


@pytest.mark.parametrize("ways", [1, 2, 3])
def test_marginals_are_those_of_the_oracle(con, ways):
    con.execute(f"{RELEASE}(epsilon => 3, rows => 2, columns => (age, disease, bill)) UNDER BUDGET b")
    binned = "SELECT floor(age / 10) + 100 * (age >= 65)::INTEGER, disease, floor(bill / 100) FROM {}"
    source, made = (rows(con, binned.format(table)) for table in ("people", "s"))
    distances = {pair: oracle.variation(source, made, pair) for pair in combinations(range(3), ways)}
    figures = {
        row[1]: row[2:4] for row in con.execute(f"MEASURE s WITH FIGURES (marginals(ways => {ways}))").fetchall()
    }
    assert figures["marginals"][1] == pytest.approx(sum(distances.values()) / len(distances))
    worst = max(distances, key=distances.__getitem__)
    names = ("age", "disease", "bill")
    assert figures["marginals_worst"] == (", ".join(names[i] for i in worst), pytest.approx(distances[worst]))


def test_marginals_are_about_drawn_rows_and_few_columns(con):
    con.execute(f"{RELEASE}(epsilon => 3, columns => (disease)) UNDER BUDGET b")
    counts = RELEASE.replace(" s ", " h ").replace("synthetic", "histogram")
    con.execute(f"{counts}(by => (disease), epsilon => 1) UNDER BUDGET b")
    for statement, message in [
        ("MEASURE h WITH FIGURES (marginals)", "it has 1 columns, and 2 at a time are compared"),
        ("MEASURE h WITH FIGURES (epsilon(1))", "epsilon takes no arguments"),
        ("MEASURE s WITH FIGURES (marginals)", "it has 1 columns, and 2 at a time are compared"),
        ("MEASURE s WITH FIGURES (marginals(ways => 4))", "takes ways, from 1 to 3"),
    ]:
        with pytest.raises(UserError, match=message):
            con.execute(statement)
    con.execute("DELETE FROM people")
    assert [row[3] for row in con.execute("MEASURE s WITH FIGURES (marginals(ways => 1))").fetchall()] == [None]


def told(con, statement):
    """The answer of a statement, and the remarks beside it."""
    events = []
    con.script(statement, events.append)
    return events[-1].result, events[-1].remarks


BINNED = "SELECT floor(age / 10) + 100 * (age >= 65)::INTEGER, disease FROM {}"


def test_a_frontier_measures_drafts_that_nothing_pays_for(con, monkeypatch):
    drawn = []

    def seen(engine, release, figures, values):
        reason = measure(engine, release, figures, values)
        if values["marginals"] is not None:
            made = con.duckdb.execute(BINNED.format(release.name)).fetchall()
            drawn.append((oracle.variation(rows(con, BINNED.format("people")), made, (0, 1)), values["marginals"]))
        return reason

    measure = _candidates._measure
    monkeypatch.setattr(_candidates, "_measure", seen)
    answer, remarks = told(
        con,
        "FRONTIER f ON POLICY people METHODS (dp_synthetic(budget => b, rows => 2, columns => (age, disease))) "
        "SWEEP epsilon IN (2, 200), k IN (5, 10) MEASURE epsilon, marginals",
    )
    answer = [dict(zip(answer.columns, row, strict=True)) for row in answer.fetchall()]
    # No requirement is asked of them, so that the values of k make no candidates.
    assert [(each["requirement"], each["epsilon"]) for each in answer[3:]] == [("", 2), ("", None)]
    assert answer[-1]["reason"] == "budget b has too little left to pay for it"
    assert [value for _, value in drawn] == [answer[3]["marginals"]]
    assert [value for _, value in drawn] == pytest.approx([by_definition for by_definition, _ in drawn])
    assert answer[0]["epsilon"] == float("inf")
    assert any("spend nothing of a budget" in remark for remark in remarks)
    assert con.execute("SHOW BUDGETS").fetchall()[0][3:5] == (0, 100)
    assert rows(con, "SELECT count(*) FROM anon.budget_entry UNION ALL SELECT count(*) FROM anon.release") == [(0,)] * 2


@pytest.mark.long
def test_the_advised_candidate_is_paid_for_when_it_is_published(con):
    con.execute(
        "FRONTIER f ON POLICY people METHODS (dp_synthetic(budget => b, rows => 2, columns => (age, disease))) "
        "SWEEP epsilon IN (0.5, 2) MEASURE epsilon, marginals"
    )
    answer, remarks = told(con, "ADVISE f WHERE epsilon <= 1 LEAST marginals")
    assert any("that the epsilon does not cover" in remark for remark in remarks)
    statement = answer.fetchall()[0][-1]
    assert "ALTER POLICY" not in statement
    con.execute(statement)
    assert con.execute("SHOW BUDGETS").fetchall()[0][3] == 0.5
    assert con.execute("CHECK f").fetchall()[0][1:] == ("differential_privacy", "who", 0.5, 0.5, True)


@pytest.mark.long
def test_a_frontier_of_counts(con):
    answer = con.execute(
        "FRONTIER g ON POLICY people METHODS (dp_histogram(by => (age, disease), budget => b)) "
        "SWEEP epsilon IN (0.5, 20) MEASURE epsilon, marginals"
    ).fetchall()
    assert [row[3] for row in answer[3:]] == [0.5, 20]
    assert all(0 < row[4] < 1 for row in answer[3:])
    assert con.execute("SHOW BUDGETS").fetchall()[0][3] == 0


@pytest.mark.parametrize("keys", ["", ", keys => 'found', delta => 1e-9"])
def test_marginals_of_counts_are_those_of_the_oracle(con, keys):
    columns = "age, disease" if keys else "age, disease, bill"
    release = RELEASE.replace(" s ", " h ").replace("synthetic", "histogram")
    con.execute(f"{release}(by => ({columns}), epsilon => 3, rows => 2{keys}) UNDER BUDGET b")
    counts = rows(con, "SELECT COLUMNS(* EXCLUDE n)::VARCHAR, n FROM h")
    binned = {
        "age": "age::VARCHAR"
        if keys
        else "if(age >= 65, '>=65', format('[{},{})', age // 10 * 10, least(65, age // 10 * 10 + 10)))",
        "disease": "disease",
        "bill": "format('[{},{})', floor(bill / 100)::INTEGER * 100, floor(bill / 100)::INTEGER * 100 + 100)",
    }
    # No interval has what is beyond 65, which no count is of.
    shown = ", ".join(binned[name] for name in columns.split(", "))
    source = rows(con, f"SELECT {shown} FROM people")
    total = sum(row[-1] for row in counts)
    distances = []
    for pair in combinations(range(len(columns.split(", "))), 2):
        one, other = Counter(tuple(row[i] for i in pair) for row in source), Counter()
        for row in counts:
            other[tuple(row[i] for i in pair)] += row[-1]
        distances.append(sum(abs(one[key] / len(source) - other[key] / total) for key in one.keys() | other.keys()) / 2)
    figures = con.execute("MEASURE h WITH FIGURES (marginals, epsilon)").fetchall()
    values = {row[1]: row[3] for row in figures}
    assert values["marginals"] == pytest.approx(sum(distances) / len(distances))
    assert values["marginals_worst"] == pytest.approx(max(distances))
    assert values["epsilon"] == 3


def naive_bayes(learned, tested, categories):
    """The share of `tested` whose last value is predicted from the others, with one row added for each category."""
    targets = sorted({row[-1] for row in learned}, key=lambda target: (target is None, target))
    right = 0
    for row in tested:
        scores = []
        for target in targets:
            having = [other for other in learned if other[-1] == target]
            score = len(having)
            for index, value in enumerate(row[:-1]):
                score *= (sum(other[index] == value for other in having) + 1) / (len(having) + categories[index])
            scores.append(score)
        right += targets[max(range(len(targets)), key=scores.__getitem__)] == row[-1]
    return right / len(tested)


@pytest.mark.parametrize("method", ["synthetic", pytest.param("histogram", marks=pytest.mark.long)])
def test_what_is_learned_from_it_is_tested_on_the_source(con, method):
    call = {
        "synthetic": "(epsilon => 3, rows => 2, columns => (age, disease, urgent))",
        "histogram": "(by => (age, disease, urgent), epsilon => 3, rows => 2)",
    }[method]
    con.execute(f"{RELEASE.replace('synthetic', method)}{call} UNDER BUDGET b")
    before = con.execute("SHOW BUDGETS").fetchall()
    answer, remarks = told(con, "MEASURE s WITH TASK (target => disease, models => 'bayes', folds => 3)")
    label = "CASE WHEN age >= 65 THEN 99 ELSE age // 10 END"
    source = rows(con, f"SELECT {label}, urgent, disease FROM people")
    if method == "synthetic":
        learned = rows(con, f"SELECT {label}, urgent, disease FROM s")
    else:
        learned = rows(
            con,
            "SELECT regexp_extract(age, '\\[(\\d+)', 1)::INTEGER // 10, urgent, disease "
            "FROM (SELECT *, unnest(range(greatest(n, 0))) FROM s)",
        )
    categories = [len({row[index] for row in (*learned, *source)}) for index in range(2)]
    figures = {row[1]: row[3] for row in answer.fetchall()}
    assert figures["u_san_bayes"] == pytest.approx(naive_bayes(learned, source, categories))
    assert figures["gain_bayes"] == pytest.approx(figures["u_san_bayes"] - figures["u_base_bayes"])
    assert figures["u_base_bayes"] < figures["u_max_bayes"]
    assert figures["a_acc"] is None
    assert any("not to be given away" in remark for remark in remarks)
    assert con.execute("SHOW BUDGETS").fetchall() == before


def test_counts_below_0_are_no_rows_to_learn_from(con):
    counts = RELEASE.replace("synthetic", "histogram")
    con.execute(f"{counts}(by => (disease, urgent), epsilon => 3) UNDER BUDGET b")
    con.duckdb.execute("UPDATE s SET n = -1")
    with pytest.raises(PolicyError, match="has no row to learn from"):
        con.execute("MEASURE s WITH TASK (target => disease)")
    assert con.execute("MEASURE s WITH FIGURES (marginals)").fetchall()[0][3] is None


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("target => age", "shows age by labels"),
        ("target => who", "does not show who"),
        ("target => bill", "does not show bill"),
        ("target => disease, using => (bill)", "shows no column bill"),
    ],
)
def test_what_is_not_shown_is_not_learned(con, task, message):
    con.execute(f"{RELEASE}(epsilon => 3, columns => (age, disease, urgent)) UNDER BUDGET b")
    with pytest.raises(UserError, match=message):
        con.execute(f"MEASURE s WITH TASK ({task})")


def test_describe_does_not_compare_its_rows_with_the_source(con):
    con.execute(f"{RELEASE}(epsilon => 20, columns => (disease), size => 7) UNDER BUDGET b")
    assert ("rows", None, "7, none of the source's") in con.execute("DESCRIBE ANONYMIZED TABLE s").fetchall()


def test_a_report_says_what_it_is(con, tmp_path):
    con.execute(f"{RELEASE}(epsilon => 20, rows => 2, columns => (disease, age)) UNDER BUDGET b")
    con.execute(f"EXPORT s TO '{tmp_path}/out' (FORMAT csv, REPORT)")
    report = (tmp_path / "out.report.html").read_text()
    assert "made of counts with noise" in report
    assert "nothing is required of the sensitive" not in report
    # Exact distances from the source, which nothing has paid for.
    assert "marginals" not in report
    assert "have no noise, and are the owner" in report


def test_explain_says_the_price_and_draws_nothing(con):
    plan_rows = con.execute(f"EXPLAIN {RELEASE.removeprefix('CREATE ')}(epsilon => 3) UNDER BUDGET b").fetchall()
    assert "epsilon 3 of budget b, which has 100 left, enough for 33 such releases" in [row[2] for row in plan_rows]
    assert any("counts of two columns' values" in row[2] for row in plan_rows)
    assert con.execute("SHOW BUDGETS").fetchall()[0][3] == 0


# Of a chi-square distribution of 25 degrees less than one in 10^6 is above it.
MOST_CHI_SQUARE = 77.1


@pytest.mark.long
@pytest.mark.parametrize("deviation", [3.0, 4.5])
def test_gaussian_noise_has_its_exact_distribution(deviation):
    """P(z) is proportional to exp(-z^2 / (2 s^2)): 26 cells, of which the last two are the tails."""
    draws = 100_000
    observed = Counter(max(-13, min(12, z)) for z in noise.Gaussian(1, 1.0, deviation).drawn([0] * draws))
    weights = {z: exp(-(z**2) / (2 * deviation**2)) for z in range(-200, 201)}
    total = sum(weights.values())
    expected: Counter[int] = Counter()
    for z, weight in weights.items():
        expected[max(-13, min(12, z))] += weight / total
    assert sum((observed[z] - draws * p) ** 2 / (draws * p) for z, p in expected.items()) < MOST_CHI_SQUARE


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_membership_is_guessed_within_the_bound(epsilon):
    """The best of many thresholds on what a tree says of the one row with rare values, with the row and without it.

    Of any event the probability with the row is at most e^epsilon times that without, up to five standard deviations.
    """
    draw = random.Random(epsilon)
    sizes, runs = (4, 4, 3), 1500
    others = [(draw.randrange(3), draw.randrange(3), draw.randrange(2)) for _ in range(12)]
    target = (3, 3, 2)
    made = plan(3, 1, epsilon, 0.0)

    def scores(table):
        counted = Counter(table)
        codes = tuple(np.array(column) for column in zip(*counted, strict=True))
        cells = Cells(codes, np.array(list(counted.values())), sizes)
        for _ in range(runs):
            tree = learned(cells, made)
            share = tree.root_shares[target[tree.root]]
            for (parent, child), shares in zip(tree.edges, tree.shares, strict=True):
                share += shares[target[parent], target[child]]
            yield float(share) + tree.total / 10

    one, other = sorted(scores([*others, target])), sorted(scores(others))
    for threshold in one[:: runs // 50]:
        with_row, without = (sum(each >= threshold for each in values) / runs for values in (one, other))
        for first, second in ((with_row, without), (without, with_row), (1 - with_row, 1 - without)):
            tolerance = 5 * sqrt((first + exp(2 * epsilon) * second + 1 / runs) / runs)
            assert first <= exp(epsilon) * second + tolerance
