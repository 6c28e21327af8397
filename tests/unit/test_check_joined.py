"""CHECK ... JOINED WITH RELEASE: against the rows of the join, and what cannot be joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Connection, PolicyError, UserError
from tests.support.draws import draws

SETUP = """
CREATE TABLE a (age INTEGER, ward VARCHAR, who VARCHAR);
CREATE TABLE b (age INTEGER, ward VARCHAR, ill VARCHAR);
CREATE HIERARCHY bands AS INTERVALS (5, 10);
"""
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, -7, 1, 4, 6, 12]), st.sampled_from([None, "u", "v'"]), st.sampled_from([None, "x", "y"])
    ),
    min_size=1,
    max_size=6,
)


def release(con: Connection, name: str, levels: Sequence[int], last: str) -> None:
    age, ward = (f"MIN LEVEL {level} MAX LEVEL {level}" for level in levels)
    con.execute(
        f"CREATE OR REPLACE POLICY p_{name} ON {name} (age QUASI IDENTIFIER USING bands {age}, "
        f"ward QUASI IDENTIFIER {ward}, {last} INSENSITIVE) REQUIRE k_anonymity(k => 1)"
    )
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r_{name} AS POLICY p_{name} METHOD generalization")


def age_at(value: int | None, level: int) -> object:
    if level == 3:
        return "*"
    return value if level == 0 or value is None else value // (5, 10)[level - 1]


def ward_at(value: str | None, level: int) -> object:
    return "*" if level else value


@pytest.mark.drawn
@settings(max_examples=draws(2, long=60), deadline=None)
@given(ROWS, ROWS, st.tuples(st.integers(0, 3), st.integers(0, 1)), st.tuples(st.integers(0, 3), st.integers(0, 1)))
def test_the_counts_are_those_of_the_join(
    first: list[Any], second: list[Any], of_first: tuple[int, int], of_second: tuple[int, int]
) -> None:
    con = sqlanon.connect(config={"threads": "1"})
    con.execute(SETUP)
    con.duckdb.executemany("INSERT INTO a VALUES (?, ?, ?)", first)
    con.duckdb.executemany("INSERT INTO b VALUES (?, ?, ?)", second)
    release(con, "a", of_first, "who")
    release(con, "b", of_second, "ill")
    age, ward = (max(levels) for levels in zip(of_first, of_second, strict=True))
    join = Counter(
        (one[2], other[2])
        for one in first
        for other in second
        if (age_at(one[0], age), ward_at(one[1], ward)) == (age_at(other[0], age), ward_at(other[1], ward))
    )
    required = "xy_anonymity(x => who, y => ill, k => 1), xy_linkability(x => who, y => ill, max => 1)"
    rows = con.execute(f"CHECK r_a JOINED WITH RELEASE r_b ON (age, ward) REQUIRE {required}").fetchall()
    anonymity, linkability = (row[4] for row in rows)
    totals: Counter[str | None] = Counter()
    for (who, _), n in join.items():
        totals[who] += n
    assert anonymity == min((len({y for x, y in join if x == who}) for who in totals), default=None)
    assert linkability == pytest.approx(max((n / totals[who] for (who, _), n in join.items()), default=None))


@pytest.fixture(scope="module")
def con() -> Connection:
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute(SETUP)
    connection.execute("INSERT INTO a VALUES (1, 'u', 'x'), (6, 'v', 'y')")
    connection.execute("INSERT INTO b VALUES (1, 'u', 'p'), (6, 'v', 'q')")
    release(connection, "a", (0, 0), "who")
    release(connection, "b", (1, 0), "ill")
    connection.execute("CREATE POLICY cut ON b (age QUASI IDENTIFIER, ill INSENSITIVE) REQUIRE k_anonymity(k => 2)")
    connection.execute("CREATE ANONYMIZED TABLE regions AS POLICY cut METHOD mondrian")
    connection.execute("CREATE POLICY parted ON b (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 1)")
    connection.execute("CREATE ANONYMIZED TABLE parted AS POLICY parted METHOD trivial")
    return connection


XY = "xy_anonymity(x => who, y => ill, k => 2)"


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (f"r_b ON (agee) REQUIRE {XY}", "has no column agee"),
        (f"r_b ON (who) REQUIRE {XY}", "r_b has no column who"),
        (f"parted ON (age) REQUIRE {XY}", "several tables"),
        (f"nothing ON (age) REQUIRE {XY}", "no release"),
        (
            "r_b ON (age) REQUIRE xy_anonymity(x => who, y => ward, k => 2)",
            "both main.r_a and main.r_b have a column ward",
        ),
        ("r_b ON (age) REQUIRE xy_anonymity(x => (who, age), y => ill, k => 2)", "both"),
        ("r_b ON (age) REQUIRE xy_anonymity(x => nobody, y => ill, k => 2)", "neither release has a column nobody"),
        ("r_b ON (age) REQUIRE xy_anonymity(x => who, y => (ill, ward), k => 2)", "y is one column"),
        ("r_b ON (age) REQUIRE xy_anonymity(y => ill, k => 2)", "needs x"),
        ("r_b ON (age) REQUIRE xy_linkability(x => who, y => ill, max => 2)", "outside"),
        ("r_b ON (age) REQUIRE k_anonymity(k => 2)", "cannot be required"),
    ],
)
def test_what_cannot_be_joined_is_refused(con: Connection, statement: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        con.execute(f"CHECK r_a JOINED WITH RELEASE {statement}")


@pytest.mark.long
def test_labels_that_cannot_be_compared_are_refused(con: Connection) -> None:
    with pytest.raises(PolicyError, match="shows it by no level"):
        con.execute(f"CHECK r_a JOINED WITH RELEASE regions ON (age) REQUIRE {XY}")
    release(con, "b", (2, 0), "ill")
    con.execute(f"CHECK r_a JOINED WITH RELEASE r_b ON (age) REQUIRE {XY}")
    # Values of its own tell what lies above them; for what lies above labels the source is read.
    con.execute("UPDATE a SET age = 99 WHERE age = 1")
    con.execute(f"CHECK r_a JOINED WITH RELEASE r_b ON (age) REQUIRE {XY}")
    con.execute("UPDATE a SET age = 1 WHERE age = 99")
    release(con, "a", (1, 0), "who")
    con.execute("UPDATE a SET age = 99 WHERE age = 1")
    try:
        with pytest.raises(PolicyError, match=r"the source of main\.r_a has changed"):
            con.execute(f"CHECK r_a JOINED WITH RELEASE r_b ON (age) REQUIRE {XY}")
    finally:
        con.execute("UPDATE a SET age = 1 WHERE age = 99")
    con.execute(
        "CREATE POLICY locally ON b (age QUASI IDENTIFIER USING bands, ward QUASI IDENTIFIER, ill INSENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )
    con.execute("INSERT INTO b VALUES (1, 'u', 'p'), (3, 'w', 'r'), (4, 'w', 'r')")
    con.execute(
        "CREATE ANONYMIZED TABLE locally AS POLICY locally METHOD generalization(suppression => 1, recoding => 'local')"
    )
    with pytest.raises(PolicyError, match="shows it by several levels"):
        con.execute(f"CHECK r_a JOINED WITH RELEASE locally ON (age) REQUIRE {XY}")
    con.execute("CREATE OR REPLACE HIERARCHY bands AS INTERVALS (2, 10)")
    with pytest.raises(PolicyError, match="its hierarchy differs between the releases, or has changed"):
        con.execute(f"CHECK r_a JOINED WITH RELEASE r_b ON (age) REQUIRE {XY}")
