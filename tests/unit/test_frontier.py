"""FRONTIER and ADVISE: what the candidates are, that none is left, what is advised, and what is refused."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon import Connection, PolicyError, UserError
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import Position, StatementError
from sqlanon.statements.frontiers._candidates import make_frontier
from sqlanon.statements.frontiers.frontier import Frontier
from sqlanon.statements.parser import parse_script
from tests.support.database import template

SETUP = """
CREATE TABLE people AS SELECT
    i % 8 AS age, ['a', 'b', 'c'][i % 3 + 1] AS ward, ['flu', 'cold', 'x'][(i * 31) % 3 + 1] AS "the ill""ness"
FROM range(48) AS n(i);
CREATE HIERARCHY bands AS INTERVALS (2, 4);
CREATE POLICY p ON people (age QUASI IDENTIFIER USING bands, ward QUASI IDENTIFIER, "the ill""ness" SENSITIVE)
    REQUIRE k_anonymity(k => 2);
CREATE WORKLOAD w ON POLICY p (queries => 10, dimensions => 1, seed => 1);
"""
TABLES = "SELECT schema_name, table_name FROM duckdb_tables() WHERE schema_name <> 'anon' OR temporary ORDER BY ALL"
MADE = """
FRONTIER "the f" ON POLICY p METHODS (generalization, mondrian, anatomy) SWEEP k IN (2, 8), l IN (2)
MEASURE p_loss, discernibility, WORKLOAD w
"""


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute(SETUP)
    return connection


def rows(con: Connection, statement: str) -> list[dict[str, Any]]:
    answer = con.sql(statement)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.fetchall()]


@pytest.mark.long
def test_every_combination_is_a_candidate_and_none_is_left(con: Connection) -> None:
    before = con.duckdb.execute(TABLES).fetchall()
    answer = rows(con, MADE)
    assert [row["candidate"] for row in answer] == list(range(9))
    assert [row["method"] for row in answer[:3]] == [
        "intact",
        "trivial(drop => 'quasi_identifiers')",
        "trivial(drop => 'sensitive')",
    ]
    assert [row["p_loss"] for row in answer[1:3]] == [0, 0]
    assert answer[0]["workload w"] == 0
    of_generalization = {row["requirement"] for row in answer if row["method"] == "generalization"}
    assert of_generalization == {f"k_anonymity(k => {k}), l_diversity(l => {n})" for k in (2, 8) for n in (2,)}
    # The bound of l is an argument of this method: its policy requires what it did.
    assert {(row["method"], row["requirement"]) for row in answer if row["method"].startswith("anatomy")} == {
        (f"anatomy(l => {n})", f"k_anonymity(k => {k})") for k in (2, 8) for n in (2,)
    }
    assert con.duckdb.execute(TABLES).fetchall() == before
    for table in ("release", "release_figure", "query_error", "measurement", "release_object"):
        assert con.duckdb.execute(f"SELECT count(*) FROM anon.{table}").fetchall() == [(0,)]
    assert con.sql("SHOW FRONTIERS").fetchall()[0][:3] == ("the f", "p", 9)


@pytest.mark.long
def test_figures_are_those_of_the_release_that_the_advice_publishes(con: Connection) -> None:
    # No row of these is dealt at random.
    methods = "METHODS (generalization, mondrian)"
    rows(con, f'FRONTIER "like it" ON POLICY p {methods} MEASURE p_loss, discernibility, WORKLOAD w')
    [advice] = rows(con, 'ADVISE "LIKE IT" WHERE p_loss <= 0.5 AND workload w <= 1 LEAST discernibility')
    con.execute("BEGIN")
    con.execute(advice["statement"])
    measured = dict(con.execute('MEASURE "like it" WITH FIGURES (p_loss)').fetchall()[0][1::2] for _ in "x")
    loss = con.execute('MEASURE "like it" WITH WORKLOAD w').fetchall()
    con.execute("ROLLBACK")
    assert advice["p_loss"] == pytest.approx(measured["p_loss"], abs=1e-12)
    assert advice["workload w"] == pytest.approx(dict(row[2:] for row in loss)["mean_relative_error"], abs=1e-12)


@pytest.mark.long
def test_the_least_of_what_satisfies_the_condition_is_advised(con: Connection) -> None:
    answer = rows(
        con, "FRONTIER small ON POLICY p METHODS (generalization) SWEEP k IN (2, 12, 48) MEASURE p_loss, discernibility"
    )
    within = [row for row in answer[1:] if row["p_loss"] <= 0.4]
    [advice] = rows(con, "ADVISE small WHERE p_loss <= 0.4 LEAST discernibility")
    assert advice["discernibility"] == min(row["discernibility"] for row in within)
    assert "METHOD generalization" in advice["statement"]
    with pytest.raises(PolicyError, match="no candidate of small that can be published") as error:
        con.sql("ADVISE small WHERE p_loss < 0 LEAST p_loss")
    assert error.value.hint is not None
    assert error.value.hint.startswith("the least p_loss is ")


def test_what_cannot_be_made_has_a_reason_and_is_not_efficient(con: Connection) -> None:
    answer = rows(con, "FRONTIER f ON POLICY p METHODS (mondrian) SWEEP k IN (2, 1000) MEASURE gain")
    assert [row["reason"] is None for row in answer] == [True, True, True, True, False]
    assert answer[4]["gain"] is None
    assert answer[4]["efficient"] is False
    assert "frontier" not in answer[4]["reason"]


def test_methods_without_levels_are_compared_where_a_column_has_limits() -> None:
    con = sqlanon.connect()
    con.execute(SETUP)
    frontier = "FRONTIER f ON POLICY p METHODS (generalization, mondrian) SWEEP k IN (2) MEASURE granularity_loss"
    reasons = {}
    for limit in ("MIN LEVEL 1", "MAX LEVEL 1"):
        con.execute(f"ALTER POLICY p ALTER COLUMN age QUASI IDENTIFIER USING bands {limit}")
        reasons[limit] = {row["method"]: row["reason"] for row in rows(con, frontier)}["mondrian"]
    assert reasons["MAX LEVEL 1"] is None
    assert reasons["MIN LEVEL 1"].startswith(
        "mondrian has no levels: the ends of a range are values, and age has a MIN"
    )


def test_a_baseline_that_violates_what_is_required_is_only_compared_with(con: Connection) -> None:
    con.execute('CREATE POLICY many ON people (age QUASI IDENTIFIER USING bands, "the ill""ness" SENSITIVE) '
                "REQUIRE k_anonymity(k => 49)")  # fmt: skip
    answer = rows(con, "FRONTIER f ON POLICY many METHODS (mondrian) MEASURE p_loss, u_loss")
    assert [(row["p_loss"], row["reason"]) for row in answer[1:3]] == [(0, None), (0, None)]
    assert [row["requirement"] for row in answer[1:3]] == ["", ""]
    with pytest.raises(PolicyError, match="no candidate of f that can be published"):
        con.sql("ADVISE f LEAST u_loss")


def test_without_a_sensitive_attribute_there_is_no_baseline(con: Connection) -> None:
    con.execute("CREATE POLICY plain ON people (age QUASI IDENTIFIER USING bands) REQUIRE k_anonymity(k => 2)")
    answer = rows(con, "FRONTIER f ON POLICY plain METHODS (mondrian) MEASURE discernibility")
    assert [row["method"] for row in answer] == ["intact", "mondrian"]


@pytest.mark.long
def test_a_baseline_that_is_named_is_a_candidate_once(con: Connection) -> None:
    con.execute("CREATE POLICY named ON people (age QUASI IDENTIFIER, ward SENSITIVE) REQUIRE K_Anonymity(K => 2)")
    methods = "METHODS (mondrian, TRIVIAL, trivial(drop => 'sensitive'))"
    both = ["trivial(drop => 'quasi_identifiers')", "trivial(drop => 'sensitive')"]
    answer = rows(con, f"FRONTIER f ON POLICY named {methods} MEASURE gain")
    assert [row["method"] for row in answer] == ["intact", *both, "mondrian"]
    assert [row["candidate"] for row in answer] == list(range(4))
    # Nothing else is named.
    answer = rows(con, "FRONTIER f ON POLICY named METHODS (trivial) MEASURE gain")
    assert [row["method"] for row in answer] == ["intact", *both]
    # What the sweep changes is another candidate.
    answer = rows(con, f"FRONTIER f ON POLICY named {methods} SWEEP k IN (2, 3) MEASURE gain")
    of_trivial = [row["requirement"] for row in answer if row["method"].lower().startswith("trivial")]
    assert [requirement.lower() for requirement in of_trivial] == [f"k_anonymity(k => {k})" for k in (2, 2, 3, 3)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("comparison", "is_met"), [("<=", True), ("<", False)])
def test_a_bound_may_be_strict(con: Connection, comparison: str, is_met: bool) -> None:
    answer = rows(con, "FRONTIER f ON POLICY p METHODS (mondrian) MEASURE discernibility")
    least = min(row["discernibility"] for row in answer[1:])
    advise = f"ADVISE f WHERE discernibility {comparison} {least} LEAST discernibility"
    if is_met:
        assert rows(con, advise)[0]["discernibility"] == least
    else:
        with pytest.raises(PolicyError, match="no candidate of f that can be published"):
            con.sql(advise)


@pytest.mark.long
def test_a_policy_that_changed_is_not_advised_on(con: Connection) -> None:
    con.sql("FRONTIER f ON POLICY p METHODS (mondrian) MEASURE gain")
    con.execute("ALTER POLICY p REQUIRE k_anonymity(k => 3)")
    assert rows(con, "ADVISE f LEAST gain")[0]["statement"].startswith(
        'ALTER POLICY "p" REQUIRE k_anonymity(k => 2);\nCREATE ANONYMIZED TABLE "f"'
    )
    con.execute("ALTER POLICY p ALTER COLUMN age QUASI IDENTIFIER USING bands MIN LEVEL 1")
    with pytest.raises(PolicyError, match="has changed since f was made"):
        con.sql("ADVISE f LEAST gain")
    con.execute("ALTER POLICY p ALTER COLUMN age QUASI IDENTIFIER USING bands")
    con.execute("ALTER POLICY p REQUIRE k_anonymity(k => 2)")


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("statement", "message", "hint"),
    [
        ("FRONTIER f ON POLICY p METHODS (mondrain) MEASURE gain", "there is no method 'mondrain'", "mondrian"),
        ("FRONTIER f ON POLICY q METHODS (mondrian) MEASURE gain", "no policy q", "CREATE POLICY"),
        ("FRONTIER f ON POLICY p METHODS (mondrian) MEASURE gian", "there is no figure 'gian'", "gain"),
        ("FRONTIER f ON POLICY p METHODS (mondrian) MEASURE class_sizes", "no figure 'class_sizes'", "discernibility"),
        ("FRONTIER f ON POLICY p METHODS (mondrian) MEASURE population_uniqueness", "lacks its argument", "MEASURE"),
        ("FRONTIER f ON POLICY p METHODS (mondrian) MEASURE gain, workload v", "there is no workload v", "w"),
        ("FRONTIER f ON POLICY p METHODS (mondrian) MEASURE gain, gain(1)", "gain is measured twice", "one gain"),
        ("FRONTIER f ON POLICY p METHODS (mondrian) SWEEP zz IN (1) MEASURE gain", "has a parameter zz", "SWEEP"),
        ("FRONTIER f ON POLICY p METHODS (mondrian) SWEEP p IN (1) MEASURE gain", "a parameter p", "personalized"),
        ("FRONTIER f ON POLICY p METHODS (mondrian) SWEEP k IN (0.5) MEASURE gain", "k must be a whole number", None),
        ("FRONTIER f ON POLICY p METHODS (anatomy(l => 2)) SWEEP l IN (2) MEASURE gain", "argument l twice", "out"),
        ("FRONTIER f ON POLICY p METHODS (mondrian) SWEP k IN (2) MEASURE gain", "expected SWEEP or MEASURE", "SWEEP"),
        (
            "FRONTIER f ON POLICY p METHODS (mondrian) SWEEP k IN (2), k IN (3) MEASURE gain",
            "k is swept twice",
            "one k",
        ),
        ("FRONTIER f ON POLICY p METHOD (mondrian) MEASURE gain", "expected METHODS", "METHODS"),
        ("ADVISE chice LEAST gain", "there is no frontier chice", "did you mean choice"),
        ("ADVISE choice LEAST gian", "choice has no figure gian", "did you mean gain"),
        ("ADVISE choice WHERE gain >= 1 LEAST gain", "expected <= or <", "less is better"),
        ("DROP FRONTIER chioce", "there is no frontier chioce", "did you mean choice"),
    ],
)
def test_what_cannot_be_asked_is_refused(con: Connection, statement: str, message: str, hint: str | None) -> None:
    if not con.duckdb.execute("SELECT 1 FROM anon.candidate WHERE frontier = 'choice'").fetchall():
        con.sql("FRONTIER choice ON POLICY p METHODS (mondrian) MEASURE gain")
    with pytest.raises((UserError, StatementError), match=message.replace("(", r"\(")) as error:
        con.sql(statement)
    assert (hint or "") in (error.value.hint or "")
    assert con.duckdb.execute("SELECT count(*) FROM anon.candidate WHERE frontier = 'f_refused'").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("sweep", "at"),
    [
        ("k IN (5, 0.5, 7)", "0.5"),
        ("K IN (5), l IN (2, 'x')", "'x'"),
        ("t IN (0.1, 1.5)", "1.5"),
        ("publish IN ('range', 'ranges')", "'ranges'"),
        ("zz IN (1)", "zz"),
    ],
)
def test_an_error_about_a_swept_value_points_at_it(con: Connection, sweep: str, at: str) -> None:
    before = "FRONTIER f ON POLICY p METHODS (mondrian) SWEEP "
    with pytest.raises(UserError) as error:
        con.sql(f"{before}{sweep} MEASURE gain")
    assert error.value.position == Position(1, len(before) + sweep.index(at) + 1)


def test_a_frontier_needs_its_own_transactions(con: Connection) -> None:
    con.execute("BEGIN")
    with pytest.raises(UserError, match="a transaction of its own"):
        con.sql("FRONTIER f ON POLICY p METHODS (mondrian) MEASURE gain")
    con.execute("ROLLBACK")


@pytest.mark.long
def test_a_frontier_is_dropped(con: Connection) -> None:
    con.sql("FRONTIER gone ON POLICY p METHODS (mondrian) MEASURE gain")
    assert con.sql("DROP FRONTIER gone").fetchall()[0][2] == "dropped"
    assert con.sql("DROP FRONTIER IF EXISTS gone").fetchall()[0][2] == "absent"
    assert con.duckdb.execute("SELECT count(*) FROM anon.candidate WHERE frontier = 'gone'").fetchall() == [(0,)]


@pytest.mark.long
def test_figures_of_all_columns_are_those_of_the_release(con: Connection) -> None:
    """The loss of the release, not that of its worst column."""
    asked = "METHODS (generalization) SWEEP k IN (12) MEASURE granularity_loss, precision"
    answer = rows(con, f"FRONTIER whole ON POLICY p {asked}")
    con.execute("BEGIN")
    con.execute("ALTER POLICY p REQUIRE k_anonymity(k => 12)")
    con.execute("CREATE ANONYMIZED TABLE whole AS POLICY p METHOD generalization")
    measured = con.execute("MEASURE whole WITH FIGURES (granularity_loss, precision)").fetchall()
    con.execute("ROLLBACK")
    of_all = {name: value for _, name, attribute, value in measured if attribute is None}
    assert max(value for *_, value in measured) > max(of_all.values())
    assert {name: answer[3][name] for name in of_all} == pytest.approx(of_all, abs=1e-12)


@pytest.mark.long
def test_candidates_whose_figures_differ_by_rounding_alone_are_efficient_together(con: Connection) -> None:
    """Three ways to publish the same classes, whose shares are added up in any order."""
    connection = sqlanon.connect()
    connection.execute("""
        CREATE TABLE t AS SELECT hash(i) % 7 AS a, hash(i, 1) % 5 AS b, hash(i, 2) % 11 AS s FROM range(300) AS r(i);
        CREATE POLICY p ON t (a QUASI IDENTIFIER, b QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 4);
    """)
    methods = "mondrian, mondrian(publish => 'ancestor'), mondrian(bounds => true)"
    answer = rows(connection, f"FRONTIER f ON POLICY p METHODS ({methods}) MEASURE p_loss_mean, gain, a_know, u_loss")
    alike = [(row["p_loss_mean"], row["gain"], row["a_know"]) for row in answer[3:]]
    assert alike[1:] == alike[:1] * 2
    # The trivial releases, of which nothing is learned: exactly nothing.
    assert [(row["a_know"], row["gain"], row["efficient"]) for row in answer[1:3]] == [(0, 0, True)] * 2
    two = rows(connection, f"FRONTIER f ON POLICY p METHODS ({methods}) MEASURE a_know, u_loss")
    assert [row["reward"] is None for row in two] == [False, True, True, False, False, False]
    # They are there to compare with, unless they are named.
    with pytest.raises(PolicyError, match="no candidate of f that can be published"):
        rows(connection, "ADVISE f WHERE a_know <= 0 LEAST u_loss")
    rows(connection, f"FRONTIER f ON POLICY p METHODS ({methods}, trivial) MEASURE a_know, u_loss")
    [advice] = rows(connection, "ADVISE f WHERE a_know <= 0 LEAST u_loss")
    assert "METHOD trivial" in advice["statement"]


@pytest.mark.long
def test_a_workload_that_is_not_answered_says_how_many_queries_are_not(con: Connection) -> None:
    con.execute("INSERT INTO anon.workload VALUES ('two', 1, 'SELECT count(*) FROM people')")
    con.execute("INSERT INTO anon.workload VALUES ('two', 2, 'SELECT count(*) FROM people WHERE length(ward) > age')")
    answer = rows(con, "FRONTIER f ON POLICY p METHODS (mondrian) MEASURE p_loss, WORKLOAD two")
    assert answer[-1]["reason"] == "workload two (1 of 2 results have no estimate) not defined of it"


@pytest.mark.long
def test_a_figure_of_several_statistics_is_that_which_takes_the_arguments(con: Connection) -> None:
    [*_, row] = rows(con, "FRONTIER f ON POLICY p METHODS (mondrian) MEASURE unique_rows")
    assert row["reason"] is None
    [*_, row] = rows(con, "FRONTIER f ON POLICY p METHODS (mondrian) MEASURE unique_rows(sampling_fraction => 0.1)")
    assert row["reason"] is None


KILLED = """
import os, sys
import sqlanon
from sqlanon.statements.frontiers import _candidates as frontier
con = sqlanon.connect(sys.argv[1], config={"threads": 1})
before = frontier._measure
def ends(engine, release, figures, values):
    before(engine, release, figures, values)
    os._exit(9)
