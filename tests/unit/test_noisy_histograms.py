"""METHOD dp_histogram: which rows count, what is paid before a row is read, and what may be asked of the release."""

from __future__ import annotations

import json
import re
from math import exp

import pytest

from sqlanon import connect
from sqlanon.errors import EngineError, PolicyError, PrivacyViolation, StatementError, UserError
from sqlanon.methods.noisy import histogram
from sqlanon.sources import noise
from sqlanon.statements.parser import parse_script
from tests.support.database import rows, template

# E33: ten visits of six patients; patient 7 has an age that no interval has, and a disease that is not listed.
VISITS = """
CREATE TABLE visits (patient INTEGER, disease VARCHAR, age INTEGER, ward VARCHAR, urgent BOOLEAN);
INSERT INTO visits VALUES (1, 'flu', 20, 'a', true), (1, 'flu', 20, 'a', true), (1, 'cold', 20, 'a', false),
    (1, 'ulcer', 20, 'b', NULL), (2, 'flu', 39, 'a', true), (3, 'cold', 40, 'b', true), (4, 'flu', 50, 'a', false),
    (5, 'ulcer', 74, 'b', true), (5, 'cold', 74, 'b', true), (6, 'flu', NULL, NULL, NULL), (NULL, 'flu', 20, 'a', true);
CREATE HIERARCHY diseases AS
    LEVELS (FROM (VALUES ('asthma', 'lung'), ('cold', 'lung'), ('flu', 'lung'), ('ulcer', 'gut')));
CREATE HIERARCHY ages AS INTERVALS (20, 40, low => 0, high => 75);
CREATE POLICY visits ON visits (patient ENTITY, disease SENSITIVE USING diseases, age QUASI IDENTIFIER USING ages,
    urgent INSENSITIVE, ward QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE BUDGET b ON POLICY visits (epsilon => 10, delta => 1e-6);
"""
RELEASE = "CREATE ANONYMIZED TABLE h AS POLICY visits METHOD dp_histogram"


@pytest.fixture
def con():
    with template(VISITS) as connection:
        yield connection


@pytest.fixture
def bare(monkeypatch):
    """No noise is added."""
    for kind in (noise.Laplace, noise.Threshold):
        monkeypatch.setattr(kind, "drawn", lambda self, values: values)


def spent(con):
    return [row[3] for row in con.execute("SHOW BUDGETS").fetchall()]


@pytest.mark.parametrize(("most", "total"), [(1, 6), (2, 8), (4, 10)])
def test_at_most_so_many_rows_of_a_respondent_count(con, bare, most, total):
    con.execute(f"{RELEASE}(by => (disease), epsilon => 1, rows => {most}) UNDER BUDGET b")
    counts = dict(rows(con, "FROM h"))
    assert list(counts) == ["asthma", "cold", "flu", "ulcer", None]
    assert sum(counts.values()) == total
    if most == 4:
        assert list(counts.values()) == [0, 3, 5, 2, 0]


def test_values_that_are_not_listed_count_as_null_and_combinations_without_rows_are_there(con, bare):
    con.execute("INSERT INTO visits VALUES (7, 'gout', 75, 'a', true), (8, 'flu', -1, 'a', true)")
    con.execute(f"{RELEASE}(by => (age, urgent), epsilon => 1, rows => 9, nonnegative => true) UNDER BUDGET b")
    counts = {(age, urgent): n for age, urgent, n in rows(con, "FROM h")}
    assert len(counts) == 5 * 3
    assert {key: n for key, n in counts.items() if n} == {
        ("[20,40)", True): 3,
        ("[20,40)", False): 1,
        ("[20,40)", None): 1,
        ("[40,60)", True): 1,
        ("[40,60)", False): 1,
        ("[60,75)", True): 2,
        (None, None): 1,
        (None, True): 2,
    }


