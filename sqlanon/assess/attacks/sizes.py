"""How much work an attack may be."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable


@dataclass(frozen=True)
class Sizes:
    """Fewer worlds than `every_world` are all looked at, others drawn, of which at least `least_worlds` must be left.

    All worlds together have at most `most_dealt` rows, and a release at most `most_choices` that are preferred to it.
    """

    every_world: int = 1_000_000
    least_worlds: int = 100
    most_dealt: int = 50_000_000
    most_choices: int = 10_000


sizes = Adjustable(Sizes())
