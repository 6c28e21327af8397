"""Original and fake tuples of the table of Li et al., Slicing (2012), Table 1: eight rows in two buckets."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.oracles.membership import figures, most_fakes
from tests.support.membership import Buckets

NAMES = ("age", "sex", "zip", "disease")
TYPES = ("INTEGER", "VARCHAR", "INTEGER", "VARCHAR")
ROWS = (
    (22, "M", 47906, "dyspepsia"),
    (22, "F", 47906, "flu"),
    (33, "F", 47905, "flu"),
    (52, "F", 47905, "bronchitis"),
    (54, "M", 47302, "flu"),
    (60, "M", 47302, "dyspepsia"),
    (60, "M", 47304, "dyspepsia"),
    (64, "F", 47304, "gastritis"),
)
BUCKETS = ((0, 1, 2, 3), (4, 5, 6, 7))
SLICED = ((0, 1), (2, 3))
EACH = ((0,), (1,), (2,), (3,))
BUCKETIZED = ((0, 1, 2), (3,))


def laid_out(columns: tuple[tuple[int, ...], ...], buckets: tuple[tuple[int, ...], ...] = BUCKETS) -> Buckets:
    return Buckets(NAMES, ROWS, columns, buckets, TYPES)


@pytest.mark.parametrize(
    ("columns", "buckets", "original", "fake"),
    [
        pytest.param(SLICED, BUCKETS, 8, 20, id="Table 1f"),
        pytest.param(EACH, BUCKETS, 8, 64, id="Tables 1d and 1e"),
        pytest.param(BUCKETIZED, BUCKETS, 8, 16, id="Table 1c"),
        pytest.param(SLICED, ((0, 1, 4, 5), (2, 3, 6, 7)), 8, 24, id="other buckets"),
        pytest.param(EACH, ((0, 1, 4, 5), (2, 3, 6, 7)), 8, 80, id="other buckets, one each"),
        pytest.param(SLICED, (tuple(range(8)),), 8, 48, id="one bucket"),
        pytest.param(EACH, (tuple(range(8)),), 8, 184, id="one bucket, one each"),
        pytest.param(((0, 1, 3), (2, 3)), BUCKETS, 8, 2, id="disease in both columns"),
        pytest.param(((0, 1), (1, 2, 3)), BUCKETS, 8, 9, id="sex in both columns"),
    ],
)
def test_original_and_fake_tuples(
    columns: tuple[tuple[int, ...], ...], buckets: tuple[tuple[int, ...], ...], original: int, fake: int
) -> None:
    release = laid_out(columns, buckets)
    measured = release.figures()
    assert (measured["original"], measured["fake"]) == (original, fake)
    assert measured["fake_original_ratio"] == fake / original
    expected = figures(ROWS, release.of_oracle(), [[bucket] * len(columns) for bucket in range(len(buckets))])
    assert (expected["original"], expected["fake"]) == (original, fake)
    assert measured == pytest.approx({name: value and float(value) for name, value in expected.items()})
    assert measured["matching_buckets_original"] == measured["matching_buckets_original_at_most_10"] == 1


def test_the_ratio_of_the_paper_s_table_and_its_bound() -> None:
    """5/2 where k^c - k fakes a bucket would be 3, and 8 where they would be 63."""
    assert Fraction(laid_out(SLICED).figures()["fake_original_ratio"] or 0) == Fraction(5, 2)
    assert Fraction(laid_out(EACH).figures()["fake_original_ratio"] or 0) == 8
    assert [Fraction(len(BUCKETS) * most_fakes(4, c), len(ROWS)) for c in (2, 4)] == [3, 63]


def test_without_overlap_there_are_twenty_fakes_where_an_overlap_leaves_two() -> None:
    assert laid_out(((0, 1), (2, 3))).figures()["fake"] == 20
    assert laid_out(((0, 1, 3), (2, 3))).figures()["fake"] == 2
