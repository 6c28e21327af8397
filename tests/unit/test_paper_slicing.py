"""The benchmark that runs a paper's experiments again reads releases as it says, on a few rows of Adult."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import sqlanon
from benchmarks.papers import adult, membership, releases, slicing
from benchmarks.papers.adult import OCC_7, OCC_15, RELEASE, SENSITIVE, SOURCE, Selection
from benchmarks.papers.releases import Rows

ROWS = 300
COLUMNS = "COLUMNS (age, workclass, education, marital_status), (race), (sex, occupation)"


@pytest.fixture(scope="module")
def con(adult_cache: Path) -> Iterator[sqlanon.Connection]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SQLANON_CACHE", str(adult_cache))
        with adult.connected(ROWS, seed=1) as connection:
            yield connection


def released(con: sqlanon.Connection, selection: Selection, call: str) -> None:
    adult.take(con, selection)
    policy = adult.declare(con, selection, "l_diversity(l => 3, variant => 'probabilistic')")
    con.sql(f"CREATE OR REPLACE ANONYMIZED TABLE {RELEASE} AS POLICY {policy} METHOD {call}")


def combinations(rows: Rows, names: tuple[str, ...]) -> Counter[tuple[float, ...]]:
    return Counter(zip(*(rows.columns[name].tolist() for name in names), strict=True))


@pytest.mark.parametrize("selection", [OCC_7, OCC_15])
def test_bucketization_keeps_quasi_identifiers_together(con: sqlanon.Connection, selection: Selection) -> None:
    selection = adult.described(con, selection)
    released(con, selection, "anatomy(l => 3)")
    rows = releases.anatomy(con, selection, np.random.default_rng(1))
    truth = releases.source(con, selection, SOURCE)
    for names in (selection.quasi_identifiers, (SENSITIVE,)):
        assert combinations(rows, names) == combinations(truth, names)
    assert combinations(rows, selection.attributes) != combinations(truth, selection.attributes)


@pytest.mark.long
def test_slicing_keeps_what_is_in_one_column_together(con: sqlanon.Connection) -> None:
    selection = adult.described(con, OCC_7)
    released(con, selection, f"slicing(l => 3) {COLUMNS}")
    rows = releases.slicing(con, selection, np.random.default_rng(1))
    truth = releases.source(con, selection, SOURCE)
    tables = releases.sliced_columns(con)
    assert tables == [["age", "workclass", "education", "marital_status"], ["race"], ["sex", "occupation"]]
    for names in tables:
        assert combinations(rows, tuple(names)) == combinations(truth, tuple(names))
    assert combinations(rows, selection.attributes) != combinations(truth, selection.attributes)


@pytest.mark.long
def test_tuples_that_match_a_bucket_are_those_of_the_definition(con: sqlanon.Connection) -> None:
    selection = adult.described(con, OCC_7)
    # Drawn buckets with the occupation alone are put together seldom.
    columns = "COLUMNS (age, workclass, education), (marital_status, race, sex), (occupation)"
    released(con, selection, f"slicing(l => 2, grouping => 'random', bucket_size => 20) {columns}")
    tables = releases.sliced_columns(con)
    matching: Counter[tuple[str, ...]] = Counter()
    buckets: dict[int, list[set[tuple[str, ...]]]] = {}
    for number, names in enumerate(tables):
        for bucket, *values in con.duckdb.execute(
            f"SELECT bucket, {', '.join(names)} FROM {RELEASE}_{number + 1}"
        ).fetchall():
            buckets.setdefault(bucket, [set() for _ in tables])[number].add(tuple(values))
    for combined in buckets.values():
        matching.update(sum(parts, ()) for parts in product(*combined))
    order = ", ".join(name for names in tables for name in names)
    originals = set(con.duckdb.execute(f"SELECT {order} FROM {SOURCE}").fetchall())
    expected = []
    for numbers in (
        [count for row, count in matching.items() if row in originals],
        [count for row, count in matching.items() if row not in originals],
    ):
        shares = [sum(low <= number <= high for number in numbers) for low, high in ((1, 10), (11, 20), (21, 999))]
        expected.append([len(numbers), sum(numbers) / len(numbers), *(share / len(numbers) for share in shares)])
    membership.number_parts(con, RELEASE, tables)
    for figures in (membership.counted(con, len(tables)), membership.measured(con)):
        assert figures == [pytest.approx(numbers) for numbers in expected]
    assert len(buckets) > 5
    assert membership.most_tuples(con, len(tables)) == (len(originals), matching.total())


def test_there_are_stirling_s_numbers_of_columns() -> None:
    for number, ways in ((2, 63), (3, 301)):
        found = list(membership.partitions(7, number))
        assert len(set(found)) == len(found) == ways
        assert all(sorted(sum(way, ())) == list(range(7)) and len(way) == number for way in found)


@pytest.mark.parametrize("columns", [((0, 1, 2, 3, 4), (5, 6)), ((0, 6), (1, 2, 5), (3, 4))])
def test_tuples_of_random_buckets_are_those_of_the_definition(
    con: sqlanon.Connection, columns: membership.Partition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "_SIZE", 7)
    data = membership.version(con, "ages", ages=2)
    rows = [tuple(tuple(row[position] for position in column) for column in columns) for row in data.codes.tolist()]
    buckets = [rows[start : start + 7] for start in range(0, ROWS, 7)]
    matching = Counter(each for bucket in buckets for each in set(product(*map(set, zip(*bucket, strict=True)))))
    originals = set(rows)
    found = membership.matched(data, columns)
    assert found == membership.Matched(
        fakes=sum(each not in originals for each in matching),
        often=sum(each not in originals and n > 20 for each, n in matching.items()),
        rows_often=sum(matching[row] > 20 for row in rows),
        rows=ROWS,
        tuples=len(originals),
        tuples_often=sum(matching[row] > 20 for row in originals),
    )
    monkeypatch.setattr(membership, "_FACTOR", -1)
    assert len(columns) == 2 or membership.matched(data, columns) is None


def test_columns_are_around_the_best_medoids() -> None:
    names = "abcdefg"
    near = {("a", "b"): 0.9, ("b", "c"): 0.8, ("d", "e"): 0.7}
    phi = {one: {two: near.get((min(one, two), max(one, two)), 0.1) for two in names if two != one} for one in names}
    # Two of seven attributes are no medoids, and the pairs that correlate most are (a, b) and (b, c).
    found = slicing._clustered(phi)
    assert sorted(map(sorted, found)) == [["a", "b", "c"], ["d"], ["e"], ["f"], ["g"]]
    assert sum(slicing._cost(phi, column) for column in found) == pytest.approx(0.3)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("call", "read"),
    [
        ("mondrian(bounds => true)", releases.mondrian),
        ("generalization(suppression => 0)", releases.generalization),
    ],
)
def test_a_generalized_value_stands_for_one_of_those_below_it(
    con: sqlanon.Connection, call: str, read: releases.Reader
) -> None:
    selection = adult.described(con, OCC_7)
    released(con, selection, call)
    rows = read(con, selection, np.random.default_rng(1))
    truth = releases.source(con, selection, SOURCE)
    assert combinations(rows, (SENSITIVE,)) == combinations(truth, (SENSITIVE,))
    for name in selection.quasi_identifiers:
        assert set(rows.columns[name]) <= set(truth.columns[name])


@pytest.mark.long
def test_ages_of_mondrian_lie_within_their_ranges(con: sqlanon.Connection) -> None:
    selection = adult.described(con, OCC_7)
    released(con, selection, "mondrian(bounds => true)")
    ages = releases.mondrian(con, selection, np.random.default_rng(1)).columns["age"]
    bounds = con.duckdb.execute(f"SELECT age_low, age_high FROM {RELEASE}").fetchall()
    assert all(low <= age <= high for age, (low, high) in zip(ages, bounds, strict=True))
    assert len({low for low, _ in bounds}) > 1


def test_a_range_in_another_order_is_noticed() -> None:
    with pytest.raises(ValueError, match="another order"):
        releases._drawn(np.arange(5.0), np.array([3.0]), np.array([2.0]), np.random.default_rng(1))


def table(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line]


@pytest.mark.long
def test_the_times_are_a_table(with_adult: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "--part rows --rows 200 --runs 1 --selection OCC-7 --only bucketization"
    assert slicing.main(words.split()) == 0
    lines = table(capsys.readouterr().out)
    assert lines[0] == ["OCC-7, rows", "copy", "bucketization"]
    assert [line[0] for line in lines if "rows" not in line[0]] == ["---", "100", "200", "200 to 100: x 2.00"]


@pytest.mark.long
def test_the_accuracies_are_a_table(with_adult: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn", reason="only where the extra papers is installed")
    assert slicing.main("--part classification --rows 2000 --folds 1 --only original".split()) == 0
    lines = table(capsys.readouterr().out)
    assert [line[1] for line in lines] == ["release", "---", "most frequent value", "original"] * 2
    for frequent, original in (lines[2:4], lines[6:8]):
        assert all(float(more) > float(less) for more, less in zip(original[2:-1], frequent[2:-1], strict=True))
    # The number of the education is the education.
    assert float(lines[7][2]) > 95
