"""ESTIMATE ... UNDER BUDGET: what one respondent can change, and what is never done before the cost is written down."""

from __future__ import annotations

import random
import sys
from decimal import Decimal
from math import exp

import pytest

from sqlanon import connect
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import PolicyError, PrivacyViolation, StatementError, UserError
from sqlanon.sources import noise
from sqlanon.statements.parser import parse_script
from sqlanon.statements.run import run_statement
from tests.support.database import template

# E33: ten visits of six patients.
VISITS = """
CREATE TABLE visits (patient INTEGER, disease VARCHAR, bill DECIMAL(9, 2), age DOUBLE);
INSERT INTO visits VALUES (1, 'flu', 10.50, 20.5), (1, 'flu', 20, 20.5), (1, 'cold', 30, 20.5),
    (1, 'ulcer', 499, 20.5), (2, 'flu', 0, 30), (3, 'cold', 700, 40), (4, 'flu', -5, 50), (5, 'ulcer', 1, 60),
    (5, 'cold', 2, 60), (6, 'flu', 3, 70);
CREATE POLICY visits ON visits (patient ENTITY, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE BUDGET b ON POLICY visits (epsilon => 1000, delta => 1e-6);
"""
BY_DISEASE = "SELECT disease, count(*) AS n FROM visits GROUP BY disease"
KEYS = "keys => ('asthma', 'cold', 'flu', 'ulcer')"


@pytest.fixture
def con():
    with template(VISITS) as connection:
        yield connection


@pytest.fixture
def bare(monkeypatch):
    """No noise is added; the values that it would be added to, and what it was made for, are in the list."""
    drawn = []

    def values_of(self, values):
        drawn.append((self, values if isinstance(values, dict) else list(values)))
        return values

    monkeypatch.setattr(noise.Laplace, "drawn", values_of)
    monkeypatch.setattr(noise.Gaussian, "drawn", values_of)
    monkeypatch.setattr(noise.Threshold, "drawn", values_of)
    return drawn


def ask(con, query, arguments):
    return con.execute(f"ESTIMATE {query} UNDER BUDGET b ({arguments})").fetchall()


def statement(query, arguments):
    [parsed] = parse_script(f"ESTIMATE {query} UNDER BUDGET b ({arguments})")
    return parsed


@pytest.mark.parametrize(("rows", "total"), [(1, 6), (2, 8), (4, 10), (100, 10)])
def test_so_many_rows_of_a_respondent_count(con, bare, rows, total):
    assert ask(con, "SELECT count(*) FROM visits", f"epsilon => 1, rows => {rows}")[0][0] == total
    answer = ask(con, BY_DISEASE, f"epsilon => 1, rows => {rows}, {KEYS}")
    assert [row[0] for row in answer] == ["asthma", "cold", "flu", "ulcer"]
    assert sum(row[1] for row in answer) == total
    if rows >= 4:
        assert [row[1] for row in answer] == [0, 3, 5, 2]


def test_the_same_rows_count_in_each_query(con, bare):
    query = BY_DISEASE
    for _ in range(2):
        ask(con, query, f"epsilon => 1, {KEYS}")
    first, second = (bare[index][1] for index in (0, 1))
    assert first == second


@pytest.mark.parametrize(
    ("query", "arguments", "answer"),
    [
        ("SELECT count(DISTINCT patient) FROM visits", "", [6]),
        ("SELECT count(DISTINCT v.patient) FROM main.visits AS v WHERE v.disease = 'flu'", "", [4]),
        ("SELECT count(bill) FROM visits WHERE bill > 1", "", [7]),
        ("SELECT sum(bill) FROM visits", "low => 0, high => 500", [Decimal("1065.50")]),
        ("SELECT sum(bill) FROM visits", "low => -10, high => 20", [Decimal("91.50")]),
        ("SELECT sum(bill * 2) FROM visits WHERE disease = 'ulcer'", "low => 0, high => 2000", [Decimal("1000.00")]),
        ("SELECT sum(age) FROM visits WHERE patient = 1", "low => 0, high => 100, decimals => 1", [Decimal("82.0")]),
        ("SELECT sum(patient) FROM visits", "low => 2, high => 3", [25]),
        (
            "SELECT disease, sum(bill) AS n FROM visits GROUP BY disease",
            f"{KEYS}, low => 0, high => 25, bound => 'entity'",
            [0, Decimal("52.00"), Decimal("28.00"), Decimal("26.00")],
        ),
    ],
)
def test_figures_without_noise_are_those_of_the_bounded_rows(con, bare, query, arguments, answer):
    assert [row[-5] for row in ask(con, query, f"epsilon => 1, rows => 10, {arguments}")] == answer


