"""Whether the source of a release still has the rows that the release shows, where an attack counts its hits on it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.sources.same_rows import has_rows_of


def require_same_rows(
    engine: Engine,
    shown_rows: exp.Query,
    source: exp.Query,
    called: str,
    part: Sequence[str],
    *,
    left_out: bool = False,
) -> None:
    """Raises PolicyError unless the source has the rows that are shown, and no others where none are `left_out`."""
    if not has_rows_of(engine, shown_rows, source) or not (left_out or has_rows_of(engine, source, shown_rows)):
        raise PolicyError(
            f"{called} cannot be attacked by {part[-1]}: its source has changed",
            hint="make the release again",
            part=tuple(part),
        )