frontier._measure = ends
con.sql("FRONTIER f ON POLICY p METHODS (mondrian) MEASURE gain")
"""


@pytest.mark.long
def test_a_process_that_ends_while_measuring_leaves_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "house.duckdb")
    with sqlanon.connect(path) as con:
        con.execute(SETUP)
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", KILLED, path], cwd=root, timeout=120, check=False).returncode == 9
    with sqlanon.connect(path) as con:
        assert con.duckdb.execute(TABLES).fetchall() == [("main", "people")]
        assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(0,)]
        assert con.sql("SHOW FRONTIERS").fetchall() == []


POPULATIONS = "FRONTIER g ON POLICY p METHODS (generalization, mondrian) SWEEP k IN (2, 8) MEASURE u_loss"


@pytest.mark.long
def test_populations_of_candidates_are_those_of_releases_by_themselves(con: Connection) -> None:
    before = con.duckdb.execute(TABLES).fetchall()
    answer = rows(con, POPULATIONS)
    assert con.duckdb.execute(TABLES).fetchall() == before
    for k, row in zip((2, 8), answer[3:5], strict=True):
        assert row["method"] == "generalization"
        assert row["u_loss"] == pytest.approx(_u_loss(con, k), abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("source", ["people", "(SELECT * FROM people)"])
@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO people SELECT 1, 'd', 'measles' FROM range(20)",
        "UPDATE people SET age = age + 1 WHERE age = 4",
        "DELETE FROM people WHERE age = 4",
        "DROP TABLE people",
    ],
)
def test_candidates_of_rows_that_changed_meanwhile_are_not_compared(source: str, change: str) -> None:
    connection = template(SETUP, SWEPT.replace("FRONTIER g", "FRONTIER former"))
    attributes = '(age QUASI IDENTIFIER, "the ill""ness" SENSITIVE)'
    connection.execute(f"CREATE POLICY other ON {source} {attributes} REQUIRE k_anonymity(k => 2)")

    def change_once(stage: str, done: int, total: int, detail: str | None = None) -> None:
        if done == 4:
            with connection.duckdb.cursor() as writer:
                writer.execute(change)

    with pytest.raises(UserError, match="the rows of policy other changed while its candidates were made") as error:
        made_with(connection, SWEPT.replace("POLICY p", "POLICY other").replace("g ON", "former ON"), change_once)
    assert "CREATE TABLE name AS FROM" in str(error.value.hint)
    # The former frontier of the name is as it was.
    assert {row[0] for row in connection.execute("SELECT policy FROM anon.candidate").fetchall()} == {"p"}


@pytest.mark.long
def test_rows_that_are_the_same_at_the_end_are_compared(con: Connection) -> None:
    """The order in which they stand is none of theirs."""

    def rewrite(stage: str, done: int, total: int, detail: str | None = None) -> None:
        if done == 4:
            with con.duckdb.cursor() as writer:
                writer.execute("CREATE OR REPLACE TABLE people AS FROM people ORDER BY random()")

    answer, _ = made_with(con, SWEPT, rewrite)
    assert len(answer) == 9


@pytest.fixture
def any_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are made of rows that change meanwhile, too."""
    monkeypatch.setattr(
        "sqlanon.statements.frontiers._candidates.require_same_rows", lambda engine, policy, before: None
    )