def test_labels_of_a_coarser_level_and_of_an_enum(con, bare):
    con.execute(
        "CREATE TYPE wards AS ENUM ('a', 'b', 'c'); "
        "CREATE TABLE typed AS SELECT * REPLACE (ward::wards AS ward) FROM visits"
    )
    con.execute(
        "CREATE POLICY typed ON typed (disease QUASI IDENTIFIER USING diseases MIN LEVEL 1, ward INSENSITIVE) "
        "REQUIRE k_anonymity(k => 2); CREATE BUDGET c ON POLICY typed (epsilon => 1)"
    )
    con.execute(
        RELEASE.replace("POLICY visits", "POLICY typed") + "(by => (disease, ward), epsilon => 1) UNDER BUDGET c"
    )
    counts = {key: n for *key, n in ((*row[:2], row[2]) for row in rows(con, "FROM h")) for key in [tuple(key)]}
    assert {key: n for key, n in counts.items() if n} == {
        ("gut", "b"): 2,
        ("lung", "a"): 6,
        ("lung", "b"): 2,
        ("lung", None): 1,
    }
    assert {ward for _, ward in counts} == {"a", "b", "c", None}


def test_combinations_that_are_found_are_those_above_a_threshold(con):
    con.execute("INSERT INTO visits SELECT 100 + i, 'measles', 30, 'z', true FROM range(500) AS t(i)")
    con.execute(
        f"{RELEASE}(by => (disease, ward), epsilon => 1, rows => 2, keys => 'found', delta => 1e-9) UNDER BUDGET b"
    )
    [(disease, ward, n)] = rows(con, "FROM h")
    assert (disease, ward) == ("measles", "z")
    assert 400 < n < 600
    assert spent(con) == [1.0]


def test_nothing_of_the_number_of_rows_is_kept_or_exported(con, tmp_path):
    [row] = con.execute(f"{RELEASE}(by => (disease), epsilon => 1) UNDER BUDGET b").fetchall()
    assert row[2:5] == (None, 5, 0)
    assert rows(con, "SELECT source_rows FROM anon.release") == [(None,)]
    con.execute(f"EXPORT h TO '{tmp_path}/out' (FORMAT csv)")
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert certificate["rows"] == {"source": None, "released": 5, "suppressed": 0}
    [requirement] = certificate["requirements"]
    assert requirement["requirement"] == "differential_privacy(epsilon => 1)"
    assert requirement["recomputed_from"].startswith("the ledger of the budget")
    assert "Noise cannot be recomputed" in requirement["meaning"]
    # Whoever receives it has no ledger.
    with connect() as receiver:
        answers = receiver.execute(f"CHECK '{tmp_path}/out'").fetchall()
    answers = [(row[1], row[5], row[6]) for row in answers if row[1] != "not_published"]
    assert answers == [
        ("files_as_certified", True, "recomputed from the files"),
        ("differential_privacy", True, "stated by the certificate"),
    ]


def test_check_asks_the_ledger(con):
    con.execute(f"{RELEASE}(by => (disease), epsilon => 0.5) UNDER BUDGET b")
    assert con.execute("CHECK h").fetchall()[0][1:] == ("differential_privacy", "patient", 0.5, 0.5, True)
    con.execute("UPDATE anon.budget_entry SET query = 'another'")
    assert con.execute("CHECK h").fetchall()[0][1:] == ("differential_privacy", "patient", 0.5, None, False)
    with pytest.raises(PrivacyViolation, match="does not meet differential_privacy"):
        con.execute("EXPORT h TO 'out.csv'")


def test_the_cost_is_committed_before_a_row_is_read_and_stays_where_the_release_fails(con, monkeypatch):
    def fails(rows, domains):
        raise EngineError("a message with somebody's value")

    monkeypatch.setattr(histogram, "_counts", fails)
    with pytest.raises(UserError, match="the cost is spent") as raised:
        con.execute(f"{RELEASE}(by => (disease), epsilon => 1) UNDER BUDGET b")
    assert "somebody's value" not in str(raised.value)
    assert spent(con) == [1.0]
    monkeypatch.undo()
    con.execute("BEGIN")
    con.execute(f"{RELEASE}(by => (disease), epsilon => 1) UNDER BUDGET b")
    con.execute("ROLLBACK")
    assert spent(con) == [2.0]
    assert rows(con, "SELECT * FROM anon.release") == []


@pytest.mark.parametrize("epsilon", ["0.50", "1", "1.0", "1e-1", "2.00"])
def test_the_ledger_has_a_price_however_it_is_written(con, epsilon):
    con.execute(f"{RELEASE}(by => (disease), epsilon => {epsilon}) UNDER BUDGET b")
    assert all(row[-1] for row in con.execute("CHECK h").fetchall())


