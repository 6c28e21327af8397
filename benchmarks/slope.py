"""Fits the growth of time with rows: the slope of log seconds over log rows, which is 1 for linear growth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log

from benchmarks.figure import MARKED_FROM, Figure

__all__ = ["fitted", "slopes"]

_MARK = 1.1
# Cases with one size, and a search among cells, whose number depends on the values and not on the rows.
_WITHOUT = ("large", "search", "growth", "mondrian_peers", "arx_peers", "check_peers")


def slopes(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Yields a figure for each measurement at two sizes or more; its range is from the slopes of single steps.

    The mark is for the sizes of the other marks: at fewer rows fixed costs, and harder searches, would flatten the
    slope.
    """
    by_name: dict[str, list[Figure]] = {}
    for figure in figures:
        if figure.rows and figure.seconds and figure.case not in _WITHOUT:
            by_name.setdefault(figure.name, []).append(figure)
    for name, every in by_name.items():
        marked = [figure for figure in every if (figure.rows or 0) >= MARKED_FROM]
        taken = sorted(marked if len(marked) > 1 else every, key=lambda figure: figure.rows or 0)
        if len(taken) > 1:
            yield fitted(name, taken, _MARK if len(marked) > 1 else None)


def fitted(name: str, taken: Sequence[Figure], mark: float | None) -> Figure:
    """Returns the slope of one measurement, whose figures are in the order of rows; its range is of single steps."""
    points = [(figure.rows or 0, figure.seconds or 0.0) for figure in taken]
    baseline = [(figure.rows or 0, figure.baseline_seconds) for figure in taken if figure.baseline_seconds]
    steps = [_fitted(pair) for pair in pairwise(points)]
    note = f"{points[0][0]:,} to {points[-1][0]:,} rows"
    if len(baseline) > 1:
        note += f"; the baseline's own slope is {_fitted(baseline):.2f}"
    return Figure("slope", name, _fitted(points), "slope", min(steps), max(steps), mark=mark, note=note)


def _fitted(points: Sequence[tuple[int, float]]) -> float:
    """Returns the slope of log seconds over log rows by least squares."""
    xs = [log(rows) for rows, _ in points]
    ys = [log(seconds) for _, seconds in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)
