"""Counts by publicly known values, from the definition: every combination; NULL for values that are not listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product


def histogram(
    rows: Sequence[tuple[object, ...]],
    domains: Sequence[Sequence[object]],
    labels: Sequence[Callable[[object], object]],
) -> Mapping[tuple[object, ...], int]:
    """Counts the rows of each combination; `rows` start with a respondent, and rows without one are not counted."""
    counts = dict.fromkeys(product(*([*domain, None] for domain in domains)), 0)
    for respondent, *values in rows:
        if respondent is None:
            continue
        shown = (label(value) for label, value in zip(labels, values, strict=True))
        key = tuple(value if value in domain else None for value, domain in zip(shown, domains, strict=True))
        counts[key] += 1
    return counts


def interval(width: int, low: int, high: int) -> Callable[[object], object]:
    """Returns a function from a number to its label, in intervals of a width from low to high; None outside."""

    def label(value: object) -> object:
        if not isinstance(value, int) or not low <= value < high:
            return None
        start = low + (value - low) // width * width
        return f"[{start},{min(start + width, high)})"

    return label
