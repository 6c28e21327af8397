"""MultiR k-anonymity (Nergiz, Clifton and Nergiz 2007): six people and their visits, by what is known of them."""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon

VISITS = [
    (1, "North", "flu"),
    (1, "North", "cold"),
    (2, "North", "flu"),
    (3, "North", "ulcer"),
    (3, "South", "flu"),
    (4, "South", "cold"),
    (5, "South", "flu"),
    (5, "East", "ulcer"),
    (6, "South", "cold"),
    (6, "East", "flu"),
]
PERSONS = [(1, 1950, "F"), (2, 1950, "F"), (3, 1950, "F"), (4, 1960, "M"), (5, 1960, "M"), (6, 1960, "M")]
KNOWS = ("'one_row'", "'m_rows', m => 2", "'rows'", "'values'", "'history'")
# Each release: the visits that are left out, the level of clinic, the rows of the smallest class of the join, and the
# people of the smallest class by what is known.
RELEASES = [
    ("as it is", None, 0, 1, (1, 1, 1, 1, 1)),
    ("clinic to North/South, East", None, 1, 2, (2, 2, 2, 1, 1)),
    ("without 3's visit to South", (3, "South", "flu"), 1, 2, (2, 2, 2, 1, 1)),
    ("clinic suppressed", None, 2, 5, (3, 3, 3, 3, 1)),
]
# Who is alone in a class.
ALONE = {
    ("as it is", "values"): {3, 4},
    ("clinic to North/South, East", "values"): {4},
    ("clinic to North/South, East", "history"): {2, 4},
    ("without 3's visit to South", "values"): {4},
    ("without 3's visit to South", "history"): {1, 4},
    ("clinic suppressed", "values"): set(),
    ("clinic suppressed", "history"): {2, 4},
}


def clinic(without: tuple[Any, ...] | None, persons: list[tuple[Any, ...]] = PERSONS) -> sqlanon.Connection:
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("CREATE TABLE persons (id INTEGER, born INTEGER, sex VARCHAR)")
    con.execute("CREATE TABLE visits (id INTEGER, clinic VARCHAR, diagnosis VARCHAR)")
    con.duckdb.executemany("INSERT INTO persons VALUES (?, ?, ?)", persons)
    known = {person for person, *_ in persons}
    visits = [visit for visit in VISITS if visit != without and visit[0] in known]
    con.duckdb.executemany("INSERT INTO visits VALUES (?, ?, ?)", visits)
    con.execute(
        "CREATE HIERARCHY regions AS LEVELS (FROM (VALUES "
        "('North', 'North/South'), ('South', 'North/South'), ('East', 'East')) AS t(clinic, region))"
    )
    return con


def publish(con: sqlanon.Connection, level: int, required: str) -> dict[str, float]:
    """What a release at this level of clinic comes to, by the names of the measurements."""
    con.execute(f"""
        CREATE POLICY clinic ON persons (id ENTITY, born QUASI IDENTIFIER, sex QUASI IDENTIFIER)
        WITH TABLE visits ON (id)
            (clinic QUASI IDENTIFIER USING regions MIN LEVEL {level} MAX LEVEL {level}, diagnosis SENSITIVE)
        REQUIRE {required}
    """)
    con.execute("CREATE ANONYMIZED TABLE made AS POLICY clinic METHOD multirelational(suppression => 0)")
    return {row[1]: row[4] for row in con.execute("CHECK made").fetchall()}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "without", "level", "of_join", "least"), RELEASES)
def test_people_of_the_smallest_class(
    name: str, without: tuple[Any, ...] | None, level: int, of_join: int, least: tuple[int, ...]
) -> None:
    with clinic(without) as con:
        required = ", ".join(f"k_anonymity(k => 1, knows => {knows})" for knows in KNOWS)
        checked = publish(con, level, required)
        assert tuple(checked.values()) == least
        join = "SELECT count(*) AS n FROM made_persons JOIN made_visits USING (id) GROUP BY born, sex, clinic"
        assert con.duckdb.execute(f"SELECT min(n) FROM ({join})").fetchall() == [(of_join,)]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "knows"), ALONE)
def test_who_is_alone(name: str, knows: str) -> None:
    """Everybody else can be published: those who are alone are the people that are left out."""
    without, level = next((without, level) for called, without, level, *_ in RELEASES if called == name)
    alone = ALONE[name, knows]
    with clinic(without) as con:
        con.execute(
            f"""
            CREATE POLICY clinic ON persons (id ENTITY, born QUASI IDENTIFIER, sex QUASI IDENTIFIER, name INSENSITIVE)
            WITH TABLE visits ON (id) (clinic QUASI IDENTIFIER USING regions MIN LEVEL {level} MAX LEVEL {level})
            REQUIRE k_anonymity(k => 2, knows => '{knows}')
        """.replace("ON persons", "ON (SELECT *, 'p' || id AS name FROM persons)")
        )
        con.execute("CREATE ANONYMIZED TABLE made AS POLICY clinic METHOD multirelational(suppression => 0.9)")
        left = con.duckdb.execute("SELECT name FROM made_respondents").fetchall()
    assert {f"p{person}" for person, *_ in PERSONS} - {name for (name,) in left} == {f"p{each}" for each in alone}


@pytest.mark.parametrize(("born", "share"), [(1950, 1.0), (1960, 2 / 3)])
def test_diagnoses_of_a_class(born: int, share: float) -> None:
    """A value that all people of a class have is disclosed, even beside many others: shares add up to more than 1."""
    with clinic(None, [person for person in PERSONS if person[1] == born]) as con:
        about = "attribute => diagnosis"
        checked = publish(con, 2, f"l_diversity(1, {about}), l_diversity(1, variant => 'probabilistic', {about})")
    assert checked == {"distinct_l_diversity": 3.0, "probabilistic_l_diversity": pytest.approx(1 / share)}
