"""REFRESH ANONYMIZED TABLE, and releases that keep the levels of an earlier one."""

from __future__ import annotations

from typing import Any

import pytest

from sqlanon import CatalogError, Connection, PolicyError, PrivacyViolation, UserError
from tests.support.database import template

SETUP = """
CREATE TABLE people AS SELECT i AS person, i % 20 AS age, ['F', 'M'][1 + i % 2] AS sex, 'd' || i % 3 AS ill
    FROM range(80) AS n(i);
CREATE HIERARCHY bands AS INTERVALS (5, 10);
CREATE POLICY p ON people (person ENTITY, age QUASI IDENTIFIER USING bands, sex QUASI IDENTIFIER, ill SENSITIVE)
    REQUIRE k_anonymity(k => 6);
CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.1, loss => 'height');
"""
MORE = "INSERT INTO people SELECT 100 + i, i % 20, ['F', 'M'][1 + i % 2], 'd' || i % 3 FROM range({}) AS n(i)"


@pytest.fixture
def con(monkeypatch: pytest.MonkeyPatch) -> Connection:
    monkeypatch.setenv("SERIES_KEY", "a key that nobody knows")
    return template(SETUP)


def released(con: Connection, name: str) -> tuple[Any, ...]:
    [row] = [row for row in con.execute("SHOW RELEASES").fetchall() if row[0] == f"main.{name}"]
    return row


def levels(con: Connection, name: str) -> dict[str, int]:
    query = (
        "SELECT attribute, level FROM anon.release_attribute JOIN anon.release USING (release_id) WHERE object_name = ?"
    )
    return {a: level for a, level in con.duckdb.execute(query, [name]).fetchall() if level is not None}


@pytest.mark.long
def test_a_refreshed_release_is_made_as_it_was_of_what_the_source_is_now(con: Connection) -> None:
    before = released(con, "r")
    con.execute(MORE.format(400))
    [row, *_] = con.execute("REFRESH ANONYMIZED TABLE r").fetchall()
    assert row[:4] == ("main.r", "table", 480, 480)
    after = released(con, "r")
    assert after[1:4] == before[1:4]
    assert after[5] == 480
    # With more people less has to be generalized.
    assert levels(con, "r")["age"] == 0


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "method",
    ["mondrian(publish => 'centroid')", "generalization(suppression => 0, recoding => 'local')"],
)
def test_arguments_are_those_of_the_release(con: Connection, method: str) -> None:
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD {method}")
    before = released(con, "r")[1:4]
    con.execute("REFRESH ANONYMIZED TABLE r")
    assert released(con, "r")[1:4] == before


