"""What figures about buckets and groups rest on is said by EXPLAIN, CHECK and the certificate, and breaks nobody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sqlanon import Connection
from sqlanon.clients.terminal.cli import app
from tests.support.database import template

SOURCE = """
CREATE TABLE visits AS SELECT 20 + i % 7 AS age, i AS zip, ['flu', 'gout', 'cold'][1 + i % 3] AS disease,
    i % 4 AS ward FROM range(60) AS t(i);
CREATE POLICY p ON visits (age QUASI IDENTIFIER, zip QUASI IDENTIFIER, DISEASE SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE POLICY two ON visits (age QUASI IDENTIFIER, disease SENSITIVE, Ward SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE POLICY apart ON visits (zip QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (zip, disease);
"""
# The columns that it is about, or that there is no such assumption.
RESTS: dict[tuple[str, str], str | None] = {
    ("p", "anatomy(l => 2)"): "disease",
    ("p", "anatomy(l => 2, grouping => 'near')"): "disease",
    ("two", "anatomy(l => 2)"): "disease, ward",
    ("p", "mondrian(publish => 'none')"): "disease",
    ("two", "mondrian(publish => 'none')"): "disease, ward",
    ("apart", "loose(k => 2)"): None,
}
DOES_NOT = [
    ("p", "mondrian"),
    ("p", "mondrian(publish => 'centroid')"),
    ("p", "generalization(recoding => 'local')"),
    ("apart", "fragments"),
]


@pytest.fixture
def con() -> Connection:
    return template(SOURCE)


def assumptions(con: Connection, policy: str, method: str) -> list[str]:
    explained = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY {policy} METHOD {method}").fetchall()
    return [detail for stage, item, detail in explained if (stage, item) == ("resolve", "assumption")]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("policy", "method"), RESTS)
def test_a_release_says_that_it_rests_on_random_worlds(con: Connection, policy: str, method: str) -> None:
    about = RESTS[policy, method]
    (said,) = assumptions(con, policy, method)
    assert "equally likely (random worlds)" in said
    assert "does not hide" in said
    assert said.startswith(f"of {about}: Each" if about else "Each")
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY {policy} METHOD {method}")
    *asked, rests = con.execute("CHECK r").fetchall()
    assert rests == ("main.r", "assumes_random_worlds", about, None, None, True)
    assert asked
    assert all(row[3] is not None for row in asked)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("policy", "method"), DOES_NOT)
def test_others_do_not(con: Connection, policy: str, method: str) -> None:
    assert assumptions(con, policy, method) == []
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY {policy} METHOD {method}")
    assert not [row for row in con.execute("CHECK r").fetchall() if row[1].startswith("assumes_")]


def test_no_reader_of_check_takes_it_for_a_violation(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 3)")
    verdict = con.sql("CHECK r").aggregate("bool_and(satisfied), count(*) FILTER (NOT satisfied)").fetchall()
    assert verdict == [(True, 0)]
    assert all(row[-1] for row in con.execute("CHECK r").fetchall())
    assert con.sql("CHECK r").df()["satisfied"].all()
    # What is recorded of the release, and what EXPORT compares with, is what was measured.
    assert con.duckdb.execute("SELECT count(*) FROM anon.measurement WHERE required IS NOT NULL").fetchall() == [(2,)]


def run(text: str, *arguments: str) -> tuple[int, str, list[Any]]:
    done = CliRunner().invoke(app, ["run", "-", *arguments], input=text)
    lines = [json.loads(line) for line in done.stdout.splitlines()] if arguments else []
    return done.exit_code, done.stderr, lines


@pytest.mark.long
def test_the_command_line_goes_by_the_requirements() -> None:
    made = SOURCE + "CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian(publish => 'none'); "
    code, said, _ = run(made + "CHECK r;")
    assert code == 0
    assert "CHECK r: satisfied" in said
    code, _, answers = run(made + "CHECK r;", "--json")
    assert code == 0
    assert [row["satisfied"] for row in answers[-1]["rows"]] == [True, True]
    assert answers[-1]["rows"][-1]["required"] is None
    code, said, _ = run(made + "DELETE FROM r WHERE zip <> 5; CHECK r;")
    assert code == 1
    assert "1 of 1 requirements are not met" in said


@pytest.mark.parametrize("method", ["anatomy(l => 2)", "mondrian(publish => 'none')"])
def test_the_certificate_states_it_among_what_is_not_promised(con: Connection, tmp_path: Path, method: str) -> None:
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}; EXPORT r TO '{tmp_path}/out'")
    stated = json.loads((tmp_path / "out" / "certificate.json").read_text())
    (one,) = stated["assumptions"]
    assert (one["name"], one["attributes"]) == ("random_worlds", ["disease"])
    assert "equally likely" in one["meaning"]
    assert "deFinetti" in one["not_hidden"]
    promised, limits = (tmp_path / "out" / "certificate.md").read_text().split("## What it does not promise")
    assert f"- Of `disease`: {one['meaning']} {one['not_hidden']}\n" in limits
    assert "equally likely" not in promised


def test_the_certificate_of_an_association_states_it_too(con: Connection, tmp_path: Path) -> None:
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY apart METHOD loose(k => 2); EXPORT r TO '{tmp_path}/out'")
    stated = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert [one["attributes"] for one in stated["assumptions"]] == [[]]
    assert "- Each way to match the rows" in (tmp_path / "out" / "certificate.md").read_text()


def test_names_of_columns_stay_names_in_it(con: Connection, tmp_path: Path) -> None:
    con.execute("""
        CREATE TABLE odd AS SELECT age, disease AS "a `b`|\n# c" FROM visits;
        CREATE POLICY odd ON odd (age QUASI IDENTIFIER, "a `b`|\n# c" SENSITIVE) REQUIRE k_anonymity(k => 2);
    """)
    assert "\n" not in assumptions(con, "odd", "anatomy(l => 2)")[0]
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY odd METHOD anatomy(l => 2); EXPORT r TO '{tmp_path}/out'")
    assert "- Of ``a `b`| # c``: Each way" in (tmp_path / "out" / "certificate.md").read_text()
