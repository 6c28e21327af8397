"""The benchmarks' slopes, and that the growth of every method is measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import growth
from benchmarks.cases import growth_methods
from benchmarks.figure import Figure
from benchmarks.slope import fitted, slopes
from sqlanon.methods.registry import METHODS


def figures(case: str, power: float, *sizes: int) -> list[Figure]:
    """Returns figures of a case whose seconds are a power of the rows."""
    return [
        Figure(case, "work", 0.0, "s", 0.0, 0.0, rows=rows, seconds=1e-6 * rows**power, baseline_seconds=1e-7 * rows)
        for rows in sizes
    ]


@pytest.mark.parametrize("power", [0.5, 1.0, 1.9])
def test_the_slope_of_a_power_is_its_exponent(power: float) -> None:
    slope = fitted("work", figures("any", power, 10_000, 30_000, 1_000_000), 1.1)
    assert (slope.value, slope.low, slope.high) == pytest.approx((power, power, power))
    assert slope.verdict == ("pass" if power <= 1.1 else "miss")
    assert slope.note == "10,000 to 1,000,000 rows; the baseline's own slope is 1.00"


def test_the_range_of_a_slope_is_that_of_its_steps() -> None:
    slow, fast = figures("any", 1.0, 1_000, 10_000), figures("any", 2.0, 100_000)
    slope = fitted("work", [*slow, *fast], None)
    assert slope.low == pytest.approx(1.0)
    assert slope.high == pytest.approx(6.0)  # from 1e-6 * 1e4 to 1e-6 * 1e10 seconds, over a tenfold step


def test_slopes_are_of_marked_sizes_where_there_are_two() -> None:
    [few] = slopes(figures("any", 1.0, 1_000, 10_000, 1_000_000))
    [many] = slopes(figures("any", 1.0, 10_000, 1_000_000, 10_000_000))
    assert (few.mark, many.mark) == (None, 1.1)
    assert many.note.startswith("1,000,000 to 10,000,000 rows")
    assert not list(slopes(figures("growth", 1.0, 1_000, 10_000)))


def test_the_growth_of_every_method_is_measured() -> None:
    assert {name.partition(",")[0] for name in growth_methods.METHODS} == set(METHODS)


def test_a_growth_has_a_line_for_each_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    growth.main("microaggregation, block => 5000", tmp_path, [200, 400])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["rows"] for line in lines] == [200, 400]
    assert all(line["processor"] > 0 and line["seconds"] > 0 and line["peak_rss"] > 1e6 for line in lines)