def test_explain_says_what_a_budget_that_adds_up_rho_pays_for(con):
    con.execute("CREATE BUDGET z ON POLICY visits (epsilon => 2, delta => 1e-9, accounting => 'zcdp')")
    asked = {}
    for epsilon in (0.5, 0.3):
        statement = f"{RELEASE}(by => (disease), epsilon => {epsilon}) UNDER BUDGET z"
        asked[epsilon] = [row[2] for row in con.execute("EXPLAIN " + statement.removeprefix("CREATE ")).fetchall()]
    assert (
        "epsilon 0.5 of budget z, which has 2 left, too little for it by accounting 'zcdp', at a rho of 0.125"
        in asked[0.5]
    )
    assert (
        "epsilon 0.3 of budget z, which has 2 left, enough for 1 such release by accounting 'zcdp', at a rho of 0.0450"
        in asked[0.3]
    )
    with pytest.raises(PrivacyViolation, match=r"has a rho of 0\.0561 left"):
        con.execute(f"{RELEASE}(by => (disease), epsilon => 0.5) UNDER BUDGET z")
    con.execute(f"{RELEASE}(by => (disease), epsilon => 0.3) UNDER BUDGET z")


def test_more_than_there_is_left_is_refused_and_explain_costs_nothing(con):
    plan = con.execute(
        f"EXPLAIN {RELEASE.removeprefix('CREATE ')}(by => (disease), epsilon => 9) UNDER BUDGET b"
    ).fetchall()
    texts = [detail for _, _, detail in plan]
    assert "epsilon 9 of budget b, which has 10 left, enough for 1 such release" in texts
    assert "visits" in texts
    assert any("noise within 0 in 95 of 100 counts" in text for text in texts)
    assert spent(con) == [0.0]
    con.execute(f"{RELEASE}(by => (disease), epsilon => 9) UNDER BUDGET b")
    for again in (
        "REFRESH ANONYMIZED TABLE h",
        f"{RELEASE.replace(' h ', ' i ')}(by => (disease), epsilon => 2) UNDER BUDGET b",
    ):
        with pytest.raises(PrivacyViolation, match="has an epsilon of 1 left"):
            con.execute(again)
    con.execute(
        "CREATE OR REPLACE " + RELEASE.removeprefix("CREATE ") + "(by => (disease), epsilon => 1) UNDER BUDGET b"
    )
    assert spent(con) == [10.0]


def test_a_budget_of_other_respondents_and_rows_without_respondents(con):
    con.execute("CREATE POLICY others ON visits (disease QUASI IDENTIFIER USING diseases) REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match="budget b protects the respondents of patient"):
        con.execute(
            RELEASE.replace("POLICY visits", "POLICY others") + "(by => (disease), epsilon => 1) UNDER BUDGET b"
        )
    con.execute("CREATE BUDGET c ON POLICY others (epsilon => 1)")
    with pytest.raises(PolicyError, match="rows limits the rows of one respondent"):
        con.execute(
            RELEASE.replace("POLICY visits", "POLICY others")
            + "(by => (disease), epsilon => 1, rows => 2) UNDER BUDGET c"
        )
    assert spent(con) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("hierarchy", "message"),
    [
        ("", "its possible values are only known from the rows"),
        ("USING AUTO", "from the rows"),
        ("USING copied", "reads the rows that the budget protects"),
        ("USING viewed", "reads the rows that the budget protects"),
        ("USING gone", "reads staged, which no longer exists and may have been the source"),
        ("USING parts", "the labels of its PREFIXES are only known from the rows"),
    ],
)
def test_values_that_are_known_from_the_rows_are_refused(con, hierarchy, message):
    con.execute("CREATE VIEW seen AS SELECT DISTINCT ward FROM visits; CREATE TABLE staged AS SELECT 'a' AS ward")
    con.execute("CREATE HIERARCHY copied AS LEVELS (SELECT DISTINCT ward FROM visits WHERE ward IS NOT NULL)")
    con.execute("CREATE HIERARCHY viewed AS LEVELS (SELECT ward FROM seen WHERE ward IS NOT NULL)")
    con.execute("CREATE HIERARCHY gone AS LEVELS (FROM staged); DROP TABLE staged")
    con.execute("CREATE HIERARCHY parts AS PREFIXES (1)")
    con.execute(
        f"CREATE POLICY w ON visits (patient ENTITY, ward QUASI IDENTIFIER {hierarchy}) REQUIRE k_anonymity(k => 2)"
    )
    with pytest.raises(PolicyError, match=message) as refused:
        con.execute(
            "CREATE ANONYMIZED TABLE h AS POLICY w METHOD dp_histogram(by => (ward), epsilon => 1) UNDER BUDGET b"
        )
    assert refused.value.hint
    assert spent(con) == [0.0]