@pytest.mark.long
def test_sets_of_columns_are_those_of_the_release(con: Connection) -> None:
    con.execute(
        "CREATE POLICY q ON people (age QUASI IDENTIFIER, sex QUASI IDENTIFIER, ill SENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )
    con.execute("CREATE ANONYMIZED TABLE s AS POLICY q METHOD slicing(l => 2) COLUMNS (age), (sex, ill)")
    query = "SELECT fragment, list(attribute ORDER BY attribute) FROM anon.release_attribute GROUP BY ALL ORDER BY 1"
    before = con.duckdb.execute(query).fetchall()
    con.execute(MORE.format(40))
    con.execute("REFRESH ANONYMIZED TABLE s")
    assert con.duckdb.execute(query).fetchall() == before


def test_levels_are_kept(con: Connection) -> None:
    before = levels(con, "r")
    assert before["age"] > 0
    con.execute(MORE.format(400))
    con.execute("REFRESH ANONYMIZED TABLE r LEVELS FROM RELEASE r")
    assert levels(con, "r") == before
    con.execute("CREATE ANONYMIZED TABLE another AS POLICY p LEVELS FROM RELEASE r")
    assert levels(con, "another") == before
    [measured] = con.execute("CHECK another").fetchall()
    assert measured[-1] is True
    explained = con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE third AS POLICY p LEVELS FROM RELEASE r").fetchall()
    assert ("solve", "nodes checked", "1 of 1, 0 ruled out unseen") in [tuple(row) for row in explained]
    assert ("explain", "age", f"not level 0: MIN LEVEL {before['age']}") in [tuple(row) for row in explained]


def test_levels_that_do_not_suffice_any_more_end_with_the_former_release_in_its_place(con: Connection) -> None:
    rows = con.execute("SELECT count(*) FROM r").fetchone()
    con.execute("DELETE FROM people WHERE person % 8 > 0")
    with pytest.raises(PrivacyViolation) as error:
        con.execute("REFRESH ANONYMIZED TABLE r LEVELS FROM RELEASE r")
    assert error.value.hint == "leave out LEVELS FROM RELEASE, and levels are searched for"
    assert con.execute("SELECT count(*) FROM r").fetchone() == rows
    assert all(row[-1] for row in con.execute("CHECK r").fetchall())


@pytest.mark.parametrize(
    ("change", "statement", "words"),
    [
        (
            "CREATE OR REPLACE HIERARCHY bands AS INTERVALS (5)",
            "REFRESH ANONYMIZED TABLE r LEVELS FROM RELEASE r",
            "of age",
        ),
        (
            "ALTER POLICY p ALTER COLUMN person QUASI IDENTIFIER",
            "CREATE ANONYMIZED TABLE s AS POLICY p LEVELS FROM RELEASE r",
            "does not state a level of person",
        ),
        (
            "CREATE ANONYMIZED TABLE m AS POLICY p METHOD mondrian",
            "CREATE ANONYMIZED TABLE s AS POLICY p LEVELS FROM RELEASE m",
            "does not state a level of age",
        ),
    ],
)
def test_levels_that_mean_something_else_are_refused(con: Connection, change: str, statement: str, words: str) -> None:
    con.execute(change)
    with pytest.raises(PolicyError, match=words) as error:
        con.execute(statement)
    assert error.value.hint


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("REFRESH ANONYMIZED TABLE nothing", "no release"),
        ("REFRESH ANONYMIZED TABLE live", "main.live is a live view"),
        ("REFRESH ANONYMIZED TABLE r LEVELS FROM RELEASE nothing", "no release"),
        ("REFRESH ANONYMIZED VIEW live", "expected TABLE"),
        ("CREATE ANONYMIZED TABLE m AS POLICY p METHOD mondrian LEVELS FROM RELEASE r", "MAX LEVEL|level"),
    ],
)
def test_what_is_refused(con: Connection, statement: str, words: str) -> None:
    con.execute("CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization")
    with pytest.raises(UserError, match=words):
        con.execute(statement)


@pytest.mark.long
def test_a_release_of_a_series_stays_in_it(con: Connection) -> None:
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE composition(max => 0.9, changed => 'ignored')")
    con.execute("CREATE ANONYMIZED TABLE m AS POLICY p METHOD generalization IN SERIES s")
    con.execute(MORE.format(40))
    con.execute("REFRESH ANONYMIZED TABLE m LEVELS FROM RELEASE m")
    assert con.execute("SHOW SERIES").fetchall() == [("s", "p", 2, 120)]
    assert con.execute("CHECK m IN SERIES s").fetchall()[0][-1] is True


MOVED = """
CREATE TABLE patients AS SELECT * FROM
    (VALUES ('Ann', 30, 'flu'), ('Ben', 30, 'cold'), ('Cem', 40, 'flu'), ('Dan', 40, 'asthma'))
    AS t (name, age, disease);
CREATE POLICY clinic ON patients (name ENTITY, age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE SERIES monthly ON POLICY clinic KEY 'SERIES_KEY' REQUIRE composition(max => 0.7);
CREATE ANONYMIZED TABLE january AS POLICY clinic METHOD generalization IN SERIES monthly;
"""
MOVE = "UPDATE patients SET age = CASE WHEN name IN ('Ann', 'Dan') THEN 30 ELSE 40 END"


@pytest.fixture
def clinic(monkeypatch: pytest.MonkeyPatch) -> Connection:
    """A release of a series, whose source stays as it is or becomes one that the series does not take."""
    monkeypatch.setenv("SERIES_KEY", "a key that nobody knows")
    return template(SETUP, MOVED)


LEDGERS_WITHOUT_IT = [
    "UPDATE anon.series_release SET release_id = 'x'",
    "DELETE FROM anon.series_release",
    "DELETE FROM anon.series",
    "UPDATE anon.series_release SET series_id = 'x'",
    "UPDATE anon.series SET series_id = 'x'",
    "UPDATE anon.series SET series = 'another'",
]


def rows(con: Connection) -> list[Any]:
    return con.duckdb.execute("FROM january ORDER BY ALL").fetchall()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("change", LEDGERS_WITHOUT_IT)