@pytest.mark.parametrize(("low", "high", "total"), [(0, 500, "1006.00"), (100, 200, "800.00"), (-5, 10, "21.00")])
def test_totals_of_respondents_are_within_low_and_high(con, bare, low, high, total):
    """E33: the totals of six patients are 559.50, 0, 700, -5, 3 and 3."""
    query, within = "SELECT sum(bill) FROM visits", f"low => {low}, high => {high}, bound => 'entity'"
    assert ask(con, query, f"epsilon => 1, {within}")[0][0] == Decimal(total)
    assert bare[0][0].sensitivity == 100 * high


def test_totals_need_somebody_whose_they_are(con):
    con.execute("CREATE POLICY r ON visits (disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE BUDGET c ON POLICY r (epsilon => 1)")
    with pytest.raises(PolicyError, match="does not say whose a row is"):
        con.execute(
            "ESTIMATE SELECT sum(bill) FROM visits "
            "UNDER BUDGET c (epsilon => 1, low => 0, high => 1, bound => 'entity')"
        )


def test_an_average_is_that_of_its_values(con, bare):
    con.execute("INSERT INTO visits SELECT 100 + i, 'cold', 7, 1 FROM range(1000) AS t(i)")
    values = "epsilon => 2, rows => 10, low => 0, high => 500"
    [(average, low, high, *_)] = ask(con, "SELECT avg(bill) AS a FROM visits", values)
    assert average == pytest.approx((1065.5 + 7000) / 1010)
    assert low < average < high


def test_an_average_of_few_rows_is_null_and_the_number_that_would_do_is_told(con):
    engine = DuckDBEngine(con.duckdb)
    query = "SELECT avg(bill) AS a FROM visits WHERE patient = 77"
    answer = run_statement(engine, statement(query, "epsilon => 0.01, low => 0, high => 9"))
    assert any("a group of" in remark and "rows has one" in remark for remark in answer.remarks)


QUERIES = [
    ("SELECT count(*) FROM visits", ""),
    ("SELECT count(bill) FROM visits WHERE age > 30", ""),
    (BY_DISEASE, KEYS),
    ("SELECT count(DISTINCT patient) FROM visits", ""),
    ("SELECT disease, count(DISTINCT patient) AS n FROM visits GROUP BY disease", KEYS),
    ("SELECT sum(bill) FROM visits", "low => -3, high => 50"),
    ("SELECT disease, sum(age) AS n FROM visits GROUP BY disease", f"{KEYS}, low => -20, high => 10, decimals => 1"),
    ("SELECT avg(bill) FROM visits", "low => 0, high => 50"),
    ("SELECT disease, avg(bill) AS n FROM visits GROUP BY disease", f"{KEYS}, low => 10, high => 50"),
    ("SELECT disease, sum(bill) AS n FROM visits GROUP BY disease", f"{KEYS}, low => 2, high => 50, bound => 'entity'"),
    (BY_DISEASE, "keys => found, delta => 1e-9"),
    ("SELECT disease, count(DISTINCT patient) AS n FROM visits GROUP BY disease", "keys => found, delta => 1e-9"),
]


def random_visits(draw):
    """Rows of at most seven respondents, NULLs and the respondent NULL among them."""
    return [
        (
            draw.choice([*range(6), None]),
            draw.choice(["flu", "cold", "ulcer", "gout", None]),
            draw.choice([None, Decimal("0.01"), Decimal(-7), Decimal(40), Decimal(9999)]),
            draw.choice([None, 31.25, -1e308, 1e308, float("inf"), float("nan")]),
        )
        for _ in range(draw.randrange(25))
    ]


