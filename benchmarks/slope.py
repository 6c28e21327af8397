"""How time grows with rows: the slope of log seconds over log rows is about 1 where time grows as the rows do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log

from benchmarks.figure import Figure

__all__ = ["slopes"]

_MARK = 1.1


def slopes(figures: Sequence[Figure]) -> Iterator[Figure]:
    """A figure for every measurement that was taken at two sizes or more; its range is that of the single steps."""
    by_name: dict[str, list[tuple[int, float]]] = {}
    for figure in figures:
        if figure.rows and figure.seconds and figure.case != "large":
            by_name.setdefault(figure.name, []).append((figure.rows, figure.seconds))
    for name, points in by_name.items():
        if len(points) < 2:
            continue
        fitted = _fitted(points)
        steps = [_fitted(pair) for pair in pairwise(points)]
        sizes = f"{min(points)[0]:,} to {max(points)[0]:,} rows"
        yield Figure("slope", name, fitted, "slope", min(steps), max(steps), mark=_MARK, note=sizes)


def _fitted(points: Sequence[tuple[int, float]]) -> float:
    """Least squares."""
    xs = [log(rows) for rows, _ in points]
    ys = [log(seconds) for _, seconds in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)
