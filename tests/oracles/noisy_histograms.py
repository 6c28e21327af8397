"""Counts by the values that anybody may know, from the definition: every combination, NULL for what is not listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product


def histogram(
    rows: Sequence[tuple[object, ...]],
    domains: Sequence[Sequence[object]],
    labels: Sequence[Callable[[object], object]],
) -> Mapping[tuple[object, ...], int]:
    """The number of rows of each combination; `rows` have a respondent first, and those of nobody do not count."""
    counts = dict.fromkeys(product(*([*domain, None] for domain in domains)), 0)
    for respondent, *values in rows:
        if respondent is None:
            continue
        shown = (label(value) for label, value in zip(labels, values, strict=True))
        key = tuple(value if value in domain else None for value, domain in zip(shown, domains, strict=True))
        counts[key] += 1
    return counts


def interval(width: int, low: int, high: int) -> Callable[[object], object]:
    """The label of a number in intervals of a width from low to high; None outside of these."""

    def label(value: object) -> object:
        if not isinstance(value, int) or not low <= value < high:
            return None
        start = low + (value - low) // width * width
        return f"[{start},{min(start + width, high)})"

    return label
