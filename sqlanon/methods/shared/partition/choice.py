"""What cutting chose: a region for every row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Partition:
    """Multidimensional recoding: a region for every row, each of which meets the requirements.

    `regions` and `points` are the temporary tables of `recursion.Partitioned`, `ranked`
    those of each attribute's values in their order. There are `count` regions, of `smallest` to `largest`
    rows, after `attempts` at cutting all that were open. `loss` is what the release loses by the measure
    `loss_name`. Nothing is suppressed.
    """

    regions: str
    points: str
    ranked: tuple[str, ...]
    count: int
    smallest: int
    largest: int
    attempts: int
    loss: Fraction
    rows: int
    strict: bool
    publish: str
    bounds: bool
    suppressed: int = 0
    loss_name: str = "granularity_loss"

    @property
    def searched(self) -> None:
        """None: there was no search whose end could be proven."""
        return