def test_a_release_lists_public_values_only_with_noise(con):
    con.execute("CREATE POLICY plain ON visits (patient ENTITY, disease QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE plain AS POLICY plain METHOD generalization(suppression => 1)")
    con.execute(RELEASE.replace("TABLE h", "TABLE noisy") + "(by => (disease), epsilon => 1) UNDER BUDGET b")
    for table in ("plain", "noisy"):
        query = f"SELECT DISTINCT disease FROM {table} WHERE disease IS NOT NULL"
        con.execute(f"CREATE HIERARCHY of_{table} AS LEVELS ({query})")
        con.execute(
            f"CREATE POLICY of_{table} ON visits (patient ENTITY, disease QUASI IDENTIFIER USING of_{table}) "
            "REQUIRE k_anonymity(k => 2)"
        )
    listed = "CREATE ANONYMIZED TABLE h AS POLICY {} METHOD dp_histogram(by => (disease), epsilon => 1) UNDER BUDGET b"
    with pytest.raises(PolicyError, match="of_plain reads plain, a release of the rows that the budget protects"):
        con.execute(listed.format("of_plain"))
    assert spent(con) == [1.0]
    con.execute(listed.format("of_noisy"))


@pytest.mark.parametrize("hierarchy", ["told", "large"])
def test_labels_of_found_combinations_are_not_made_of_the_rows(con, hierarchy):
    """A label such as the greatest patient of a ward would be published as it is."""
    con.execute("UPDATE visits SET ward = 'ward ' || ward")
    con.execute(
        "CREATE HIERARCHY told AS LEVELS (SELECT ward, max(patient)::VARCHAR AS level_1 FROM visits "
        "WHERE ward IS NOT NULL GROUP BY ward)"
    )
    con.execute("CREATE VIEW people AS SELECT left(ward, 6) AS prefix, count(*) AS people FROM visits GROUP BY prefix")
    con.execute("DELETE FROM visits WHERE ward IS NULL")
    con.execute("CREATE HIERARCHY large AS PREFIXES (6, people => people, more_than => 2, small => 'small')")
    con.execute(
        f"CREATE POLICY w ON visits (patient ENTITY, ward QUASI IDENTIFIER USING {hierarchy} MIN LEVEL 1) "
        "REQUIRE k_anonymity(k => 2)"
    )
    with pytest.raises(PolicyError, match="reads the rows that the budget protects") as refused:
        con.execute(
            "CREATE ANONYMIZED TABLE h AS POLICY w "
            "METHOD dp_histogram(by => (ward), epsilon => 1, keys => 'found', delta => 1e-9) UNDER BUDGET b"
        )
    assert refused.value.hint
    assert spent(con) == [0.0]


