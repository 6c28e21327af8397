"""How many rows are worked on at a time."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable

__all__ = ["Sizes", "sizes"]


@dataclass(frozen=True)
class Sizes:
    """Rows leave in slices of `due_rows` that are due: each class looks at all rows of its slice that still wait."""

    due_rows: int = 300


sizes = Adjustable(Sizes())
