"""The page of a policy: its columns and requirements, and its hierarchies as they are drawn."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon import Connection, PolicyError
from sqlanon.clients.terminal.cli import app
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.export.report import charts
from sqlanon.export.report.policy_page import policy_page
from tests.support.database import template
from tests.support.html_page import Page

SETUP = """
CREATE TABLE people AS
SELECT i AS age, ['x<y', 'b', NULL][1 + i % 3] AS "the job", i % 2 AS ill FROM range(100) AS t(i);
CREATE HIERARCHY decades AS INTERVALS (10, 50);
CREATE HIERARCHY jobs AS LEVELS (
    SELECT * FROM (VALUES ('x<y', 'work'), ('b', 'work'), ('monk', 'other')) AS t(job, kind)
);
CREATE POLICY p ON people (
    age QUASI IDENTIFIER USING decades MAX LEVEL 2, "the job" QUASI IDENTIFIER USING jobs, ill SENSITIVE
) REQUIRE k_anonymity(k => 4);
"""


@pytest.fixture(autouse=True)
def _without_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "_scripts", lambda: ("0;",))


def connected() -> Connection:
    return template(SETUP)


def page_of(con: Connection, name: str) -> Page:
    return Page(policy_page(DuckDBEngine(con.duckdb), name))


def test_columns_and_requirements_are_those_of_the_policy() -> None:
    page = page_of(connected(), "p")
    assert [row[:3] for row in page.table("Columns of")] == [
        ["age", "quasi-identifier", "decades"],
        ["the job", "quasi-identifier", "jobs"],
        ["ill", "sensitive", None],
    ]
    assert "k_anonymity(k => 4)" in page.text
    # A policy that names no ENTITY has no other respondents.
    assert "respondents" in page.text
    assert "Each row counts as a respondent, since the policy names no ENTITY." in page.text
    assert 'CREATE POLICY "p" ON' in page.text


def test_labels_are_as_wide_as_there_are_values_below_them() -> None:
    page = page_of(connected(), "p")
    ages = page.table("Values: Labels of age")
    assert ages[:3] == [["level 3, not allowed", "*", 100], ["level 2", "[0,50)", 50], ["level 2", "[50,100)", 50]]
    # In the order of the values, not of the texts; the values themselves are not there.
    assert ages[3:] == [["level 1", f"[{low},{low + 10})", 10] for low in range(0, 100, 10)]
    jobs = page.table("Values: Labels of the job")
    # Work stands together, whatever is between its values; the NULL of the source has no label.
    assert jobs[0] == ["level 2", "*", 4]
    assert {(level, label, n) for level, label, n in jobs[1:4]} == {
        ("level 1", "work", 2),
        ("level 1", "other", 1),
        ("level 1", "NULL, no value", 1),
    }
    assert {row[1] for row in jobs if row[0] == "level 0"} == {"x<y", "b", "monk", "NULL, no value"}
    for chart in page.charts:
        values = chart["data"]["values"]
        whole = values[0]["end"]
        for level in {row["level"] for row in values}:
            blocks = [(row["start"], row["end"]) for row in values if row["level"] == level]
            assert blocks[0][0] == 0
            assert blocks[-1][1] == whole
            assert all(end == start for (_, end), (start, _) in pairwise(blocks))


def test_a_level_of_many_labels_is_not_drawn() -> None:
    con = connected()
    con.execute("CREATE TABLE many AS SELECT i AS n FROM range(10_000) AS t(i)")
    con.execute("CREATE HIERARCHY fine AS INTERVALS (10, 1000)")
    con.execute("CREATE POLICY q ON many (n QUASI IDENTIFIER USING fine) REQUIRE k_anonymity(k => 4)")
    rows = page_of(con, "q").table("Values: Labels of n")
    assert [row[0] for row in rows] == ["level 3", *["level 2"] * 10]
    con.execute("CREATE HIERARCHY finest AS INTERVALS (10)")
    con.execute("CREATE POLICY s ON many (n QUASI IDENTIFIER USING finest) REQUIRE k_anonymity(k => 4)")
    assert page_of(con, "s").table("Values: Labels of n") == [["level 2", "*", 10_000]]


def test_an_empty_source_and_a_policy_without_hierarchies() -> None:
    con = connected()
    con.execute("DELETE FROM people")
    assert page_of(con, "p").table("Values: Labels of age") == [["level 3, not allowed", "*", 0]]
    con.execute("CREATE POLICY bare ON people (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 4)")
    assert "No column has a hierarchy" in page_of(con, "bare").text
    with pytest.raises(PolicyError, match="there is no policy"):
        page_of(con, "nobody")


@pytest.mark.long
def test_the_command_writes_it(tmp_path: Path) -> None:
    database, target = tmp_path / "d.duckdb", tmp_path / "policy.html"
    with sqlanon.connect(str(database)) as con:
        con.execute(SETUP)

    def run(*more: str) -> tuple[str, str]:
        ran = CliRunner().invoke(app, ["policy", "p", "-o", str(target), "--database", str(database), *more])
        assert ran.exit_code == 0
        return ran.stdout, ran.stderr

    assert run() == ("", f"wrote {target}\n")
    assert "level 1" in target.read_text(encoding="utf-8")
    assert run("--quiet") == ("", "")
    assert json.loads(run("--json")[0]) == {"policy": str(target)}
    ran = CliRunner().invoke(app, ["policy", "p", "-o", str(database), "--database", str(database)])
    assert ran.exit_code == 2
    ran = CliRunner().invoke(app, ["policy", "nobody", "-o", str(target), "--database", str(database)])
    assert ran.exit_code == 2


def test_rows_are_no_respondents_where_the_policy_names_them() -> None:
    con = connected()
    con.execute("CREATE POLICY q ON people (age ENTITY, ill QUASI IDENTIFIER) REQUIRE k_anonymity(k => 4)")
    text = page_of(con, "q").text
    assert "respondents" in text
    assert "Each row counts" not in text
