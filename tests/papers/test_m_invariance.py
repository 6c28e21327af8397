"""Xiao and Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets (2007), tables 1 to 4.

The first release has the paper's classes; what METHOD m_invariance makes of the second table is compared with what the
paper has: two counterfeits, and nobody surer of a value than one half.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

import sqlanon
from sqlanon import Connection
from tests.oracles.composition import Classes
from tests.oracles.invariance import beliefs, fewest_counterfeits
from tests.support.invariance import KEY, counterfeits_of, in_ranges, shown

# Name, age, zip code in thousands, disease, and the class of the paper's first release.
FIRST = [
    ("Bob", 21, 12, "dyspepsia", 1),
    ("Alice", 22, 14, "bronchitis", 1),
    ("Andy", 24, 18, "flu", 2),
    ("David", 23, 25, "gastritis", 2),
    ("Gary", 41, 20, "flu", 3),
    ("Helen", 36, 27, "gastritis", 3),
    ("Jane", 37, 33, "dyspepsia", 4),
    ("Ken", 40, 35, "flu", 4),
    ("Linda", 43, 26, "gastritis", 4),
    ("Paul", 52, 33, "dyspepsia", 5),
    ("Steve", 56, 34, "gastritis", 5),
]
LEAVE = ("Alice", "Andy", "Helen", "Ken", "Paul")
COME = [
    ("Emily", 25, 21, "flu", 0),
    ("Mary", 46, 30, "gastritis", 0),
    ("Ray", 54, 31, "dyspepsia", 0),
    ("Tom", 60, 44, "gastritis", 0),
    ("Vince", 65, 36, "flu", 0),
]
DISEASE = {name: disease for name, _, _, disease, _ in (*FIRST, *COME)} | {"c1": "bronchitis", "c2": "flu"}
THIRD = Fraction(1, 3)


@pytest.fixture(autouse=True, scope="module")
def _key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("SERIES_KEY", KEY)
        yield


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute("CREATE TABLE people (name VARCHAR, age INTEGER, zip INTEGER, disease VARCHAR, class INTEGER)")
    connection.duckdb.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", [list(row) for row in FIRST])
    connection.execute(
        "CREATE POLICY p ON (SELECT *, name AS shown FROM people) (name ENTITY, shown IDENTIFIER, age IDENTIFIER, "
        "zip IDENTIFIER, class QUASI IDENTIFIER MAX LEVEL 0, disease SENSITIVE) "
        "REQUIRE l_diversity(l => 2, variant => 'probabilistic')"
    )
    connection.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 2)")
    # Classes of which each shows its number are the paper's.
    connection.execute("CREATE ANONYMIZED TABLE r1 AS POLICY p IN SERIES s")
    # Values of a bucket stand apart from its rows, which may show names.
    for column in ("shown", "age", "zip"):
        connection.execute(f"ALTER POLICY p ALTER COLUMN {column} INSENSITIVE")
    connection.duckdb.execute("DELETE FROM people WHERE name IN ?", [list(LEAVE)])
    connection.duckdb.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", [list(row) for row in COME])
    connection.execute("CREATE ANONYMIZED TABLE r2 AS POLICY p METHOD m_invariance(m => 2) IN SERIES s")
    return connection


def classes(*names: str) -> Classes:
    """Classes of respondents and counterfeits, a string of names each."""
    members = {name: of for of in names for name in of.split() if name not in ("c1", "c2")}
    return members, {of: [DISEASE[name] for name in of.split()] for of in names}


FIRST_CLASSES = classes("Bob Alice", "Andy David", "Gary Helen", "Jane Ken Linda", "Paul Steve")


def test_the_paper_s_second_release_leaves_192_worlds() -> None:
    second = classes("Bob c1", "David Emily", "Jane c2 Linda", "Gary Mary", "Ray Steve", "Tom Vince")
    count, believed = beliefs([FIRST_CLASSES, second])
    assert count == 192
    assert {who for who, share in believed.items() if share == THIRD} == {"Jane", "Ken", "Linda"}
    assert {share for who, share in believed.items() if who not in ("Jane", "Ken", "Linda")} == {Fraction(1, 2)}


def test_without_counterfeits_four_are_known() -> None:
    second = classes("Bob David", "Jane Linda Gary", "Ray Steve", "Emily Mary", "Tom Vince")
    count, believed = beliefs([FIRST_CLASSES, second])
    assert count == 32
    assert {who for who, share in believed.items() if share == 1} == {"Bob", "Alice", "David", "Andy"}


def test_the_second_release_has_two_counterfeits_and_none_has_fewer(con: Connection) -> None:
    members, values = FIRST_CLASSES
    staying = [(frozenset(values[members[name]]), DISEASE[name]) for name in members if name not in LEAVE]
    assert fewest_counterfeits(staying, [disease for _, _, _, disease, _ in COME], 2, 4) == 2
    assert sum(counterfeits_of(con, "r2").values()) == 2
    checked = {row[1]: row[3:] for row in con.execute("CHECK r2").fetchall()}
    assert checked["m_uniqueness"] == (2, 2, True)
    assert checked["counterfeits"] == (2, 2, True)


def test_all_who_stay_keep_their_signature(con: Connection) -> None:
    members, values = shown(con, "r2")
    first_members, first_values = FIRST_CLASSES
    staying = [name for name in members if name in first_members]
    assert len(staying) == 6
    for name in staying:
        assert set(values[members[name]]) == set(first_values[first_members[name]])


def test_nobody_is_surer_than_one_half_in_the_192_worlds_of_both(con: Connection) -> None:
    count, believed = beliefs([FIRST_CLASSES, shown(con, "r2")])
    assert count == 192
    assert {who for who, share in believed.items() if share == THIRD} >= {"Jane", "Ken", "Linda"}
    assert max(believed.values()) == Fraction(1, 2)
    assert [row[3:] for row in con.execute("CHECK r2 IN SERIES s").fetchall() if row[1] == "m_invariance"] == [
        (2, 2, True)
    ]


@pytest.fixture(scope="module")
def ranges(con: Connection) -> Connection:
    """The paper's first release, and the second one with ranges, as the paper has it."""
    con.execute("CREATE SERIES in_ranges ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 2)")
    con.duckdb.execute("CREATE TABLE now AS FROM people; DELETE FROM people")
    con.duckdb.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", [list(row) for row in FIRST])
    for column in ("shown", "age", "zip"):
        con.execute(f"ALTER POLICY p ALTER COLUMN {column} IDENTIFIER")
    con.execute("CREATE ANONYMIZED TABLE f1 AS POLICY p IN SERIES in_ranges")
    con.duckdb.execute("DELETE FROM people; INSERT INTO people FROM now")
    con.execute(
        "CREATE OR REPLACE POLICY p ON people (name ENTITY, age QUASI IDENTIFIER, zip QUASI IDENTIFIER, "
        "disease SENSITIVE) REQUIRE l_diversity(l => 2, variant => 'probabilistic')"
    )
    con.execute(
        "CREATE ANONYMIZED TABLE f2 AS POLICY p METHOD m_invariance(m => 2, publish => 'ranges') IN SERIES in_ranges"
    )
    return con


