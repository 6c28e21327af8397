"""MEASURE of all figures: three in words, compared with the rows and with a naive attack, and a meaning for each."""

from __future__ import annotations

import io
import re
from fractions import Fraction

import pytest

import sqlanon
from sqlanon import Connection
from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.scripts import ScriptRun
from tests.oracles.attacks import homogeneity, mean

SETUP = """
    CREATE TABLE people AS SELECT 20 + (i * 7) % 40 AS age, i % 2 AS sex,
        CASE WHEN i % 11 = 0 THEN NULL ELSE 'ill ' || (i * i) % 5 END AS ill, i % 3 AS bill FROM range(240) AS t(i);
    CREATE HIERARCHY bands AS INTERVALS (5, 10);
    CREATE POLICY p ON people (age QUASI IDENTIFIER USING bands, sex QUASI IDENTIFIER, ill SENSITIVE, bill SENSITIVE)
    REQUIRE k_anonymity(k => 4);
"""
IN_WORDS = ["smallest_class", "surest_guess", "count_error"]


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute(SETUP)
    return connection


def in_words(con: Connection, release: str) -> dict[str, tuple[str | None, float | None, str]]:
    rows = con.execute(f"MEASURE {release}").fetchall()
    assert [figure for _, figure, *_ in rows[:3]] == IN_WORDS
    return {figure: (attribute, value, meaning) for _, figure, attribute, value, meaning in rows[:3]}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", ["generalization(suppression => 0.1)", "mondrian"])
def test_the_three_figures_are_those_of_the_rows(con: Connection, method: str) -> None:
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    told = in_words(con, "r")
    lists = {column: f"SELECT list({column}) FROM r GROUP BY age, sex" for column in ("ill", "bill")}
    classes = {column: [row[0] for row in con.duckdb.execute(query).fetchall()] for column, query in lists.items()}
    least = min(map(len, classes["ill"]))
    assert told["smallest_class"] == (
        None,
        least,
        f"a reader who knows somebody's other columns is left with {least} rows or more",
    )
    guesses = {column: [homogeneity(values) for values in classes[column]] for column in classes}
    surest = max(guesses, key=lambda column: max(guesses[column]))
    highest, average = max(guesses[surest]), mean(classes[surest], guesses[surest])
    attribute, value, meaning = told["surest_guess"]
    assert (attribute, value) == (surest, pytest.approx(float(highest)))
    said = re.fullmatch(
        rf"a reader who knows somebody's other columns guesses {surest} right with (\S+) % at most, "
        r"with (\S+) % in the mean",
        meaning,
    )
    assert said
    assert [Fraction(number) / 100 for number in said.groups()] == [
        pytest.approx(float(share), rel=0.06) for share in (highest, average)
    ]


def test_counts_are_right_where_nothing_is_generalized(con: Connection) -> None:
    con.execute("""
        CREATE OR REPLACE POLICY exact ON people (sex QUASI IDENTIFIER, bill SENSITIVE) REQUIRE k_anonymity(k => 4);
        CREATE OR REPLACE ANONYMIZED TABLE as_is AS POLICY exact METHOD generalization(suppression => 0)""")
    attribute, value, meaning = in_words(con, "as_is")["count_error"]
    assert (attribute, value) == (None, 0)
    assert re.fullmatch(r"a count of rows by 2 columns is off by 0 % in the median of \d+ random counts", meaning)


def test_a_figure_that_is_not_there_has_a_reason(con: Connection) -> None:
    con.execute("""
        CREATE TABLE gone AS FROM people;
        CREATE OR REPLACE POLICY known ON gone (age QUASI IDENTIFIER USING bands) REQUIRE k_anonymity(k => 4);
        CREATE OR REPLACE ANONYMIZED TABLE alone AS POLICY known METHOD mondrian;
        DROP TABLE gone""")
    told = in_words(con, "alone")
    assert told["surest_guess"] == (None, None, "not known: no column is sensitive")
    assert told["count_error"][:2] == (None, None)
    assert told["count_error"][2].startswith("not known: ")
    assert told["smallest_class"][1] is not None


@pytest.mark.long
def test_each_figure_has_a_meaning_and_a_terminal_begins_with_the_three(con: Connection) -> None:
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD mondrian")
    rows = con.execute("MEASURE r").fetchall()
    assert all(meaning for *_, meaning in rows)
    of_name = {figure: meaning for _, figure, _, _, meaning in rows}
    assert len({*of_name.values()}) == len(of_name)
    out = io.StringIO()
    assert ScriptRun(con, Output(_stdout=out, _stderr=io.StringIO())).run("MEASURE r;", "script.sql")
    first, others = out.getvalue().strip().split("\n\n")
    assert [line.split("|")[1].strip() for line in first.splitlines()[2:]] == IN_WORDS
    assert len(others.splitlines()) == len(rows) - 3 + 2
    # Asked for by name, figures are as they were.
    assert len(con.execute("MEASURE r WITH FIGURES (gain)").fetchall()[0]) == 4


@pytest.mark.parametrize("surest", ["NULL", "NULL and values", "values", "half"])
def test_a_guess_that_a_value_is_missing_is_told_as_such(surest: str) -> None:
    """Four classes of ten rows; a class of `surest` has one value, or NULL, in nine rows or in five."""
    missing = {"NULL": (0, 1), "NULL and values": (0,), "values": (), "half": (0, 1)}[surest]
    rows = [
        (group, (None if group in missing else "flu") if i < (5 if surest == "half" else 9) else f"ill {i}")
        for group in range(2)
        for i in range(10)
    ] + [(group, f"ill {i % 3}") for group in (2, 3) for i in range(10)]
    with sqlanon.connect(config={"threads": "1"}) as con:
        con.execute('CREATE TABLE people (ward INT, "il""l" VARCHAR)')
        con.duckdb.executemany("INSERT INTO people VALUES (?, ?)", rows)
        con.execute("""
            CREATE POLICY p ON people (ward QUASI IDENTIFIER, "il""l" SENSITIVE) REQUIRE k_anonymity(k => 10);
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian""")
        meaning = in_words(con, "r")["surest_guess"][2]
    told = {
        "NULL": 'guesses that il"l is missing (NULL) right with 90 %',
        "NULL and values": 'guesses il"l (in 50 % of these rows that it is missing, NULL) right with 90 %',
        "values": 'guesses il"l right with 90 %',
        "half": 'guesses il"l right with 50 %',
    }
    assert told[surest] in meaning
