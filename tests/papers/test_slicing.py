"""The eight patients of the slicing paper: what follows from its tables, and tables on which its two checks differ."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import pytest

from sqlanon import Connection, PrivacyViolation
from sqlanon.errors import PolicyError
from tests.oracles.mondrian import Attribute, Domain
from tests.oracles.sliced_worlds import beliefs, beliefs_without_buckets
from tests.oracles.slicing import (
    Buckets,
    Columns,
    Partition,
    Row,
    Sliced,
    bucket_check,
    diversity,
    joined,
    lower_half,
    matching_check,
    most_even,
    partition,
)
from tests.support.database import new_database

NAMES = ("age", "sex", "zip", "disease")
PATIENTS: list[Row] = [
    (22, "M", "47906", "dyspepsia"),
    (22, "F", "47906", "flu"),
    (33, "F", "47905", "flu"),
    (52, "F", "47905", "bronchitis"),
    (54, "M", "47302", "flu"),
    (60, "M", "47302", "dyspepsia"),
    (60, "M", "47304", "dyspepsia"),
    (64, "F", "47304", "gastritis"),
]
AGE, SEX, ZIP, DISEASE = range(4)
# Columns of the paper's tables 1f, 1e and 1c.
SLICED: Columns = [(AGE, SEX), (ZIP, DISEASE)]
EACH: Columns = [(AGE,), (SEX,), (ZIP,), (DISEASE,)]
BUCKETIZED: Columns = [(AGE, SEX, ZIP), (DISEASE,)]
HALVES: Buckets = [(0, 1, 2, 3), (4, 5, 6, 7)]
PAIRS: Buckets = [(0, 1), (2, 3), (4, 5), (6, 7)]

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


def patients(columns: Columns, buckets: Buckets = HALVES) -> Sliced:
    return Sliced(PATIENTS, columns, buckets, DISEASE)


def cut(columns: Columns, check=bucket_check, halves=lower_half, first_only: bool = False) -> Partition | None:
    table = [dict(zip(NAMES, row, strict=True)) for row in PATIENTS]
    kinds = {"age": "numeric", "sex": "values", "zip": "values"}
    domains = [Domain(Attribute(name, kind), table) for name, kind in kinds.items()]

    def passes(buckets: Buckets) -> bool:
        return check(Sliced(PATIENTS, columns, buckets, DISEASE), diversity(2))

    return partition(len(PATIENTS), domains, passes, halves, first_only=first_only)


def test_the_first_patient_of_the_papers_table() -> None:
    sliced = patients(SLICED)
    first = PATIENTS[0]
    assert [sliced.share(column, first, 0) for column in (0, 1)] == [QUARTER, HALF]
    assert sliced.match(first, 1) == 0
    assert sliced.belonging(first) == [1, 0]
    assert sliced.values(first, 0) == {"dyspepsia": HALF, "flu": HALF}


# Of each patient the match with the bucket, and what is likely.
_TABLE_1F = [
    *[{"dyspepsia": HALF, "flu": HALF}] * 2,
    *[{"flu": HALF, "bronchitis": HALF}] * 2,
    *[{"flu": HALF, "dyspepsia": HALF}] * 2,
    *[{"dyspepsia": HALF, "gastritis": HALF}] * 2,
]
_OF_THE_BUCKET = [
    *[{"flu": HALF, "dyspepsia": QUARTER, "bronchitis": QUARTER}] * 4,
    *[{"dyspepsia": HALF, "flu": QUARTER, "gastritis": QUARTER}] * 4,
]


@pytest.mark.parametrize(
    ("columns", "matches", "likely"),
    [
        (SLICED, "1/8 1/8 1/8 1/8 1/8 1/4 1/4 1/8", _TABLE_1F),
        (EACH, "1/16 3/16 3/32 3/32 3/32 3/16 3/16 1/32", _OF_THE_BUCKET),
        (BUCKETIZED, "1/4 1/4 1/4 1/4 1/4 1/4 1/4 1/4", _OF_THE_BUCKET),
    ],
)
def test_the_papers_tables(columns: Columns, matches: str, likely: list[dict[str, Fraction]]) -> None:
    sliced = patients(columns)
    assert [sliced.match(row, at // 4) for at, row in enumerate(PATIENTS)] == [*map(Fraction, matches.split())]
    for sizes in (False, True):
        assert [sliced.belonging(row, sizes)[at // 4] for at, row in enumerate(PATIENTS)] == [1] * 8
        assert [sliced.likely(row, sizes) for row in PATIENTS] == likely
        assert matching_check(sliced, diversity(2), sizes)
    assert bucket_check(sliced, diversity(2))
    # Of every patient one value has exactly 1/2: where less than 1/l is required, as in the paper's figure 2, none is.
    assert all(max(shares.values()) == HALF for shares in likely)
    assert beliefs(sliced) == likely
    assert beliefs_without_buckets(sliced) == likely


def test_the_queue_cuts_at_the_next_attribute_where_a_cut_fails() -> None:
    assert cut(SLICED, first_only=True) == Partition([*map(tuple, HALVES)], 3)
    assert cut(SLICED) == Partition([*map(tuple, PAIRS)], 10)


@pytest.mark.parametrize("halves", [lower_half, most_even])
@pytest.mark.parametrize("check", [bucket_check, matching_check])
@pytest.mark.parametrize("columns", [SLICED, EACH, BUCKETIZED])
def test_the_queue_ends_with_the_same_buckets(columns: Columns, check, halves) -> None:
    made = cut(columns, check, halves)
    assert made is not None
    assert made.buckets == PAIRS


@pytest.mark.parametrize("check", [bucket_check, matching_check])
def test_columns_for_which_there_are_no_buckets(check) -> None:
    columns: Columns = [(AGE, ZIP), (SEX, DISEASE)]
    assert cut(columns, check) is None
    whole = patients(columns, [range(8)])
    assert max(max(whole.likely(row).values()) for row in PATIENTS) == Fraction(3, 4)
    # Of the four men three have dyspepsia, so that no division is any better.
    assert not any(
        bucket_check(patients(columns, [chosen, [at for at in range(8) if at not in chosen]]), diversity(2))
        for size in range(1, 5)
        for chosen in combinations(range(8), size)
    )


def numbered(buckets: Sequence[str], merged: Sequence[int] = ()) -> tuple[list[Row], list[tuple[int, ...]]]:
    """Rows written as words of one letter an attribute, bucket by bucket; some buckets put together as the last."""
    rows = [tuple(word) for bucket in buckets for word in bucket.split()]
    of = [number for number, bucket in enumerate(buckets) for _ in bucket.split()]
    apart = [(number,) for number in range(len(buckets)) if number not in merged]
    groups = [*apart, tuple(merged)] if merged else apart
    return rows, [tuple(at for at, number in enumerate(of) if number in group) for group in groups]


def test_two_good_buckets_put_together_may_match_worse() -> None:
    """p(t,.) is no mixture of what the buckets say one by one: their weights change with them."""
    for merged, most in (((), HALF), ((1, 2), Fraction(3, 4))):
        rows, buckets = numbered(["qb qb", "qa qa", "qb pa"], merged)
        sliced = Sliced(rows, [(0,), (1,)], buckets, 1)
        assert max(max(sliced.likely(row).values()) for row in rows) == most
        assert matching_check(sliced, diversity(2)) == (most == HALF)
        assert not bucket_check(sliced, diversity(2))
    assert sliced.likely(("p", "a"))["a"] == Fraction(3, 4)


def test_the_papers_weights_change_where_sizes_do_not() -> None:
    before, after = (
        Sliced(rows, [(0,), (1, 2)], buckets, 2)
        for rows, buckets in (numbered(["q1b q2b", "q2a q2b", "q1a q2a"], merged) for merged in ((), (1, 2)))
    )
    for sizes in (False, True):
        assert all(set(before.likely(row, sizes).values()) == {HALF} for row in before.rows)
    assert {max(after.likely(row, sizes=False).values()) for row in after.rows} == {Fraction(2, 3), Fraction(3, 5)}
    assert all(set(after.likely(row).values()) == {HALF} for row in after.rows)
    assert not bucket_check(before, diversity(2))
    assert not bucket_check(after, diversity(2))


def test_matching_rows_are_diverse_where_a_neighbour_is_certain() -> None:
    """Who knows what identifies everybody finds one way to put the people into the buckets."""
    rows, buckets = numbered(["q2a r1a p1b", "p3a r2b q3b"])
    sliced = Sliced(rows, [(0,), (1, 2)], buckets, 2)
    for sizes in (False, True):
        assert all(set(sliced.likely(row, sizes).values()) == {HALF} for row in rows)
        assert matching_check(sliced, diversity(2), sizes)
    assert not bucket_check(sliced, diversity(2))
    believed = beliefs_without_buckets(sliced)
    assert believed == beliefs(sliced)
    assert believed[rows.index(("q", "2", "a"))] == {"a": 1}
    assert believed[rows.index(("r", "2", "b"))] == {"b": 1}


def test_without_sizes_a_small_bucket_counts_too_much() -> None:
    rows, buckets = numbered(["ps ps ps ps", "py"])
    sliced = Sliced(rows, [(0,), (1,)], buckets, 1)
    assert all(sliced.likely(row, sizes=False) == {"s": HALF, "y": HALF} for row in rows)
    assert matching_check(sliced, diversity(2), sizes=False)
    assert all(sliced.likely(row) == {"s": Fraction(4, 5), "y": Fraction(1, 5)} for row in rows)
    assert not matching_check(sliced, diversity(2))
    assert all(belief == {"s": Fraction(4, 5), "y": Fraction(1, 5)} for belief in beliefs_without_buckets(sliced))


def test_a_sensitive_attribute_in_two_columns_is_certain() -> None:
    columns: Columns = [(AGE, SEX, DISEASE), (ZIP, DISEASE)]
    sliced = patients(columns)
    assert beliefs(sliced) == [{row[DISEASE]: 1} for row in PATIENTS]
    assert len(joined(sliced)) == 10
    assert len(joined(sliced) - {*PATIENTS}) == 2
    assert len(joined(patients(SLICED)) - {*PATIENTS}) == 20


def test_columns_that_share_a_quasi_identifier_make_some_certain() -> None:
    sliced = patients([(AGE, SEX), (SEX, ZIP, DISEASE)])
    certain = [{PATIENTS[at][DISEASE]: Fraction(1)} for at in (0, 1, 6, 7)]
    assert beliefs(sliced) == [*certain[:2], *_TABLE_1F[2:6], *certain[2:]]
    assert [sliced.values(row, at // 4) for at, row in enumerate(PATIENTS)] == beliefs(sliced)
    assert not bucket_check(sliced, diversity(2))
    assert len(joined(sliced)) == 17
    assert len(joined(sliced) - {*PATIENTS}) == 9


@pytest.fixture
def con() -> Connection:
    connection = new_database()
    connection.execute("CREATE TABLE patients (age INTEGER, sex VARCHAR, zip VARCHAR, disease VARCHAR)")
    connection.duckdb.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", [list(row) for row in PATIENTS])
    connection.execute(
        "CREATE POLICY p ON patients (age QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER, "
        "disease SENSITIVE) REQUIRE k_anonymity(k => 1)"
    )
    return connection


def publish(con: Connection, columns: Columns, arguments: str = "l => 2") -> None:
    named = ", ".join(f"({', '.join(NAMES[at] for at in column)})" for column in columns)
    con.execute(
        f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD slicing({arguments}) "
        f"COLUMNS {'EACH' if columns == EACH else named}"
    )


def published(con: Connection, columns: Columns) -> set[tuple[tuple[Row, ...], ...]]:
    """Of each bucket the rows of each column, in their order by value."""
    tables = [
        con.duckdb.execute(f"SELECT bucket, {', '.join(NAMES[at] for at in column)} FROM r_{number}").fetchall()
        for number, column in enumerate(columns, start=1)
    ]
    assert [len(table) for table in tables] == [len(PATIENTS)] * len(columns)
    return {
        tuple(tuple(sorted(row[1:] for row in table if row[0] == bucket)) for table in tables)
        for bucket in {row[0] for table in tables for row in table}
    }


def expected(columns: Columns, buckets: Buckets) -> set[tuple[tuple[Row, ...], ...]]:
    return {
        tuple(tuple(sorted(tuple(PATIENTS[at][one] for one in column) for at in bucket)) for column in columns)
        for bucket in buckets
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("columns", [SLICED, EACH, BUCKETIZED])
@pytest.mark.parametrize("diversity", ["bucket", "matching"])
def test_the_buckets_of_the_method(con: Connection, columns: Columns, diversity: str) -> None:
    publish(con, columns, f"l => 2, diversity => '{diversity}'")
    assert published(con, columns) == expected(columns, PAIRS)
    question = ("probabilistic_l_diversity", "disease") if diversity == "bucket" else ("matching_l_diversity", None)
    assert ("main.r", *question, 2, 2, True) in con.execute("CHECK r").fetchall()


@pytest.mark.parametrize("grouping", ["mondrian", "random"])
def test_the_method_refuses_columns_for_which_there_are_no_buckets(con: Connection, grouping: str) -> None:
    with pytest.raises(PrivacyViolation, match="cannot be met with sex in the column of disease"):
        publish(con, [(AGE, ZIP), (SEX, DISEASE)], f"l => 2, grouping => '{grouping}'")


def test_the_method_refuses_what_would_be_certain(con: Connection) -> None:
    """Two columns with the sensitive attribute; of columns that share the sex, some are."""
    with pytest.raises(PolicyError, match="disease"):
        publish(con, [(AGE, SEX, DISEASE), (ZIP, DISEASE)])
    with pytest.raises(PrivacyViolation):
        publish(con, [(AGE, SEX), (SEX, ZIP, DISEASE)])


def test_the_method_publishes_columns_that_share_a_quasi_identifier(con: Connection) -> None:
    shared: Columns = [(AGE, SEX, ZIP), (ZIP, DISEASE)]
    publish(con, shared)
    assert published(con, shared) == expected(shared, PAIRS)