@pytest.mark.long
@pytest.mark.usefixtures("any_rows")
def test_a_source_that_changes_meanwhile_is_looked_at_again() -> None:
    """Populations that were found in other rows are not used."""
    connection = template(SETUP)
    changed = False

    def change(stage: str, done: int, total: int, detail: str | None = None) -> None:
        nonlocal changed
        if done == 3 and not changed:
            changed = True
            with connection.duckdb.cursor() as other:
                other.execute("INSERT INTO people SELECT 1, 'd', 'measles' FROM range(20)")

    (statement,) = parse_script(POPULATIONS)
    assert isinstance(statement, Frontier)
    made = make_frontier(DuckDBEngine(connection.duckdb), statement, change)
    names = [name for name, _ in made.columns]
    assert changed
    for k, row in zip((2, 8), made.rows[3:5], strict=True):
        assert row[names.index("u_loss")] == pytest.approx(_u_loss(connection, k), abs=1e-12)


def made_with(connection: Connection, statement: str, watching: Any = None) -> tuple[list[dict[str, Any]], list[str]]:
    """The answer of FRONTIER, and the texts of all that it sent."""
    texts: list[str] = []
    (frontier,) = parse_script(statement)
    assert isinstance(frontier, Frontier)
    made = make_frontier(DuckDBEngine(connection.duckdb, texts.append), frontier, watching)
    return [dict(zip([name for name, _ in made.columns], row, strict=True)) for row in made.rows], texts