@pytest.mark.parametrize(
    ("kind", "usual", "other"),
    [("DOUBLE", "0.0", "-0.0"), ("INTERVAL", "1 month", "30 days"), ("DOUBLE[]", "[0.0]", "[-0.0]")],
)
def test_a_found_key_reads_alike_whoever_else_has_an_equal_value(con, bare, kind, usual, other):
    """One row of an equal value that reads differently, before or behind all others, does not rename their key."""
    con.execute(f"CREATE TABLE doses (dose {kind}, x INTEGER)")
    con.execute(f"INSERT INTO doses SELECT if(i = 0, '{other}', '{usual}')::{kind}, 1 FROM range(100) AS t(i)")
    con.execute("CREATE POLICY d ON doses (x QUASI IDENTIFIER, dose INSENSITIVE) REQUIRE k_anonymity(k => 1)")
    con.execute("CREATE BUDGET of_doses ON POLICY d (epsilon => 5, delta => 1e-6)")
    con.execute(
        "CREATE ANONYMIZED TABLE h AS POLICY d "
        "METHOD dp_histogram(by => (dose), epsilon => 1, keys => 'found', delta => 1e-9) UNDER BUDGET of_doses"
    )
    assert sorted(rows(con, "SELECT dose::VARCHAR, n FROM h")) == sorted([(usual, 99), (other, 1)])
    answer = con.execute(
        "ESTIMATE SELECT dose, count(*) AS n FROM doses GROUP BY dose "
        "UNDER BUDGET of_doses (epsilon => 1, keys => found, delta => 1e-9)"
    ).fetchall()
    assert sorted(row[1] for row in answer) == [1, 99]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("dp_histogram(by => (disease), epsilon => 1)", "lacks its argument 'budget'"),
        ("dp_histogram(epsilon => 1) UNDER BUDGET b", "lacks its argument 'by'"),
        ("dp_histogram(by => (patient), epsilon => 1) UNDER BUDGET b", "publishes no column patient"),
        ("dp_histogram(by => (disease, Disease), epsilon => 1) UNDER BUDGET b", "a column is named twice"),
        ("dp_histogram(by => (disease), epsilon => 0) UNDER BUDGET b", "epsilon must be a number above 0"),
        ("dp_histogram(by => (disease), epsilon => 1, keys => 'found') UNDER BUDGET b", "needs a delta"),
        ("dp_histogram(by => (disease), epsilon => 1, delta => 1e-9) UNDER BUDGET b", "delta is for keys"),
        (
            "dp_histogram(by => (disease), epsilon => 1, keys => 'found', delta => 0.5) UNDER BUDGET b",
            "has to be from 0",
        ),
        ("dp_histogram(by => (disease), epsilon => 1) UNDER BUDGET c", "there is no budget c"),
        ("generalization UNDER BUDGET b", "has no argument 'budget'"),
    ],
)
def test_arguments_are_refused(con, call, message):
    with pytest.raises(UserError, match=re.escape(message)) as refused:
        con.execute(f"CREATE ANONYMIZED TABLE h AS POLICY visits METHOD {call}")
    assert refused.value.hint
    assert spent(con) == [0.0]


def test_the_budget_stands_behind_the_method():
    text = RELEASE + '(by => (disease), epsilon => 1) UNDER BUDGET "its b"'
    [statement] = parse_script(text)
    assert statement.sql().endswith('UNDER BUDGET "its b"')
    assert parse_script(statement.sql()) == [statement]
    for wrong, message in [
        ("CREATE ANONYMIZED TABLE h AS POLICY visits UNDER BUDGET b", "belongs to a METHOD"),
        (RELEASE + "(by => (a), epsilon => 1, budget => b) UNDER BUDGET b", "the budget is named twice"),
    ]:
        with pytest.raises(StatementError, match=message):
            parse_script(wrong)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("ATTACK h WITH homogeneity", "its rows represent no people"),
        ("ESTIMATE SELECT count(*) FROM visits FROM RELEASE h", "nothing about its source is certain"),
        ("MEASURE h WITH FIGURES (membership)", "by counts with noise"),
        ("MEASURE h WITH FIGURES (granularity_loss)", "nothing about its source is certain"),
    ],
)
def test_what_noise_cannot_answer_is_refused_with_a_sentence(con, statement, message):
    con.execute(f"{RELEASE}(by => (disease), epsilon => 1) UNDER BUDGET b")
    with pytest.raises(UserError, match=message) as refused:
        con.execute(statement)
    assert refused.value.hint


# Of a chi-square distribution of 25 degrees less than one in 10^6 is above it.
MOST_CHI_SQUARE = 77.1


@pytest.mark.long
def test_counts_of_empty_combinations_have_the_exact_distribution_of_the_noise(con):
    """P(z) = (1 - r) / (1 + r) r^abs(z) with r = e^(-epsilon / rows): 26 cells, of which the last two are the tails."""
    con.execute(
        "CREATE HIERARCHY many AS INTERVALS (1, low => 1000, high => 61000); "
        "ALTER POLICY visits ALTER COLUMN age QUASI IDENTIFIER USING many"
    )
    con.execute(f"{RELEASE}(by => (age), epsilon => 0.75, rows => 3) UNDER BUDGET b")
    draws, ratio = 60_000, exp(-0.25)
    observed = dict(rows(con, "SELECT greatest(-13, least(12, n)), count(*) FROM h WHERE age IS NOT NULL GROUP BY 1"))
    assert sum(observed.values()) == draws
    expected = {z: (1 - ratio) / (1 + ratio) * ratio ** abs(z) for z in range(-12, 12)}
    expected |= {-13: ratio**13 / (1 + ratio), 12: ratio**12 / (1 + ratio)}
    assert sum(expected.values()) == pytest.approx(1)
    assert sum((observed.get(z, 0) - draws * p) ** 2 / (draws * p) for z, p in expected.items()) < MOST_CHI_SQUARE
