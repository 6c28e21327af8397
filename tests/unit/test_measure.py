"""MEASURE: what is true, what is estimated, and the figures of both, by queries whose answers are known."""

from __future__ import annotations

import re

import pytest

from sqlanon import Connection, UserError, connect
from sqlanon.assess.workloads.measure import measure
from sqlanon.catalog import releases
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.estimates.fixed_sql import sizes
from tests.oracles.workloads import Result, figures
from tests.support.database import rows, template
from tests.support.estimates.figures import figures_of

SOURCE = """
CREATE TABLE people AS SELECT
    (i * 7919) % 60 + 20 AS age, ['a', 'b', 'c', 'd'][i % 4 + 1] AS "wa rd",
    ['flu', 'cold', 'x'][(i * 31) % 3 + 1] AS disease,
    CASE WHEN i % 11 > 0 THEN (i % 10)::DOUBLE END AS days
FROM range(1200) AS n(i);
CREATE HIERARCHY bands AS INTERVALS (10, 20);
CREATE HIERARCHY wards AS LEVELS (
    FROM (VALUES ('a', 'x'), ('b', 'x'), ('c', 'y'), ('d', 'y'), ('e', 'y')) AS w (ward, wing)
);
CREATE POLICY p ON people (
    age QUASI IDENTIFIER USING bands MIN LEVEL 1 MAX LEVEL 2,
    "wa rd" QUASI IDENTIFIER USING wards MIN LEVEL 1 MAX LEVEL 1,
    disease SENSITIVE, days INSENSITIVE
) REQUIRE k_anonymity(k => 30);
CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
"""


@pytest.fixture
def con() -> Connection:
    return template(SOURCE)


def own(con: Connection, *queries: str) -> None:
    con.execute("DELETE FROM anon.workload WHERE workload = 'own'") if rows(con, "FROM anon.workload") else None
    for number, query in enumerate(queries, start=1):
        con.duckdb.execute("INSERT INTO anon.workload VALUES ('own', ?, ?)", [number, query])


def measured(con: Connection, workload: str = "own") -> dict[str, float | None]:
    return {figure: value for _, _, figure, value in con.sql(f"MEASURE r WITH WORKLOAD {workload}").fetchall()}


def stored(con: Connection, workload: str = "own") -> list[Result]:
    found = rows(
        con,
        f"SELECT query_id, actual, estimated, low, high, outcome FROM anon.query_error WHERE workload = '{workload}'",
    )
    return [Result(*row[:5], lost=row[5] == "lost", invented=row[5] == "invented") for row in found]


@pytest.mark.long
def test_plain_queries_are_what_they_come_to_on_the_source(con: Connection) -> None:
    queries = [
        "SELECT count(*) FROM people WHERE age < 31",
        "SELECT count(days), sum(days), avg(days), min(days), max(days) FROM people WHERE people.age BETWEEN 20 AND 39",
        "SELECT avg(days * 2) AS twice FROM people AS q "
        "WHERE q.\"wa rd\" IN ('a', 'c') AND NOT (disease = 'flu' OR q.age > 50)",
        "SELECT count(*) AS n FROM people WHERE age < 0",
    ]
    own(con, *queries)
    measured(con)
    found = rows(con, "SELECT query_id, actual FROM anon.query_error ORDER BY query_id, rowid")
    expected = {number: rows(con, query)[0] for number, query in enumerate(queries, start=1)}
    for number, figures_ in expected.items():
        actual = [value for query_id, value in found if query_id == number]
        assert sorted(actual) == pytest.approx(sorted(map(float, figures_)))


@pytest.mark.long
def test_the_figures_are_those_of_the_stored_errors(con: Connection) -> None:
    con.execute("CREATE WORKLOAD drawn ON POLICY p (queries => 12, dimensions => 2)")
    found = measured(con, "drawn")
    expected = figures(stored(con, "drawn"))
    assert {name: value for name, value in found.items() if name in expected} == pytest.approx(dict(expected))
    assert found["queries"] == found["results"] == 12
    assert found["bounds_hit_rate"] == 1
    errors = [one.error for one in stored(con, "drawn") if one.error is not None]
    assert found["relative_error_95"] is not None
    assert min(errors) <= found["relative_error_95"] <= max(errors)