def distance(one, other):
    """How far the values are apart to which noise is added, all of them together, and how many keys differ."""
    if isinstance(one, dict):
        keys = set(one) | set(other)
        differences = [abs(one.get(key, 0) - other.get(key, 0)) for key in keys]
        return sum(differences), sum(map(bool, differences)), max(differences, default=0)
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)), 0, 0


@pytest.mark.parametrize("query", range(len(QUERIES)))
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 12))])
def test_no_respondent_changes_more_than_the_noise_is_made_for(con, bare, monkeypatch, query, seed):
    """Each table is compared with the one without each of its respondents."""
    draw = random.Random(f"{query} {seed}")
    text, arguments = QUERIES[query]
    rows = draw.choice([1, 2, 3])

    def values():
        bare.clear()
        ask(con, text, f"epsilon => 0.7, rows => {rows}, {arguments}")
        if "found" in arguments:
            # By their keys: the numbers of groups are not those of another table.
            groups = con.duckdb.execute("SELECT * FROM seen").fetchall()
            return [(bare[0][0], dict(groups))]
        return list(bare)

    if "found" in arguments:
        remember_groups(con, monkeypatch)
    visits = random_visits(draw)
    write(con, visits)
    before = values()
    for respondent in {patient for patient, *_ in visits} - {None}:
        write(con, [row for row in visits if row[0] != respondent])
        for (made_for, one), (_, other) in zip(before, values(), strict=True):
            total, keys, in_one = distance(one, other)
            if isinstance(made_for, noise.Threshold):
                bound = (rows, rows, 1 if "DISTINCT" in text else rows)
                assert all(a <= b for a, b in zip((total, keys, in_one), bound, strict=True))
                assert made_for.scale >= rows / 0.7
                continue
            assert total <= made_for.sensitivity
            assert made_for.scale >= made_for.sensitivity / made_for.epsilon
        assert sum(m.epsilon for m, _ in before if isinstance(m, noise.Laplace)) <= 0.7


def remember_groups(con, monkeypatch):
    """Makes each query for groups that are found leave them, with their counts, in the temporary table `seen`."""
    from sqlanon.estimates.noisy import figures

    former = figures.shown_keys

    def shown_keys(engine, groups, types):
        engine.run(f'CREATE OR REPLACE TEMP TABLE seen AS SELECT k0, n FROM "{groups}"')
        return former(engine, groups, types)

    monkeypatch.setattr(figures, "shown_keys", shown_keys)


def write(con, visits):
    con.duckdb.execute("DELETE FROM visits")
    if visits:
        con.duckdb.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", visits)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM visits WHERE CAST(disease AS INTEGER) > 3",
        "SELECT sum(CAST(disease AS INTEGER)) FROM visits",
        "SELECT sum(CAST(bill AS TINYINT) * 100) FROM visits",
        "SELECT sum(CAST(age * 1e300 AS INTEGER)) FROM visits",
        "SELECT count(*) FROM visits WHERE 1 // (patient - 3) = 0 AND CAST(bill AS TINYINT) = 3",
    ],
)
def test_no_row_raises_an_error(con, bare, query):
    """An error would tell that there is such a row."""
    con.execute("INSERT INTO visits VALUES (9, 'x', 1e6, 1e308), (10, '5', 1, 'nan')")
    values = ", low => 0, high => 500" if "sum" in query else ""
    assert len(ask(con, query, f"epsilon => 1{values}")) == 1


