"""Slicing with fake_tuples: how many tuples beside the source's the columns can be joined to, and what it costs."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import PolicyError, PrivacyViolation
from tests.support.database import template
from tests.support.draws import draws

# Li et al. 2012, Table 1.
PATIENTS = """
CREATE TABLE t AS FROM (VALUES
    (22, 'M', 47906, 'dyspepsia'), (22, 'F', 47906, 'flu'), (33, 'F', 47905, 'flu'), (52, 'F', 47905, 'bronchitis'),
    (54, 'M', 47302, 'flu'), (60, 'M', 47302, 'dyspepsia'), (60, 'M', 47304, 'dyspepsia'), (64, 'F', 47304, 'gastritis')
) AS t(age, sex, zip, disease)
"""
POLICY = """
CREATE POLICY p ON t (age QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE)
REQUIRE k_anonymity(k => 1)
"""
SLICED = "COLUMNS (age, sex), (zip, disease)"


@pytest.fixture
def con() -> sqlanon.Connection:
    return template(f"{PATIENTS}; {POLICY}")


def publish(con: sqlanon.Connection, ratio: object, columns: str = SLICED) -> None:
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD slicing(l => 2, fake_tuples => {ratio}) {columns}")


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("columns", "ratio", "buckets", "fake"),
    [
        (SLICED, 1, 4, 8),
        (SLICED, 1.001, 2, 20),
        (SLICED, 2.5, 2, 20),
        (SLICED, 2.501, 1, 48),
        ("COLUMNS EACH", 8, 2, 64),
        ("COLUMNS EACH", 23, 1, 184),
        ("COLUMNS (age, sex, zip), (disease)", 2, 2, 16),
    ],
)
def test_buckets_grow_until_there_are_enough(
    con: sqlanon.Connection, columns: str, ratio: float, buckets: int, fake: int
) -> None:
    publish(con, ratio, columns)
    assert con.duckdb.execute("SELECT count(DISTINCT bucket) FROM r_1").fetchall() == [(buckets,)]
    figures = {name: value for _, name, _, value in con.execute("MEASURE r WITH FIGURES (membership)").fetchall()}
    assert (figures["original"], figures["fake"]) == (8, fake)
    checked = [row[3:] for row in con.execute("CHECK r").fetchall() if row[1] == "fake_tuples"]
    assert checked == [(ratio, fake / 8, True)]


def test_a_ratio_that_not_even_one_bucket_has(con: sqlanon.Connection) -> None:
    with pytest.raises(PrivacyViolation, match=r"can be joined to 56 tuples, 6\.000 fake ones for each of the 8 rows"):
        publish(con, 6.001)
    assert con.duckdb.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'r_1'").fetchall() == [(0,)]


def test_columns_that_share_an_attribute_are_refused(con: sqlanon.Connection) -> None:
    with pytest.raises(PolicyError, match="fake_tuples takes each attribute in one column, and sex is in several"):
        publish(con, 1, "COLUMNS (age, sex), (sex, zip, disease)")


def test_drawn_buckets_are_refused(con: sqlanon.Connection) -> None:
    with pytest.raises(PolicyError, match="fake_tuples belongs to grouping => 'mondrian'"):
        con.execute(
            "CREATE ANONYMIZED TABLE r AS POLICY p METHOD slicing(l => 2, fake_tuples => 1, grouping => 'random')"
        )


def test_tables_with_fewer_values_do_not_pass(con: sqlanon.Connection) -> None:
    publish(con, 1)
    con.duckdb.execute("UPDATE r_1 SET age = 1, sex = 'F'")
    with pytest.raises(PrivacyViolation, match="do not have the rows any more"):
        con.execute("CHECK r").fetchall()


@pytest.mark.drawn
@settings(max_examples=draws(2, long=20), deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([None, 1, 2, 3]), st.sampled_from("xy"), st.sampled_from(["u", "v", "w", None])),
        max_size=14,
    ),
    ratio=st.sampled_from([0.25, 1, 3]),
    columns=st.sampled_from([((0,), (1,), (2,)), ((0, 1), (2,)), ((0,), (1, 2))]),
)
def test_fakes_counted_one_by_one(
    rows: list[tuple[Any, ...]], ratio: float, columns: tuple[tuple[int, ...], ...]
) -> None:
    con = sqlanon.connect()
    con.duckdb.execute("CREATE TABLE t (a INTEGER, b VARCHAR, s VARCHAR)")
    if rows:
        con.duckdb.executemany("INSERT INTO t VALUES (?, ?, ?)", [list(row) for row in rows])
    con.execute(
        "CREATE POLICY p ON t (a QUASI IDENTIFIER, b QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 1)"
    )
    named = ", ".join(f"({', '.join('abs'[index] for index in column)})" for column in columns)
    try:
        publish(con, ratio, f"COLUMNS {named}")
    except PrivacyViolation:
        return
    if not rows:
        return
    slices = [con.duckdb.execute(f"FROM r_{number}").fetchall() for number in range(1, len(columns) + 1)]
    tuples = set()
    for bucket in {row[0] for row in slices[0]}:
        for parts in product(*({row[1:] for row in rows_ if row[0] == bucket} for rows_ in slices)):
            values = dict(
                zip((i for column in columns for i in column), (v for part in parts for v in part), strict=True)
            )
            tuples.add(tuple(values[index] for index in range(3)))
    assert len(tuples) >= (1 + ratio) * len(rows)
    assert Counter(rows).keys() <= tuples
    achieved = [row[4] for row in con.execute("CHECK r").fetchall() if row[1] == "fake_tuples"]
    assert achieved == [pytest.approx(len(tuples) / len(rows) - 1)]
