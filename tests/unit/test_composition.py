"""A second release about the same people is made, and all that speaks of it says that it is not the only one."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon import UserError
from sqlanon.clients.terminal.presentation.output import Output
from sqlanon.clients.terminal.scripts import ScriptRun
from tests.support.database import template

TODAY = datetime.now(UTC).strftime("%Y-%m-")
SETUP = """
CREATE TABLE patients AS SELECT i AS id, i % 4 AS zip, 'd' || i % 3 AS disease FROM range(48) AS t(i);
CREATE TABLE staff AS FROM patients;
CREATE VIEW adults AS FROM patients WHERE id > 11;
CREATE VIEW grown AS FROM adults;
CREATE MACRO reading() AS TABLE FROM patients;
CREATE SCHEMA other;
CREATE TABLE other.patients AS FROM patients;
"""


@pytest.fixture
def con() -> Iterator[Any]:
    with template(SETUP) as connection:
        yield connection


def declare(con: Any, policy: str, source: str) -> None:
    con.execute(
        f"CREATE OR REPLACE POLICY {policy} ON {source} (zip QUASI IDENTIFIER, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )


def warned(con: Any, statement: str) -> str | None:
    """What a statement's answer warns of; the same in each of its rows."""
    result = con.sql(statement)
    [said] = {row[result.columns.index("warning")] for row in result.fetchall()}
    return None if said is None else str(said)


def make(con: Any, name: str, source: str, kind: str = "TABLE", words: str = "CREATE") -> str | None:
    declare(con, f"of_{name}", source)
    return warned(con, f"{words} ANONYMIZED {kind} {name} AS POLICY of_{name}")


READS_PATIENTS = [
    "patients",
    "main.Patients",
    "memory.main.patients",
    "adults",
    "grown",
    "(FROM patients)",
    "(SELECT * FROM patients WHERE id > 3)",
    "(SELECT p.* FROM patients AS p JOIN staff AS s ON p.id = s.id)",
    "(WITH patients AS (FROM main.patients) FROM patients)",
    "(FROM staff WHERE id IN (SELECT id FROM grown))",
    "(FROM reading())",
    "(FROM query('FROM patients'))",
]
READS_OTHERS = ["staff", "other.patients", "(FROM staff)", "(WITH patients AS (FROM staff) FROM patients)"]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("source", READS_PATIENTS)
def test_what_reads_one_table_is_one_source(con: Any, source: str) -> None:
    assert make(con, "first", source) is None
    assert "main.first is made from the same source" in str(make(con, "second", "patients"))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("source", READS_OTHERS)
def test_what_reads_another_table_is_another_source(con: Any, source: str) -> None:
    assert make(con, "first", source) is None
    assert make(con, "second", "patients") is None


@pytest.mark.long
def test_queries_that_read_no_table_are_one_source_if_their_text_is_the_same(con: Any) -> None:
    rows = "(SELECT i % 4 AS zip, 'd' AS disease FROM range({}) AS t(i))"
    assert make(con, "first", rows.format(40)) is None
    assert make(con, "second", rows.format(44)) is None
    assert "main.first is" in str(make(con, "third", rows.format(40)))


