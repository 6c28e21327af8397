"""METHOD microaggregation: tables worked out by hand, what it shows, and what it refuses."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import sqlanon
from sqlanon import Connection, DataError, PolicyError, PrivacyViolation, SqlanonError
from tests.support.database import rows, template

VALUES = (21, 24, 28, 33, 35, 36, 47, 55, 58, 61)
PLANE = ((1, 1), (2, 1), (1, 2), (8, 8), (9, 8), (8, 9), (9, 9), (1, 9), (2, 9), (1, 8), (5, 5))
MADE = """CREATE TABLE made AS SELECT i * i % 101 AS a, i * 37 % 113 AS b, (i * i * i + 5) % 97 AS c
    FROM range(120) AS t(i);
CREATE POLICY made ON made (a QUASI IDENTIFIER, b QUASI IDENTIFIER, c QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)"""
PEOPLE = """CREATE TABLE people AS SELECT i AS id, CASE WHEN i % 5 > 0 THEN i * i % 101 END AS age,
    CAST(i * 37 % 113 AS DECIMAL(9, 2)) AS pay, 'z' || (i % 3) AS zip, 'd' || (i % 4) AS disease
    FROM range(120) AS t(i)"""


def policy(con: Connection, columns: str, source: str = "people", require: str = "k_anonymity(k => 2)") -> None:
    con.execute(f"CREATE OR REPLACE POLICY p ON {source} ({columns}) REQUIRE {require}")


def made(con: Connection, call: str) -> None:
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE made_r AS POLICY p METHOD microaggregation({call})")


def answer(con: Connection, statement: str) -> list[tuple[Any, ...]]:
    return con.execute(statement).fetchall()


def loss(con: Connection, name: str = "made_r") -> float:
    ((found,),) = rows(con, f"SELECT loss FROM anon.release WHERE object_name = '{name}'")
    assert isinstance(found, float)
    return found


@pytest.fixture
def people() -> Connection:
    return template(PEOPLE)


@pytest.fixture
def one_column() -> Connection:
    con = sqlanon.connect()
    con.execute(f"CREATE TABLE v AS SELECT unnest({list(VALUES)}) AS v")
    policy(con, "v QUASI IDENTIFIER", "v")
    return con


def test_one_column_is_divided_into_the_best_groups(one_column: Connection) -> None:
    made(one_column, "k => 3")
    assert rows(one_column, "SELECT v, count(*) FROM made_r GROUP BY v ORDER BY v") == [
        (pytest.approx(73 / 3), 3),
        (pytest.approx(104 / 3), 3),
        (pytest.approx(221 / 4), 4),
    ]
    assert loss(one_column) == pytest.approx(float(Fraction(8285, 113376)), rel=1e-12)


def test_mdav_divides_one_column_where_it_is_asked_for(one_column: Connection) -> None:
    made(one_column, "k => 3, algorithm => 'mdav'")
    assert rows(one_column, "SELECT v, count(*) FROM made_r GROUP BY v ORDER BY v") == [
        (pytest.approx(73 / 3), 3),
        (pytest.approx(151 / 4), 4),
        (pytest.approx(174 / 3), 3),
    ]
    sse = Fraction(1937, 12) / Fraction(113376 * 1657, 8285 * 12)
    assert loss(one_column) == pytest.approx(float(sse), rel=1e-12)
    assert round(loss(one_column), 6) == 0.085424


def test_groups_of_points_in_a_plane() -> None:
    con = sqlanon.connect()
    con.duckdb.execute("CREATE TABLE plane (x INTEGER, y INTEGER)")
    con.duckdb.executemany("INSERT INTO plane VALUES (?, ?)", [list(point) for point in PLANE])
    policy(con, "x QUASI IDENTIFIER, y QUASI IDENTIFIER", "plane")
    made(con, "k => 3, standardize => false")
    assert rows(con, "SELECT x, y, count(*) FROM made_r GROUP BY ALL ORDER BY x") == [
        (pytest.approx(4 / 3), pytest.approx(4 / 3), 3),
        (pytest.approx(17 / 5), pytest.approx(39 / 5), 5),
        (pytest.approx(26 / 3), pytest.approx(26 / 3), 3),
    ]
    assert loss(con) == pytest.approx(float(Fraction(418, 1983)), rel=1e-12)


@pytest.mark.parametrize(("k", "groups", "share"), [(3, 40, 5.443801), (5, 24, 11.791115), (10, 12, 20.339417)])
def test_a_table_that_anyone_can_make(k: int, groups: int, share: float) -> None:
    con = template(MADE)
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY made METHOD microaggregation(k => {k}, standardize => false)")
    assert round(100 * loss(con, "r"), 6) == share
    assert rows(con, "SELECT count(*) FROM (SELECT DISTINCT a, b, c FROM r)") == [(groups,)]
    assert answer(con, "CHECK r")[-1][-1] is True


def test_a_mean_is_a_double_and_the_mean_of_all_stays(people: Connection) -> None:
    policy(people, "age QUASI IDENTIFIER, pay QUASI IDENTIFIER, disease SENSITIVE")
    made(people, "k => 3")
    types = rows(people, "SELECT column_name, column_type FROM (DESCRIBE made_r)")
    assert types == [("age", "DOUBLE"), ("pay", "DOUBLE"), ("disease", "VARCHAR")]
    means = "SELECT avg(age), avg(pay), count(age) FROM "
    assert rows(people, means + "made_r")[0] == pytest.approx(rows(people, means + "people")[0])


def test_other_columns_and_null_are_strata(people: Connection) -> None:
    """Rows of one group show the same, NULL and the column that is not aggregated included."""
    policy(people, "age QUASI IDENTIFIER, pay QUASI IDENTIFIER, zip QUASI IDENTIFIER")
    made(people, "k => 3")
    by_zip = "SELECT zip, count(*), count(age), sum(pay) FROM {} GROUP BY zip ORDER BY zip"
    for released, source in zip(
        rows(people, by_zip.format("made_r")), rows(people, by_zip.format("people")), strict=True
    ):
        assert released[:3] == source[:3]
        assert released[3] == pytest.approx(float(source[3]))
    assert rows(people, "SELECT min(n) FROM (SELECT count(*) AS n FROM made_r GROUP BY age, pay, zip)") == [(3,)]
    explained = answer(people, "EXPLAIN VERBOSE ANONYMIZED TABLE e AS POLICY p METHOD microaggregation(k => 3)")
    details = {item: detail for _, item, detail in explained}
    assert details["groups"].endswith(", within 6 strata")
    assert details["age, pay"] == "means of groups of 3 to 5 rows by mdav"
    assert details["sse"].endswith(" (SSE / SST), not proven to be the least")


def test_other_columns_are_shown_at_their_min_level(people: Connection) -> None:
    people.execute("CREATE HIERARCHY zips AS LEVELS (SELECT 'z' || i, 'g' || (i % 2) FROM range(3) AS t(i))")
    policy(people, "pay QUASI IDENTIFIER, zip QUASI IDENTIFIER USING zips MIN LEVEL 1")
    made(people, "k => 3")
    assert rows(people, "SELECT zip, count(*) FROM made_r GROUP BY zip ORDER BY zip") == [("g0", 80), ("g1", 40)]
    assert answer(people, "CHECK made_r")[-1][-1] is True
    policy(people, "pay QUASI IDENTIFIER, zip QUASI IDENTIFIER MIN LEVEL 1")
    made(people, "k => 3")
    assert rows(people, "SELECT DISTINCT zip FROM made_r") == [("*",)]


def test_a_value_that_a_hierarchy_lacks_ends_the_statement(people: Connection) -> None:
    people.execute("CREATE HIERARCHY zips AS LEVELS (SELECT 'z' || i, 'g' || (i % 2) FROM range(2) AS t(i))")
    policy(people, "pay QUASI IDENTIFIER, zip QUASI IDENTIFIER USING zips MIN LEVEL 1")
    with pytest.raises(DataError, match="lacks values of the column zip"):
        made(people, "k => 3")


def test_columns_names_those_that_are_aggregated(people: Connection) -> None:
    people.execute("UPDATE people SET age = age % 3")
    policy(people, "age QUASI IDENTIFIER, pay QUASI IDENTIFIER")
    made(people, "k => 3, columns => (PAY)")
    ages = "SELECT age, count(*) FROM {} GROUP BY age ORDER BY age"
    assert rows(people, ages.format("made_r")) == rows(people, ages.format("people"))
    explained = answer(
        people, "EXPLAIN ANONYMIZED TABLE e AS POLICY p METHOD microaggregation(k => 3, columns => (pay))"
    )
    (columns,) = (detail for _, item, detail in explained if item == "columns")
    assert columns.startswith("age: unchanged; pay: one value for each class")


def test_respondents_of_one_row_each_are_counted(people: Connection) -> None:
    policy(people, "id ENTITY PSEUDONYM, pay QUASI IDENTIFIER")
    made(people, "k => 3")
    assert rows(people, "SELECT count(DISTINCT id) FROM made_r") == [(120,)]


def test_groups_are_of_respondents_with_several_rows(people: Connection) -> None:
    """Each of 40 respondents has three rows: all rows of one are in one group, with k respondents or more."""
    source = "(SELECT id // 3 AS who, pay, id AS row_id FROM people)"
    policy(people, "who ENTITY, pay QUASI IDENTIFIER, row_id INSENSITIVE", source)
    made(people, "k => 3")
    joined = f"FROM made_r JOIN {source} AS s USING (row_id)"
    groups = rows(people, f"SELECT made_r.pay, count(DISTINCT who), avg(s.pay) {joined} GROUP BY made_r.pay")
    assert min(number for _, number, _ in groups) >= 3
    assert all(shown == pytest.approx(mean) for shown, _, mean in groups)
    assert rows(people, f"SELECT max(n) FROM (SELECT count(DISTINCT made_r.pay) AS n {joined} GROUP BY who)") == [(1,)]
    assert answer(people, "CHECK made_r")[0][-1] is True
    explained = answer(people, "EXPLAIN VERBOSE ANONYMIZED TABLE e AS POLICY p METHOD microaggregation(k => 3)")
    assert any("respondents" in item and "at least 3" in detail for _, item, detail in explained)


def test_too_few_respondents_are_refused_whatever_their_rows(people: Connection) -> None:
    policy(people, "who ENTITY, pay QUASI IDENTIFIER", "(SELECT id // 60 AS who, pay FROM people)")
    with pytest.raises(PrivacyViolation, match="groups of 3 respondents cannot be made of 2 respondents"):
        made(people, "k => 3")
    policy(people, "who ENTITY, pay QUASI IDENTIFIER", "(SELECT nullif(id, 7) AS who, pay FROM people)")
    with pytest.raises(DataError, match="1 row has no who"):
        made(people, "k => 3")


def test_more_respondents_than_k_may_be_required(people: Connection) -> None:
    """Nine rows of three respondents are fewer than four respondents."""
    policy(
        people, "who ENTITY, pay QUASI IDENTIFIER", "(SELECT id // 3 AS who, pay FROM people)", "k_anonymity(k => 4)"
    )
    with pytest.raises(PrivacyViolation, match="cannot be met"):
        made(people, "k => 3")


@pytest.mark.parametrize("k", [3, 4])
def test_a_group_may_show_its_median(people: Connection, k: int) -> None:
    """The groups are those of the means; an even number of rows shows the mean of the two middle values."""
    people.execute("UPDATE people SET age = id * id % 101")
    policy(people, "age QUASI IDENTIFIER, pay QUASI IDENTIFIER, id INSENSITIVE")
    made(people, f"k => {k}")
    people.execute("CREATE TABLE means AS FROM made_r")
    made(people, f"k => {k}, publish => 'median'")
    groups: dict[tuple[float, float], list[tuple[int, int]]] = defaultdict(list)
    shown: dict[tuple[float, float], set[tuple[float, float]]] = defaultdict(set)
    query = (
        "SELECT means.age, means.pay, made_r.age, made_r.pay, people.age, people.pay "
        "FROM made_r JOIN means USING (id) JOIN people USING (id)"
    )
    for mean_age, mean_pay, age, pay, true_age, true_pay in rows(people, query):
        groups[mean_age, mean_pay].append((true_age, true_pay))
        shown[mean_age, mean_pay].add((age, pay))
    for key, members in groups.items():
        assert shown[key] == {tuple(median(column) for column in zip(*members, strict=True))}
    with pytest.raises(PolicyError, match="it shows medians"):
        people.execute("MEASURE made_r WITH FIGURES (sse)")
    explained = answer(
        people, "EXPLAIN VERBOSE ANONYMIZED TABLE e AS POLICY p METHOD microaggregation(k => 3, publish => 'median')"
    )
    assert any(detail.startswith("medians of groups") for _, _, detail in explained)


def test_the_figure_is_the_loss_of_columns_with_variance_1(people: Connection) -> None:
    policy(people, "age QUASI IDENTIFIER, pay QUASI IDENTIFIER, zip QUASI IDENTIFIER")
    made(people, "k => 3")
    figures = {name: value for _, _, name, value in answer(people, "MEASURE made_r WITH FIGURES (sse)")}
    assert set(figures) == {"age", "pay", None}
    assert figures[None] == pytest.approx(loss(people), rel=1e-9)
    # By column: what the variance of the means lacks.
    lacking = "1 - (SELECT var_pop({0}) FROM made_r) / (SELECT var_pop({0}) FROM people)"
    ((age, pay),) = rows(people, f"SELECT {lacking.format('age')}, {lacking.format('pay')}")
    assert (figures["age"], figures["pay"]) == (pytest.approx(age), pytest.approx(pay))


def test_the_figure_of_other_releases_is_refused(people: Connection) -> None:
    policy(people, "pay QUASI IDENTIFIER")
    people.execute("CREATE ANONYMIZED TABLE other AS POLICY p METHOD mondrian(publish => 'centroid')")
    with pytest.raises(PolicyError, match="its numbers are no means of groups"):
        people.execute("MEASURE other WITH FIGURES (sse)")
    made(people, "k => 3")
    people.execute("DELETE FROM people WHERE id = 3")
    with pytest.raises(DataError, match="has other rows than when the release was made"):
        people.execute("MEASURE made_r WITH FIGURES (sse)")


def test_a_frontier_goes_through_k() -> None:
    con = template(MADE)
    con.execute(
        "FRONTIER f ON POLICY made METHODS (microaggregation) SWEEP k IN (3, 5, 10) MEASURE sse, discernibility"
    )
    figures = rows(
        con, "SELECT value FROM anon.candidate WHERE method = 'microaggregation' AND figure = 'sse' ORDER BY number"
    )
    shares = [value for (value,) in figures]
    assert len(shares) == 3
    assert shares == sorted(shares)


def test_requirements_of_values_are_asked_of_the_groups(people: Connection) -> None:
    policy(people, "pay QUASI IDENTIFIER, disease SENSITIVE", require="k_anonymity(k => 3), l_diversity(l => 4)")
    with pytest.raises(PrivacyViolation, match=r"l_diversity\(l => 4.* cannot be met: \d+ groups") as raised:
        made(people, "k => 3")
    assert raised.value.hint is not None
    assert "METHOD mondrian" in raised.value.hint
    policy(people, "pay QUASI IDENTIFIER", require="k_anonymity(k => 5)")
    with pytest.raises(PrivacyViolation, match="groups are formed by size and distance only") as raised:
        made(people, "k => 3")
    assert raised.value.hint == "write k => 5"


def test_blocks_are_cut_first_and_named(people: Connection) -> None:
    policy(people, "pay QUASI IDENTIFIER, id QUASI IDENTIFIER")
    call = "microaggregation(k => 3, block => 40)"
    explained = answer(people, f"EXPLAIN VERBOSE ANONYMIZED TABLE e AS POLICY p METHOD {call}")
    details = {item: detail for _, item, detail in explained}
    assert details["pay, id"] == "means of groups of 3 rows by mdav, within blocks of at most 40"
    made(people, "k => 3, block => 40")
    assert answer(people, "CHECK made_r")[-1][-1] is True


def test_a_certificate_says_what_means_are(people: Connection, tmp_path: Path) -> None:
    policy(people, "pay QUASI IDENTIFIER, disease SENSITIVE")
    made(people, "k => 4")
    people.execute(f"EXPORT made_r TO '{tmp_path / 'out'}'")
    said = (tmp_path / "out" / "certificate.md").read_text(encoding="utf-8")
    assert "Numbers are the means of groups of at least 4 rows, and need not be a value of any row." in said
    assert "rows of one group may have the same sensitive value" in said
    assert "The loss is the SSE / SST" in said
    assert answer(people, f"CHECK '{tmp_path / 'out'}'")


REFUSED = [
    ("zip QUASI IDENTIFIER", "k => 3", PolicyError, "no QUASI IDENTIFIER is one"),
    ("pay QUASI IDENTIFIER, zip QUASI IDENTIFIER", "k => 3, columns => (zip)", PolicyError, "zip is VARCHAR"),
    ("pay QUASI IDENTIFIER", "k => 3, columns => (pa)", PolicyError, "pa is not a QUASI IDENTIFIER"),
    ("pay QUASI IDENTIFIER, age SENSITIVE", "k => 3, columns => (age)", PolicyError, "age is not a QUASI IDENTIFIER"),
    ("pay QUASI IDENTIFIER", "k => 3, columns => (pay, PAY)", PolicyError, "pay is twice in columns"),
    ("pay QUASI IDENTIFIER MIN LEVEL 1", "k => 3", PolicyError, "a mean has no level"),
    ("pay QUASI IDENTIFIER MAX LEVEL 0", "k => 3", PolicyError, "a mean has no level"),
    ("pay QUASI IDENTIFIER, id QUASI IDENTIFIER", "k => 3, algorithm => 'optimal'", PolicyError, "is for one column"),
    ("pay QUASI IDENTIFIER", "k => 3, block => 11", PolicyError, "cannot be cut into two groups of 3"),
    ("pay QUASI IDENTIFIER", "k => 3, block => 40, algorithm => 'optimal'", PolicyError, "needs no blocks"),
    ("pay QUASI IDENTIFIER", "k => 1", PolicyError, "from 2 to"),
    ("pay QUASI IDENTIFIER", "k => 121", PrivacyViolation, "cannot be made of 120 rows"),
    ("pay QUASI IDENTIFIER, zip QUASI IDENTIFIER", "k => 41", PrivacyViolation, "120 of 120 rows have fewer than 41"),
    ("age QUASI IDENTIFIER", "k => 25", PrivacyViolation, "24 of 120 rows have fewer than 25"),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("columns", "call", "error", "message"), REFUSED)
def test_what_cannot_be_aggregated_is_refused(
    people: Connection, columns: str, call: str, error: type[SqlanonError], message: str
) -> None:
    policy(people, columns)
    with pytest.raises(error, match=message):
        made(people, call)
    assert rows(people, "SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'made%'") == [(0,)]


def test_what_is_no_number_has_no_mean(people: Connection) -> None:
    odd = "CASE id WHEN 3 THEN 'nan' WHEN 5 THEN '-inf' ELSE '1' END::DOUBLE AS v"
    people.execute(f"CREATE TABLE odd AS SELECT {odd} FROM people")
    policy(people, "v QUASI IDENTIFIER", "odd")
    with pytest.raises(DataError, match="v is infinite or not a number in 2 rows"):
        made(people, "k => 3")


def test_rows_that_were_deleted_leave_no_gap(people: Connection) -> None:
    people.execute("DELETE FROM people WHERE id % 7 = 2")
    policy(people, "pay QUASI IDENTIFIER, id QUASI IDENTIFIER")
    made(people, "k => 4")
    sums = "SELECT count(*), sum(pay)::DOUBLE, sum(id)::DOUBLE FROM "
    assert rows(people, sums + "made_r")[0] == pytest.approx(rows(people, sums + "people")[0])


def test_a_statement_as_an_object_names_the_method(people: Connection) -> None:
    policy(people, "pay QUASI IDENTIFIER")
    method = sqlanon.Microaggregation(k=3, standardize=False)
    people.execute(sqlanon.AnonymizedTable("made_r", "p", method=method).sql())
    assert rows(people, "SELECT count(*) FROM made_r") == [(120,)]
