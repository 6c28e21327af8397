"""The example of k^m-anonymity: four lists, k = m = 2, all cuts of a hierarchy of two families, to the digit.

After Terrovitis, Mamoulis and Kalnis, Privacy-preserving anonymization of set-valued data (2008), figures 1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

import sqlanon
from tests.oracles.itemsets import cuts, labelled, loss, satisfied, supports
from tests.support.database import template

LISTS = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]
ROWS = [(None, items) for items in LISTS]
FAMILIES = {"a1": ("A",), "a2": ("A",), "b1": ("B",), "b2": ("B",)}
SETUP = """
CREATE TABLE purchases AS SELECT * FROM (VALUES
    (1, ['a1', 'b1', 'b2']), (2, ['a2', 'b1']), (3, ['a2', 'b1', 'b2']), (4, ['a1', 'a2', 'b2'])
) AS t(customer, items);
CREATE HIERARCHY products AS LEVELS (FROM (VALUES ('a1', 'A'), ('a2', 'A'), ('b1', 'B'), ('b2', 'B')) AS t);
CREATE POLICY baskets ON purchases (customer ENTITY, items QUASI IDENTIFIER USING products)
    REQUIRE km_anonymity(k => 2, m => 2);
"""


@pytest.fixture
def con() -> Iterator[sqlanon.Connection]:
    with template(SETUP) as connection:
        yield connection


def test_the_sets_that_one_list_has_alone() -> None:
    assert {tuple(sorted(part)): n for (_, part), n in supports(ROWS, 2).items() if n < 2} == {
        ("a1", "a2"): 1,
        ("a1", "b1"): 1,
    }


def test_every_cut_and_what_it_loses() -> None:
    found = {
        tuple(sorted(set(cut.values()))): (loss(ROWS, cut), satisfied(labelled(ROWS, cut), 2, 2))
        for cut in cuts(list(FAMILIES), FAMILIES)
    }
    assert found == {
        ("a1", "a2", "b1", "b2"): (0, False),
        ("A", "b1", "b2"): (Fraction(5, 22), True),
        ("B", "a1", "a2"): (Fraction(3, 11), False),
        ("A", "B"): (Fraction(1, 2), True),
        ("*",): (1, True),
    }


@pytest.mark.parametrize("search", ["apriori", "optimal"])
def test_both_searches_publish_the_cut_of_least_loss(con: sqlanon.Connection, search: str) -> None:
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY baskets METHOD itemsets(search => '{search}')")
    assert sorted(items for (items,) in con.execute("FROM r").fetchall()) == [
        ["A", "b1"],
        ["A", "b1", "b2"],
        ["A", "b1", "b2"],
        ["A", "b2"],
    ]
    assert con.duckdb.execute("SELECT loss FROM anon.release").fetchall() == [(pytest.approx(5 / 22, abs=0),)]
    assert con.execute("CHECK r").fetchall() == [("main.r", "km_anonymity", None, 2.0, 2.0, True)]


def test_apriori_takes_no_step_for_single_items_and_one_for_pairs(con: sqlanon.Connection) -> None:
    explained = con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY baskets METHOD itemsets").fetchall()
    assert [detail for stage, item, detail in explained if (stage, item) == ("solve", "search")] == [
        "sets of 1 item: 0 steps",
        "sets of 2 items: 1 step",
    ]


def test_the_optimal_search_counts_two_cuts_and_looks_at_no_other(con: sqlanon.Connection) -> None:
    """That of all items, and that of 5/22; of the five cuts the others lose more."""
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY baskets METHOD itemsets(search => 'optimal')")
    recorded = con.duckdb.execute("SELECT nodes, nodes_checked, nodes_pruned, proven_optimal FROM anon.release")
    assert recorded.fetchall() == [(5, 2, 3, True)]


def test_the_lists_as_they_are_violate(con: sqlanon.Connection) -> None:
    for k, m, expected in ((2, 1, (2.0, 2.0, True)), (1, 2, (1.0, 1.0, True)), (2, 2, (2.0, 1.0, False))):
        asked = f"CHECK purchases (items) REQUIRE km_anonymity(k => {k}, m => {m})"
        assert [row[3:] for row in con.execute(asked).fetchall()] == [expected]


def test_what_it_does_not_promise(con: sqlanon.Connection) -> None:
    """b1 implies A for certain, and one list alone has A without b1."""
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY baskets METHOD itemsets")
    with_b1 = [set(items) for (items,) in con.execute("FROM r").fetchall() if "b1" in items]
    assert all("A" in items for items in with_b1)
    without = "SELECT count(*) FROM r WHERE list_contains(items, 'A') AND NOT list_contains(items, 'b1')"
    assert con.execute(without).fetchall() == [(1,)]
