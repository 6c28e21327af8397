"""How often rows that were left out of the blocks are dealt again."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable

__all__ = ["Sizes", "sizes"]


@dataclass(frozen=True)
class Sizes:
    """Where there are several keys, rows left out are dealt again, together with those of drawn blocks.

    That ends after `max_deals_without_gain` deals in a row that placed none of them.
    """

    max_deals_without_gain: int = 3


sizes = Adjustable(Sizes())
