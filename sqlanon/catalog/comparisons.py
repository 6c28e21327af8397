"""Comparisons by which the methods of releases were chosen, which are rows of `anon.release_comparison`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from sqlanon.catalog import _rows
from sqlanon.catalog._json import arguments_from_json, arguments_to_json, dumps, loads
from sqlanon.domain.release import Comparison, Contender, Release
from sqlanon.domain.requests import MethodCall
from sqlanon.engines.base import Engine


@dataclass(frozen=True)
class ComparisonRow:
    """A row of `anon.release_comparison`: one of the methods that were compared."""

    method: str
    arguments: str
    chosen: bool
    reason: str | None
    loss: float | None
    error: float | None
    suppressed_rows: int | None
    sampled_rows: int | None
    compared_at: datetime


def save_comparison(engine: Engine, release: Release) -> None:
    """Records the methods that were compared for a release, if methods were compared."""
    comparison = release.comparison
    if comparison is None:
        return
    rows: list[dict[str, object]] = [
        {
            "release_id": release.release_id,
            "position": position,
            "method": contender.call.name,
            "arguments": dumps(arguments_to_json(contender.call.arguments)),
            "chosen": contender.why is not None,
            "reason": contender.why if contender.refused is None else contender.refused,
            "loss": None if contender.loss is None else float(contender.loss),
            "error": contender.error,
            "suppressed_rows": None if contender.loss is None else contender.suppressed,
            "sampled_rows": comparison.sampled,
            "compared_at": comparison.compared_at or release.created_at,
        }
        for position, contender in enumerate(comparison.contenders, start=1)
    ]
    _rows.insert(engine, "release_comparison", rows)


def comparison_of(rows: Sequence[ComparisonRow]) -> Comparison | None:
    """Reads a comparison from its rows, in order. Returns None if there are no rows. Raises ValueError for broken
    arguments.
    """
    if not rows:
        return None
    contenders = tuple(
        Contender(
            MethodCall(row.method, arguments_from_json(loads(row.arguments))),
            refused=None if row.chosen else row.reason,
            loss=None if row.loss is None else Fraction(row.loss),
            suppressed=row.suppressed_rows or 0,
            error=row.error,
            why=row.reason if row.chosen else None,
        )
        for row in rows
    )
    return Comparison(contenders, rows[0].sampled_rows, rows[0].compared_at)