@pytest.mark.long
def test_files_are_sources_by_their_names(con: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        con.execute(f"COPY patients TO '{tmp_path}/{name}.csv' (DELIMITER ';')")
    assert make(con, "first", f"(SELECT * FROM read_csv('{tmp_path}/a.csv', delim = ';'))") is None
    assert make(con, "second", f"(SELECT * FROM read_csv('{tmp_path}/b.csv', delim = ';'))") is None
    assert "main.first is" in str(
        make(con, "third", f"(SELECT * FROM read_csv('{tmp_path}/a.csv', sep = ';') WHERE id > 1)")
    )
    assert "first and main.third are" in str(make(con, "fourth", f"(SELECT * FROM '{tmp_path}/a.csv')"))


@pytest.mark.long
def test_files_behind_views_are_sources(con: Any, tmp_path: Path) -> None:
    con.execute(f"COPY patients TO '{tmp_path}/p.parquet'")
    con.execute(f"CREATE VIEW listed AS FROM read_parquet(['{tmp_path}/p.parquet']); CREATE VIEW above AS FROM listed")
    assert make(con, "first", f"(FROM '{tmp_path}/p.parquet')") is None
    for number, source in enumerate(("listed", "above", "(SELECT * FROM above)")):
        assert "first" in str(make(con, f"second{number}", source))


@pytest.mark.long
def test_a_release_that_is_made_from_a_release_has_its_source(con: Any) -> None:
    make(con, "first", "patients")
    assert "main.first is" in str(make(con, "second", "(FROM first)"))
    assert "main.first and main.second are" in str(make(con, "third", "patients"))
    make(con, "lasting", "staff", "VIEW")
    assert "main.lasting (live) is" in str(make(con, "fourth", "lasting"))


@pytest.mark.long
def test_temporary_tables_and_other_databases(con: Any) -> None:
    con.execute("CREATE TEMP TABLE passing AS FROM patients; ATTACH ':memory:' AS house")
    con.execute("CREATE TABLE house.patients AS FROM patients")
    assert make(con, "first", "passing") is None
    assert "main.first is" in str(make(con, "second", "(FROM temp.passing)"))
    assert make(con, "third", "house.main.patients") is None
    assert "main.third is" in str(make(con, "fourth", "(FROM house.patients)"))
    assert make(con, "fifth", "patients") is None


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("first", "second"), [("TABLE", "VIEW"), ("VIEW", "TABLE"), ("VIEW", "VIEW")])
def test_a_live_view_counts(con: Any, first: str, second: str) -> None:
    make(con, "first", "patients", first)
    said = str(make(con, "second", "patients", second))
    assert ("main.first (live) is" if first == "VIEW" else "main.first is") in said


@pytest.mark.long
def test_every_method_warns(con: Any) -> None:
    make(con, "first", "patients")
    con.execute(
        "CREATE POLICY apart ON patients (zip QUASI IDENTIFIER, disease SENSITIVE) CONFIDENTIAL (zip, disease);"
        "CREATE POLICY plain ON patients (zip QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    made = ["main.first"]
    for name, policy, method in (
        ("cut", "plain", "mondrian"),
        ("dealt", "plain", "anatomy(l => 2)"),
        ("parts", "apart", "fragments"),
        ("loosely", "apart", "loose(k => 2)"),
    ):
        said = str(warned(con, f"CREATE ANONYMIZED TABLE {name} AS POLICY {policy} METHOD {method}"))
        assert all(other in said for other in made)
        made.append(f"main.{name}")


@pytest.mark.long
def test_replacing_warns_once_it_was_given_away(con: Any, tmp_path: Path) -> None:
    make(con, "first", "patients")
    assert make(con, "first", "patients", words="CREATE OR REPLACE") is None
    con.sql(f"EXPORT first TO '{tmp_path}/out'")
    said = str(make(con, "first", "patients", words="CREATE OR REPLACE"))
    assert f"main.first (exported {TODAY}" in said
    assert "gone since) is made from the same source" in said
    con.sql(f"EXPORT first TO '{tmp_path}/out' (REPLACE true)")
    assert "main.first (2 of this name, exported" in str(make(con, "first", "patients", words="CREATE OR REPLACE"))


@pytest.mark.long
def test_what_was_given_away_stays_given_away(con: Any, tmp_path: Path) -> None:
    make(con, "first", "(FROM patients)")
    con.sql(f"EXPORT first TO '{tmp_path}/out'; DROP ANONYMIZED TABLE first")
    assert make(con, "unrelated", "staff") is None
    assert "main.first (exported" in str(make(con, "second", "adults"))
    con.execute("DELETE FROM anon.release_export")
    con.sql("DROP ANONYMIZED TABLE second")
    assert make(con, "third", "adults") is None


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("sources", "warns"),
    [('\'[["MAIN","Patients"]]\'', True), ('\'[["main","staff"]]\'', False), ("NULL", True), ("'patients'", True)],
)
def test_an_export_that_was_written_by_hand_counts(con: Any, sources: str, warns: bool) -> None:
    declare(con, "p", "patients")
    row = f"('main', 'sent by mail', {sources})"
    con.execute(f"INSERT INTO anon.release_export (schema_name, object_name, sources) VALUES {row}")
    said = make(con, "first", "patients")
    assert ("main.sent by mail (exported" in str(said)) is warns
    assert ("its source is not known" in str(said)) is (warns and "MAIN" not in sources)


