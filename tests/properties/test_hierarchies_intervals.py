"""INTERVALS: a number lies in each of its intervals, whatever its type, and levels nest."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from operator import mul

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sqlanon.domain.policy import HierarchyDefinition
from tests.oracles import hierarchies as oracle
from tests.support.draws import draws
from tests.support.hierarchies import assert_levels_nest, assert_null_stays_null, labelled, quick

pytestmark = pytest.mark.drawn

BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
# Up to here, in the units that bounds are printed in, every type has intervals without open ends.
COMPUTED = 10**14


def limits(name: str) -> tuple[int, int]:
    bits = BITS[name.removeprefix("U")]
    return (0, 2**bits - 1) if name.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


@st.composite
def grids(draw: st.DrawFn, places: int = 6) -> HierarchyDefinition:
    """Widths with up to so many decimals, each a multiple of the one before, perhaps with low and high."""
    scale = draw(st.integers(0, places))
    first = draw(st.integers(1, 1000) | st.sampled_from([1, 5, 10, 25]))
    factors = draw(st.lists(st.integers(2, 12), max_size=3))
    ends: dict[str, int] = {}
    if draw(st.booleans()):
        ends["low"] = draw(st.integers(-10_000, 10_000))
    if draw(st.booleans()):
        ends["high"] = ends.get("low", 0) + draw(
            st.integers(1, 50_000) if "low" in ends else st.integers(-9_000, 9_000)
        )
    return HierarchyDefinition(
        "grid",
        "intervals",
        tuple(Decimal(width).scaleb(-scale) for width in accumulate([first, *factors], mul)),
        tuple((name, Decimal(end).scaleb(-scale)) for name, end in ends.items()),
    )


def scale_of(grid: HierarchyDefinition) -> int:
    numbers = [*grid.arguments, *(end for _, end in grid.options)]
    return max(-Decimal(number).as_tuple().exponent for number in numbers)


def assert_holds(grid: HierarchyDefinition, value: Fraction, labels: tuple[str | None, ...]) -> None:
    """The value lies in each interval, in the one that the oracle computes, and each contains the one before."""
    ends = dict(grid.options)
    inner: tuple[Fraction | None, Fraction | None] | None = None
    for width, label in zip(grid.arguments, labels, strict=True):
        assert oracle.in_interval(value, label), (value, label)
        low, high = oracle.bounds(label)
        if abs(value) * 10 ** scale_of(grid) < COMPUTED:
            assert (low, high) == oracle.interval(value, width, ends.get("low"), ends.get("high"))
        if inner is not None:
            assert low is None or (inner[0] is not None and low <= inner[0])
            assert high is None or (inner[1] is not None and inner[1] <= high)
        inner = (low, high)


def near(grid: HierarchyDefinition) -> st.SearchStrategy[int]:
    """Whole numbers around bounds of the grid, in its smallest unit."""
    unit = 10 ** scale_of(grid)
    places = [int(number * unit) for number in [*grid.arguments, *(end for _, end in grid.options)]]
    return st.builds(
        lambda place, times, off: place * times + off, st.sampled_from(places), st.integers(-9, 9), st.integers(-1, 1)
    )


@pytest.mark.parametrize("kind", [f"{sign}{name}" for name in BITS for sign in ("", "U")])
@settings(quick, max_examples=draws(4, long=30))
@given(data=st.data(), grid=grids())
def test_an_integer_lies_in_each_of_its_intervals(data: st.DataObject, grid: HierarchyDefinition, kind: str) -> None:
    least, most = limits(kind)
    drawn = data.draw(st.lists(st.integers(least, most) | st.integers(-2000, 2000) | near(grid), max_size=20))
    tenths = [most * part // 10 for part in range(-10, 10)]
    edges = [least, least + 1, most - 1, most, 0, 4 * 10**18, -4 * 10**18 - 1, 10**37, -(10**37) - 1, *tenths]
    values = [value for value in drawn + edges if least <= value <= most]
    rows = labelled(grid, kind, [str(value) for value in values])
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for shown, labels in rows:
        if shown is not None:
            assert_holds(grid, Fraction(shown), labels)


def pointed(count: int, digits: int) -> str:
    text = f"{abs(count):0{digits + 1}d}"
    return ("-" if count < 0 else "") + text[: len(text) - digits] + "." + text[len(text) - digits :]


@quick
@given(st.data(), grids(), st.integers(1, 38), st.integers(0, 38))
def test_a_decimal_lies_in_each_of_its_intervals(
    data: st.DataObject, grid: HierarchyDefinition, precision: int, digits: int
) -> None:
    digits = min(digits, precision)
    most = 10**precision - 1
    ratio = Fraction(10**digits, 10 ** scale_of(grid))
    around = near(grid).map(lambda units: math.floor(units * ratio))
    counts = data.draw(st.lists(st.integers(-most, most) | around, max_size=20))
    tenths = [most * part // 10 for part in range(-10, 11)]
    counts = [count for count in [*counts, *tenths, 1, -1] if abs(count) <= most]
    rows = labelled(grid, f"DECIMAL({precision},{digits})", [pointed(count, digits) for count in counts])
    assert len(rows) == len(counts) + 1
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for shown, labels in rows:
        if shown is not None:
            assert_holds(grid, Fraction(shown), labels)


def neighbours(number: float) -> list[float]:
    close = [math.nextafter(number, -math.inf), number, math.nextafter(number, math.inf)]
    return [value for value in close if math.isfinite(value)]


@quick
@given(st.data(), grids(places=12))
def test_a_double_lies_in_each_of_its_intervals(data: st.DataObject, grid: HierarchyDefinition) -> None:
    unit = 10 ** scale_of(grid)
    anywhere = st.floats(allow_nan=False, allow_infinity=False)
    bounds = near(grid).map(lambda units: units / unit)
    huge = st.integers(-(10**16), 10**16).map(lambda units: units / unit)
    # Products with the unit round across the bound for a few of these.
    start, width = data.draw(st.integers(-1000, 1000)), int(grid.arguments[0] * unit)
    consecutive = [(start + step) * width / unit for step in range(50)]
    drawn = data.draw(st.lists(anywhere | bounds | huge, max_size=12))
    values = [
        close for number in [*drawn, 0.0, 10**15 / unit, -(10**15) / unit, 1.7e308] for close in neighbours(number)
    ]
    rows = labelled(
        grid, "DOUBLE", [repr(value) for value in [*values, *consecutive, -0.0, 5e-324, -5e-324, -2.2e-308]]
    )
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for shown, labels in rows:
        if shown is None:
            continue
        assert_holds(grid, Fraction(shown), labels)
        for label in labels:
            low, high = oracle.bounds(label)
            assert low is None or float(low) <= float(shown)
            assert high is None or float(shown) < float(high)


@quick
@given(st.data(), grids(places=4))
def test_a_float_lies_in_the_intervals_of_the_decimal_it_prints(data: st.DataObject, grid: HierarchyDefinition) -> None:
    unit = 10 ** scale_of(grid)
    single = st.floats(allow_nan=False, allow_infinity=False, width=32)
    bounds = near(grid).map(lambda units: struct.unpack("f", struct.pack("f", units / unit))[0])
    drawn = data.draw(st.lists(single | bounds, max_size=20))
    rows = labelled(grid, "FLOAT", [repr(value) for value in [*drawn, 0.7, 1e-45, -1e-45, 3.4e38, -3.4e38]])
    assert_null_stays_null(rows)
    assert_levels_nest(rows)
    for shown, labels in rows:
        if shown is not None:
            assert_holds(grid, Fraction(shown), labels)


@quick
@given(grids(), st.sampled_from(["FLOAT", "DOUBLE"]))
@example(HierarchyDefinition("grid", "intervals", (5,), (("low", 0), ("high", 10))), "DOUBLE")
def test_what_is_no_number_has_a_label_of_its_own(grid: HierarchyDefinition, kind: str) -> None:
    rows = dict(labelled(grid, kind, ["nan", "inf", "-inf", "1"]))
    assert set(rows["nan"]) == {"NaN"}
    assert set(rows["inf"]) == {"Infinity"}
    assert set(rows["-inf"]) == {"-Infinity"}
    assert not {"NaN", "Infinity", "-Infinity"} & set(rows["1.0"])