DAY = "CAST('2024-01-01' || left(disease, 0) AS DATE)"
SPAN = "CAST(patient || ' days' AS INTERVAL)"
# DuckDB fails for a row, and TRY does not make it NULL; or a type lists values of the owner.
FAILING = [
    ("CAST(disease AS mood) IS NULL", "this type cannot be used"),
    ("TRY_CAST('flu' AS main.mood) IS NULL", "this type cannot be used"),
    ("CAST(nullif(disease, 'cold') AS VARCHAR[100000][10000]) IS NULL", "this type cannot be used"),
    ("CAST(patient AS STRUCT(a INTEGER)) IS NULL", "this type cannot be used|cannot be estimated"),
    ("CAST(CAST(patient AS JSON) AS BIT) IS NULL", "this type cannot be used"),
    (f"extract(timezone FROM {DAY}) IS NULL", "this part of a time"),
    (f"extract('timezone' FROM {DAY}) IS NULL", "this part of a time"),
    (f"date_trunc('timezone', CAST({DAY} AS TIMESTAMPTZ)) IS NULL", "times cannot be cut so"),
    (f"date_trunc(disease, {DAY}) IS NULL", "times cannot be cut so|cannot be estimated"),
    (f"week({SPAN}) IS NULL", "parts of an INTERVAL"),
    (f"extract(week FROM {SPAN}) IS NULL", "parts of an INTERVAL"),
    ("disease LIKE disease || '!' ESCAPE '!'", "ESCAPE is one letter"),
    ("disease LIKE 'f!' ESCAPE '!'", "ESCAPE is one letter"),
    ("disease LIKE 'f' ESCAPE 'ab'", "ESCAPE is one letter"),
    ("disease LIKE 'f' ESCAPE disease", "ESCAPE is one letter|cannot be read"),
]


@pytest.mark.parametrize(
    "condition",
    [
        f"extract(year FROM {DAY}) = 2024 AND date_trunc('month', {DAY}) = {DAY} AND week({DAY}) = 1",
        f"extract(dow FROM {DAY} + {SPAN}) >= 0 AND CAST(bill AS DECIMAL(9, 2)) > -9 AND disease LIKE '!%' ESCAPE '!'",
        "disease NOT LIKE '%!%' ESCAPE '!' AND CAST(patient AS VARCHAR)::HUGEINT > 0 AND TRY_CAST(age AS FLOAT) > 0",
    ],
)
def test_times_casts_and_patterns_that_cannot_fail_are_answered(con, bare, condition):
    assert len(ask(con, f"SELECT count(*) AS n FROM visits WHERE {condition}", "epsilon => 1")) == 1


