"""How many cuts of a hierarchy are looked at one by one, and how many rare sets are remembered of each."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable

__all__ = ["Sizes", "sizes"]


@dataclass(frozen=True)
class Sizes:
    """The optimal search refuses more than `most_cuts` cuts. Of a cut that has rare sets it remembers so many."""

    most_cuts: int = 10_000
    most_remembered: int = 100


sizes = Adjustable(Sizes())
