"""How many tuples the tables of a release are joined to."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable

__all__ = ["Sizes", "sizes"]


@dataclass(frozen=True)
class Sizes:
    """Tables that could be joined to more than `max_joined_tuples` tuples, counted by bucket, are not joined."""

    max_joined_tuples: int = 20_000_000


sizes = Adjustable(Sizes())
