"""METHOD microaggregation against its definitions: the same groups, the least loss, and releases that add up."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from fractions import Fraction
from math import isclose
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.methods.microaggregation.mdav import halved, mdav
from sqlanon.methods.microaggregation.optimal import optimal
from tests.oracles import microaggregation as oracle
from tests.support.database import rows, template
from tests.support.draws import draws
from tests.support.names import quoted

pytestmark = pytest.mark.drawn

MANY = settings(max_examples=draws(40, long=150), deadline=None, suppress_health_check=list(HealthCheck))
# Each example makes a database.
FEW = settings(max_examples=draws(4, long=20), deadline=None, suppress_health_check=list(HealthCheck))

SMALL = st.integers(-3, 3)
NUMBERS = st.one_of(SMALL, st.integers(-(10**6), 10**6))
HUGE = st.floats(allow_nan=False, allow_infinity=False)
KS = st.integers(2, 4)


def tables(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[list[list[Any]]]:
    """Columns of as many numbers, at least one."""
    return st.tuples(st.integers(1, 3), st.integers(1, 24)).flatmap(
        lambda size: st.lists(st.lists(numbers, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0])
    )


def by_group(groups: Any) -> list[list[int]]:
    """The rows of each group, in the order of the groups."""
    members: dict[int, list[int]] = defaultdict(list)
    for row, group in enumerate(groups.tolist()):
        members[group].append(row)
    return [members[number] for number in sorted(members)]


@MANY
@given(columns=tables(NUMBERS), k=KS)
@example(columns=[[7] * 9], k=2)
@example(columns=[[0, 1, 0, -1], [1, 0, -1, 0]], k=2)
def test_groups_of_whole_numbers_are_those_of_the_definition(columns: list[list[int]], k: int) -> None:
    count = len(columns[0])
    if count < k:
        return
    values = np.array(columns, dtype=np.float64)
    groups = by_group(mdav(values - values.min(axis=1)[:, None], np.ones(len(columns)), k))
    points = [[Fraction(value) for value in row] for row in zip(*columns, strict=True)]
    assert groups == [sorted(group) for group in oracle.mdav(points, k, [Fraction(1)] * len(columns))]


@MANY
@given(columns=tables(NUMBERS), k=KS)
def test_groups_of_standardized_numbers_lose_as_much_as_the_definition_s(columns: list[list[int]], k: int) -> None:
    """Each group is one around a row that is farthest, but for rows that are equally far up to rounding."""
    count = len(columns[0])
    if count < k:
        return
    points = [[Fraction(value) for value in row] for row in zip(*columns, strict=True)]
    scale = oracle.variances(points)
    values = np.array(columns, dtype=np.float64)
    groups = by_group(mdav(values - values.min(axis=1)[:, None], np.array([1 / float(by) for by in scale]), k))
    assert sorted(row for group in groups for row in group) == list(range(count))
    exact = [[float(value) / float(by) ** 0.5 for value, by in zip(row, scale, strict=True)] for row in points]
    left = set(range(count))
    for number, group in enumerate(groups[:-1]):
        assert len(group) == k
        middle = np.mean([exact[row] for row in sorted(left)], axis=0)
        centres = [middle] if number % 2 == 0 else [np.array(exact[row]) for row in groups[number - 1]]
        assert any(_is_around(exact, left, group, centre) for centre in centres)
        left -= set(group)
    assert groups[-1] == sorted(left)
    assert k <= len(left) < 2 * k


def _is_around(points: list[list[float]], left: set[int], group: list[int], centre: Any) -> bool:
    """Whether a group is one of the rows that are farthest from a centre, and of those nearest to it."""

    def distance(row: int, to: Any) -> float:
        return float(((np.array(points[row]) - to) ** 2).sum())

    slack = 1e-9 * (1 + max(distance(row, centre) for row in left))
    farthest = max(distance(row, centre) for row in left)
    for row in group:
        if distance(row, centre) < farthest - slack:
            continue
        inside = max(distance(other, np.array(points[row])) for other in group)
        outside = min((distance(other, np.array(points[row])) for other in left - set(group)), default=inside)
        if inside <= outside + slack:
            return True
    return False


@MANY
@given(values=st.lists(NUMBERS, min_size=2, max_size=7), k=KS)
def test_no_partition_of_one_column_loses_less(values: list[int], k: int) -> None:
    if len(values) < k:
        return
    groups = by_group(optimal(np.array(values, dtype=np.float64), k))
    exact = [Fraction(value) for value in values]
    assert min(map(len, groups)) >= k
    reached = oracle.squares([[value] for value in exact], groups, [Fraction(1)])
    assert isclose(float(reached), float(oracle.best_partition(exact, k)), rel_tol=1e-9, abs_tol=1e-9)


@MANY
@given(values=st.lists(NUMBERS, min_size=2, max_size=30), k=KS)
def test_neighbors_of_one_column_lose_least(values: list[int], k: int) -> None:
    if len(values) < k:
        return
    groups = by_group(optimal(np.array(values, dtype=np.float64), k))
    exact = [Fraction(value) for value in values]
    assert all(k <= len(group) < 2 * k for group in groups)
    reached = oracle.squares([[value] for value in exact], groups, [Fraction(1)])
    least = oracle.best_neighbors(exact, k)
    assert isclose(float(reached), float(least), rel_tol=1e-9, abs_tol=1e-9)


@MANY
@given(columns=tables(SMALL), most=st.integers(2, 30))
def test_blocks_have_all_rows_once(columns: list[list[int]], most: int) -> None:
    values = np.array(columns, dtype=np.float64)
    blocks = [block.tolist() for block in halved(values, np.ones(len(columns)), most)]
    assert sorted(row for block in blocks for row in block) == list(range(len(columns[0])))
    assert all(len(block) <= most for block in blocks)
    if len(blocks) > 1:
        assert min(map(len, blocks)) >= (most + 1) // 2


NAMES = ('a "b"', "select", "é")


def source(columns: list[list[Any]], strata: list[int], kind: str) -> Connection:
    con = template()
    names = [quoted(name) for name in NAMES[: len(columns)]]
    con.duckdb.execute(f"CREATE TABLE t ({', '.join(f'{name} {kind}' for name in names)}, s INTEGER)")
    con.duckdb.executemany(
        f"INSERT INTO t VALUES ({', '.join('?' * (len(columns) + 1))})",
        [[*row, strata[number % len(strata)]] for number, row in enumerate(zip(*columns, strict=True))],
    )
    roles = ", ".join(f"{name} QUASI IDENTIFIER" for name in (*names, "s"))
    con.execute(f"CREATE POLICY p ON t ({roles}) REQUIRE k_anonymity(k => 2)")
    return con


@FEW
@given(
    columns=tables(st.one_of(st.none(), SMALL, st.integers(-(10**9), 10**9))),
    strata=st.lists(st.integers(0, 1), min_size=1, max_size=3),
    k=st.integers(2, 3),
    standardize=st.booleans(),
)
def test_a_release_shows_the_groups_of_each_stratum(
    columns: list[list[int | None]], strata: list[int], k: int, standardize: bool
) -> None:
    """Unscaled whole numbers give the definition's own means; all releases keep sums, NULLs and k."""
    count, width = len(columns[0]), len(columns)
    parts: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for number in range(count):
        nulls = tuple(column[number] is None for column in columns)
        parts[(strata[number % len(strata)], *nulls)].append(number)
    con = source(columns, strata, "BIGINT")
    names = [quoted(name) for name in NAMES[:width]]
    call = f"k => {k}, standardize => {standardize}, algorithm => 'mdav', columns => ({', '.join(names)})"
    statement = f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD microaggregation({call})"
    if min(map(len, parts.values())) < k:
        with pytest.raises(PrivacyViolation):
            con.execute(statement)
        return
    con.execute(statement)
    shown = Counter(rows(con, f"SELECT s, {', '.join(names)} FROM r"))
    assert min(shown.values()) >= k
    for index, name in enumerate(names):
        known = [value for value in columns[index] if value is not None]
        ((total, there),) = rows(con, f"SELECT sum({name}), count({name}) FROM r")
        assert there == len(known)
        assert total is None or isclose(total, sum(known), rel_tol=1e-9, abs_tol=1e-3)
    if standardize:
        return
    expected: Counter[tuple[Any, ...]] = Counter()
    for (stratum, *nulls), members in parts.items():
        kept = [index for index in range(width) if not nulls[index]]
        points = [[Fraction(columns[index][number] or 0) for index in kept] for number in members]
        one = [Fraction(1)] * len(kept)
        for group in oracle.mdav(points, k, one) if kept else [list(range(len(members)))]:
            middle = iter(oracle.mean([points[n] for n in group]) if kept else [])
            cells = [None if nulls[index] else round(float(next(middle)), 6) for index in range(width)]
            expected[(stratum, *cells)] += len(group)
    rounded: Counter[tuple[Any, ...]] = Counter()
    for (stratum, *values), number in shown.items():
        rounded[(stratum, *(None if value is None else round(value, 6) for value in values))] += number
    assert rounded == expected