def test_an_export_of_which_nobody_knows_when(con: Any) -> None:
    declare(con, "p", "patients")
    con.execute("INSERT INTO anon.release_export VALUES (NULL, 'main', 'sent', NULL, NULL, NULL, NULL)")
    assert "main.sent (given away, gone since, its source is not known)" in str(make(con, "first", "patients"))


def test_if_not_exists_says_it_too(con: Any) -> None:
    make(con, "first", "patients")
    make(con, "second", "patients")
    for name, other in (("first", "second"), ("second", "first")):
        said = warned(con, f"CREATE ANONYMIZED TABLE IF NOT EXISTS {name} AS POLICY of_{name} METHOD generalization")
        assert f"main.{other} is" in str(said)


@pytest.mark.long
def test_many_are_counted(con: Any) -> None:
    for number in range(12):
        make(con, f"r{number}", "patients")
    assert "main.r9 and 2 more are made from the same source" in str(make(con, "last", "patients"))


def explained(con: Any, statement: str) -> list[str]:
    return [detail for stage, item, detail in con.sql(statement).fetchall() if (stage, item) == ("bind", "warning")]


@pytest.mark.long
def test_explain_says_it(con: Any, tmp_path: Path) -> None:
    declare(con, "of_first", "patients")
    statement = "EXPLAIN VERBOSE CREATE OR REPLACE ANONYMIZED TABLE first AS POLICY of_first METHOD generalization"
    assert explained(con, statement) == []
    make(con, "first", "patients")
    # It would replace it.
    assert explained(con, statement) == explained(con, statement.replace("first AS", "MAIN.First AS")) == []
    [said] = explained(con, "EXPLAIN VERBOSE ANONYMIZED TABLE second AS POLICY of_first METHOD anatomy(l => 2)")
    assert "main.first is made from the same source" in said
    [said] = explained(con, "EXPLAIN VERBOSE ANONYMIZED TABLE no_schema.first AS POLICY of_first METHOD generalization")
    con.sql(f"EXPORT first TO '{tmp_path}/out'")
    [said] = explained(con, statement)
    assert "main.first (exported" in said


@pytest.mark.long
@pytest.mark.parametrize("format_", ["parquet", "csv", "duckdb"])
def test_an_export_and_its_certificate_say_it(con: Any, tmp_path: Path, format_: str) -> None:
    make(con, "first", "patients")
    assert warned(con, f"EXPORT first TO '{tmp_path}/alone' (FORMAT {format_})") is None
    assert stated(tmp_path / "alone")["other_releases"] == []
    assert "not the only release" not in (tmp_path / "alone" / "certificate.md").read_text()
    make(con, "second", "patients", "VIEW")
    make(con, "third", "patients")
    assert "main.second (live) and main.third are" in str(
        warned(con, f"EXPORT first TO '{tmp_path}/first' (FORMAT {format_})")
    )
    con.sql("DROP ANONYMIZED TABLE first")
    assert "main.first (exported" in str(warned(con, f"EXPORT third TO '{tmp_path}/third' (FORMAT {format_})"))
    [live, gone] = stated(tmp_path / "third")["other_releases"]
    assert live == {"release": "second", "kind": "view", "method": "generalization", "exported": None, "stands": True}
    assert re.fullmatch(rf"{TODAY}.*Z", gone.pop("exported"))
    assert gone == {"release": "first", "kind": "table", "method": "generalization", "stands": False}
    markdown = (tmp_path / "third" / "certificate.md").read_text()
    assert f"there is `second` (generalization, live), `first` (generalization, exported {TODAY}" in markdown
    assert "patients" not in json.dumps(stated(tmp_path / "third")["other_releases"])


def stated(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "certificate.json").read_text(encoding="utf-8")))


def exports(con: Any) -> int:
    [(count,)] = con.execute("SELECT count(*) FROM anon.release_export").fetchall()
    return int(count)


