"""The chosen method of a release that is made again: kept, compared again, or refused by the rows of now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sqlanon import AnonymizedTable, AnonymizedView, Connection, Mondrian, UserError, connect
from sqlanon.clients.terminal.cli import app
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import PolicyError, PrivacyViolation, StatementError
from sqlanon.methods.registry import find_method
from sqlanon.statements.parser import parse_script
from sqlanon.statements.run import run_statement
from tests.support.database import template

SETUP = """
CREATE TABLE people AS SELECT
20 + (hash(i) % 30)::INT AS age, (hash(i * 3) % 8)::INT AS ward, (hash(i * 5) % 3)::INT AS ill
FROM range(150) AS r(i);
CREATE HIERARCHY ages AS INTERVALS (5, 10, 20);
CREATE POLICY p ON people (age QUASI IDENTIFIER USING ages, ward QUASI IDENTIFIER, ill SENSITIVE)
REQUIRE k_anonymity(k => 6);
CREATE ANONYMIZED TABLE r AS POLICY p;
"""
CREATE = "CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p"
KEPT = "and kept from the release that it replaces; write CHOOSE METHOD to compare again"


@pytest.fixture
def con() -> Connection:
    """A database with a release whose method, mondrian, was chosen."""
    return template(SETUP)


def text(con: Connection, statement: str = CREATE, column: str = "method") -> str:
    """A column of the first row of an answer, empty for NULL."""
    relation = con.sql(statement)
    return str(relation.fetchall()[0][relation.columns.index(column)] or "")


def recorded(con: Connection) -> list[tuple[object, ...]]:
    """The comparison of the release, as the catalog has it."""
    return con.duckdb.execute("SELECT * EXCLUDE (release_id) FROM anon.release_comparison ORDER BY position").fetchall()


def method(con: Connection) -> str:
    ((name,),) = con.duckdb.execute("SELECT method FROM anon.release WHERE object_name = 'r'").fetchall()
    return str(name)


def without_mondrian(con: Connection) -> None:
    """Changes the rows so that mondrian is not the one that loses least any more: each column has one value or two."""
    con.execute("UPDATE people SET age = 20, ward = 1")


def test_other_rows_keep_the_method_and_what_it_was_compared_with(con: Connection) -> None:
    former = recorded(con)
    assert [row[3] for row in former].count(True) == 1
    without_mondrian(con)
    for _ in range(2):
        line = text(con)
        assert line.startswith("mondrian: chosen of 3 on ")
        assert line.endswith(KEPT)
        assert method(con) == "mondrian"
        assert recorded(con) == former
    # What it would have been without a release to replace.
    assert text(con, f"{CREATE} CHOOSE METHOD").startswith("generalization: ")
    assert recorded(con) != former


def test_a_release_says_how_it_got_its_method(con: Connection) -> None:
    assert text(con, "SHOW RELEASES") == "mondrian, chosen of 3"
    parts = con.sql("DESCRIBE ANONYMIZED TABLE r").fetchall()
    assert ("method", None, "mondrian, chosen of 3") in parts
    compared = [(name, detail) for part, name, detail in parts if part == "compared"]
    assert [name for name, _ in compared] == ["mondrian", "generalization", "generalization(recoding => 'local')"]
    assert [detail.startswith("loses 0.") for _, detail in compared] == [True] * 3
    assert "; chosen: it loses least" in compared[0][1]
    con.execute(f"{CREATE} METHOD mondrian")
    assert text(con, "SHOW RELEASES") == "mondrian"
    parts = con.sql("DESCRIBE ANONYMIZED TABLE r").fetchall()
    assert {part for part, _, _ in parts} == {"policy", "method", "column", "rows", "measured", "made at"}
    assert ("measured", "k_anonymity", "6, required 6") in parts
    with pytest.raises(UserError, match=r"main\.r is a table") as refused:
        con.execute("DESCRIBE ANONYMIZED VIEW r")
    assert refused.value.hint == "write DESCRIBE ANONYMIZED TABLE"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("ALTER POLICY p REQUIRE k_anonymity(k => 7)", "the policy has changed"),
        ("CREATE OR REPLACE HIERARCHY ages AS INTERVALS (6, 12)", "the policy has changed"),
        ("ALTER TABLE people ALTER ill TYPE BIGINT", "the types of the source's columns have changed"),
        (f"{CREATE} METHOD mondrian", "the statement that made the former release named its method"),
        ("CREATE OR REPLACE ANONYMIZED VIEW r AS POLICY p CHOOSE METHOD", "the former release was a view"),
    ],
)
def test_another_policy_chooses_anew(con: Connection, change: str, why: str) -> None:
    if "METHOD" not in change:
        without_mondrian(con)
        con.execute(change)
    else:
        con.execute(change)
        without_mondrian(con)
    relation = con.sql(CREATE)
    answer = dict(zip(relation.columns, relation.fetchall()[0], strict=True))
    assert answer["method"].startswith("generalization: ")
    expected = f"the method is generalization, and that of the release that this one replaces was mondrian: {why}"
    is_same = "VIEW" in change and expected not in answer["remarks"]
    assert is_same or expected in answer["remarks"].split("\n")


@pytest.mark.parametrize(
    "change", ["CREATE OR REPLACE POLICY p ON people (age QUASI IDENTIFIER USING AUTO, ill SENSITIVE)"]
)
def test_hierarchies_that_follow_the_rows_are_no_change(con: Connection, change: str) -> None:
    script = f"{change} REQUIRE k_anonymity(k => 6); {CREATE}"
    con.execute(script)
    former = recorded(con)
    con.execute("UPDATE people SET age = age * 37")
    con.execute(script)
    assert recorded(con) == former
    # Labels of a table are rows.
    con.execute("CREATE TABLE areas AS SELECT i::INT AS ward, i // 4 AS area FROM range(8) AS t(i)")
    script = (
        "CREATE OR REPLACE HIERARCHY wards AS LEVELS (SELECT ward, area FROM areas); CREATE OR REPLACE POLICY p ON "
        f"people (ward QUASI IDENTIFIER USING wards, ill SENSITIVE) REQUIRE k_anonymity(k => 6); {CREATE}"
    )
    con.execute(script)
    former = recorded(con)
    con.execute("INSERT INTO areas VALUES (8, 2)")
    con.execute(script)
    assert recorded(con) == former


def test_a_release_with_its_policy_keeps_its_method() -> None:
    with connect() as con:
        con.execute(SETUP.partition("CREATE HIERARCHY")[0])
        short = "CREATE OR REPLACE ANONYMIZED TABLE s FROM people (age, ward) SENSITIVE ill REQUIRE k_anonymity(6)"
        assert text(con, short).count("\n") == 2
        con.execute("UPDATE people SET age = age * 37")
        assert text(con, short).endswith(KEPT)
        assert text(con, short.replace("(6)", "(7)")).count("\n") == 2


def test_a_method_that_the_rows_rule_out_is_chosen_anew(con: Connection) -> None:
    # A level that mondrian knows nothing of: as if another version of sqlanon refused what this one has published.
    con.execute("ALTER POLICY p ALTER COLUMN age QUASI IDENTIFIER USING ages MAX LEVEL 3")
    assert text(con).startswith("generalization")
    kept = method(con)
    con.execute("ALTER POLICY p REQUIRE k_anonymity(k => 500)")
    before = recorded(con)
    with pytest.raises(PrivacyViolation, match="cannot be met"):
        con.execute(CREATE)
    assert (method(con), recorded(con)) == (kept, before)


def test_a_kept_method_that_is_refused_gives_way_to_another(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PrivacyViolation("k_anonymity(k => 6) cannot be met")

    monkeypatch.setattr(type(find_method("mondrian")), "choices", refuse)
    relation = con.sql(CREATE)
    answer = dict(zip(relation.columns, relation.fetchall()[0], strict=True))
    lines = answer["method"].split("\n")
    assert lines[0].startswith("generalization")
    assert lines[-1] == "mondrian: refused: k_anonymity(k => 6) cannot be met"
    assert "was mondrian: mondrian was refused: k_anonymity(k => 6) cannot be met" in answer["remarks"]
    assert method(con) == "generalization"
    assert con.sql("CHECK r").fetchall()[0][-1]


def test_refresh_hands_on_how_the_method_was_chosen(con: Connection) -> None:
    former = recorded(con)
    con.execute("ALTER POLICY p REQUIRE k_anonymity(k => 7)")
    assert text(con, "REFRESH ANONYMIZED TABLE r").endswith(KEPT)
    assert recorded(con) == former
    con.execute(f"{CREATE} METHOD mondrian")
    assert text(con, "REFRESH ANONYMIZED TABLE r") == ""
    assert recorded(con) == []


def test_a_dropped_release_leaves_nothing(con: Connection) -> None:
    con.execute("DROP ANONYMIZED TABLE r")
    assert recorded(con) == []
    assert text(con, "CREATE ANONYMIZED TABLE r AS POLICY p").count("\n") == 2
    # Its table alone was dropped: the catalog still has the release, which is made again.
    con.execute("DROP TABLE r")
    assert text(con, "CREATE ANONYMIZED TABLE r AS POLICY p").endswith(KEPT)
    assert text(con, "CREATE ANONYMIZED TABLE IF NOT EXISTS r AS POLICY p").count("\n") == 2


def test_a_failed_replacement_leaves_the_former(con: Connection) -> None:
    former = recorded(con)

    def stop(stage: str, *_: object) -> None:
        if stage == "publish":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_statement(DuckDBEngine(con.duckdb), parse_script(f"{CREATE} CHOOSE METHOD")[0], stop)
    assert recorded(con) == former
    orphans = (
        "SELECT count(*) FROM anon.release_comparison WHERE release_id NOT IN (SELECT release_id FROM anon.release)"
    )
    assert con.duckdb.execute(orphans).fetchall() == [(0,)]


def test_explain_says_what_or_replace_would_keep(con: Connection) -> None:
    def compared(statement: str) -> list[tuple[str, str]]:
        return [(item, detail) for stage, item, detail in con.sql(statement).fetchall() if stage == "compare"]

    ((name, detail),) = compared(f"EXPLAIN {CREATE}")
    assert (name, detail.endswith(KEPT)) == ("mondrian", True)
    assert len(compared(f"EXPLAIN {CREATE} CHOOSE METHOD")) == 3
    assert len(compared("EXPLAIN ANONYMIZED TABLE r AS POLICY p")) == 3
    assert compared(f"EXPLAIN {CREATE} METHOD mondrian") == []


def test_stars_of_a_kept_method_name_choose_method() -> None:
    with connect() as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS a, i % 2 AS b FROM range(40) AS r(i)")
        con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER, b QUASI IDENTIFIER) REQUIRE k_anonymity(k => 4)")
        assert text(con).startswith("generalization: ")
        con.execute("UPDATE t SET a = rowid")
        first = text(con, CREATE, "remarks").split("\n")[0]
        assert first.startswith("a is * in all rows: write CHOOSE METHOD, which also tries generalization(recoding")


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (f"{CREATE} CHOOSE METHOD LEVELS FROM RELEASE r", "LEVELS does not go with CHOOSE METHOD"),
        (f"{CREATE} CHOOSE METHOD IN SERIES s", "IN does not go with CHOOSE METHOD"),
        (f"{CREATE} CHOOSE METHOD METHOD mondrian", "METHOD does not go with CHOOSE METHOD"),
        (f"{CREATE} CHOOSE", "expected"),
    ],
)
def test_what_does_not_go_with_it(statement: str, error: str) -> None:
    with pytest.raises(StatementError, match=error):
        parse_script(statement)


def test_where_there_is_nothing_to_compare_it_is_refused() -> None:
    with connect() as con:
        con.execute(
            "CREATE TABLE t AS SELECT i AS who, i % 4 AS age FROM range(60) AS r(i);"
            "CREATE TABLE v AS SELECT who, age AS ill FROM t"
        )
        con.execute(
            "CREATE POLICY p ON t (who ENTITY, age QUASI IDENTIFIER) WITH TABLE v ON (who) (ill SENSITIVE) REQUIRE "
            "k_anonymity(k => 3)"
        )
        with pytest.raises(PolicyError, match="nothing to compare of policy p, which has related tables"):
            con.execute("CREATE ANONYMIZED TABLE r AS POLICY p CHOOSE METHOD")


def test_objects_write_it() -> None:
    written = 'CREATE OR REPLACE ANONYMIZED TABLE "r" AS POLICY "p" CHOOSE METHOD'
    assert AnonymizedTable("r", "p", choose_method=True).sql(or_replace=True) == written
    assert parse_script(written)[0].sql() == written
    view = 'CREATE ANONYMIZED VIEW "r" AS POLICY "p" CHOOSE METHOD'
    assert AnonymizedView("r", "p", choose_method=True).sql() == view
    with pytest.raises(UserError, match="the method cannot be given"):
        AnonymizedTable("r", "p", method=Mondrian(), choose_method=True)


def test_a_job_keeps_the_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    connect("a.duckdb").execute(SETUP.rpartition("CREATE ANONYMIZED")[0]).close()
    Path("night.sql").write_text(f"{CREATE};", encoding="utf-8")

    def night() -> str:
        done = CliRunner().invoke(app, ["job", "run", "night.sql", "-d", "a.duckdb", "--json"])
        assert done.exit_code == 0
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return str(next(line["answer"][0]["method"] for line in lines if line["event"] == "statement"))

    assert night().count("\n") == 2
    connect("a.duckdb").execute("UPDATE people SET age = 20, ward = 1").close()
    assert night().endswith(KEPT)