def test_with_ranges_the_second_release_has_the_paper_s_counterfeits_and_worlds(ranges: Connection) -> None:
    release = members, values = in_ranges(ranges, "f2", [name for name, *_ in (*FIRST, *COME)], "disease", "in_ranges")
    assert len(members) == 11
    assert sum(map(len, values.values())) == 13
    counterfeits = counterfeits_of(ranges, "f2")
    # Who shares a signature with somebody who has left is among counterfeits: Bob, and Jane or Linda.
    assert sum(counterfeits.values()) == 2
    assert {values_of for bucket in counterfeits for values_of in [frozenset(values[bucket])]} >= {
        frozenset({"dyspepsia", "bronchitis"})
    }
    assert ranges.duckdb.execute("SELECT age, zip FROM f2_rows WHERE disease = 'bronchitis'").fetchall() == [
        ("21", "12")
    ]
    count, believed = beliefs([FIRST_CLASSES, release])
    assert count == 192
    assert max(believed.values()) == Fraction(1, 2)
    checked = {row[1]: row[3:] for row in ranges.execute("CHECK f2").fetchall()}
    assert checked["m_uniqueness"] == (2, 2, True)
    assert checked["counterfeits"] == (2, 2, True)


def test_with_ranges_all_who_stay_keep_their_signature(ranges: Connection) -> None:
    members, values = in_ranges(ranges, "f2", [name for name, *_ in FIRST], "disease", "in_ranges")
    first_members, first_values = FIRST_CLASSES
    assert len(members) == 6
    for name in members:
        assert set(values[members[name]]) == set(first_values[first_members[name]])


def test_ranges_cover_the_people_of_a_class_and_no_more(ranges: Connection) -> None:
    members, _ = in_ranges(ranges, "f2", [name for name, *_ in (*FIRST, *COME)], "disease", "in_ranges")
    people = {name: (age, code) for name, age, code, *_ in (*FIRST, *COME)}
    for bucket, age, code in ranges.duckdb.execute("SELECT DISTINCT bucket, age, zip FROM f2_rows").fetchall():
        ages, codes = zip(*(people[name] for name, of in members.items() if of == bucket), strict=True)
        assert (age, code) == (_range(ages), _range(codes))


def _range(values: tuple[int, ...]) -> str:
    return str(values[0]) if len({*values}) == 1 else f"[{min(values)}, {max(values)}]"
