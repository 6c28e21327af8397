"""Attacks on sliced tables: by order, by numbers of buckets, by two slicings of one source, by all buckets together.

The first two do no better than chance. The others do, as the documentation says: buckets of two releases cut each
other, and buckets of one release tell what goes with what.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable

import numpy as np
import pytest

import sqlanon
from benchmarks.definetti import Pairs, beliefs
from sqlanon import Connection

ROWS = 3000
# A random order gives a Poisson(1) number of rows in their own places: so many come by chance once in 10^8 runs.
HITS = 15
DEVIATIONS = 6

# In every row another person and another disease, so that a hit is a hit.
SOURCE = f"""
CREATE TABLE register AS SELECT i AS person, (20 + hash(i) % 50)::INTEGER AS age, 5 * i AS disease
FROM range({ROWS}) AS t(i);
CREATE POLICY p ON register (person QUASI IDENTIFIER, age QUASI IDENTIFIER, disease SENSITIVE)
REQUIRE k_anonymity(k => 2);
"""
# Columns as they stand in the source, and buckets as they come.
NAIVE = """
CREATE TABLE naive_1 AS SELECT person // 4 AS bucket, person, age FROM register;
CREATE TABLE naive_2 AS SELECT person // 4 AS bucket, disease FROM register;
"""
METHODS = (
    "slicing(l => 2) COLUMNS (person, age), (disease)",
    "slicing(l => 4) COLUMNS (person), (age, disease)",
    "slicing(l => 3, grouping => 'random', bucket_size => 10) COLUMNS (person, age), (disease)",
)
RELEASES = [f"released{number}" for number in range(len(METHODS))]


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute(SOURCE + NAIVE)
    for name, method in zip(RELEASES, METHODS, strict=True):
        connection.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD {method}")
    return connection


def number(con: Connection, query: str) -> float:
    return float(con.duckdb.execute(query).fetchall()[0][0])


def test_the_nth_row_of_the_register_is_not_the_nth_of_a_table(con: Connection) -> None:
    def linked(name: str) -> float:
        query = (
            f"SELECT count(*) FROM {name}_2 AS b JOIN register AS r ON r.rowid = b.rowid WHERE b.disease = r.disease"
        )
        return number(con, query)

    assert linked("naive") == ROWS
    assert all(linked(name) <= HITS for name in RELEASES)


_NTH = "SELECT *, row_number() OVER (PARTITION BY bucket ORDER BY rowid) AS nth FROM "


@pytest.mark.parametrize(
    "others", ["{name}_2", "(SELECT bucket, r.disease, r.rowid FROM register AS r JOIN {name}_2 USING (disease))"]
)
def test_the_nth_row_of_a_bucket_is_not_the_nth_of_it_elsewhere(con: Connection, others: str) -> None:
    """Neither in the other column nor in the source: one a bucket is right by chance."""

    def linked(name: str) -> float:
        query = f"""
            SELECT count(*) FROM ({_NTH} {name}_1) AS a JOIN ({_NTH} {others.format(name=name)}) AS b
            ON a.bucket = b.bucket AND a.nth = b.nth AND b.disease = 5 * a.person
        """
        return number(con, query)

    assert linked("naive") == ROWS
    for name in RELEASES:
        buckets = number(con, f"SELECT count(DISTINCT bucket) FROM {name}_1")
        assert linked(name) < buckets + DEVIATIONS * buckets**0.5 + HITS


def test_numbers_of_buckets_link_nothing(con: Connection) -> None:
    def related(name: str, table: int, column: str) -> float:
        return abs(number(con, f"SELECT coalesce(corr(bucket, {column}), 0) FROM {name}_{table}"))

    assert min(related("naive", 1, "person"), related("naive", 2, "disease")) > 0.99
    for name in RELEASES:
        buckets = number(con, f"SELECT count(DISTINCT bucket) FROM {name}_1")
        assert buckets > 100
        assert max(related(name, 1, "person"), related(name, 2, "disease")) < DEVIATIONS / buckets**0.5
        # All numbers from 1 on, so that none says how many were tried.
        assert number(con, f"SELECT max(bucket) FROM {name}_2") == buckets


def test_neighbours_in_one_table_are_no_neighbours_in_another(con: Connection) -> None:
    """Rows that stand beside each other in the register are in nobody's order any more, but for their bucket."""
    beside = "SELECT count(*) FROM (SELECT person - lag(person) OVER (ORDER BY rowid) AS step FROM {}_1) WHERE step = 1"
    assert number(con, beside.format("naive")) == ROWS - 1
    for name in RELEASES:
        of_a_bucket = number(con, f"SELECT sum(n - 1) / 2 FROM (SELECT count(*) AS n FROM {name}_1 GROUP BY bucket)")
        assert number(con, beside.format(name)) <= of_a_bucket