def test_an_export_that_fails_is_not_remembered(con: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(con, "first", "patients")
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(UserError):
        con.sql(f"EXPORT first TO '{tmp_path}/taken' (REPLACE true)")
    assert exports(con) == 0
    checked = []

    def taken_meanwhile(*given: Any, **named: Any) -> set[str]:
        checked.append(exports(con))
        raise UserError("taken")

    monkeypatch.setattr("sqlanon.export.atomic.require_free", taken_meanwhile)
    with pytest.raises(UserError, match="taken"):
        con.sql(f"EXPORT first TO '{tmp_path}/out'")
    # It was written down before anything was renamed.
    assert checked == [1]
    assert exports(con) == 0


def test_an_export_whose_end_is_not_known_is_remembered(
    con: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(con, "first", "patients")

    def broken(*given: Any, **named: Any) -> None:
        raise OSError(5, "input/output error")

    monkeypatch.setattr("sqlanon.export.atomic.os.rename", broken)
    with pytest.raises(sqlanon.EngineError):
        con.sql(f"EXPORT first TO '{tmp_path}/out'")
    assert exports(con) == 1


def run(con: Any, text: str, **options: Any) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    runner = ScriptRun(con, Output(_stdout=out, _stderr=err, **options))
    runner.run(text, "script.sql")
    return runner.exit_code, out.getvalue(), err.getvalue()


@pytest.mark.long
def test_the_command_line_shows_it_and_goes_on(con: Any, tmp_path: Path) -> None:
    declare(con, "p", "patients")
    code, out, err = run(con, "CREATE ANONYMIZED TABLE first AS POLICY p METHOD generalization")
    assert (code, "warning" in out, "warning" in err) == (0, False, False)
    code, out, err = run(con, "SELECT 1;\nCREATE ANONYMIZED TABLE second AS POLICY p METHOD generalization;")
    assert code == 0
    assert re.search(r"\| warning +\| not the only release about these people: main.first is", out)
    assert "script.sql:2:1: warning: not the only release about these people: main.first is made from" in err
    code, out, err = run(
        con, "SELECT 1;\nCREATE OR REPLACE ANONYMIZED TABLE second AS POLICY p METHOD generalization;", json=True
    )
    assert (code, err) == (0, "")
    assert "main.first is" in json.loads(out.splitlines()[1])["rows"][0]["warning"]
    code, out, err = run(con, f"EXPORT second TO '{tmp_path}/out'", quiet=True)
    assert (code, out, err) == (0, "", "")
    code, out, err = run(con, f"EXPORT second TO '{tmp_path}/out' (REPLACE true)")
    assert "script.sql:1:1: warning: not the only release about these people: main.first is" in err


def test_an_export_does_not_repeat_the_warning_of_its_release(con: Any, tmp_path: Path) -> None:
    declare(con, "p", "patients")
    con.execute("CREATE ANONYMIZED TABLE first AS POLICY p")
    text = f"CREATE ANONYMIZED TABLE second AS POLICY p;\nEXPORT second TO '{tmp_path}/out'"
    assert run(con, text)[2].count("not the only release") == 1
    assert run(con, f"EXPORT second TO '{tmp_path}/again'")[2].count("not the only release") == 1


def test_a_column_of_the_user_s_own_is_no_warning(con: Any) -> None:
    _, out, err = run(con, "SELECT NULL AS warning, 'beware' AS other; SELECT 'beware' AS warning")
    assert out.count("warning") == 2
    assert "warning" not in err


@pytest.mark.long
def test_a_database_that_is_only_read(con: Any, tmp_path: Path) -> None:
    path = tmp_path / "house.duckdb"
    with sqlanon.connect(path) as writing:
        writing.execute(SETUP)
        make(writing, "first", "patients")
        make(writing, "second", "patients")
    with sqlanon.connect(path, read_only=True) as reading:
        said = str(warned(reading, f"EXPORT first TO '{tmp_path}/out'"))
        assert "main.second is made from" in said
        assert "; the database is open for reading only" in said
        assert exports(reading) == 0


def test_a_bare_client_can_ask(con: Any, tmp_path: Path) -> None:
    path = tmp_path / "house.duckdb"
    with sqlanon.connect(path) as made:
        made.execute(SETUP)
        make(made, "first", "grown")
        made.sql(f"EXPORT first TO '{tmp_path}/out'")
    with duckdb.connect(path) as bare:
        query = "SELECT object_name, method, format, sources FROM anon.release_export"
        [(name, method, format_, sources)] = bare.execute(query).fetchall()
        assert (name, method, format_) == ("first", "generalization", "parquet")
        assert json.loads(sources) == [["main", "adults"], ["main", "grown"], ["main", "patients"]]
