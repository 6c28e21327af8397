"""The attack by all buckets together (Kifer 2009): what a release says that it rests on, and what it does not hide.

Within a bucket each value is as likely for each row as the release promises. Where columns go with the sensitive one,
all buckets together tell how, and then the promise does not bound what is believed; where they do not, nothing is told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

import numpy as np
import pytest

import sqlanon
from benchmarks.definetti import Pairs, beliefs
from sqlanon import Connection
from tests.oracles.definetti import Bucket, named, rounds_of_belief

ROWS = 1200
ROUNDS = 8
# So far above chance nothing comes by chance.
DEVIATIONS = 6

# Two columns: each tells the disease in four of five rows, or nothing at all. `person` serves to count the hits.
SOURCE = f"""
CREATE TABLE told AS SELECT i AS person, hash(i) % 6 AS truth,
    CASE WHEN hash(i, 1) % 5 > 0 THEN hash(i) % 6 ELSE hash(i, 2) % 6 END AS ward,
    CASE WHEN hash(i, 3) % 5 > 0 THEN hash(i) % 6 ELSE hash(i, 4) % 6 END AS town, 'd' || truth AS disease
FROM range({ROWS}) AS t(i);
CREATE TABLE untold AS SELECT person, hash(person, 5) % 6 AS ward, hash(person, 6) % 6 AS town, disease FROM told;
"""
ROLES = "person INSENSITIVE, ward QUASI IDENTIFIER, town QUASI IDENTIFIER, disease SENSITIVE"


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute(SOURCE)
    for table in ("told", "untold"):
        connection.execute(f"CREATE POLICY {table} ON {table} ({ROLES}) REQUIRE k_anonymity(k => 2)")
    return connection


def published(con: Connection, table: str, l: int, grouping: str) -> tuple[list[Bucket], list[list[int]]]:  # noqa: E741
    """The buckets of a release by Anatomy, and who is in them."""
    con.execute(
        f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY {table} METHOD anatomy(l => {l}, grouping => '{grouping}')"
    )
    rows: dict[int, list[tuple[Hashable, ...]]] = defaultdict(list)
    people: dict[int, list[int]] = defaultdict(list)
    for bucket, person, ward, town in con.duckdb.execute("SELECT bucket, person, ward, town FROM r_qi").fetchall():
        rows[bucket].append((ward, town))
        people[bucket].append(person)
    values: dict[int, list[str]] = defaultdict(list)
    for bucket, value, count in con.duckdb.execute("SELECT bucket, value, count FROM r_sensitive").fetchall():
        values[bucket] += [value] * count
    return [(rows[bucket], values[bucket]) for bucket in rows], list(people.values())


def hits(con: Connection, table: str, l: int, grouping: str, rounds: int) -> tuple[float, float]:  # noqa: E741
    """The share of rows whose value is named right, and the greatest belief of the first round's beginning."""
    buckets, people = published(con, table, l, grouping)
    truth = dict(con.duckdb.execute(f"SELECT person, disease FROM {table}").fetchall())
    believed = rounds_of_belief(buckets, rounds)
    right = sum(
        named(belief)[0] == truth[person]
        for beliefs_of, those in zip(believed[-1], people, strict=True)
        for belief, person in zip(beliefs_of, those, strict=True)
    )
    return right / ROWS, max(named(belief)[1] for of_bucket in believed[0] for belief in of_bucket)


def chance(l: int) -> float:  # noqa: E741 - the papers' name
    return 1 / l + DEVIATIONS * (1 / l * (1 - 1 / l) / ROWS) ** 0.5


@pytest.mark.long
def test_the_statement_names_what_the_naive_version_names(con: Connection) -> None:
    """Far more than is promised where columns go with the disease, and no more where they do not."""
    for table, l in (("told", 2), ("untold", 3)):  # noqa: E741
        right, _ = hits(con, table, l, "random", ROUNDS)
        [row] = con.execute(f"ATTACK r WITH definetti(rounds => {ROUNDS})").fetchall()
        assert row[:3] == ("definetti", "disease", ROWS)
        assert row[3] / ROWS == pytest.approx(right, abs=0.03)
        assert row[6] == pytest.approx(1 / l)
        assert (row[3] / ROWS > chance(l)) is (table == "told")


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "columns"),
    [("slicing(l => 2)", "COLUMNS (ward, town, person), (disease)"), ("mondrian(publish => 'none')", "")],
)
def test_slices_and_regions_with_buckets_are_learned_from(con: Connection, method: str, columns: str) -> None:
    con.execute(
        f"CREATE OR REPLACE POLICY sliced ON told ({ROLES.replace('person INSENSITIVE', 'person QUASI IDENTIFIER')}) "
        "REQUIRE l_diversity(l => 2, variant => 'probabilistic')"
    )
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE s AS POLICY sliced METHOD {method} {columns}")
    [row] = con.execute("ATTACK s WITH definetti(rounds => 4)").fetchall()
    assert row[2] == ROWS
    assert row[3] / ROWS > chance(2)
    assert row[6] == pytest.approx(1 / 2)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("grouping", ["random", "near"])