@pytest.mark.long
def test_estimates_are_those_of_estimate(con: Connection) -> None:
    query = "SELECT disease, count(*) AS n, sum(days) AS d FROM people WHERE age > 33 GROUP BY disease"
    own(con, query)
    measured(con)
    for disease, *estimates in figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE r")):
        kept = rows(
            con,
            "SELECT estimated, spread, low, high FROM anon.query_error "
            f"WHERE groups = '[\"{disease}\"]' ORDER BY result DESC",
        )
        assert [value for row in kept for value in row] == pytest.approx(estimates)


def test_groups_that_are_lost_or_invented_are_counted(con: Connection) -> None:
    """The release says only the wing: the ward e, where nobody is, may be anybody's."""
    own(con, 'SELECT "wa rd", count(*) AS n FROM people GROUP BY "wa rd"')
    found = measured(con)
    assert (found["lost_groups"], found["invented_groups"], found["results"]) == (0, 1, 5)
    assert rows(con, "SELECT groups, actual, within FROM anon.query_error WHERE outcome = 'invented'") == [
        ('["e"]', None, None)
    ]
    con.execute("INSERT INTO people VALUES (25, 'f', 'flu', 1)")
    found = measured(con)
    assert (found["lost_groups"], found["invented_groups"]) == (1, 1)
    assert rows(con, "SELECT groups, estimated, within FROM anon.query_error WHERE outcome = 'lost'") == [
        ('["f"]', None, False)
    ]
    assert found["bounds_hit_rate"] == pytest.approx(4 / 5)


def test_results_that_are_zero_have_no_relative_error_and_are_counted_apart(con: Connection) -> None:
    own(con, "SELECT count(*) FROM people WHERE age = 20 AND disease = 'none'", "SELECT count(*) FROM people")
    found = measured(con)
    assert (found["zero_actual"], found["results"]) == (1, 2)
    assert rows(con, "SELECT relative_error, within FROM anon.query_error ORDER BY query_id") == [
        (None, True),
        (0, True),
    ]
    assert found["mean_relative_error"] == 0


def test_a_column_may_be_called_as_a_count_is(con: Connection) -> None:
    con.execute("CREATE TABLE n AS SELECT i % 5 AS n, i % 3 AS s FROM range(60) AS t(i)")
    con.execute("CREATE POLICY n ON n (n QUASI IDENTIFIER MAX LEVEL 0, s SENSITIVE) REQUIRE k_anonymity(k => 5)")
    con.execute("CREATE ANONYMIZED TABLE rn AS POLICY n METHOD generalization")
    own(con, "SELECT sum(n) AS n FROM n WHERE n > 1")
    con.execute("MEASURE rn WITH WORKLOAD own")
    assert rows(con, "SELECT actual, estimated, low, high FROM anon.query_error") == [(108, 108, 108, 108)]


def test_a_policy_on_a_query_is_called_by_its_name(con: Connection) -> None:
    con.execute(
        "CREATE POLICY young ON (SELECT age, disease FROM people WHERE age < 50) "
        "(age QUASI IDENTIFIER USING bands MIN LEVEL 1 MAX LEVEL 1, disease SENSITIVE) REQUIRE k_anonymity(k => 30)"
    )
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY young METHOD generalization")
    con.execute("CREATE WORKLOAD w ON POLICY young (queries => 3, dimensions => 1)")
    assert measured(con, "w")["bounds_hit_rate"] == 1
    own(con, "SELECT count(*) FROM young")
    measured(con)
    assert rows(con, "SELECT actual, estimated FROM anon.query_error WHERE workload = 'own'") == [(600, 600)]


def test_what_is_measured_again_is_replaced_and_goes_with_its_release(con: Connection) -> None:
    own(con, "SELECT count(*) FROM people")
    measured(con)
    measured(con)
    assert len(rows(con, "FROM anon.query_error")) == 1
    con.execute("DROP ANONYMIZED TABLE r")
    assert rows(con, "FROM anon.query_error") == []
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    measured(con)
    con.execute("DROP WORKLOAD own")
    assert rows(con, "FROM anon.query_error") == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT count(*) FROM nobody", "query 2: "),
        ("SELECT count(*) FROM people WHERE height > 3", "query 2: "),
        ("DELETE FROM people", "query 2 is not one SELECT"),
        ("SELECT count(*) FROM people WHERE age BETWEEN SYMMETRIC 3 AND 1", "query 2: the query cannot be read"),
        ("SELECT count(*) FROM people WHERE age > 'x'", "query 2: "),
    ],
)
def test_a_query_that_cannot_be_asked_is_named_and_nothing_is_stored(con: Connection, query: str, message: str) -> None:
    own(con, "SELECT count(*) FROM people", query)
    with pytest.raises(UserError, match=re.escape(message)):
        con.execute("MEASURE r WITH WORKLOAD own")
    assert rows(con, "FROM anon.query_error") == []


