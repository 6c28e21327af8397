"""Errors of predicted ratings against a naive version, on random tables, and those that a statement answers with."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon.assess.tasks.ratings import Ratings, error_of
from tests.oracles.ratings import Table, item_means, padded, rmse
from tests.support.draws import draws
from tests.support.ratings import ratings_of

pytestmark = pytest.mark.drawn

values = st.none() | st.integers(-3, 5)
tables = st.integers(2, 4).flatmap(
    lambda items: st.lists(st.tuples(*(values for _ in range(items))), min_size=2, max_size=7)
)


def is_clear(table: Table, rank: int) -> bool:
    """Whether the greatest singular values are told from the next: otherwise which vectors are taken is no question."""
    import numpy as np

    singular = [*np.linalg.svd(padded(table, item_means(table)))[1], 0.0]
    return rank >= len(singular) or singular[rank - 1] - singular[rank] > 1e-6 or singular[rank - 1] < 1e-9


@settings(max_examples=draws(30, long=300), deadline=None)
@given(tables, st.data())
def test_errors_are_those_of_all_singular_vectors(table: Table, data: st.DataObject) -> None:
    assume(any(value is not None for row in table for value in row))
    learned = data.draw(st.permutations(table))
    rank = data.draw(st.integers(1, len(table[0]) - 1))
    assume(is_clear(learned, rank))
    assert error_of(ratings_of(table), None, rank, 1) == pytest.approx(rmse(table, None, rank))
    assert error_of(ratings_of(table), ratings_of(learned), rank, 1) == pytest.approx(
        rmse(table, learned, rank), abs=1e-7
    )


def test_an_iteration_finds_what_a_decomposition_does() -> None:
    table = [
        tuple((who * 7 + item * item * 3 + who * item) % 5 if (who + item) % 3 else None for item in range(60))
        for who in range(5000)
    ]
    known = ratings_of(table)
    assert math.prod(known.shape) > 250_000
    sample = [table[index] for index in range(0, 5000, 2)]
    exact = Ratings([(int(u), int(i), float(v)) for u, i, v in zip(*arrays(ratings_of(sample)), strict=True)], 2500, 60)
    assert math.prod(exact.shape) <= 250_000
    assert error_of(known, known, 2, 1) == pytest.approx(error_of(known, exact, 2, 1), rel=1e-2)
    assert error_of(known, known, 2, 1) == pytest.approx(error_of(known, known, 2, 9), rel=1e-9)


def arrays(ratings: Ratings) -> tuple[object, ...]:
    return ratings.respondents, ratings.items, ratings.values


def test_a_release_is_linked_as_the_macro_links_it() -> None:
    with sqlanon.connect() as con:
        con.execute(
            "CREATE TABLE ratings AS "
            "SELECT i // 3 AS who, 'film ' || i % 3 AS film, (i * 7 + i // 5) % 5 AS stars FROM range(90) AS r(i)"
        )
        con.execute(
            'CREATE POLICY films ON ratings PIVOT film VALUES stars (who IDENTIFIER, "film 2" SENSITIVE) '
            "REQUIRE k_anonymity(k => 2)"
        )
        con.execute(
            "CREATE ANONYMIZED TABLE sliced AS POLICY films METHOD slicing(l => 2, grouping => 'random') "
            'COLUMNS ("film 0", "film 1"), ("film 2")'
        )
        answer = con.execute("MEASURE sliced WITH TASK (kind => 'ratings', rank => 1)").fetchall()
        figures = {name: value for _, name, _, value in answer}
        assert figures["rmse_source"] < figures["rmse_baseline"]
        con.duckdb.execute(
            "CREATE TABLE wide AS SELECT 1 AS bucket, * FROM (PIVOT ratings ON film USING any_value(stars))"
        )
        table = con.duckdb.execute('SELECT "film 0", "film 1", "film 2" FROM wide').fetchall()
        joined = con.duckdb.execute(
            'SELECT "film 0", "film 1", "film 2" FROM anon.joined_buckets([\'sliced_1\', \'sliced_2\'], seed => 1)'
        ).fetchall()
    assert figures["rmse_source"] == pytest.approx(rmse(table, table, 1))
    assert figures["rmse_release"] == pytest.approx(rmse(table, joined, 1))
