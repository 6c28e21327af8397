"""A stream of fourteen rows, worked out by hand: what leaves when, and what the delay costs."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sqlanon
from sqlanon import Connection

ROWS = [
    (1, "a", 31),
    (2, "b", 52),
    (3, "c", 33),
    (4, "a", 34),
    (5, "d", 55),
    (6, "e", 30),
    (7, "f", 51),
    (8, "g", 90),
    (9, "b", 53),
    (10, "h", 32),
    (11, "i", 35),
    (12, "a", 36),
    (13, "j", 54),
    (14, "k", 50),
]
CLASSES = {
    1: "[30, 33]",
    3: "[30, 33]",
    6: "[30, 33]",
    2: "[51, 55]",
    5: "[51, 55]",
    7: "[51, 55]",
    4: "[34, 90]",
    8: "[34, 90]",
    9: "[34, 90]",
    10: "[32, 36]",
    11: "[32, 36]",
    12: "[32, 36]",
}


def begun(delay: int, reuse: str = "") -> Connection:
    con = sqlanon.connect(config={"threads": "1"})
    con.execute("CREATE TABLE visits (arrived INTEGER, respondent VARCHAR, age INTEGER, id INTEGER)")
    con.execute(
        "CREATE POLICY p ON visits (respondent ENTITY, age QUASI IDENTIFIER, id INSENSITIVE) "
        "REQUIRE k_anonymity(k => 3)"
    )
    call = f"stream(k => 3, delay => {delay}{reuse})"
    con.execute(f"CREATE ANONYMIZED STREAM s AS POLICY p ORDER BY arrived METHOD {call}")
    return con


def arrived(con: Connection, rows: list[tuple[int, str, int]]) -> None:
    for arrived, respondent, age in rows:
        con.duckdb.execute("INSERT INTO visits VALUES (?, ?, ?, ?)", [arrived, respondent, age, arrived])


def labels(con: Connection) -> dict[int, str]:
    rows = con.duckdb.execute("SELECT id, age FROM s").fetchall()
    assert len(rows) == len({row[0] for row in rows})
    return dict(rows)


def width(con: Connection) -> Fraction:
    ends = [label.strip("[]").split(", ") for label in labels(con).values()]
    return Fraction(sum(int(high) - int(low) for low, high in ends), len(ends))


@pytest.mark.long
def test_each_class_leaves_before_its_oldest_row_has_waited_too_long() -> None:
    con = begun(6)
    left: dict[int, set[int]] = {}
    for row in ROWS:
        before = set(labels(con))
        arrived(con, [row])
        con.execute("ADVANCE s")
        if gone := set(labels(con)) - before:
            left[row[0] + 1] = gone
    assert left == {7: {1, 3, 6}, 8: {2, 5, 7}, 10: {4, 8, 9}}
    con.execute("ADVANCE s TO END")
    assert labels(con) == CLASSES | {13: "[51, 55]", 14: "[34, 90]"}
    assert con.execute("CHECK s").fetchall() == [("main.s", "k_anonymity", None, 3.0, 3.0, True)]


def test_all_at_once_is_the_same() -> None:
    con = begun(6)
    arrived(con, ROWS)
    con.execute("ADVANCE s TO END")
    assert labels(con) == CLASSES | {13: "[51, 55]", 14: "[34, 90]"}


def test_without_reuse_two_rows_are_withheld() -> None:
    con = begun(6, ", reuse => false")
    arrived(con, ROWS)
    con.execute("ADVANCE s TO END")
    assert labels(con) == CLASSES


@pytest.mark.parametrize(("delay", "published", "mean"), [(14, 12, 3.0), (6, 14, 18.642857), (3, 14, 22.357143)])
def test_a_longer_delay_makes_narrower_classes_and_may_withhold_more(delay: int, published: int, mean: float) -> None:
    con = begun(delay)
    arrived(con, ROWS)
    con.execute("ADVANCE s TO END")
    assert len(labels(con)) == published
    assert round(float(width(con)), 6) == mean
