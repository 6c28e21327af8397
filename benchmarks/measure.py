"""Paired runs: what is measured and what it is measured against, in turns, so that both see the same machine."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

__all__ = ["Sample", "Timings", "paired", "seconds"]

Timings = Mapping[str, float]


def seconds(work: Callable[[], object]) -> float:
    """Returns the seconds that some work takes."""
    gc.collect()
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


@dataclass(frozen=True)
class Sample:
    """One part of the measured work over all runs, and the baseline's run before each of them."""

    measured: tuple[float, ...]
    baseline: tuple[float, ...]

    @property
    def ratios(self) -> tuple[float, ...]:
        return tuple(a / b for a, b in zip(self.measured, self.baseline, strict=True))

    @property
    def ratio(self) -> float:
        return median(self.ratios)


def paired(
    baseline: Callable[[], float], subject: Callable[[], Timings], runs: int, *, warm: bool = False
) -> dict[str, Sample]:
    """Runs both in turns, after one turn that only warms up; a sample for each part that the subject times.

    There is no such turn where the caller has made all `warm` before.
    """
    if not warm:
        baseline()
        subject()
    before: list[float] = []
    parts: dict[str, list[float]] = {}
    for _ in range(runs):
        before.append(baseline())
        for part, taken in subject().items():
            parts.setdefault(part, []).append(taken)
    return {part: Sample(tuple(taken), tuple(before)) for part, taken in parts.items()}