@pytest.mark.parametrize("value", ["age", "CAST(age AS DECIMAL(18, 9))"])
def test_values_of_many_decimals_do_not_overflow(con, bare, value):
    """Each of the six patients has a value above high, as units of more than 18 digits."""
    decimals = "decimals => 9, " if value == "age" else ""
    [(total, *_)] = ask(con, f"SELECT sum({value}) AS n FROM visits", f"epsilon => 1, {decimals}low => 0, high => 5")
    assert total == 30


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("query", "arguments", "message"),
    [
        ("SELECT count(*) FROM visits JOIN visits AS w USING (patient)", "", "JOIN cannot be answered"),
        ("SELECT count(*) FROM visits, visits AS w", "", "JOIN cannot be answered"),
        ("SELECT count(*) FROM (SELECT * FROM visits)", "", "reads no table|a query inside"),
        ("SELECT count(*) FROM visits WHERE patient IN (SELECT patient FROM visits)", "", "a query inside the query"),
        ("SELECT disease, count(*) AS n FROM visits GROUP BY disease HAVING count(*) > 1", KEYS, "HAVING"),
        ("SELECT count(*) FROM visits LIMIT 1", "", "LIMIT"),
        ("SELECT count(*) FROM visits ORDER BY 1", "", "ORDER BY"),
        ("SELECT DISTINCT count(*) FROM visits", "", "DISTINCT"),
        ("SELECT count(*) FROM visits QUALIFY true", "", "QUALIFY"),
        ("WITH v AS (SELECT 1) SELECT count(*) FROM visits", "", "WITH"),
        ("SELECT count(*) FROM visits UNION ALL SELECT count(*) FROM visits", "", "no plain SELECT"),
        ("SELECT count(*) FROM visits TABLESAMPLE 10%", "", "SAMPLE|cannot be estimated"),
        ("SELECT max(bill) FROM visits", "", "cannot be answered under a budget"),
        ("SELECT min(bill) FROM visits", "", "cannot be answered under a budget"),
        ("SELECT stddev(bill) FROM visits", "", "cannot be answered under a budget"),
        ("SELECT list(disease) FROM visits", "", "cannot be answered under a budget|one aggregate"),
        ("SELECT count(DISTINCT disease) FROM visits", "", "different values cannot be counted"),
        ("SELECT sum(DISTINCT bill) FROM visits", "low => 0, high => 1", "cannot be answered|cannot be estimated"),
        ("SELECT count(*) FILTER (WHERE age > 3) FROM visits", "", "cannot be answered under a budget"),
        ("SELECT count(*) OVER () FROM visits", "", "window functions"),
        ("SELECT count(*) + 1 FROM visits", "", "cannot be answered under a budget"),
        ("SELECT count(*), sum(bill) FROM visits", "", "has one aggregate, and this one has 2"),
        ("SELECT disease FROM visits", "", "has one aggregate, and this one has 0"),
        ("SELECT disease, count(*) FROM visits", "", "is neither an aggregate nor in GROUP BY"),
        ("SELECT count(*) FROM visits WHERE rowid < 3", "", "the source has no such column"),
        ("SELECT count(*) FROM visits WHERE random() < 0.5", "", "cannot be estimated"),
        ("SELECT count(*) FROM visits WHERE error(disease) IS NULL", "", "cannot be estimated"),
        ("SELECT count(*) FROM visits WHERE getvariable('x') IS NULL", "", "cannot be estimated"),
        ("SELECT count(*) FROM visits WHERE current_date > DATE '2020-01-01'", "", "cannot be estimated"),
        ("SELECT count(*) FROM visits WHERE mine(patient)", "", "cannot be estimated"),
        ("SELECT count(*) FROM visits WHERE w.patient = 1", "", "the source has no such column"),
        ("SELECT count(*) FROM others", "", "the budget protects visits"),
        ("SELECT count(*) FROM other.visits", "", "the budget protects visits"),
        (BY_DISEASE, "", "which groups there are would tell"),
        (BY_DISEASE, "keys => found", "needs a delta"),
        (BY_DISEASE, f"{KEYS}, delta => 1e-9", "delta is for keys => found"),
        (BY_DISEASE, "keys => ('flu', 'flu')", "a key is named twice"),
        ("SELECT age, count(*) AS n FROM visits GROUP BY age", "keys => (1, 1.0)", "a key is named twice"),
        ("SELECT age, count(*) AS n FROM visits GROUP BY age", "keys => (1, 'old')", "a key is no DOUBLE"),
        (BY_DISEASE, "keys => visits", "reads the source"),
        (BY_DISEASE, "keys => all_visits", "reads the source"),
        (BY_DISEASE, "keys => nowhere", "there is no table nowhere of keys"),
        (
            "SELECT disease, avg(bill) AS n FROM visits GROUP BY disease",
            "keys => found, delta => 1e-9, low => 0, high => 1",
            "is for counts",
        ),
        ("SELECT sum(bill) FROM visits", "", "needs low"),
        ("SELECT sum(bill) FROM visits", "low => 0", "needs high"),
        ("SELECT sum(bill) FROM visits", "low => 5, high => 5", "low has to be below high"),
        ("SELECT sum(bill) FROM visits", "low => 0, high => 1e16", "beyond"),
        ("SELECT sum(bill) FROM visits", "low => 0, high => 1e15", "too large"),
        ("SELECT sum(bill) FROM visits", "low => 0, high => 0.001", "values have 2 decimals"),
        ("SELECT sum(age) FROM visits", "low => 0, high => 9", "noise is added to whole numbers"),
        ("SELECT sum(disease) FROM visits", "low => 0, high => 9", "is of type VARCHAR, and no number"),
        ("SELECT median(bill) FROM visits", "", "needs candidates"),
        ("SELECT median(bill) FROM visits", "candidates => (2, 1)", "have to rise"),
        ("SELECT count(*) FROM visits", "low => 0", "takes no low"),
        ("SELECT count(*) FROM visits", "bound => 'entity'", "is for sums"),
        ("SELECT sum(bill) FROM visits", "low => 0, high => 1, bound => 'person'", "has to be 'rows' or 'entity'"),
        ("SELECT sum(bill) FROM visits", "low => 0, high => 1, bound => 'entity', rows => 2", "there are no groups"),
        ("SELECT count(*) FROM visits", "seed => 1", "no argument 'seed'"),
        ("SELECT count(*) FROM visits", "rows => 0", "whole number from 1"),
        ("SELECT count(*) FROM visits", "rows => 1.5", "whole number from 1"),
        *(
            (f"SELECT count(*) FROM visits WHERE CASE WHEN patient = 3 THEN {part} END", "", message)
            for part, message in FAILING
        ),
        ("SELECT year(disease) AS y, count(*) AS n FROM visits GROUP BY y", "keys => (1)", "cannot be answered"),
    ],
)
def test_what_is_not_known_to_be_bounded_is_refused_and_costs_nothing(con, query, arguments, message):
    con.execute("CREATE SCHEMA other; CREATE TABLE other.visits AS FROM visits; CREATE TABLE others AS FROM visits")
    con.duckdb.execute("CREATE TYPE mood AS ENUM (SELECT DISTINCT disease FROM visits)")
    con.execute("CREATE VIEW all_visits AS SELECT DISTINCT disease FROM visits; CREATE MACRO mine(x) AS x > 1")
    with pytest.raises(UserError, match=message):
        ask(con, query, f"epsilon => 0.5, {arguments}")
    assert con.execute("SHOW BUDGETS").fetchone()[3] == 0


