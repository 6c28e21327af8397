"""Frontiers of points that are given as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlanon.catalog import frontiers
from sqlanon.catalog.frontiers import Measured
from sqlanon.engines.base import Engine

__all__ = ["stored"]


def stored(
    engine: Engine, name: str, figures: Sequence[str], points: Mapping[int, Sequence[float | None]]
) -> dict[int, Measured]:
    """The candidates of a frontier with these points, as they were read back."""
    frontiers.save(
        engine,
        name,
        [
            Measured(number, "p", "", f"m{number}", "", "", "SELECT 1", None, tuple(zip(figures, point, strict=True)))
            for number, point in points.items()
        ],
    )
    return {candidate.number: candidate for candidate in frontiers.load(engine, name)}