@pytest.mark.long
def test_a_seed_that_the_session_has_set_decides_neither_order_nor_numbers(con: Connection) -> None:
    found = []
    for name in ("first", "second"):
        con.execute("SELECT setseed(0.42)").fetchall()
        con.execute(f"CREATE ANONYMIZED TABLE {name} AS POLICY p METHOD {METHODS[0]}")
        found.append(con.duckdb.execute(f"SELECT bucket, person FROM {name}_1 ORDER BY rowid").fetchall())
    assert sum(a[1] == b[1] for a, b in zip(*found, strict=True)) <= HITS
    numbers = [{person: bucket for bucket, person in rows} for rows in found]
    assert sum(numbers[0][person] == numbers[1][person] for person in numbers[0]) <= 4 * HITS


def test_the_catalog_keeps_no_link(con: Connection) -> None:
    """Whatever release writes into the catalog holds no value of the source, and no table of buckets is left."""
    left = "SELECT table_name FROM duckdb_tables() WHERE schema_name <> 'anon' AND table_name LIKE '%sqlanon%'"
    assert con.duckdb.execute(left).fetchall() == []
    (described,) = con.duckdb.execute(
        "SELECT sum(estimated_size) FROM duckdb_tables() WHERE schema_name = 'anon'"
    ).fetchall()
    assert described[0] < ROWS


PEOPLE = 1200
# Two columns: each tells the disease in four of five rows, or nothing at all. `block` never does. There are 6 diseases,
# and in the last table 40.
WARDS = f"""
CREATE TABLE told AS SELECT i AS person, hash(i) % 6 AS truth,
    CASE WHEN hash(i, 1) % 5 > 0 THEN hash(i) % 6 ELSE hash(i, 2) % 6 END AS ward,
    CASE WHEN hash(i, 3) % 5 > 0 THEN hash(i) % 6 ELSE hash(i, 4) % 6 END AS town,
    hash(i, 7) % 2 AS block, 'd' || truth AS disease
FROM range({PEOPLE}) AS t(i);
CREATE TABLE untold AS
    SELECT person, hash(person, 5) % 6 AS ward, hash(person, 6) % 6 AS town, block, disease FROM told;
CREATE TABLE rare AS SELECT * REPLACE ('d' || hash(person, 8) % 40 AS disease) FROM untold;
"""
BUCKETIZED = "(person, ward, town, block), (disease)"
SLICED = "(person, ward, town), (block, disease)"


@pytest.fixture(scope="module")
def wards() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute(WARDS)
    for table in ("told", "untold", "rare"):
        roles = ", ".join(f"{column} QUASI IDENTIFIER" for column in ("person", "ward", "town", "block"))
        connection.execute(f"CREATE POLICY {table} ON {table} ({roles}, disease SENSITIVE) REQUIRE k_anonymity(k => 2)")
    return connection


def publish(con: Connection, table: str, columns: str, arguments: str, release: str = "r") -> None:
    con.execute(
        f"CREATE OR REPLACE ANONYMIZED TABLE {release} AS POLICY {table} METHOD slicing({arguments}) COLUMNS {columns}"
    )


def classes(con: Connection, table: str, columns: str, release: str = "r") -> list[tuple[list[int], list[str]]]:
    """Who is in each class, as who knows all quasi-identifiers finds it, and the class's values."""
    parts = "bucket, block" if columns == SLICED else "bucket"
    people: dict[Hashable, list[int]] = defaultdict(list)
    values: dict[Hashable, list[str]] = defaultdict(list)
    of_people = f"SELECT {parts}, person FROM {release}_1 JOIN (SELECT person, block AS b FROM {table}) USING (person)"
    for *of, person in con.duckdb.execute(of_people.replace(", block,", ", b,")).fetchall():
        people[tuple(of)].append(person)
    for *of, disease in con.duckdb.execute(f"SELECT {parts}, disease FROM {release}_2").fetchall():
        values[tuple(of)].append(disease)
    assert people.keys() == values.keys()
    return [(people[of], values[of]) for of in people]


def truths(con: Connection, table: str) -> dict[int, str]:
    return dict(con.duckdb.execute(f"SELECT person, disease FROM {table}").fetchall())


