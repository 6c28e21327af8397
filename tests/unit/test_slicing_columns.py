"""The columns of a slicing from given correlations, and the medoids: against looking at all sets."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import PolicyError, connect
from sqlanon.methods.slicing.choose_columns import INFEASIBLE, Clustering, correlation_with, found_columns, medoids
from sqlanon.methods.slicing.correlation import Correlations
from sqlanon.methods.slicing.options import sizes
from tests.oracles.slicing_columns import most_frequent_share, sums_of_distances
from tests.support.draws import draws
from tests.support.slicing_columns import CONTINGENCY, NAMES, PATIENTS, patients


@functools.cache
def of_patients() -> Correlations:
    """The correlations of the paper's table."""
    return patients(duckdb.connect(config={"threads": 1}))


def of_fractions(names: Sequence[str], pairs: dict[tuple[str, str], Fraction]) -> Correlations:
    """Correlations that are not computed from rows."""
    index = {name: number for number, name in enumerate(names)}
    by_index = {(index[a], index[b]): float(value) for (a, b), value in pairs.items()}
    return Correlations(tuple(names), tuple(2 for _ in names), by_index)


def always(_: tuple[str, ...]) -> bool:
    return True


def two_diverse(names: tuple[str, ...]) -> bool:
    """Whether no disease has more than half of the patients who are alike in these columns."""
    parts = [tuple(row[NAMES.index(name)] for name in names) for row in PATIENTS]
    return most_frequent_share(parts, [row[3] for row in PATIENTS]) <= Fraction(1, 2)


def test_two_columns_of_the_papers_table() -> None:
    """Any of four pairs of medoids gives the same columns; the next best sum is that of other ones."""
    columns = found_columns(of_patients(), ["Disease"], NAMES[:3], 2, None, always)
    assert columns.columns == (("Age", "Zipcode"), ("Sex", "Disease"))
    assert (columns.cost, columns.exhaustive, columns.medoids) == (pytest.approx(3 / 5), True, ("Age", "Sex"))
    exact = {frozenset(pair): value for pair, value in CONTINGENCY.items()}
    distances = [[Fraction(0) if a == b else 1 - exact[frozenset((a, b))] for b in NAMES] for a in NAMES]
    every_set = sorted(sums_of_distances(distances, 2))
    assert [total for total, *_ in every_set[:5]] == [Fraction(3, 5)] * 4 + [Fraction(7, 6)]
    assert {frozenset(clusters) for *_, clusters in every_set[:4]} == {frozenset({(0, 2), (1, 3)})}
    assert every_set[4][-1] == ((0,), (1, 2, 3))


def test_sex_cannot_stand_with_the_disease() -> None:
    """Three of the four men have dyspepsia, so that sex goes to the other column."""
    assert most_frequent_share([row[1] for row in PATIENTS], [row[3] for row in PATIENTS]) == Fraction(3, 4)
    columns = found_columns(of_patients(), ["Disease"], NAMES[:3], 2, None, two_diverse)
    assert columns.columns == (("Age", "Sex", "Zipcode"), ("Disease",))
    assert columns.left_out == (("Sex", INFEASIBLE),)


def test_the_zip_code_stands_with_the_disease_in_place_of_sex() -> None:
    columns = found_columns(of_patients(), ["Disease"], NAMES[:3], 2, 2, two_diverse)
    assert columns.columns == (("Age", "Sex"), ("Zipcode", "Disease"))
    assert columns.left_out == (("Sex", INFEASIBLE),)
    assert found_columns(of_patients(), ["Disease"], NAMES[:3], 2, 2, always).columns == (
        ("Age", "Zipcode"),
        ("Sex", "Disease"),
    )


def test_what_is_left_out_goes_to_the_nearest_column() -> None:
    names = ["a", "b", "c", "d", "s"]
    pairs = dict.fromkeys(combinations(names, 2), Fraction(0))
    pairs |= {("a", "b"): Fraction(1), ("d", "s"): Fraction(1), ("a", "d"): Fraction(1, 6), ("c", "d"): Fraction(1, 2)}
    correlations = of_fractions(names, pairs)
    assert found_columns(correlations, ["s"], names[:4], 3, None, always).columns == (("a", "b"), ("c",), ("d", "s"))
    columns = found_columns(correlations, ["s"], names[:4], 3, None, lambda together: "d" not in together)
    assert (columns.columns, columns.left_out) == ((("a", "b"), ("c", "d"), ("s",)), (("d", INFEASIBLE),))