@pytest.mark.parametrize("l", [2, 3])
def test_columns_that_go_with_the_disease_tell_it_across_buckets(con: Connection, l: int, grouping: str) -> None:  # noqa: E741
    """As the documentation says: the promise holds in random worlds, and a reader who learns names far more."""
    right, in_random_worlds = hits(con, "told", l, grouping, ROUNDS)
    assert in_random_worlds <= 1 / l + 1e-12
    assert right > chance(l)
    if grouping == "random":
        assert right > 0.75


@pytest.mark.parametrize("l", [2, 3])
def test_columns_that_do_not_go_with_it_tell_nothing(con: Connection, l: int) -> None:  # noqa: E741
    right, in_random_worlds = hits(con, "untold", l, "random", ROUNDS)
    assert in_random_worlds <= 1 / l + 1e-12
    assert right < chance(l)


def test_random_worlds_alone_name_no_more_than_is_promised(con: Connection) -> None:
    assert hits(con, "told", 3, "random", 0)[0] < chance(3)


def test_the_release_says_what_it_rests_on(con: Connection) -> None:
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY told METHOD anatomy(l => 3)")
    assert ("main.r", "assumes_random_worlds", "disease", None, None, True) in con.execute("CHECK r").fetchall()


def test_a_worked_example_round_by_round() -> None:
    """Eight buckets of a smoker and a non-smoker, or two non-smokers: the odds of the two dealings, by hand."""
    smoker, other = ("y",), ("n",)
    buckets: list[Bucket] = [
        *[((smoker, other), ("cancer", "flu"))] * 3,
        ((smoker, other), ("cancer", "cold")),
        *[((other, other), ("flu", "cold"))] * 3,
        ((smoker, other), ("flu", "cold")),
    ]
    found = rounds_of_belief(buckets, 39)
    of_smokers = [(one[0][0]["cancer"], one[3][0]["cancer"], one[7][0]["flu"]) for one in found]
    assert of_smokers[1] == pytest.approx((2 / 3, 5 / 7, 5 / 9))
    assert of_smokers[2] == pytest.approx((0.803838, 0.831920, 0.547070), abs=1e-6)
    assert of_smokers[5] == pytest.approx((0.938816, 0.921946, 0.434959), abs=1e-6)
    assert of_smokers[39] == pytest.approx((0.949213, 0.925041, 0.397690), abs=1e-6)
    assert all(one[4][0]["flu"] == pytest.approx(0.5) for one in found)


def test_the_benchmark_names_what_every_dealing_names(con: Connection) -> None:
    """It rescales instead of looking at every dealing, which is less sure and nearly always of the same value."""
    buckets, _ = published(con, "told", 3, "random")
    rows = [(number, row, value) for number, (of, values) in enumerate(buckets) for row in of for value in values]
    values = sorted({str(value) for _, _, value in rows})
    row_number = np.repeat(np.arange(ROWS), [len(held) for of, held in buckets for _ in of])
    code = np.array([values.index(str(value)) for *_, value in rows])
    cells = [number * len(values) + own for (number, *_), own in zip(rows, code, strict=True)]
    flat = [row for of, _ in buckets for row in of]
    pairs = Pairs(
        row=row_number,
        value=code,
        cell=np.unique(cells, return_inverse=True)[1],
        held=np.ones(len(rows)),
        codes=[np.array([row[place] for row in flat]) for place in (0, 1)],
    )
    weights = beliefs(pairs, ROUNDS)
    assert np.bincount(row_number, weights) == pytest.approx(np.ones(ROWS))
    best: dict[int, tuple[float, str]] = {}
    for number, own, weight in zip(row_number, code, weights, strict=True):
        best[number] = max(best.get(number, (0.0, "")), (float(weight), values[own]))
    exact = [named(belief)[0] for of_bucket in rounds_of_belief(buckets, ROUNDS)[-1] for belief in of_bucket]
    same = sum(best[number][1] == value for number, value in enumerate(exact))
    assert same > 0.9 * ROWS