def candidates(con: Connection, release: str) -> dict[int, set[str]]:
    """The diseases of each person's bucket."""
    query = f"SELECT person, list(DISTINCT disease) FROM {release}_1 JOIN {release}_2 USING (bucket) GROUP BY person"
    return {person: {*diseases} for person, diseases in con.duckdb.execute(query).fetchall()}


@pytest.mark.long
@pytest.mark.parametrize(("size", "least", "most"), [(6, 0.4, 0.65), (100, 0, 0)])
def test_two_slicings_of_one_source_cut_each_other(wards: Connection, size: int, least: float, most: float) -> None:
    """As the documentation says: who is in both is left with what both buckets have, of small buckets often one value.

    Each release by itself leaves everybody three values or more, none of them likelier than 1/3.
    """
    for release in ("one", "other"):
        publish(wards, "rare", BUCKETIZED, f"l => 3, grouping => 'random', bucket_size => {size}", release)
    first, second = candidates(wards, "one"), candidates(wards, "other")
    assert min(map(len, [*first.values(), *second.values()])) >= 3
    left = {person: first[person] & second[person] for person in first}
    assert all(truth in left[person] for person, truth in truths(wards, "rare").items())
    certain = sum(len(values) == 1 for values in left.values()) / PEOPLE
    assert least <= certain <= most


@pytest.mark.long
def test_the_same_buckets_twice_tell_no_more_than_once(wards: Connection) -> None:
    """Where buckets are cut at medians, a second slicing into the same columns has them again."""
    for release in ("one", "other"):
        publish(wards, "told", SLICED, "l => 2", release)
    assert candidates(wards, "one") == candidates(wards, "other")
    assert {tuple(sorted(people)) for people, _ in classes(wards, "told", SLICED, "one")} == {
        tuple(sorted(people)) for people, _ in classes(wards, "told", SLICED, "other")
    }


ROUNDS = 8


def hits(con: Connection, table: str, columns: str, l: int) -> tuple[float, float]:  # noqa: E741
    """The share of people whose disease is named right, and the greatest belief before the first round."""
    publish(con, table, columns, f"l => {l}")
    codes = {who: of for who, *of in con.duckdb.execute(f"SELECT person, ward, town FROM {table}").fetchall()}
    of_classes = classes(con, table, columns)
    order = [person for people, _ in of_classes for person in people]
    truth, diseases = truths(con, table), [f"d{number}" for number in range(6)]
    rows: list[tuple[int, int, int, int]] = []
    first = 0
    for number, (people, values) in enumerate(of_classes):
        counts = Counter(values)
        rows += [
            (first + at, diseases.index(value), number * 6 + diseases.index(value), count)
            for at in range(len(people))
            for value, count in counts.items()
        ]
        first += len(people)
    person, value, cell, count = np.array(rows).T
    pairs = Pairs(
        row=person,
        value=value,
        cell=np.unique(cell, return_inverse=True)[1],
        held=count.astype(np.float64),
        codes=[np.array([codes[who][at] for who in order]) for at in (0, 1)],
    )
    random_worlds, believed = beliefs(pairs, 0), beliefs(pairs, ROUNDS)
    best = {int(at): int(value[pair]) for pair, at in ((pair, person[pair]) for pair in np.argsort(believed))}
    right = sum(diseases[best[at]] == truth[who] for at, who in enumerate(order))
    return right / PEOPLE, float(random_worlds.max())


def chance(l: int) -> float:  # noqa: E741 - the papers' name
    return 1 / l + DEVIATIONS * (1 / l * (1 - 1 / l) / PEOPLE) ** 0.5


@pytest.mark.one_in(4)
@pytest.mark.parametrize("columns", [BUCKETIZED, SLICED])
def test_columns_that_go_with_the_disease_tell_it_across_buckets(wards: Connection, columns: str) -> None:
    """As the documentation says: the promise holds in random worlds, and a reader who learns names more."""
    right, in_random_worlds = hits(wards, "told", columns, 2)
    assert in_random_worlds <= 1 / 2 + 1e-12
    assert right > chance(2)


@pytest.mark.parametrize("columns", [BUCKETIZED, SLICED])
def test_columns_that_do_not_go_with_it_tell_nothing(wards: Connection, columns: str) -> None:
    right, in_random_worlds = hits(wards, "untold", columns, 2)
    assert in_random_worlds <= 1 / 2 + 1e-12
    assert right < chance(2)