@FEW
@given(columns=tables(HUGE), k=st.integers(2, 3), standardize=st.booleans())
@example(columns=[[1.7e308, -1.7e308, 1.7e308, 5e-324, 0.0]], k=2, standardize=True)
def test_numbers_of_any_size_have_means(columns: list[list[float]], k: int, standardize: bool) -> None:
    count = len(columns[0])
    con = source(columns, [0], "DOUBLE")
    names = [quoted(name) for name in NAMES[: len(columns)]]
    call = f"k => {k}, standardize => {standardize}, columns => ({', '.join(names)})"
    statement = f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD microaggregation({call})"
    if count < k:
        with pytest.raises(PrivacyViolation):
            con.execute(statement)
        return
    con.execute(statement)
    assert min(Counter(rows(con, "FROM r")).values()) >= k
    for name, column in zip(names, columns, strict=True):
        ((least, most, there),) = rows(con, f"SELECT min({name}), max({name}), count({name}) FROM r")
        assert there == count
        slack = 1e-12 * max(map(abs, column))
        assert min(column) - slack <= least <= most <= max(column) + slack
    ((loss,),) = rows(con, "SELECT loss FROM anon.release")
    assert 0 <= loss <= 1 + 1e-9


@FEW
@given(points=tables(st.integers(-50, 50)), k=st.integers(2, 3), median=st.booleans())
def test_groups_of_respondents_are_those_of_the_means_of_their_rows(
    points: list[list[int]], k: int, median: bool
) -> None:
    """Each respondent has the rows value - 2 * spread, value + spread and value + spread: the mean is the value."""
    people, width = len(points[0]), len(points)
    if people < k:
        return
    con = template()
    names = [quoted(name) for name in NAMES[:width]]
    con.duckdb.execute(f"CREATE TABLE t (who INTEGER, {', '.join(f'{name} BIGINT' for name in names)}, place INTEGER)")
    source_rows = [
        [who, *(column[who] + step * (who % 3) for column in points)] for step in (-2, 1, 1) for who in range(people)
    ]
    con.duckdb.executemany(
        f"INSERT INTO t VALUES ({', '.join('?' * (width + 2))})", [[*row, at] for at, row in enumerate(source_rows)]
    )
    roles = ", ".join(f"{name} QUASI IDENTIFIER" for name in names)
    con.execute(f"CREATE POLICY p ON t (who ENTITY, {roles}, place INSENSITIVE) REQUIRE k_anonymity(k => {k})")
    call = f"k => {k}, standardize => false, algorithm => 'mdav', publish => '{'median' if median else 'mean'}'"
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD microaggregation({call})")
    exact = [[Fraction(column[who]) for column in points] for who in range(people)]
    expected = {}
    for group in oracle.mdav(exact, k, [Fraction(1)] * width):
        of_group = [[Fraction(cell) for cell in row[1:]] for row in source_rows if row[0] in group]
        columns = zip(*of_group, strict=True)
        middle = [statistics.median(column) for column in columns] if median else oracle.mean(of_group)
        expected |= {who: tuple(round(float(value), 6) for value in middle) for who in group}
    shown = rows(con, f"SELECT t.who, {', '.join(f'r.{name}' for name in names)} FROM r JOIN t USING (place)")
    assert len(shown) == len(source_rows)
    assert all(expected[who] == tuple(round(value, 6) for value in values) for who, *values in shown)
