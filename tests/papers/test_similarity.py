"""Slicing (Li, Li, Zhang and Molloy 2012, section 7), on four items that six respondents rate."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

from sqlanon.methods.slicing.choose_columns import found_columns
from sqlanon.methods.slicing.correlation import Correlations
from tests.oracles.similarity import similarity
from tests.support.ratings import ITEMS, RATINGS, films, rated


def test_who_rates_alike() -> None:
    """A with B and C with D are rated alike by two of three, and nobody rates two others alike."""
    of_pairs = {pair: similarity(RATINGS, *pair) for pair in combinations(ITEMS, 2)}
    assert {pair: value for pair, value in of_pairs.items() if value} == {
        ("A", "B"): Fraction(2, 3),
        ("C", "D"): Fraction(2, 3),
    }
    pairs = {(ITEMS.index(a), ITEMS.index(b)): float(value) for (a, b), value in of_pairs.items()}
    found = found_columns(Correlations(ITEMS, (0,) * 4, pairs), (), ITEMS, 2, None, lambda _: True)
    assert found.columns == (("A", "B"), ("C", "D"))
    assert found.cost == pytest.approx(2 / 3)


def test_the_columns_of_a_release() -> None:
    """The same by statements, with an item beside them that is sensitive."""
    connection = rated([*RATINGS, *((f"u{i}", "S", 1 + i % 3) for i in range(1, 7))])
    films(connection, "S")
    rows = connection.execute(
        "EXPLAIN VERBOSE ANONYMIZED TABLE sliced AS POLICY films METHOD slicing(l => 2, columns => 3, "
        "sensitive_attributes => 1, similarity => 'equal_ratings', grouping => 'random')"
    ).fetchall()
    details = {item: detail for _, item, detail in rows}
    assert details["columns"] == "(A, B), (C, D), (S)"
    assert details["correlation of A"].startswith("B 0.6667, C 0.0000, D 0.0000")
    assert details["correlation of C"].startswith("D 0.6667")