@pytest.mark.parametrize("arguments", ["", "()", "(epsilon)"])
def test_an_answer_without_arguments_is_answered_with_a_correct_form(con, arguments):
    with pytest.raises(StatementError) as refused:
        con.execute(f"ESTIMATE SELECT count(*) FROM visits UNDER BUDGET b {arguments}")
    assert "UNDER BUDGET hospital_2026 (epsilon => 0.5)" in str(refused.value)


def test_what_one_respondent_may_add_has_a_bound(con):
    """Beyond it, numbers of 64 bits would not hold the noise."""
    with pytest.raises(PolicyError, match="the noise would be greater than any figure"):
        ask(con, "SELECT sum(patient) FROM visits", "epsilon => 0.5, rows => 1000000, low => 0, high => 1e15")


@pytest.mark.parametrize("epsilon", ["0", "-1", "0.0000001", "1001", "'x'", "true"])
def test_an_epsilon_out_of_bounds_is_refused(con, epsilon):
    with pytest.raises(PolicyError, match="epsilon"):
        ask(con, "SELECT count(*) FROM visits", f"epsilon => {epsilon}")


def test_no_row_is_read_before_the_cost_is_written_down(con):
    """Of what is sent before the COMMIT of the ledger, only descriptions of columns name the table."""
    sent = []
    engine = DuckDBEngine(con.duckdb, sent.append)
    query = "SELECT disease, avg(bill) AS a FROM visits GROUP BY disease"
    run_statement(engine, statement(query, f"epsilon => 1, low => 0, high => 9, {KEYS}"))
    spent = next(index for index, query in enumerate(sent) if "INSERT INTO" in query and "budget_entry" in query)
    reads = [index for index, query in enumerate(sent) if '"visits"' in query and not query.startswith("DESCRIBE")]
    assert reads
    assert min(reads) > spent


def test_a_query_beyond_the_budget_reads_nothing(con):
    ask(con, "SELECT count(*) FROM visits", "epsilon => 999.5")
    sent = []
    engine = DuckDBEngine(con.duckdb, sent.append)
    with pytest.raises(PrivacyViolation, match=r"an epsilon of 0\.5 left"):
        run_statement(engine, statement("SELECT count(*) FROM visits", "epsilon => 0.6"))
    assert not [query for query in sent if '"visits"' in query and not query.startswith("DESCRIBE")]


