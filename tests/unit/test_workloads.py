"""CREATE and DROP WORKLOAD: what the queries ask about, how much they let through, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sqlanon import Connection, PolicyError, UserError
from sqlanon.catalog import workloads
from sqlanon.domain.workload import WorkloadOptions
from sqlanon.engines.duckdb import DuckDBEngine
from tests.support.database import template

SOURCE = """
CREATE TABLE people AS SELECT
    20 + (hash(i) % 60)::INTEGER AS age, 'z' || (hash(i, 1) % 500) AS "z'ip", ['m', 'f', NULL][i % 3 + 1] AS "se""x",
    ['flu', 'co''ld', 'asthma', 'ulcer'][(hash(i, 2) % 4)::INTEGER + 1] AS disease, CAST(i % 7 AS DOUBLE) AS days
FROM range(4000) AS n(i);
CREATE POLICY p ON people (
    age QUASI IDENTIFIER, "z'ip" QUASI IDENTIFIER, "se""x" QUASI IDENTIFIER, disease SENSITIVE, days INSENSITIVE
) REQUIRE k_anonymity(k => 2);
"""
QUASI = ['"age"', '"z\'ip"', '"se""x"']


@pytest.fixture
def con() -> Connection:
    return template(SOURCE)


def queries(con: Connection, name: str = "w") -> dict[int, str]:
    return dict(workloads.load(DuckDBEngine(con.duckdb), name))


def answer(con: Connection, query: str) -> Any:
    return con.duckdb.execute(query).fetchall()[0][0]


def test_a_query_asks_about_some_quasi_identifiers_and_a_sensitive_attribute(con: Connection) -> None:
    assert con.sql("CREATE WORKLOAD w ON POLICY p (queries => 60, dimensions => 2)").fetchall() == [
        ("CREATE WORKLOAD", "w", "60 queries")
    ]
    found = queries(con)
    assert list(found) == list(range(1, 61))
    asked = [
        frozenset(name for name in QUASI if f"{name} IN" in text or f"{name} BETWEEN" in text)
        for text in found.values()
    ]
    assert set(asked) == {frozenset(QUASI) - {name} for name in QUASI}
    assert all(text.startswith('SELECT count(*) AS n FROM "people" WHERE ') for text in found.values())
    assert all(text.count('"disease" IN (') == 1 for text in found.values())
    assert len(set(found.values())) > 50


@pytest.mark.parametrize("dimensions", [1, 3])
def test_predicates_name_as_many_values_as_the_selectivity_asks_for(con: Connection, dimensions: int) -> None:
    con.execute(f"CREATE WORKLOAD w ON POLICY p (queries => 40, dimensions => {dimensions}, selectivity => 0.1)")
    known = {'"age"': 60, '"se""x"': 2, '"disease"': 4}
    for text in queries(con).values():
        for name, values in known.items():
            for listed in re.findall(re.escape(name) + r" IN \(([^)]*)\)", text):
                named = listed.split(", ")
                assert len(set(named)) == len(named) == WorkloadOptions(selectivity=0.1).values(values, dimensions + 1)  # type: ignore[arg-type]
        for low, high in re.findall(r"BETWEEN '(.*?)' AND '(.*?)'", text):
            between = f"SELECT count(DISTINCT \"z'ip\") FROM people WHERE \"z'ip\" BETWEEN '{low}' AND '{high}'"
            assert answer(con, between) == WorkloadOptions(selectivity=0.1).values(500, dimensions + 1)  # type: ignore[arg-type]


def test_queries_let_through_about_the_share_that_is_asked_for(con: Connection) -> None:
    """Of columns that are uniform and independent; few values make a predicate let through more."""
    con.execute(
        "CREATE TABLE flat AS SELECT i % 50 AS a, (i // 50) % 40 AS b, (i // 2000) % 30 AS s FROM range(60000) AS n(i)"
    )
    con.execute(
        "CREATE POLICY flat ON flat (a QUASI IDENTIFIER, b QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    con.execute("CREATE WORKLOAD f ON POLICY flat (queries => 30, dimensions => 2, selectivity => 0.05)")
    expected = 1.0
    for values in (50, 40, 30):
        expected *= WorkloadOptions().values(values, 3) / values
    counts = {answer(con, text) for text in queries(con, "f").values()}
    assert counts == {round(60000 * expected)}


def test_the_seed_decides(con: Connection) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        con.execute(f"CREATE WORKLOAD {name} ON POLICY p (queries => 20, dimensions => 2, seed => {seed})")
    assert queries(con, "a") == queries(con, "b") != queries(con, "c")


def test_sums_and_averages_are_of_a_number(con: Connection) -> None:
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 3, dimensions => 1, aggregate => 'avg', of => Days)")
    for text in queries(con).values():
        assert text.startswith('SELECT avg("days") AS n FROM "people" WHERE ')
        assert 0 <= answer(con, text) <= 6


def test_a_policy_on_a_query_without_a_sensitive_attribute(con: Connection) -> None:
    con.execute(
        "CREATE POLICY q ON (SELECT age FROM people -- all\n) (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)"
    )
    con.execute("CREATE WORKLOAD w ON POLICY q (queries => 3, dimensions => 1, selectivity => 1)")
    con.execute("CREATE VIEW q AS SELECT age FROM people")
    assert {answer(con, text) for text in queries(con).values()} == {4000}


def test_a_workload_is_kept_replaced_and_dropped(con: Connection) -> None:
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 3, dimensions => 1)")
    with pytest.raises(UserError, match="exists already"):
        con.execute("CREATE WORKLOAD W ON POLICY p")
    assert con.sql("CREATE WORKLOAD IF NOT EXISTS w ON POLICY p").fetchall()[0][2] == "exists"
    assert len(queries(con)) == 3
    con.execute("CREATE OR REPLACE WORKLOAD w ON POLICY p (queries => 2, dimensions => 1)")
    assert len(queries(con)) == 2
    assert con.sql("DROP WORKLOAD w").fetchall()[0][2] == "dropped"
    assert con.sql("DROP WORKLOAD IF EXISTS w").fetchall()[0][2] == "absent"
    with pytest.raises(UserError, match="there is no workload w"):
        con.execute("DROP WORKLOAD w")


def test_rows_of_the_user_count_and_are_checked(con: Connection) -> None:
    con.execute("INSERT INTO anon.workload VALUES ('own', 2, 'SELECT sum(days) FROM people'), ('own', 1, 'SELECT 1')")
    assert workloads.load(DuckDBEngine(con.duckdb), "OWN") == [(1, "SELECT 1"), (2, "SELECT sum(days) FROM people")]
    con.execute("INSERT INTO anon.workload VALUES ('own', 1, 'SELECT 2')")
    with pytest.raises(UserError, match="query 1 has two rows"):
        queries(con, "own")
    con.execute("INSERT INTO anon.workload VALUES ('two', 1, 'SELECT 1; DROP TABLE people')")
    with pytest.raises(UserError, match="query 1 is not one SELECT"):
        queries(con, "two")
    with pytest.raises(UserError, match="there is no workload none"):
        queries(con, "none")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("dimensions => 4", "has 3 quasi-identifiers"),
        ("dimensions => 0", "dimensions is 0, and at least 1"),
        ("queries => 1000000", "at most 100000"),
        ("queries => 1.5", "queries is a whole number"),
        ("seed => true", "seed is a whole number"),
        ("selectivity => 0", "a share above 0"),
        ("selectivity => 1.1", "a share above 0"),
        ("aggregate => 'max'", "there is no aggregate 'max'"),
        ("aggregate => 'sum'", "needs a column"),
        ("of => days", "needs a column"),
        ("dimensions => 1, aggregate => 'sum', of => disease", "disease is not a number"),
        ("dimensions => 1, aggregate => 'sum', of => other", "other is not a number"),
        ("dimensions => 1, of => 5, aggregate => 'sum'", "of must be the name of a column"),
        ("sqlectivity => 0.1", "no argument 'sqlectivity'"),
    ],
)
def test_what_a_workload_does_not_take(con: Connection, arguments: str, message: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(message)):
        con.execute(f"CREATE WORKLOAD w ON POLICY p ({arguments})")
    assert con.duckdb.execute("SELECT count(*) FROM anon.workload").fetchall() == [(0,)]


def test_a_source_without_values_is_refused(con: Connection) -> None:
    con.execute("CREATE TABLE none (a INTEGER, s INTEGER)")
    con.execute("CREATE POLICY none ON none (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match="none has no column with a value to ask about"):
        con.execute("CREATE WORKLOAD w ON POLICY none")
    with pytest.raises(PolicyError, match="none has 0 quasi-identifiers"):
        con.execute("CREATE WORKLOAD w ON POLICY none (dimensions => 1)")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("attributes", "asked"),
    [
        ("a QUASI IDENTIFIER, b QUASI IDENTIFIER, c QUASI IDENTIFIER, s SENSITIVE", {"abcs"}),
        ("a QUASI IDENTIFIER, s SENSITIVE", {"as"}),
        ("a QUASI IDENTIFIER", {"a"}),
        ("s SENSITIVE, a INSENSITIVE, b INSENSITIVE, d IDENTIFIER", {"abs"}),
        ("a INSENSITIVE, b INSENSITIVE, d IDENTIFIER", {"ab"}),
        ("empty QUASI IDENTIFIER, listed QUASI IDENTIFIER, a QUASI IDENTIFIER, s SENSITIVE", {"as"}),
        (
            "a QUASI IDENTIFIER, b QUASI IDENTIFIER, c QUASI IDENTIFIER, d QUASI IDENTIFIER, e QUASI IDENTIFIER, "
            "s SENSITIVE",
            {"abcds", "abces", "abdes", "acdes", "bcdes"},
        ),
    ],
)
def test_the_defaults_fit_every_policy(con: Connection, attributes: str, asked: set[str]) -> None:
    con.execute(
        "CREATE TABLE plain AS SELECT i % 3 AS a, i % 5 AS b, i % 2 = 0 AS c, i AS d, i % 4 AS e, i % 7 AS s, "
        "NULL::INTEGER AS empty, [i % 2] AS listed FROM range(60) AS n(i)"
    )
    asks = "REQUIRE k_anonymity(k => 2)" if "QUASI" in attributes else "CONFIDENTIAL (a, b)"
    con.execute(f"CREATE POLICY fits ON plain ({attributes}) {asks}")
    con.execute("CREATE WORKLOAD w ON POLICY fits (queries => 60)")
    found = {"".join(sorted(re.findall(r'"(\w+)" (?:IN|BETWEEN)', text))) for text in queries(con).values()}
    assert found == asked
    assert all(isinstance(answer(con, text), int) for text in queries(con).values())


def test_a_policy_that_publishes_nothing_to_ask_about_is_refused(con: Connection) -> None:
    con.execute("CREATE TABLE nested AS SELECT [i] AS a, {'b': i} AS b, i AS c FROM range(5) AS n(i)")
    con.execute("CREATE POLICY n ON nested (a QUASI IDENTIFIER, b SENSITIVE, c IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match="n has no column with a value to ask about"):
        con.execute("CREATE WORKLOAD w ON POLICY n")


def test_an_enum_has_no_order_to_ask_about(con: Connection) -> None:
    values = ", ".join(f"'v{number}'" for number in range(150))
    con.execute(f"CREATE TABLE sized AS SELECT ('v' || i % 150)::ENUM ({values}) AS e, i % 3 AS s FROM range(300) n(i)")
    con.execute("CREATE POLICY e ON sized (e QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE WORKLOAD w ON POLICY e (queries => 5)")
    assert all(' "e" IN (' in text for text in queries(con).values())


def test_numbers_that_are_no_literals_are_written_so_that_they_are_read_back(con: Connection) -> None:
    con.execute(
        "CREATE TABLE odd AS SELECT unnest([-1.5, 1e300, -3e-200, 'inf', '-inf', 'nan']::DOUBLE[]) AS a, 1 AS s"
    )
    con.execute("CREATE POLICY odd ON odd (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE WORKLOAD w ON POLICY odd (queries => 5, dimensions => 1, selectivity => 1)")
    assert {answer(con, text) for text in queries(con).values()} == {6}