def encodings(texts: list[str]) -> int:
    return sum(re.match(r'CREATE TEMPORARY TABLE "__sqlanon_\w+_cells"', text) is not None for text in texts)


def figures_of(answer: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["method"], row["p_loss"], row["discernibility"], row["reason"]) for row in answer]


SWEPT = (
    "FRONTIER g ON POLICY p METHODS (generalization, generalization(suppression => 0.2), mondrian) "
    "SWEEP k IN (2, 8) MEASURE p_loss, discernibility"
)


@pytest.mark.long
def test_candidates_that_differ_in_numbers_alone_share_their_cells(con: Connection) -> None:
    answer, texts = made_with(con, SWEPT)
    # Levels and ranks are encoded once each for six candidates; what is there to compare with encodes its own.
    alone = made_with(con, SWEPT.replace("2, 8", "2").replace("generalization, ", "", 1))[1]
    assert encodings(texts) <= encodings(alone) + 1
    for k in (2, 8):
        one, _ = made_with(con, SWEPT.replace("2, 8", str(k)))
        same = [row for row in answer[3:] if f"k => {k})" in row["requirement"]]
        assert figures_of(same) == figures_of(one[3:])
        assert len(same) == 3


@pytest.mark.long
@pytest.mark.usefixtures("any_rows")
def test_cells_of_rows_that_have_changed_are_encoded_again() -> None:
    connection = template(SETUP)

    def change(stage: str, done: int, total: int, detail: str | None = None) -> None:
        if done == 3:
            with connection.duckdb.cursor() as other:
                other.execute("UPDATE people SET age = 7, ward = 'd' WHERE age < 5")

    answer, _ = made_with(connection, SWEPT, change)
    now, _ = made_with(connection, SWEPT)
    assert figures_of(answer[3:]) == figures_of(now[3:])
    assert any(row["p_loss"] for row in now[3:])