def test_a_rollback_takes_back_no_answer(con):
    con.execute("BEGIN")
    con.execute("INSERT INTO visits VALUES (77, 'flu', 1, 1)")
    ask(con, "SELECT count(*) FROM visits", "epsilon => 0.5")
    con.execute("ROLLBACK")
    assert con.execute("SHOW BUDGETS").fetchone()[3] == 0.5
    assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchone() == (0,)


def test_two_connections_spend_from_one_budget(con):
    with con.cursor() as other:
        ask(other, "SELECT count(*) FROM visits", "epsilon => 600")
        with pytest.raises(PrivacyViolation):
            ask(con, "SELECT count(*) FROM visits", "epsilon => 600")


def test_a_file_that_is_open_for_reading_only_is_refused(tmp_path):
    file = str(tmp_path / "visits.duckdb")
    with connect(file) as connection:
        connection.execute(VISITS)
    with connect(file, read_only=True) as connection, pytest.raises(UserError, match="open for reading only"):
        ask(connection, "SELECT count(*) FROM visits", "epsilon => 1")


@pytest.mark.parametrize(
    "change",
    [
        "ALTER POLICY visits ALTER COLUMN patient INSENSITIVE",
        "CREATE OR REPLACE POLICY visits ON others (patient ENTITY, age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)",
        "CREATE OR REPLACE POLICY visits ON visits (disease ENTITY, age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)",
    ],
)
def test_a_policy_that_is_about_others_now_is_refused(con, change):
    con.execute("CREATE TABLE others AS FROM visits")
    con.execute(change)
    with pytest.raises(PolicyError, match="now has another source or ENTITY"):
        ask(con, "SELECT count(*) FROM visits", "epsilon => 1")


def test_a_temporary_table_of_the_same_name_is_not_read(con, bare):
    con.execute("CREATE TEMP TABLE visits AS SELECT * FROM main.visits LIMIT 1")
    assert ask(con, "SELECT count(DISTINCT patient) FROM visits", "epsilon => 1")[0][0] == 6


def test_without_an_entity_each_row_counts_by_itself(con, bare):
    con.execute("CREATE POLICY r ON visits (disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE BUDGET c ON POLICY r (epsilon => 1)")
    query = "ESTIMATE SELECT count(*) FROM visits UNDER BUDGET c"
    assert con.execute(f"{query} (epsilon => 0.5)").fetchone()[0] == 10
    assert bare[0][0].sensitivity == 1
    with pytest.raises(PolicyError, match="rows is of one respondent"):
        con.execute(f"{query} (epsilon => 0.5, rows => 2)")


def test_keys_of_several_columns_are_rows_of_a_table(con, bare):
    con.execute("CREATE TABLE ages AS SELECT * FROM (VALUES (20.5), (30)) AS a (age)")
    con.execute("CREATE TABLE cells AS SELECT * FROM (VALUES ('flu'), ('cold'), (NULL)) AS d (disease), ages")
    query = "SELECT disease, age, count(*) AS n FROM visits GROUP BY disease, age"
    answer = ask(con, query, "epsilon => 1, rows => 4, keys => cells")
    assert {row[:2]: row[2] for row in answer} == {
        ("cold", 20.5): 1, ("cold", 30.0): 0, ("flu", 20.5): 2, ("flu", 30.0): 1, (None, 20.5): 0, (None, 30.0): 0
    }  # fmt: skip


def test_a_release_of_the_rows_lists_no_public_values(con):
    """A table that is no release may have been copied from them, which nothing tells."""
    con.execute("CREATE ANONYMIZED TABLE released AS POLICY visits METHOD generalization")
    con.execute(
        "CREATE VIEW of_release AS SELECT DISTINCT disease FROM released; CREATE TABLE copied AS FROM of_release"
    )
    for keys in ("released", "of_release", "main.released"):
        with pytest.raises(PolicyError, match="released, a release of the rows that the budget protects"):
            ask(con, BY_DISEASE, f"epsilon => 1, keys => {keys}")
    assert con.execute("SHOW BUDGETS").fetchone()[3] == 0
    assert ask(con, BY_DISEASE, "epsilon => 1, keys => copied")


