"""The efficient candidates, from the definition of dominance: each pair compared figure by figure."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["Point", "dominates", "efficient"]

Point = tuple[float | None, ...]


def dominates(a: Point, b: Point) -> bool:
    """Whether a is no worse than b in every figure and better in one; False if either lacks a figure."""
    pairs = list(zip(a, b, strict=True))
    if any(x is None or y is None for x, y in pairs):
        return False
    return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)  # type: ignore[operator]


def efficient(points: Mapping[int, Point]) -> set[int]:
    return {
        number
        for number, point in points.items()
        if None not in point and not any(dominates(other, point) for other in points.values())
    }
