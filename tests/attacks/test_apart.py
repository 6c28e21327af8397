"""Attacks on fragments and their groups: by order, and by the numbers of groups.

Each is first shown to work on tables that are made naively. The adversary knows who stands where in the register and
in which fragment's table; `person` and `disease` are different in every row, so a hit is a hit.
"""

from __future__ import annotations

import itertools

import pytest

import sqlanon
from sqlanon import Connection

ROWS = 3000
# A random order gives a Poisson(1) number of rows in their own places: so many come by chance once in 10^8 runs.
HITS = 15
# Correlations of things that have nothing to do with each other deviate by one in the square root of their number.
UNRELATED = 6 / (ROWS / 2) ** 0.5

SOURCE = f"""
CREATE TABLE register AS SELECT i AS person, 20 + i * 7 % 50 AS age, 5 * i AS disease FROM range({ROWS}) AS t(i);
CREATE POLICY p ON register (
    person INSENSITIVE, age QUASI IDENTIFIER, disease SENSITIVE
) CONFIDENTIAL (person, disease), (age, disease);
"""
# Fragments as they stand in the source, and groups as they come: a block of four is two by two.
NAIVE = """
CREATE TABLE naive AS SELECT *, (person // 4) * 2 + person % 4 // 2 AS g, (person // 4) * 2 + person % 2 AS h
FROM register;
CREATE TABLE naive_1 AS SELECT person, age, g AS group_id FROM naive;
CREATE TABLE naive_2 AS SELECT disease, h AS group_id FROM naive;
CREATE TABLE naive_association AS SELECT g AS group_1, h AS group_2 FROM naive;
"""
METHODS = ("fragments", "loose(groups => (2, 2)) FRAGMENTS (person), (disease)", "loose(k => 4, near => true)")


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute(SOURCE + NAIVE)
    for number, method in enumerate(METHODS):
        connection.execute(f"CREATE ANONYMIZED TABLE released{number} AS POLICY p METHOD {method}")
    return connection


def number(con: Connection, query: str) -> float:
    return float(con.duckdb.execute(query).fetchall()[0][0])


def side_by_side(con: Connection, name: str) -> float:
    """The n-th row of one fragment is said to be the n-th of the other."""
    return number(
        con, f"SELECT count(*) FROM {name}_1 AS a JOIN {name}_2 AS b USING (rowid) WHERE disease = 5 * person"
    )


def in_the_register(con: Connection, name: str) -> float:
    """The n-th row of the diseases is said to be that of the n-th person of the register."""
    return number(
        con, f"SELECT count(*) FROM {name}_2 AS b JOIN register AS r ON r.rowid = b.rowid WHERE b.disease = r.disease"
    )


def along_the_association(con: Connection, name: str) -> float:
    """The n-th row of the association is said to be that of the n-th row of each fragment."""
    return number(
        con,
        f"SELECT count(*) FROM {name}_association AS a JOIN {name}_1 AS b USING (rowid) "
        f"JOIN {name}_2 AS c ON c.rowid = b.rowid WHERE a.group_1 = b.group_id AND a.group_2 = c.group_id",
    )


def of_rows(con: Connection, name: str, place: int, column: str) -> float:
    """How the numbers of groups go with the values of their rows."""
    return abs(number(con, f"SELECT corr(group_id, {column}) FROM {name}_{place}"))


def of_groups(con: Connection, name: str) -> float:
    """How the numbers of groups of one fragment go with those of the other that they are linked to."""
    return abs(number(con, f"SELECT corr(group_1, group_2) FROM {name}_association"))


@pytest.mark.parametrize("attack", [side_by_side, in_the_register])
def test_order_links_no_rows(con: Connection, attack) -> None:
    assert attack(con, "naive") == ROWS
    for place in range(len(METHODS)):
        assert attack(con, f"released{place}") <= HITS


def test_the_order_of_the_association_links_no_rows(con: Connection) -> None:
    assert along_the_association(con, "naive") == ROWS
    for place in (1, 2):
        assert along_the_association(con, f"released{place}") <= HITS


def test_numbers_of_groups_link_nothing(con: Connection) -> None:
    assert min(of_rows(con, "naive", 1, "person"), of_rows(con, "naive", 2, "disease"), of_groups(con, "naive")) > 0.99
    for place in (1, 2):
        name = f"released{place}"
        assert of_rows(con, name, 1, "person") < UNRELATED
        assert of_rows(con, name, 2, "disease") < UNRELATED
        assert of_groups(con, name) < UNRELATED


def test_neighbours_in_one_table_are_no_neighbours_in_another(con: Connection) -> None:
    """Rows that stand beside each other in the register are in nobody's order any more."""
    beside = "SELECT count(*) FROM (SELECT person - lag(person) OVER (ORDER BY rowid) AS step FROM {}_1) WHERE step = 1"
    assert number(con, beside.format("naive")) == ROWS - 1
    for place in range(len(METHODS)):
        assert number(con, beside.format(f"released{place}")) <= HITS


def test_nothing_that_is_published_says_which_row_is_which(con: Connection) -> None:
    """The only columns are those of the policy and the groups; no two tables share one that is not a group."""
    columns = {
        name: [column for (column,) in con.duckdb.execute(f"SELECT column_name FROM (DESCRIBE {name})").fetchall()]
        for (name,) in con.duckdb.execute(
            "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'released%'"
        ).fetchall()
    }
    assert columns["released0_1"] == ["person", "age"]
    assert columns["released0_2"] == ["disease"]
    for one, other in itertools.combinations(sorted(columns), 2):
        if one.partition("_")[0] == other.partition("_")[0]:
            assert set(columns[one]) & set(columns[other]) <= {"group_id"}


def test_the_catalog_keeps_no_link(con: Connection) -> None:
    """Whatever release writes into the catalog holds no value of the source, and no table of groups is left."""
    left = "SELECT table_name FROM duckdb_tables() WHERE schema_name <> 'anon' AND table_name LIKE '%sqlanon%'"
    assert con.duckdb.execute(left).fetchall() == []
    (described,) = con.duckdb.execute(
        "SELECT sum(estimated_size) FROM duckdb_tables() WHERE schema_name = 'anon'"
    ).fetchall()
    assert described[0] < ROWS
