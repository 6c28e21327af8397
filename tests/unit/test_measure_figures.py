"""MEASURE without a workload: which figures a release has, what is refused, and what is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon import Connection, PolicyError, UserError
from sqlanon.clients.session import StatementEvent
from sqlanon.clients.terminal.demo import load_adult
from sqlanon.errors import InternalError, StatementError
from sqlanon.sql.questions.statistics import load_statistic, parse_statistic, statistic_names

SETUP = """
CREATE TABLE people AS SELECT
    i % 4 AS age, ['a', 'b', 'c'][i % 3 + 1] AS ward, ['flu', 'cold', 'x'][(i * 31) % 3 + 1] AS "the ill""ness",
    i % 5 AS bill, i AS id
FROM range(24) AS n(i);
CREATE POLICY p ON people (age QUASI IDENTIFIER, ward QUASI IDENTIFIER, "the ill""ness" SENSITIVE, bill SENSITIVE,
    id IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE POLICY one ON people (age QUASI IDENTIFIER, ward QUASI IDENTIFIER, "the ill""ness" SENSITIVE)
    REQUIRE k_anonymity(k => 2);
CREATE POLICY harmless ON people (age QUASI IDENTIFIER, ward QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2);
CREATE POLICY persons ON people (id ENTITY, age QUASI IDENTIFIER, bill SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE POLICY apart ON people (age INSENSITIVE, ward INSENSITIVE, bill INSENSITIVE) CONFIDENTIAL (age, bill);
"""


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute(SETUP)
    connection.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    return connection


def measured(con: Connection, statement: str) -> dict[tuple[str, str | None], Any]:
    return {(figure, attribute): value for _, figure, attribute, value, *_ in con.execute(statement).fetchall()}


def test_without_names_all_figures_of_each_attribute_are_measured(con: Connection) -> None:
    figures = measured(con, "MEASURE r")
    of_classes = {name for name, attribute in figures if attribute is None}
    assert {"prosecutor_risk", "discernibility", "average_class_size"} <= of_classes
    for attribute in ('the ill"ness', "bill"):
        assert {"a_know", "a_acc", "gain", "p_loss", "p_loss_mean"} <= {n for n, a in figures if a == attribute}
    assert "population_uniqueness" not in of_classes


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "method",
    ["generalization", "mondrian", "mondrian(publish => 'none')", "anatomy(l => 2)", "slicing(l => 2) COLUMNS EACH"],
)
def test_every_method_with_classes_has_figures(con: Connection, method: str) -> None:
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE other AS POLICY one METHOD {method}")
    figures = measured(con, "MEASURE other WITH FIGURES (p_loss, class_sizes)")
    assert 0 <= figures["p_loss", 'the ill"ness'] < 0.7
    assert figures["least_class_size", None] >= 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("call", ["linkage_risk", "uniqueness(0.1)"])
@pytest.mark.parametrize("method", ["anatomy(l => 2)", "slicing(l => 2) COLUMNS EACH"])
def test_rows_of_a_bucket_are_no_class_of_people_who_look_alike(con: Connection, method: str, call: str) -> None:
    """The ages beside a bucket are all shown, so that its size says nothing of how easily somebody is found."""
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE other AS POLICY one METHOD {method}")
    with pytest.raises(PolicyError, match="told apart by the columns beside it"):
        con.execute(f"MEASURE other WITH FIGURES ({call})")
    events: list[StatementEvent] = []
    con.script("MEASURE other", events.append)
    assert any("linkage_risk is not measured: the rows of a bucket" in remark for remark in events[1].remarks)
    assert not any("prosecutor_risk" in row for row in events[1].result.fetchall())


def test_a_sampling_fraction_is_above_0(con: Connection) -> None:
    for call in ("uniqueness(0)", "uniqueness(sampling_fraction => 0.0)", "population_uniques(0)"):
        with pytest.raises(PolicyError, match="above 0 and at most 1"):
            con.execute(f"MEASURE r WITH FIGURES ({call})")


def test_a_live_view_is_measured_as_it_is_now(con: Connection) -> None:
    con.execute("CREATE OR REPLACE ANONYMIZED VIEW live AS POLICY one METHOD generalization")
    con.duckdb.execute("BEGIN")
    con.duckdb.execute("INSERT INTO people SELECT * FROM people")
    assert measured(con, "MEASURE live WITH FIGURES (linkage_risk)")["row_count", None] == 48
    con.duckdb.execute("ROLLBACK")
    assert measured(con, "MEASURE live WITH FIGURES (linkage_risk)")["row_count", None] == 24


def test_suppressed_rows_are_dear_in_the_discernibility_metric(con: Connection) -> None:
    con.execute("CREATE TABLE odd AS SELECT 1 AS age FROM range(9) UNION ALL SELECT 2")
    con.execute("CREATE POLICY odd ON odd (age QUASI IDENTIFIER MAX LEVEL 0) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED TABLE odd_release AS POLICY odd METHOD generalization(suppression => 0.1)")
    figures = measured(con, "MEASURE odd_release WITH FIGURES (class_sizes)")
    assert figures["discernibility", None] == 9 * 9 + 10


def test_an_argument_may_stand_without_its_name(con: Connection) -> None:
    named = measured(con, "MEASURE r WITH FIGURES (p_loss(above => 0.001))")
    assert measured(con, "MEASURE r WITH FIGURES (P_LOSS(0.001))") == named
    assert (
        named["p_loss_above", "bill"] > measured(con, "MEASURE r WITH FIGURES (p_loss(0.69))")["p_loss_above", "bill"]
    )


def test_what_is_measured_is_recorded_until_it_is_measured_again(con: Connection) -> None:
    con.execute("CREATE ANONYMIZED TABLE again AS POLICY one METHOD generalization")
    for _ in range(2):
        figures = measured(con, "MEASURE again WITH FIGURES (gain, class_sizes)")
    recorded = con.duckdb.execute(
        "SELECT figure, attribute, value FROM anon.release_figure JOIN anon.release USING (release_id) "
        "WHERE object_name = 'again'"
    ).fetchall()
    assert {(figure, attribute): value for figure, attribute, value in recorded} == figures
    assert len(recorded) == len(figures)
    con.execute("CHECK again")
    con.execute("DROP ANONYMIZED TABLE again")
    query = "SELECT count(*) FROM anon.release_figure WHERE release_id NOT IN (SELECT release_id FROM anon.release)"
    assert con.duckdb.execute(query).fetchall() == [(0,)]


def test_a_database_that_is_read_only_is_measured_and_remembers_nothing(tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    with sqlanon.connect(path) as con:
        con.execute(SETUP)
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY one METHOD anatomy(l => 2)")
    with sqlanon.connect(path, read_only=True) as con:
        assert measured(con, "MEASURE r WITH FIGURES (gain, membership)")
        assert con.duckdb.execute("SELECT count(*) FROM anon.release_figure").fetchall() == [(0,)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("MEASURE persons WITH FIGURES (linkage_risk)", "rows of one id count as one"),
        ("MEASURE harmless WITH FIGURES (gain)", "no SENSITIVE attribute"),
        ("MEASURE apart WITH FIGURES (linkage_risk)", "several tables without buckets"),
        ("MEASURE r WITH FIGURES (journalist_risk)", "compares with a public table"),
        ("MEASURE r WITH FIGURES (uniqueness)", "lacks its argument 'sampling_fraction'"),
        ("MEASURE r WITH FIGURES (uniqueness(sampling_fraction => 2))", "outside 0 to 1"),
        ("MEASURE r WITH FIGURES (p_loss(abov => 0.1))", "has no argument 'abov'"),
        ("MEASURE r WITH FIGURES (class_sizes(suppressed => 5))", "has no argument 'suppressed'"),
    ],
)
def test_what_cannot_be_measured_is_refused(con: Connection, statement: str, words: str) -> None:
    for policy in ("persons", "harmless"):
        con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE {policy} AS POLICY {policy} METHOD generalization")
    con.execute(
        "CREATE OR REPLACE ANONYMIZED TABLE apart AS POLICY apart METHOD fragments FRAGMENTS (age, ward), (bill)"
    )
    with pytest.raises(PolicyError, match=words) as error:
        con.execute(statement)
    assert error.value.hint or "outside" in words


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("MEASURE r WITH FIGURES (membership(1))", "membership takes no arguments"),
        ("MEASURE r WITH FIGURES (gain(3))", "an argument lacks its name"),
        ("MEASURE r WITH FIGURES (gian)", "there are no figures 'gian'"),
    ],
)
def test_what_is_misspelt_is_said(con: Connection, statement: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as error:
        con.execute(statement)
    assert error.value.hint


def test_of_a_release_without_classes_only_what_can_be_measured_is(con: Connection) -> None:
    con.execute(
        "CREATE OR REPLACE ANONYMIZED TABLE apart AS POLICY apart METHOD fragments FRAGMENTS (age, ward), (bill)"
    )
    assert {name for name, _ in measured(con, "MEASURE apart")} >= {"original", "fake"}


def test_a_release_that_was_changed_is_refused(tmp_path: Path) -> None:
    with sqlanon.connect() as con:
        con.execute(SETUP)
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY one METHOD generalization")
        con.duckdb.execute("ALTER TABLE r ADD COLUMN more INTEGER")
        with pytest.raises(sqlanon.SqlanonError, match="was changed after it was released"):
            con.execute("MEASURE r")


@pytest.fixture
def adult(with_adult: Path) -> Connection:
    connection = sqlanon.connect()
    load_adult(connection)
    connection.duckdb.execute("CREATE TABLE complete AS FROM adult WHERE COLUMNS(*) IS NOT NULL")
    return connection


@pytest.mark.long
@pytest.mark.parametrize(
    ("quasi", "sensitive", "a_acc", "a_know"),
    [
        ("age, sex, race", "occupation", 0.1034, 0.2492),
        ("age, occupation, education", "marital_status", 0.2062, 0.3588),
    ],
)
def test_figures_of_the_intact_census(
    adult: Connection, quasi: str, sensitive: str, a_acc: float, a_know: float
) -> None:
    """Brickell and Shmatikov's sets of attributes of UCI Adult, 45,222 rows: what an adversary learns of all rows."""
    columns = ", ".join(f"{name} QUASI IDENTIFIER MAX LEVEL 0" for name in quasi.split(", "))
    adult.execute(
        f"CREATE OR REPLACE POLICY p ON complete ({columns}, {sensitive} SENSITIVE) REQUIRE k_anonymity(k => 1)"
    )
    adult.execute("CREATE OR REPLACE ANONYMIZED TABLE intact AS POLICY p METHOD generalization")
    figures = measured(adult, "MEASURE intact WITH FIGURES (a_acc, a_know)")
    assert (round(figures["a_acc", sensitive], 4), round(figures["a_know", sensitive], 4)) == (a_acc, a_know)


@pytest.mark.long
@pytest.mark.parametrize(("revealed", "p_loss"), [("Armed-Forces", 0.692), ("Craft-repair", 0.488)])
def test_the_loss_of_revealing_an_occupation(adult: Connection, revealed: str, p_loss: float) -> None:
    adult.duckdb.execute(
        f"CREATE OR REPLACE TABLE one AS SELECT occupation = '{revealed}' AS is_one, occupation FROM complete"
    )
    adult.execute(
        "CREATE OR REPLACE POLICY one ON one (is_one QUASI IDENTIFIER MAX LEVEL 0, occupation SENSITIVE) "
        "REQUIRE k_anonymity(k => 1)"
    )
    adult.execute("CREATE OR REPLACE ANONYMIZED TABLE revealed AS POLICY one METHOD generalization")
    figures = measured(adult, "MEASURE revealed WITH FIGURES (p_loss)")
    assert figures["p_loss", "occupation"] == pytest.approx(p_loss, abs=6e-4)


@pytest.mark.parametrize("statement", ["MEASURE r WITH", "MEASURE", "MEASURE r FIGURES (gain)"])
def test_what_cannot_be_read_is_refused(con: Connection, statement: str) -> None:
    with pytest.raises(StatementError):
        con.execute(statement)


@pytest.mark.parametrize("name", statistic_names("figures"))
def test_every_file_has_a_header_and_its_figures_names_of_their_own(name: str) -> None:
    statistic = load_statistic("figures", name)
    assert statistic.title.endswith(".")
    assert statistic.columns


HEADER = "-- title: x.\n-- paper: y\n-- falls: {falls}\n-- reads: equivalence_class\n{statement}"


@pytest.mark.parametrize(
    ("falls", "statement", "words"),
    [
        ("maybe", "", "say yes or no"),
        ("no", "", "no statement 'figures'"),
        ("no", "-- statement: figures\nSELECT $a AS b", "which no parameter gives"),
    ],
)
def test_a_file_that_is_incomplete_is_refused(falls: str, statement: str, words: str) -> None:
    with pytest.raises(InternalError, match=words):
        parse_statistic("mine", HEADER.format(falls=falls, statement=statement))


@pytest.mark.long
def test_a_workload_and_figures_are_one_table(con: Connection) -> None:
    con.execute("CREATE OR REPLACE WORKLOAD w ON POLICY p (queries => 5, dimensions => 1, seed => 1)")
    together = measured(con, "MEASURE r WITH WORKLOAD w WITH FIGURES (p_loss, class_sizes)")
    alone = {(figure, None): value for *_, figure, value in con.execute("MEASURE r WITH WORKLOAD w").fetchall()}
    assert alone["queries", None] == 5
    assert together == alone | measured(con, "MEASURE r WITH FIGURES (p_loss, class_sizes)")


def test_a_workload_is_not_asked_where_figures_are_refused(con: Connection) -> None:
    con.execute("CREATE OR REPLACE WORKLOAD w2 ON POLICY p (queries => 5, dimensions => 1, seed => 1)")
    with pytest.raises(UserError, match="no figures"):
        con.execute("MEASURE r WITH WORKLOAD w2 WITH FIGURES (p_los)")
    assert con.duckdb.execute("SELECT count(*) FROM anon.query_error WHERE workload = 'w2'").fetchall() == [(0,)]
    with pytest.raises(StatementError, match="FIGURES"):
        con.execute("MEASURE r WITH WORKLOAD w2 WITH TASK (target => bill)")


@pytest.mark.parametrize(
    ("figures", "place", "message", "hint"),
    [
        ("gain, p_loss(abov => 1)", "gain, ", "p_loss has no argument 'abov'", "did you mean above"),
        ("gain, p_loss(above => -1)", "gain, ", "p_loss: above = -1 is outside 0 to 1", "it takes: above"),
        ("gain, uniqueness", "gain, ", "uniqueness lacks its argument", "sampling_fraction"),
        ("gain, unique_rows", "gain, ", "there are no figures 'unique_rows'", "one of linkage_risk"),
    ],
)
def test_an_error_of_a_figure_is_at_its_place(
    con: Connection, figures: str, place: str, message: str, hint: str
) -> None:
    before = "MEASURE r WITH FIGURES ("
    with pytest.raises(UserError, match=message) as error:
        con.execute(f"{before}{figures})")
    assert hint in (error.value.hint or "")
    assert error.value.position is not None
    assert error.value.position.column == len(before + place) + 1
