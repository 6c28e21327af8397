"""Both bounds of the distance of pairs of values, as the page of t-closeness states them."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from tests.support.database import new_database
from tests.support.draws import draws

pytestmark = pytest.mark.drawn

Pair = tuple[int, int]


def joint(pairs: list[Pair], everybody: list[Pair]) -> float:
    """The distance of a class from all by pairs: half of each column's ordered distance, moved at the least cost."""
    optimize = pytest.importorskip("scipy.optimize")
    firsts, seconds = (sorted({pair[at] for pair in everybody}) for at in (0, 1))
    known = list(product(firsts, seconds))

    def apart(one: Pair, other: Pair) -> float:
        parts = [
            abs(values.index(one[at]) - values.index(other[at])) / max(1, len(values) - 1)
            for at, values in enumerate((firsts, seconds))
        ]
        return sum(parts) / 2

    moves = list(product(known, known))
    taken = [[float(source == pair) for source, _ in moves] for pair in known]
    brought = [[float(target == pair) for _, target in moves] for pair in known]
    shares = [rows.count(pair) / len(rows) for rows in (pairs, everybody) for pair in known]
    solved = optimize.linprog([apart(*move) for move in moves], A_eq=taken + brought, b_eq=shares)
    return float(solved.fun)


def achieved(con: Connection, requirement: str) -> list[float]:
    rows = con.sql(f"CHECK t (class) SENSITIVE a, b REQUIRE {requirement}").fetchall()
    return [row[4] for row in rows]


@settings(max_examples=draws(3, long=30), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=6))
def test_the_distance_of_pairs_lies_between_its_bounds(of_class: list[Pair]) -> None:
    """Of two classes: what the smaller one is apart from the whole is what the other one is, times a number."""
    rest = [(0, 0), (2, 1), (1, 0)]
    everybody = of_class + rest
    con = new_database()
    con.execute("CREATE TABLE t (class INTEGER, a INTEGER, b INTEGER)")
    for number, pairs in enumerate((of_class, rest)):
        con.duckdb.executemany("INSERT INTO t VALUES (?, ?, ?)", [(number, *pair) for pair in pairs])
    with con:
        worst = max(joint(of_class, everybody), joint(rest, everybody))
        lower = sum(achieved(con, "t_closeness(t => 0.1, distance => 'ordered')")) / 2
        (upper,) = achieved(con, "t_closeness(t => 0.1, jointly => true)")
        # The smaller class is farther from the whole by every distance.
        assert lower - 1e-9 <= worst <= upper + 1e-9


def test_equal_columns_of_different_pairs() -> None:
    """Half (1, 0), half (3, 1) against all four pairs: the columns are alike, the pairs 1/4 apart, as equals 1/2."""
    of_class, rest = [(1, 0), (3, 1)], [(1, 1), (3, 0)]
    con = new_database()
    con.execute("CREATE TABLE t AS FROM (VALUES (1, 1, 0), (1, 3, 1), (2, 1, 1), (2, 3, 0)) AS t (class, a, b)")
    with con:
        assert achieved(con, "t_closeness(t => 0.1, distance => 'ordered')") == [0, 0]
        assert achieved(con, "t_closeness(t => 0.1, jointly => true)") == [0.5]
    assert joint(of_class, of_class + rest) == pytest.approx(0.25)
    # The two classes themselves: 0, 1/2 and 1.
    assert joint(of_class, rest + rest) == pytest.approx(0.5)