def test_a_column_for_everything() -> None:
    """What the requirements refuse is then a column by itself."""
    one_column = found_columns(of_patients(), ["Disease"], NAMES[:3], 1, None, always)
    assert (one_column.columns, one_column.left_out) == ((NAMES,), ())
    columns = found_columns(of_patients(), ["Disease"], NAMES[:3], 1, None, lambda names: "Sex" not in names).columns
    assert columns == (("Sex",), ("Age", "Zipcode", "Disease"))
    columns = found_columns(of_patients(), ["Disease"], NAMES[:3], 1, 2, always).columns
    assert columns == (("Age", "Zipcode"), ("Sex", "Disease"))
    assert found_columns(of_patients(), ["Disease"], [], 3, None, always).columns == (("Disease",),)
    assert found_columns(of_patients(), ["Disease"], [], 3, 2, always).columns == (("Disease",),)


def test_sensitive_attributes_stand_together() -> None:
    """The clusters of zip code and disease are united; with a number, what has most to do with either joins them."""
    both = ["Zipcode", "Disease"]
    united = found_columns(of_patients(), both, ["Age", "Sex"], 2, None, always)
    assert united.columns == (NAMES,)
    assert found_columns(of_patients(), both, ["Age", "Sex"], 3, None, always).columns[-1][-2:] == (
        "Zipcode",
        "Disease",
    )
    joined = found_columns(of_patients(), both, ["Age", "Sex"], 2, 2, always)
    assert joined.columns == (("Sex",), ("Age", "Zipcode", "Disease"))
    assert found_columns(of_patients(), both, ["Age", "Sex"], 2, 1, always).columns == (("Age", "Sex"), tuple(both))


matrices = st.integers(1, 7).flatmap(
    lambda size: st.lists(st.integers(0, 6), min_size=comb(size, 2), max_size=comb(size, 2)).map(
        lambda parts: symmetric(size, parts)
    )
)


def symmetric(size: int, parts: Sequence[int]) -> list[list[Fraction]]:
    """A matrix of distances, sixths, so that many sums are equal."""
    between = dict(zip(combinations(range(size), 2), (Fraction(part, 6) for part in parts), strict=True))
    items = range(size)
    return [[Fraction(0) if a == b else between[min(a, b), max(a, b)] for b in items] for a in items]


def clustered(distances: Sequence[Sequence[Fraction]], count: int) -> Clustering:
    return medoids([[float(distance) for distance in row] for row in distances], count)


@pytest.mark.drawn
@settings(max_examples=draws(60, long=600), deadline=None)
@given(matrices, st.integers(1, 8))
def test_medoids_are_the_best_of_all_sets(distances: list[list[Fraction]], count: int) -> None:
    clustering = clustered(distances, count)
    total, best, clusters = min(sums_of_distances(distances, min(count, len(distances))))
    assert (clustering.medoids, clustering.clusters, clustering.exhaustive) == (best, clusters, True)
    assert clustering.cost == pytest.approx(float(total), abs=1e-10)


@pytest.mark.drawn
@settings(max_examples=draws(60, long=600), deadline=None)
@given(matrices, st.integers(1, 8))
def test_pam_ends_where_no_exchange_is_better(distances: list[list[Fraction]], count: int) -> None:
    with sizes.replaced(max_medoid_sets=0):
        clustering = clustered(distances, count)
        assert clustering == clustered(distances, count)
    totals = {best: total for total, best, _ in sums_of_distances(distances, min(count, len(distances)))}
    cost = totals[clustering.medoids]
    assert (clustering.cost, clustering.exhaustive) == (pytest.approx(float(cost), abs=1e-10), False)
    chosen = {*clustering.medoids}
    assert cost <= min(total for members, total in totals.items() if len(chosen & {*members}) >= len(chosen) - 1)


def test_pam_exchanges_a_medoid_for_a_better_one() -> None:
    """Of points at 0, 0, 5, 10 and 10 the one in the middle is the best medoid, but none of the two best."""
    points = [0, 0, 5, 10, 10]
    distances = [[abs(a - b) / 10 for b in points] for a in points]
    with sizes.replaced(max_medoid_sets=0):
        assert medoids(distances, 1).medoids == (2,)
        assert medoids(distances, 2) == Clustering((0, 3), ((0, 1, 2), (3, 4)), 0.5, exhaustive=False)