@pytest.mark.long
def test_an_error_meanwhile_leaves_no_table() -> None:
    connection = template(SETUP)
    before = connection.duckdb.execute(TABLES).fetchall()

    def stop(stage: str, done: int, total: int, detail: str | None = None) -> None:
        if done == 2:
            raise KeyboardInterrupt

    (statement,) = parse_script(POPULATIONS)
    assert isinstance(statement, Frontier)
    with pytest.raises(KeyboardInterrupt):
        make_frontier(DuckDBEngine(connection.duckdb), statement, stop)
    assert connection.duckdb.execute(TABLES).fetchall() == before


def _u_loss(connection: Connection, k: int) -> float:
    columns = 'age QUASI IDENTIFIER USING bands, ward QUASI IDENTIFIER, "the ill""ness" SENSITIVE'
    connection.execute(f"CREATE OR REPLACE POLICY same ON people ({columns}) REQUIRE k_anonymity(k => {k})")
    connection.execute("CREATE OR REPLACE ANONYMIZED TABLE alone AS POLICY same METHOD generalization")
    measured = connection.sql("MEASURE alone WITH FIGURES (u_loss)").filter("figure = 'u_loss'")
    ((value,),) = measured.select("value").fetchall()
    connection.execute("DROP ANONYMIZED TABLE alone")
    return float(value)
