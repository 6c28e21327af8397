"""The tree of METHOD dp_synthetic and the rows drawn along it, without noise beside the oracle's counts."""

from __future__ import annotations

from decimal import Decimal
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon.catalog.accounting import rho_of
from sqlanon.methods.noisy import tree
from sqlanon.methods.noisy.tree import Cells, drawn_rows, learned, plan
from sqlanon.sources import noise
from tests.oracles import synthetic_rows as oracle

SIZES = (3, 2, 4, 3)
ROWS = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES)), max_size=40)


@pytest.fixture(scope="module", autouse=True)
def _bare():
    """No noise is added, and the greatest score is chosen."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (noise.Laplace, noise.Gaussian):
            patch.setattr(kind, "drawn", lambda self, values: list(values))
        patch.setattr(noise.Greatest, "drawn", lambda self, scores: max(range(len(scores)), key=scores.__getitem__))
        yield


def cells_of(rows, sizes=SIZES):
    """The rows as different cells with their counts."""
    counted = oracle.of_columns(rows, range(len(sizes)))
    codes = np.array([list(key) for key in counted], dtype=np.int64).reshape(-1, len(sizes))
    return Cells(tuple(codes.T), np.array(list(counted.values()), dtype=np.int64), sizes)


NOISE = plan(len(SIZES), 1, 1.0, 0.0)


@pytest.mark.drawn
@settings(max_examples=60, deadline=None)
@given(rows=ROWS)
def test_counts_are_those_of_the_oracle(rows):
    cells = cells_of(rows)
    for column, size in enumerate(SIZES):
        assert list(cells.of_column(column)) == [oracle.of_columns(rows, [column])[code,] for code in range(size)]
    for first, second in [(0, 2), (3, 1)]:
        counts = oracle.of_columns(rows, [first, second])
        assert [[counts[a, b] for b in range(SIZES[second])] for a in range(SIZES[first])] == cells.of_pair(
            first, second
        ).tolist()


@pytest.mark.drawn
@settings(max_examples=60, deadline=None)
@given(rows=ROWS.filter(bool))
def test_the_tree_has_the_greatest_sum_of_scores_of_all_trees(rows):
    found = learned(cells_of(rows), NOISE)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    scores = {pair: oracle.score(rows, pair, SIZES) for pair in pairs}
    edges = [tuple(sorted(edge)) for edge in found.edges]
    assert sum(scores[edge] for edge in edges) == oracle.greatest_tree(scores, 4)
    assert tuple(sorted(edges)) in {tuple(sorted(each)) for each in oracle.trees(4)}


@pytest.mark.drawn
@settings(max_examples=60, deadline=None)
@given(rows=ROWS.filter(bool), size=st.sampled_from([1, 7, 1000]))
def test_rows_have_the_shares_of_the_tree_to_one_row_for_each_code_of_the_parent(rows, size):
    found = learned(cells_of(rows), NOISE)
    assert found.total == len(rows)
    codes = drawn_rows(found, size)
    drawn = list(zip(*codes, strict=True))
    assert len(drawn) == size
    of_root = oracle.of_columns(rows, [found.root])
    for code, n in oracle.of_columns(drawn, [found.root]).items():
        assert abs(n - size * of_root[code] / len(rows)) < 1 + 1e-6
    for parent, child in found.edges:
        parents, pairs = oracle.of_columns(drawn, [parent]), oracle.of_columns(drawn, [parent, child])
        given_parents, given_pairs = oracle.of_columns(rows, [parent]), oracle.of_columns(rows, [parent, child])
        for (code, other), n in pairs.items():
            # Nothing is drawn that no row has, but for the least share.
            share = given_pairs[code, other] / given_parents[code,]
            assert abs(n - parents[code,] * share) < 1 + 1e-3


@pytest.mark.parametrize("rows", [[], [(2, 1, 3, 0)], [(0, 0, 0, 0)] * 5])
def test_no_row_and_one_row(rows):
    found = learned(cells_of(rows), NOISE)
    assert found.total == len(rows)
    assert sorted(zip(*drawn_rows(found, len(rows)), strict=True)) == sorted(rows)


def test_two_columns_have_one_edge_and_one_column_has_none():
    pair = learned(cells_of([(0, 0), (1, 1), (1, 1)], (2, 2)), plan(2, 1, 1.0, 0.0))
    assert pair.edges == ((0, 1),)
    assert sorted(zip(*map(list, drawn_rows(pair, 6)), strict=True)) == [(0, 0)] * 2 + [(1, 1)] * 4
    alone = learned(cells_of([(0,), (1,)], (2,)), plan(1, 1, 1.0, 0.0))
    assert alone.edges == ()


@pytest.mark.drawn
@settings(max_examples=40, deadline=None)
@given(rows=ROWS.filter(lambda rows: len(rows) > 3), most=st.integers(1, 3))
def test_a_respondent_changes_counts_and_scores_by_what_the_noise_is_made_for(rows, most):
    """The last `most` rows are the respondent's."""
    whole, without = cells_of(rows), cells_of(rows[:-most])
    shares = [np.full(size, 1 / size) for size in SIZES]
    for column in range(len(SIZES)):
        change = whole.of_column(column) - without.of_column(column)
        assert abs(change).sum() <= most
        assert sqrt((change**2).sum()) <= most
    for pair in [(0, 1), (1, 3)]:
        change = whole.of_pair(*pair) - without.of_pair(*pair)
        assert abs(change).sum() <= most
        expected = tree.expected(shares, *pair, 20)
        one, other = (int(abs(cells.of_pair(*pair) - expected).sum()) for cells in (whole, without))
        assert abs(one - other) <= most


