"""Paired runs: subject and baseline in turns, so that both run under the same conditions."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

__all__ = ["Cost", "Sample", "Timings", "cost", "paired", "seconds"]

Timings = Mapping[str, float]


def seconds(work: Callable[[], object]) -> float:
    """Returns the seconds that a function takes."""
    gc.collect()
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


@dataclass(frozen=True)
class Cost:
    """The seconds of one run by the clock, and the processor seconds of all threads of the process in the same run."""

    seconds: float
    processor: float


def cost(work: Callable[[], object]) -> Cost:
    """Returns the cost of a function. Other work on the machine changes processor seconds less than the clock's."""
    gc.collect()
    begun, used = time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - begun, time.process_time() - used)


@dataclass(frozen=True)
class Sample:
    """The seconds of one part of the measured work in each run, and of the baseline's run before it."""

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
    """Runs baseline and subject in turns; returns a sample for each part that the subject times.

    One turn before warms up; there is none if the caller has made everything `warm`.
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