def test_pam_finds_the_columns_of_the_papers_table() -> None:
    with sizes.replaced(max_medoid_sets=5):
        columns = found_columns(of_patients(), ["Disease"], NAMES[:3], 2, None, always)
    assert (columns.columns, columns.exhaustive) == ((("Age", "Zipcode"), ("Sex", "Disease")), False)


def test_equal_sums_are_equal_whatever_their_rounding() -> None:
    """A half, a sixth and a third are three thirds: the first item is taken; and so is the first of equal medoids."""
    half, third, sixth = 1 / 2, 1 / 3, 1 / 6
    rows = [[0, half, sixth, third], [half, 0, half, third], [sixth, half, 0, third], [third, third, third, 0]]
    assert medoids(rows, 1).medoids == (0,)
    assert medoids([[0.0] * 4 for _ in range(4)], 2).clusters == ((0, 2, 3), (1,))
    assert medoids([], 2).medoids == ()


@st.composite
def requests(draw: st.DrawFn) -> tuple[Correlations, list[str], int, int | None, set[frozenset[str]]]:
    """Correlations, the sensitive attributes, how many columns, how many in the sensitive one, what is infeasible."""
    size = draw(st.integers(1, 6))
    names = [f"a{index}" for index in range(size)]
    pairs = {pair: Fraction(draw(st.integers(0, 6)), 6) for pair in combinations(names, 2)}
    sensitive = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    together = st.frozensets(st.sampled_from(names), min_size=1, max_size=2)
    infeasible = draw(st.sets(together, max_size=3))
    correlations = of_fractions(names, pairs)
    return correlations, sensitive, draw(st.integers(1, 7)), draw(st.none() | st.integers(1, 5)), infeasible


@pytest.mark.drawn
@settings(max_examples=draws(80, long=800), deadline=None)
@given(requests())
def test_columns_partition_the_attributes(
    request: tuple[Correlations, list[str], int, int | None, set[frozenset[str]]],
) -> None:
    correlations, sensitive, count, alpha, infeasible = request
    others = [name for name in correlations.names if name not in sensitive]

    def feasible(names: tuple[str, ...]) -> bool:
        assert names
        assert list(names) == [name for name in others if name in names]
        return not any(together <= {*names} for together in infeasible)

    columns = found_columns(correlations, sensitive, others, count, alpha, feasible)
    *rest, last = columns.columns
    assert sorted(name for column in columns.columns for name in column) == sorted(correlations.names)
    assert all(list(column) == [name for name in correlations.names if name in column] for column in columns.columns)
    assert [column[0] for column in rest] == sorted(column[0] for column in rest)
    assert {*sensitive} <= {*last}
    joined = [name for name in last if name not in sensitive]
    assert not joined or feasible(tuple(joined))
    refused = [name for name, reason in columns.left_out if reason == INFEASIBLE]
    assert not {*refused} & {*last}
    assert all(not feasible(tuple(name for name in others if name in {*joined, left})) for left in refused)
    assert len(columns.columns) <= max(count, 2)
    if alpha is not None:
        assert len(joined) <= alpha - 1
        waiting = [name for name in others if name not in {*joined, *refused}]
        assert len(joined) == alpha - 1 or not waiting
        least = min((correlation_with(correlations, sensitive, name) for name in joined), default=1)
        assert all(correlation_with(correlations, sensitive, name) <= least for name in waiting)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("slicing(l => 2) COLUMNS (age, sex), (sex, age), (disease)", r"COLUMNS has \(sex, age\) twice"),
        ("slicing(l => 2, columns => 50)", "columns => 50 is more than the attributes that policy p publishes, 3"),
    ],
)
def test_columns_that_tell_nothing_are_refused(call: str, words: str) -> None:
    with connect() as con:
        con.execute("CREATE TABLE t AS SELECT i % 5 AS age, i % 2 AS sex, i % 3 AS disease FROM range(30) AS r(i)")
        con.execute(
            "CREATE POLICY p ON t (age QUASI IDENTIFIER, sex QUASI IDENTIFIER, disease SENSITIVE) "
            "REQUIRE k_anonymity(k => 1)"
        )
        with pytest.raises(PolicyError, match=words) as error:
            con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {call}")
        assert error.value.hint