def test_a_release_whose_series_does_not_know_it_is_not_made_outside_of_it(clinic: Connection, change: str) -> None:
    before = rows(clinic)
    clinic.execute(MOVE)
    clinic.duckdb.execute(change)
    with pytest.raises(CatalogError, match="was made in the series monthly, whose ledger does not have it") as error:
        clinic.execute("REFRESH ANONYMIZED TABLE january")
    assert "undo the change" in str(error.value.hint)
    assert rows(clinic) == before
    # Nor is it said how to make it outside of the series where its table is gone.
    clinic.duckdb.execute("DROP TABLE january")
    with pytest.raises(CatalogError, match="was made in the series monthly"):
        clinic.execute("CHECK january")


@pytest.mark.long
def test_a_release_whose_series_knows_it_is_refreshed_as_the_series_requires(clinic: Connection) -> None:
    clinic.execute("REFRESH ANONYMIZED TABLE january")
    assert clinic.execute("SHOW SERIES").fetchall() == [("monthly", "clinic", 2, 4)]
    clinic.execute(MOVE)
    with pytest.raises(PrivacyViolation, match="would violate composition of series monthly"):
        clinic.execute("REFRESH ANONYMIZED TABLE january")


def statement_of(hint: str | None) -> str:
    return str(hint).split("dropped, ")[1].split(" makes")[0]


def test_where_the_series_was_dropped_the_hint_makes_a_release_of_no_series(clinic: Connection) -> None:
    clinic.execute(MOVE)
    clinic.execute("DROP SERIES monthly")
    with pytest.raises(CatalogError, match="monthly") as error:
        clinic.execute("REFRESH ANONYMIZED TABLE january")
    clinic.execute(statement_of(error.value.hint))
    clinic.execute("REFRESH ANONYMIZED TABLE january")
    assert clinic.duckdb.execute("SELECT count(*) FROM anon.series_release").fetchone() == (0,)


@pytest.mark.long
def test_where_another_series_of_its_name_was_begun_the_hint_makes_a_release_of_that(clinic: Connection) -> None:
    clinic.execute("DROP SERIES monthly")
    clinic.execute("CREATE SERIES Monthly ON POLICY clinic KEY 'SERIES_KEY' REQUIRE composition(max => 0.7)")
    with pytest.raises(CatalogError, match="monthly") as error:
        clinic.execute("REFRESH ANONYMIZED TABLE january")
    clinic.execute(statement_of(error.value.hint))
    clinic.execute("REFRESH ANONYMIZED TABLE january")
    assert clinic.execute("SHOW SERIES").fetchall() == [("Monthly", "clinic", 2, 4)]


def test_a_release_of_a_former_version_is_in_the_series_that_the_ledger_has(
    clinic: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqlanon.release.existing.loaded.series_name_of", lambda release: None)
    clinic.execute("REFRESH ANONYMIZED TABLE january")
    assert clinic.execute("SHOW SERIES").fetchall() == [("monthly", "clinic", 2, 4)]
    clinic.execute("DROP SERIES monthly")
    clinic.execute("REFRESH ANONYMIZED TABLE january")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("recoding", ["global", "local"])
@pytest.mark.parametrize("required", ["k_anonymity(k => 5)", "k_anonymity(k => 3), l_diversity(l => 2)"])
def test_respondents_of_one_row_each_are_as_many_as_the_rows(con: Connection, recoding: str, required: str) -> None:
    """The search then has no cells of single respondents, and chooses as it does without any; a second row counts."""
    made = "CREATE ANONYMIZED TABLE {0} AS POLICY {0} METHOD generalization(suppression => 0.1, recoding => '{1}')"
    columns = "person {}, age QUASI IDENTIFIER USING bands, sex QUASI IDENTIFIER, ill SENSITIVE"
    for name, role in (("by_people", "ENTITY"), ("by_rows", "IDENTIFIER")):
        con.execute(f'CREATE POLICY "{name}" ON people ({columns.format(role)}) REQUIRE {required}')
        con.execute(made.format(f'"{name}"', recoding))
    query = 'SELECT age, sex, ill FROM "{}" ORDER BY ALL'
    chosen = [con.duckdb.execute(query.format(name)).fetchall() for name in ("by_people", "by_rows")]
    assert chosen[0] == chosen[1]
    con.duckdb.execute("UPDATE people SET person = person // 40")
    with pytest.raises(PrivacyViolation):
        con.execute(made.format("by_people", recoding).replace("CREATE", "CREATE OR REPLACE"))
