"""Figures as sums of DOUBLEs, which differ in their last digits by the order in which they are added up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

# What a sum of a million shares may be off by, and the share of a large one.
_NOISE, _RELATIVE_NOISE = 1e-12, 1e-11


def without_noise(value: float | None) -> float | None:
    """The value, and 0 for one that is 0 but for rounding."""
    return 0.0 if value is not None and abs(value) < _NOISE else value


def levelled(values: Sequence[float]) -> Mapping[float, float]:
    """For each value the least of those that it differs from by rounding alone, so that equal figures are equal."""
    levels: list[float] = []
    for value in sorted(set(values)):
        if not levels or value - levels[-1] > max(_NOISE, abs(levels[-1]) * _RELATIVE_NOISE):
            levels.append(value)
    return {value: levels[bisect_right(levels, value) - 1] for value in set(values)}
