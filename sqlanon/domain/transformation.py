"""What a method decided: how the values of a release are to be recoded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Generalization"]


@dataclass(frozen=True)
class Generalization:
    """Full-domain generalization: one level for each quasi-identifier, in the policy's order.

    `loss` is what the release loses by the measure `loss_name`; `rows` the source's
    rows, `suppressed` those of them that the release leaves out, `limit` how many it was
    allowed to leave out. `nodes` is the size of the lattice, `checked` how many of its
    nodes had their classes counted, `pruned` how many were ruled out unseen. `proven`
    tells whether no node loses less; if not, none loses less than `least`.
    """

    levels: tuple[int, ...]
    loss: Fraction
    rows: int
    suppressed: int
    limit: int
    nodes: int
    checked: int
    pruned: int = 0
    proven: bool = True
    least: Fraction | None = None
    loss_name: str = "granularity_loss"