def test_no_release_and_no_workload(con: Connection) -> None:
    with pytest.raises(UserError, match="there is no workload other"):
        con.execute("MEASURE r WITH WORKLOAD other")
    with pytest.raises(UserError, match="no release"):
        con.execute("MEASURE other WITH WORKLOAD own")


@pytest.mark.long
def test_rows_that_do_not_repeat_are_asked_as_they_are(con: Connection) -> None:
    con.execute("CREATE TABLE lone AS SELECT i AS a, i % 7 AS s, i * 1.5 AS x FROM range(300) AS n(i)")
    con.execute("CREATE POLICY l ON lone (a QUASI IDENTIFIER, s SENSITIVE, x INSENSITIVE) REQUIRE k_anonymity(k => 5)")
    con.execute("CREATE ANONYMIZED TABLE rl AS POLICY l METHOD mondrian")
    queries = [
        "SELECT count(*) AS n FROM lone WHERE a BETWEEN 7 AND 120 AND s IN (1, 2)",
        "SELECT count(x) AS c, sum(x) AS x, avg(x) AS m, min(x) AS l, max(x) AS h FROM lone WHERE a < 50",
        "SELECT count(*) AS n FROM lone WHERE a > 1000 AND s = 1",
    ]
    own(con, *queries)
    con.execute("MEASURE rl WITH WORKLOAD own")
    found = rows(con, "SELECT query_id, actual, within FROM anon.query_error")
    assert all(within for _, _, within in found)
    for number, query in enumerate(queries, start=1):
        assert sorted(actual for one, actual, _ in found if one == number) == pytest.approx(
            sorted(map(float, rows(con, query)[0]))
        )


