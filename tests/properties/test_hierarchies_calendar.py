"""CALENDAR: a day or a moment lies in each of its periods, from the first to the last that DuckDB knows."""

from __future__ import annotations

import numpy
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.sql.build.names import column
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.hierarchies.base import functional
from tests.oracles import hierarchies as oracle
from tests.support.hierarchies import (
    assert_levels_nest,
    assert_null_stays_null,
    connection,
    labelled,
    labelled_source,
    quick,
)

pytestmark = pytest.mark.drawn

UNITS = ("HOUR", "DAY", "MONTH", "QUARTER", "YEAR", "DECADE", "CENTURY")
FIRST_DAY, LAST_DAY = -(2**31 - 2), 2**31 - 2
FIRST_MICROSECOND, LAST_MICROSECOND = -9_223_372_022_400_000_000, 2**63 - 2
DAY = 86_400

everyday = st.integers(-1_000_000, 50_000)
MIDNIGHTS = everyday.map(lambda day: day * DAY * 10**6 - 1)


def units(*, of: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    coarse = st.sets(st.sampled_from(of), min_size=1).map(lambda chosen: tuple(sorted(chosen, key=UNITS.index)))
    weeks = st.sets(st.sampled_from(of[: of.index("DAY") + 1])).map(
        lambda chosen: (*sorted(chosen, key=UNITS.index), "WEEK")
    )
    return coarse | weeks


def calendar(*names: str) -> HierarchyDefinition:
    return HierarchyDefinition("birth", "calendar", names)


def assert_in_periods(chosen: tuple[str, ...], days: int, hour: int, labels: tuple[str | None, ...]) -> None:
    for unit, label in zip(chosen, labels, strict=True):
        assert label == oracle.period(unit, days, hour)
        assert oracle.in_period(label, days, hour)


def labelled_counts(
    chosen: tuple[str, ...], counts: list[int], column_type: str, reading: str
) -> dict[int, tuple[str | None, ...]]:
    """The labels of values that `reading`, an expression over the count n, makes, by n."""
    connection().execute(
        f'CREATE OR REPLACE TEMP TABLE source AS SELECT n, CAST({reading} AS {column_type}) AS "v" '
        "FROM (SELECT CAST(unnest(?::VARCHAR[]) AS BIGINT) AS n)",
        [[str(count) for count in counts]],
    )
    numbers = [n for (n,) in connection().execute("SELECT n FROM source").fetchall()]
    rows = labelled_source(calendar(*chosen), column_type)
    assert_levels_nest(rows)
    assert_null_stays_null(rows)
    return dict(zip(numbers, (labels for _, labels in rows), strict=True))


@quick
@given(st.lists(everyday | st.integers(FIRST_DAY, LAST_DAY), max_size=20), units(of=UNITS[1:]))
def test_a_date_lies_in_each_of_its_periods(days: list[int], chosen: tuple[str, ...]) -> None:
    edges = [FIRST_DAY, FIRST_DAY + 400, LAST_DAY, 0, -1, -719_162, -719_163, -719_528, -719_529]
    reading = "DATE '1970-01-01' + CAST(n AS INTEGER)"
    for day, labels in labelled_counts(chosen, days + edges, "DATE", reading).items():
        assert_in_periods(chosen, day, 0, labels)


@quick
@given(
    st.lists(
        everyday.map(lambda day: day * DAY * 10**6 - 1) | st.integers(FIRST_MICROSECOND, LAST_MICROSECOND), max_size=20
    ),
    units(of=UNITS),
    st.sampled_from(["TIMESTAMP", "TIMESTAMP_MS", "TIMESTAMP_S"]),
)
def test_a_moment_lies_in_each_of_its_periods(moments: list[int], chosen: tuple[str, ...], kind: str) -> None:
    step = {"TIMESTAMP": 1, "TIMESTAMP_MS": 10**3, "TIMESTAMP_S": 10**6}[kind]
    whole = [
        moment // step * step
        for moment in [*moments, 0, -1, LAST_MICROSECOND]
        if moment // step * step >= FIRST_MICROSECOND
    ]
    for moment, labels in labelled_counts(chosen, [*whole, FIRST_MICROSECOND], kind, "make_timestamp(n)").items():
        days, seconds = divmod(moment // 10**6, DAY)
        assert_in_periods(chosen, days, seconds // 3600, labels)


@quick
@given(
    st.lists(st.integers(-(2**62), 2**62) | everyday.map(lambda day: day % 90_000 * DAY * 10**9 - 1), max_size=20),
    units(of=UNITS),
)
def test_a_nanosecond_lies_in_each_of_its_periods(moments: list[int], chosen: tuple[str, ...]) -> None:
    edges = [0, -1, -999, -1000, -1001, -DAY * 10**9 - 1, 3600 * 10**9 - 1]
    for moment, labels in labelled_counts(chosen, moments + edges, "TIMESTAMP_NS", "make_timestamp_ns(n)").items():
        days, seconds = divmod(moment // 10**9, DAY)
        assert_in_periods(chosen, days, seconds // 3600, labels)


@quick
@given(st.sampled_from(["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"]), units(of=UNITS[1:]))
def test_infinity_has_labels_of_its_own(kind: str, chosen: tuple[str, ...]) -> None:
    rows = labelled(calendar(*chosen), kind, ["infinity", "-infinity", "2000-02-29"])
    assert_null_stays_null(rows)
    assert [set(labels) for _, labels in rows[:2]] == [{"infinity"}, {"-infinity"}]
    assert not {"infinity", "-infinity"} & set(rows[2][1])


def test_moments_that_only_a_coarse_timestamp_holds_are_told_apart() -> None:
    """They come in from Arrow and pandas; DuckDB raises errors wherever it converts them."""
    for unit, kind, far in (("s", "TIMESTAMP_S", 10**15), ("ms", "TIMESTAMP_MS", 9 * 10**18)):
        frame = pandas.DataFrame({"v": numpy.array([far, -far, 0], dtype=f"datetime64[{unit}]")})
        connection().register("frame", frame)
        trees_of = calendar("HOUR", "MONTH", "CENTURY")
        text = ", ".join(to_sql(tree) for tree in functional("calendar").labels(trees_of, column("v"), kind))
        rows = connection().execute(f"SELECT {text} FROM frame").fetchall()
        assert rows == [("out of range",) * 3] * 2 + [("1970-01-01 00h", "1970-01", "19**")]