PRICES = given(
    columns=st.integers(1, 12),
    rows=st.integers(1, 4),
    epsilon=st.floats(0.01, 20),
    delta=st.sampled_from([0.0, 1e-9, 1e-6]),
)


@pytest.mark.drawn
@settings(max_examples=8, deadline=None)
@PRICES
def test_the_steps_cost_what_is_paid_at_most(columns, rows, epsilon, delta):
    made = plan(columns, rows, epsilon, delta)
    if delta:
        counts = columns * noise._gaussian(made.columns.scale).map(float(rows))
        counts += (columns - 1) * noise._gaussian(made.pairs.scale).map(float(rows)) if made.pairs else 0
    else:
        counts = columns * noise._laplace(made.columns.scale).map(rows)
        counts += (columns - 1) * noise._laplace(made.pairs.scale).map(rows) if made.pairs else 0
    if made.edges:
        counts += (columns - 1) * noise._greatest(made.edges.scale, bool(delta)).map(rows)
    most = noise.rho_of(epsilon, delta) if delta else epsilon
    assert most * 0.99 < counts <= most


@pytest.mark.drawn
@settings(max_examples=8, deadline=None)
@PRICES
def test_the_steps_have_the_rho_that_opendp_converts(columns, rows, epsilon, delta):
    """The sum of each step's rho by OpenDP; and the epsilon of this sum, which is the one that is promised."""
    made = plan(columns, rows, epsilon, delta)
    opendp = noise._opendp()

    def rho(measurement, distance):
        # A sum of squares is a length of normal noise, and a number of rows of all else.
        return (measurement if delta else opendp.c.make_pureDP_to_zCDP(measurement)).map(distance)

    of_counts, length = (noise._gaussian, float(rows)) if delta else (noise._laplace, rows)
    total = columns * rho(of_counts(made.columns.scale), length)
    total += (columns - 1) * rho(of_counts(made.pairs.scale), length) if made.pairs else 0
    total += (columns - 1) * rho(noise._greatest(made.edges.scale, bool(delta)), rows) if made.edges else 0
    assert total * (1 - 1e-9) <= made.rho <= total * 1.01
    if delta:
        normal = opendp.c.make_zCDP_to_approxDP(noise._gaussian(1 / sqrt(2 * float(made.rho))))
        assert opendp.c.make_fix_delta(normal, delta).map(1.0)[0] <= epsilon
    else:
        assert made.rho <= rho_of(Decimal(epsilon))


def test_rho_is_that_of_the_example():
    """E66: epsilon 1 and delta 1e-9 are rho 0.014973; six columns have standard deviations 24.5 and 22.4."""
    made = plan(6, 1, 1.0, 1e-9)
    assert noise.rho_of(1.0, 1e-9) == pytest.approx(0.014973, abs=1e-6)
    assert (made.columns.scale, made.pairs.scale) == (
        pytest.approx(24.5, abs=0.05),
        pytest.approx(22.4, abs=0.05),
    )
    # E33: of epsilon 2 and three columns a third each goes to three counts, two scores and two pairs.
    pure = plan(3, 1, 2.0, 0.0)
    assert (pure.columns.scale, pure.edges.scale, pure.pairs.scale) == tuple(map(pytest.approx, (4.5, 6.0, 3.0)))
    assert exp(-1 / pure.pairs.scale) < 1