@pytest.mark.long
def test_of_queries_that_are_asked_at_once_the_one_that_is_refused_leaves_the_others(con: Connection) -> None:
    wrong = "SELECT count(*) FROM people WHERE age < 3e1 AND disease = 'flu'"
    others = [f"SELECT count(*) FROM people WHERE age < {age} AND disease = 'flu'" for age in (30, 31, 33, 41, 55, 62)]
    own(con, *others[:2], wrong, *others[2:])
    found = measured(con)
    assert (found["queries"], found["results"], found["not_estimated"]) == (7, 7, 1)
    assert rows(
        con,
        "SELECT query_id, actual, estimated, low, high, within, outcome FROM anon.query_error "
        "WHERE outcome <> 'estimated'",
    ) == [(3, rows(con, wrong)[0][0], None, None, None, None, "refused")]
    kept = "SELECT estimated, spread, low, high FROM anon.query_error WHERE outcome = 'estimated' ORDER BY query_id"
    expected = [figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE r"))[0] for query in others]
    assert [value for row in rows(con, kept) for value in row] == pytest.approx(
        [value for row in expected for value in row]
    )


def test_what_cannot_be_estimated_is_counted_and_ends_nothing(con: Connection) -> None:
    own(
        con,
        "SELECT count(*) AS n FROM people WHERE age < 40",
        "SELECT count(*) FROM people WHERE age > length(disease)",
        "SELECT disease, count(*) AS n, max(disease) AS m FROM people GROUP BY disease",
        "SELECT median(age) FROM people",
        "SELECT age FROM people",
        "SELECT count(DISTINCT age) FROM people",
        "SELECT disease, count(*) FROM people WHERE age + 1 > length(disease) AND age < 0 GROUP BY disease",
    )
    found = measured(con)
    assert (found["queries"], found["results"], found["not_estimated"]) == (7, 12, 11)
    assert found["bounds_hit_rate"] == 1
    assert rows(con, "SELECT query_id, result, actual IS NULL, outcome FROM anon.query_error ORDER BY ALL") == [
        (1, "n", False, "estimated"),
        (2, "count", False, "refused"),
        *[(3, "m", True, "refused")] * 3,
        *[(3, "n", False, "refused")] * 3,
        (4, "", True, "refused"),
        (5, "", True, "refused"),
        (6, "", True, "refused"),
        (7, "", True, "refused"),
    ]


@pytest.mark.long
@pytest.mark.parametrize("method", ["generalization", "mondrian", "anatomy(l => 2, variant => 'distinct')"])
def test_more_queries_than_a_word_has_bits(con: Connection, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Each has its own answer: 150 counts in three words, put together in one statement or in three."""
    con.execute(
        'CREATE OR REPLACE POLICY p ON people (age QUASI IDENTIFIER USING bands, "wa rd" QUASI IDENTIFIER USING wards, '
        "disease SENSITIVE) REQUIRE k_anonymity(k => 30)"
    )
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 150, dimensions => 2, selectivity => 0.2)")
    query = "SELECT query_id, sql, actual, estimated, spread, low, high FROM anon.query_error JOIN anon.workload "
    query += "USING (workload, query_id) ORDER BY query_id"
    measured(con, "w")
    found = rows(con, query)
    assert [row[0] for row in found] == list(range(1, 151))
    assert len({row[2] for row in found}) > 5
    for number, sql, actual, *figures_ in found:
        assert rows(con, sql) == [(actual,)]
        if number % 64 == 0:
            ((*own,),) = figures_of(con.sql(f"ESTIMATE {sql} FROM RELEASE r"))
            assert figures_ == pytest.approx(own, rel=1e-9, abs=1e-7)
    with sizes.replaced(max_words=1):
        measured(con, "w")
    again = rows(con, query)
    assert [row[:3] for row in again] == [row[:3] for row in found]
    assert all(row[3:] == pytest.approx(other[3:], rel=1e-9, abs=1e-7) for row, other in zip(again, found, strict=True))


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("values", "conditions"),
    [
        (
            "DATE '2020-01-27' + i::INTEGER",
            ["BETWEEN '2020-01-30' AND '2020-02-02'", "IN ('2020-01-28', '1999-12-31')"],
        ),
        ("i * 1000000000000000", ["IN (3000000000000000, -7)", "BETWEEN 0 AND 999999999999999999"]),
        ("i::DOUBLE / 2", ["IN (1, 2)", "BETWEEN 1 AND 3"]),
        ("(i / 4)::DECIMAL(4, 2)", ["IN (1)", "BETWEEN 0 AND 1"]),
        ("i::UTINYINT", ["IN (3, 300, -1)", "BETWEEN -5 AND 4"]),
        ("CASE WHEN i < 5 THEN 'it''s ' || i END", ["IN ('it''s 3', 'it''s 3', '')", "BETWEEN 'it' AND 'it''s 2'"]),
        ("[NULL, 'x', 'y'][1 + i % 3]::VARCHAR", ["IN ('x')", "BETWEEN 'x' AND 'xx'"]),
        (
            "TIMESTAMP '2020-01-01 00:00:00' + to_hours(i)",
            ["IN ('2020-01-01')", "BETWEEN '2020-01-01' AND '2020-01-02'"],
        ),
        ("CASE WHEN i % 2 = 0 THEN 'b' ELSE 'a' END::ENUM ('b', 'a')", ["IN ('a')", "IN ('a', 'b')"]),
        ("i::VARCHAR", ["IN (1, 2)", "IN ('1', '2')"]),
    ],
)
def test_constants_compare_as_they_do_in_the_query(con: Connection, values: str, conditions: list[str]) -> None:
    con.execute(f"CREATE TABLE typed AS SELECT ({values}) AS v, i % 3 AS s FROM range(10) AS t(i)")
    con.execute(
        "CREATE POLICY typed ON typed (v QUASI IDENTIFIER MAX LEVEL 0, s SENSITIVE) REQUIRE k_anonymity(k => 1)"
    )
    con.execute("CREATE ANONYMIZED TABLE rt AS POLICY typed METHOD generalization")
    queries = [f"SELECT count(*) AS n FROM typed WHERE v {condition} AND s IN (0, 1)" for condition in conditions]
    own(con, *queries, "SELECT avg(s) AS n FROM typed WHERE s IN (1, 2)")
    con.execute("MEASURE rt WITH WORKLOAD own")
    found = rows(con, "SELECT actual, estimated, within FROM anon.query_error ORDER BY query_id")
    true = [rows(con, query)[0][0] for query in queries]
    assert found[:-1] == [(actual, actual, True) for actual in true]
    assert found[-1] == (pytest.approx(1.5), pytest.approx(1.5), True)


@pytest.mark.parametrize("in_arrays", [0, 1 << 23])
@pytest.mark.parametrize("method", ["mondrian", "mondrian(bounds => true, publish => 'centroid')"])
def test_shares_of_the_greatest_numbers_are_unknown_to_both(method: str, in_arrays: int) -> None:
    """No DOUBLE tells the greatest HUGEINTs apart, so the numbers below such a label have no weight."""
    most = 2**127 - 1
    numbers = [most, most - 1, most - 4, -most, -most - 1, -most + 2, 0, 5, 7, 9]
    queries = {
        f"SELECT count(*) AS n FROM t WHERE v BETWEEN {low} AND {high}": sum(low <= v <= high for v in numbers)
        for low, high in ((most, most), (5, most), (-most, -1), (0, most - 1), (0, 100), (5, 7))
    }
    with connect() as con:
        con.duckdb.execute("CREATE TABLE t AS SELECT unnest($1)::HUGEINT AS v", [list(map(str, numbers))])
        con.execute("CREATE POLICY p ON t (v QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
        con.duckdb.executemany("INSERT INTO anon.workload VALUES ('own', ?, ?)", [*enumerate(queries)])
        with sizes.replaced(max_leaves_in_arrays=in_arrays):
            measured(con)
        figures_by_query = rows(
            con,
            "SELECT sql, actual, estimated, spread, low, high FROM anon.query_error "
            "JOIN anon.workload USING (workload, query_id)",
        )
        assert {sql: actual for sql, actual, *_ in figures_by_query} == queries
        for sql, actual, *figures_of_query in figures_by_query:
            ((*alone,),) = figures_of(con.sql(f"ESTIMATE {sql} FROM RELEASE r"))
            assert figures_of_query == alone, sql
            assert alone[2] <= actual <= alone[3]
        assert any(estimated is None for _, _, estimated, *_ in figures_by_query)


def test_what_is_done_is_told(con: Connection) -> None:
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 70, dimensions => 2)")
    con.duckdb.execute("INSERT INTO anon.workload VALUES ('w', 100, 'SELECT disease, count(*) FROM people GROUP BY 1')")
    told: list[tuple[str, int, int]] = []
    engine = DuckDBEngine(con.duckdb)
    release = releases.load(engine, QualifiedName(("r",)))
    measure(engine, release, "w", lambda stage, done, total, detail=None: told.append((stage, done, total)))
    for stage in ("estimate", "ask the source"):
        steps = [done for one, done, total in told if one == stage and total == 71]
        assert steps == sorted(steps)
        assert (steps[0], steps[-1]) == (0, 70)
    assert {stage for stage, _, _ in told} == {"estimate", "ask the source"}


def test_the_share_of_results_within_two_spreads_is_that_of_the_rows(con: Connection) -> None:
    con.execute("UPDATE people SET age = 20 WHERE age < 50 AND disease = 'flu'")
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    con.execute("CREATE WORKLOAD drawn ON POLICY p (queries => 40, dimensions => 2)")
    figure = measured(con, "drawn")["within_2_spreads"]
    results = rows(con, "SELECT actual, estimated, spread FROM anon.query_error WHERE spread IS NOT NULL")
    within = [abs(estimated - actual) <= 2 * spread + 1e-9 for actual, estimated, spread in results]
    assert figure == pytest.approx(sum(within) / len(within))
    assert 0 < figure < 1


def test_results_without_a_spread_are_not_among_those_within_two(con: Connection) -> None:
    own(con, "SELECT min(days) AS least FROM people", "SELECT count(*) AS n FROM people WHERE disease = 'flu'")
    assert measured(con)["within_2_spreads"] == 1
    own(con, "SELECT min(days) AS least FROM people")
    assert measured(con)["within_2_spreads"] is None


@pytest.mark.parametrize(
    ("queries", "number"),
    [
        (["SELECT count(*) FROM t WHERE a ==== 1", "SELECT count(*) FROM other"], 0),
        (["SELECT count(*) AS n FROM t WHERE a IN (1)", "SELECT count(*) AS n FROM other WHERE a IN (2)"], 1),
        (["SELECT count(*) AS n FROM t", "SELECT count(*) AS n FROM t WHERE a IN (1) AND a ==== 1"], 1),
    ],
)
def test_the_first_query_that_cannot_be_asked_is_named(queries: list[str], number: int) -> None:
    with connect() as con:
        con.execute(
            "CREATE TABLE t AS SELECT i % 3 AS a FROM range(30) r(i); "
            "CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2); "
            "CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian"
        )
        con.duckdb.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [*enumerate(queries)])
        with pytest.raises(UserError, match=f"workload w, query {number}: "):
            con.execute("MEASURE r WITH WORKLOAD w")
