"""An example of (h,k,p)-coherence: six lists, the figures of each p to the digit, and what two items in one do.

After Xu, Wang, Fu and Yu, Anonymizing transaction databases for publication (2008).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

import sqlanon
from tests.oracles.coherence import counted, greatest_share, least_support, without
from tests.support.database import template

ROWS = [
    (None, ["bread", "milk"], ["hiv"]),
    (None, ["bread", "milk"], []),
    (None, ["bread", "beer"], []),
    (None, ["milk", "beer"], ["hiv"]),
    (None, ["bread", "milk", "beer"], []),
    (None, ["beer"], ["flu"]),
]
SETUP = """
CREATE TABLE visits AS SELECT * FROM (VALUES
    (1, ['bread', 'milk'], ['hiv']), (2, ['bread', 'milk'], []), (3, ['bread', 'beer'], []),
    (4, ['milk', 'beer'], ['hiv']), (5, ['bread', 'milk', 'beer'], []), (6, ['beer'], ['flu'])
) AS t(customer, items, secrets);
CREATE VIEW without_beer AS SELECT customer, list_filter(items, lambda i: i <> 'beer') AS items, secrets FROM visits;
"""
FIGURES = [(1, 4, Fraction(1, 2)), (2, 2, Fraction(1, 2)), (3, 1, Fraction(1, 2))]


@pytest.fixture
def con() -> Iterator[sqlanon.Connection]:
    with template(SETUP) as connection:
        yield connection


def asked(con: sqlanon.Connection, table: str, h: str, k: int, p: int) -> tuple[float, bool]:
    """The share that is achieved, and whether the requirement is met."""
    ((*_, achieved, met),) = con.execute(
        f"CHECK {table} (items) SENSITIVE secrets REQUIRE coherence(h => {h}, k => {k}, p => {p})"
    ).fetchall()
    return achieved, met


@pytest.mark.parametrize(("p", "support", "share"), FIGURES)
def test_the_figures_of_each_p(con: sqlanon.Connection, p: int, support: int, share: Fraction) -> None:
    assert (least_support(ROWS, p), greatest_share(ROWS, p)) == (support, share)
    assert asked(con, "visits", "0.5", support, p) == (float(share), True)
    assert asked(con, "visits", "0.5", support + 1, p) == (float(share), False)
    assert asked(con, "visits", "0.499999", support, p) == (float(share), False)


def test_beer_suppressed(con: sqlanon.Connection) -> None:
    lists = without(ROWS, {"beer"})
    assert (least_support(lists, 2), greatest_share(lists, 2)) == (3, Fraction(1, 2))
    assert asked(con, "without_beer", "0.5", 3, 2) == (0.5, True)
    assert asked(con, "without_beer", "0.5", 4, 2) == (0.5, False)


def test_of_those_with_milk_and_beer_half_have_hiv() -> None:
    assert counted(ROWS, 2)[None, frozenset(("milk", "beer"))] == (2, 1)
    assert counted(ROWS, 2)[None, frozenset()] == (6, 2)


def test_two_items_in_one_raise_the_share(con: sqlanon.Connection) -> None:
    """Half of the lists with a hold h, and half of those with b; two of the three with either."""
    con.execute("CREATE TABLE t AS FROM (VALUES (['a', 'b'], NULL), (['a'], 'h'), (['b'], 'h')) AS t(items, secret)")
    ask = "CHECK (SELECT {} AS items, if(secret IS NULL, [], [secret]) AS secrets FROM t) (items) SENSITIVE secrets "
    ask += "REQUIRE coherence(h => 0.7, k => 1, p => 2)"
    as_they_are = con.execute(ask.format("items")).fetchall()[0]
    in_one = con.execute(ask.format("['A']")).fetchall()[0]
    # The empty set has two of three in both.
    assert (as_they_are[4], in_one[4]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    rows = [("t", ["a", "b"], []), ("t", ["a"], ["h"]), ("t", ["b"], ["h"])]
    shares = {part: Fraction(most, n) for (_, part), (n, most) in counted(rows, 1).items() if part}
    assert shares == {frozenset("a"): Fraction(1, 2), frozenset("b"): Fraction(1, 2)}
    generalized = [(of, ["A"], secrets) for of, _, secrets in rows]
    assert counted(generalized, 1)["t", frozenset("A")] == (3, 2)
