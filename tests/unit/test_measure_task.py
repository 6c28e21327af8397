"""MEASURE WITH TASK: what it answers, what it refuses, and in which words."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sqlanon
from sqlanon import Connection, PolicyError, UserError
from sqlanon.errors import StatementError
from tests.support.ratings import RATINGS, films, rated

NAMES = ["ratings", "rank", "rmse_baseline", "rmse_source", "rmse_release"]
TASK = "kind => 'ratings', rank => 1"
METHOD = (
    "slicing(l => 2, variant => 'distinct', columns => 3, sensitive_attributes => 1, similarity => 'equal_ratings', "
    "grouping => 'random', bucket_size => 3)"
)


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = rated([*RATINGS, *((f"u{i}", "S", 1 + i % 3) for i in range(1, 7))])
    films(connection, "S")
    connection.execute(f"CREATE ANONYMIZED TABLE sliced AS POLICY films METHOD {METHOD}")
    return connection


def measured(con: Connection, arguments: str, release: str = "sliced") -> dict[str, float]:
    rows = con.execute(f"MEASURE {release} WITH TASK ({arguments})").fetchall()
    assert {(name, attribute) for name, _, attribute, _ in rows} == {(f"main.{release}", None)}
    return {figure: value for _, figure, _, value in rows}


def test_it_answers_with_the_errors_of_means_source_and_release(con: Connection) -> None:
    figures = measured(con, TASK)
    assert list(figures) == NAMES
    assert (figures["ratings"], figures["rank"]) == (26, 1)
    assert figures["rmse_source"] < figures["rmse_baseline"]
    recorded = con.duckdb.execute("SELECT figure, value FROM anon.release_figure").fetchall()
    assert dict(recorded) == figures


def test_the_seed_says_how_columns_are_linked(con: Connection) -> None:
    """DuckDB adds up in the order in which its threads are done, so the last digits may differ from run to run."""

    def error(seed: int) -> str:
        return f"{measured(con, f'{TASK}, seed => {seed}')['rmse_release']:.12g}"

    errors = {seed: error(seed) for seed in range(8)}
    assert len(set(errors.values())) > 1
    assert error(3) == errors[3]


@pytest.mark.parametrize(
    ("arguments", "words", "hint"),
    [
        ("kind => 'rating', rank => 1", "there is no kind", "did you mean ratings?"),
        ("rank => 1", "TASK lacks its kind", "write kind => 'learning' or kind => 'ratings'"),
        (f"{TASK}, sed => 1", "TASK has no argument 'sed'", "did you mean seed?"),
        (f"{TASK}, target => 1", "TASK has no argument 'target'", "it has: kind, rank, seed"),
        ("kind => 'ratings', rank => 0", "rank must be a whole number from 1 on", "write rank => 10"),
        ("kind => 'ratings', rank => 1.5", "rank must be a whole number from 1 on", "write rank => 10"),
        ("kind => 'ratings', rank => 5", "6 respondents and 5 items", "the rank is below both numbers"),
        ("kind => 'ratings', rank => 1, seed => -1", "seed must be a whole number from 0 to", "write seed => 1"),
    ],
)
def test_what_it_does_not_take_is_said(con: Connection, arguments: str, words: str, hint: str) -> None:
    with pytest.raises(UserError, match=words) as error:
        measured(con, arguments)
    assert error.value.hint == hint


def test_other_releases_are_refused(con: Connection) -> None:
    con.execute("CREATE POLICY plain ON ratings (item QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE plain AS POLICY plain METHOD generalization")
    with pytest.raises(PolicyError, match="was not made of ratings: its policy has no PIVOT"):
        measured(con, TASK, "plain")


def test_ratings_that_are_no_numbers_are_refused() -> None:
    with rated(RATINGS) as con:
        films(con, "D", source="(SELECT respondent, item, 'r' || rating AS rating FROM ratings)")
        con.execute(
            "CREATE ANONYMIZED TABLE sliced AS POLICY films METHOD "
            "slicing(l => 2, variant => 'distinct', grouping => 'random') COLUMNS EACH"
        )
        with pytest.raises(PolicyError, match="its ratings are VARCHAR, and only numbers have an error"):
            measured(con, TASK)


@pytest.mark.parametrize("text", ["WITH TASK", "WITH TASK ()", "WITH TASK (3)", "WITH TASK kind => 'ratings'"])
def test_what_cannot_be_read_is_refused(con: Connection, text: str) -> None:
    with pytest.raises(StatementError):
        con.execute(f"MEASURE sliced {text}")


@pytest.mark.long
def test_without_scipy_it_says_what_to_install() -> None:
    program = """
import sys
sys.modules["scipy"] = None
import sqlanon
con = sqlanon.connect()
con.execute("CREATE TABLE t AS SELECT 1 AS a FROM range(4)")
con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
try:
    con.execute("MEASURE r WITH TASK (kind => 'ratings')")
except sqlanon.UserError as error:
    print(error.hint)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.stdout == "pip install 'sqlanon[tasks]'\n", ran.stderr


def test_a_release_is_measured_in_a_transaction() -> None:
    with rated([*RATINGS, *((f"u{i}", "S", 1 + i % 3) for i in range(1, 7))]) as con:
        films(con, "S")
        con.execute("BEGIN")
        con.execute(f"CREATE ANONYMIZED TABLE sliced AS POLICY films METHOD {METHOD}")
        assert list(measured(con, TASK)) == NAMES
        con.execute("ROLLBACK")
        assert not con.duckdb.execute("SELECT * FROM duckdb_tables() WHERE table_name LIKE '%sqlanon%'").fetchall()


@pytest.mark.long
def test_a_name_in_another_schema_is_found() -> None:
    with sqlanon.connect() as con:
        con.execute('CREATE SCHEMA "it\'s"')
        con.execute(
            "CREATE TABLE ratings AS SELECT i // 3 AS who, 'f' || i % 3 AS film, i % 4 AS stars FROM range(90) AS r(i)"
        )
        con.execute(
            "CREATE POLICY films ON ratings PIVOT film VALUES stars (who IDENTIFIER, f2 SENSITIVE) "
            "REQUIRE k_anonymity(k => 2)"
        )
        con.execute(
            'CREATE ANONYMIZED TABLE "it\'s"."a b" AS POLICY films METHOD '
            "slicing(l => 2, variant => 'distinct', grouping => 'random') COLUMNS EACH"
        )
        assert con.execute(f'MEASURE "it\'s"."a b" WITH TASK ({TASK})').fetchall()