HOSTILE = """
CREATE TABLE "v ""1""; --" AS SELECT patient AS "a b", disease AS "GROUP", bill AS "x""y" FROM visits;
CREATE POLICY q ON "v ""1""; --" ("a b" ENTITY, "GROUP" QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE BUDGET "c "";" ON POLICY q (epsilon => 9);
"""
HOSTILE_QUERY = '''
ESTIMATE SELECT "GROUP" AS "n'""", sum("x""y") AS "s;" FROM "v ""1""; --" AS "q""" GROUP BY "GROUP"
UNDER BUDGET "c "";" (epsilon => 1, rows => 4, low => 0, high => 9, keys => ('flu', 'it''s "; DROP TABLE visits; --'))
'''


def test_hostile_names(con, bare):
    con.execute(HOSTILE)
    answer = con.execute(HOSTILE_QUERY)
    assert [name for name, *_ in answer.description][:2] == ["n'\"", "s;"]
    assert [row[1] for row in answer.fetchall()] == [Decimal("21.00"), Decimal("0.00")]


def test_opendp_is_looked_for_before_anything_is_spent(con, monkeypatch):
    for known in (noise._opendp, noise._laplace, noise.laplace):
        known.cache_clear()
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(UserError, match="OpenDP, which is not installed") as refused:
        ask(con, "SELECT count(*) FROM visits", "epsilon => 1")
    assert refused.value.hint == "pip install 'sqlanon[dp]'"
    assert con.execute("SHOW BUDGETS").fetchone()[3] == 0


def test_no_setting_and_no_variable_turns_noise_off_or_repeats_it(con):
    """At epsilon 0.001 two answers are equal once in 2,000 times."""
    con.execute("SELECT setseed(0.5); SET VARIABLE seed = 1; SET threads = 1")
    random.seed(1)
    first = [ask(con, "SELECT count(*) FROM visits", "epsilon => 0.001")[0][0] for _ in range(4)]
    con.execute("SELECT setseed(0.5)")
    random.seed(1)
    second = [ask(con, "SELECT count(*) FROM visits", "epsilon => 0.001")[0][0] for _ in range(4)]
    assert first != second


# The noise itself.


@pytest.mark.parametrize(("scale", "width"), [(1, 3), (2, 6), (4, 12), (10, 30), (0.01, 0)])
def test_widths_are_the_least_that_hold_95_of_100_answers(scale, width):
    assert noise.width_of(scale) == width
    ratio = exp(-1 / scale)

    def within(w):
        return (1 - ratio) / (1 + ratio) * (1 + 2 * sum(ratio**z for z in range(1, w + 1)))

    assert within(width) >= 0.95
    assert width == 0 or within(width - 1) < 0.95


@pytest.mark.parametrize(("keys", "in_one", "threshold"), [(1, 1, 21), (2, 1, 42), (2, 2, 43), (4, 1, 87), (4, 4, 90)])
def test_thresholds_are_the_least_that_delta_pays_for(keys, in_one, threshold):
    assert noise.threshold(keys, in_one, 1.0, 1e-9).threshold == threshold


@pytest.mark.parametrize("sensitivity", [1, 3, 7, 1000, 10**9])
@pytest.mark.parametrize("epsilon", ["0.3", "0.1", "1", "0.7", "2.9"])
def test_noise_costs_at_most_what_is_written_down(sensitivity, epsilon):
    price = noise.not_above(Decimal(epsilon))
    made = noise.laplace(sensitivity, price)
    assert Decimal(price) <= Decimal(epsilon)
    assert noise._laplace(made.scale).map(sensitivity) <= price
    assert made.scale == pytest.approx(sensitivity / float(epsilon), rel=1e-9)


def test_values_near_the_ends_of_64_bits_do_not_wrap():
    assert noise.laplace(1, 1.0).drawn([2**80, -(2**80)]) == [
        pytest.approx(2**62, abs=200), pytest.approx(-(2**62), abs=200)
    ]  # fmt: skip
