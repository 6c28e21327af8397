"""What a method decided: how the values of a release are to be recoded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Generalization"]


@dataclass(frozen=True)
class Generalization:
    """Full-domain generalization: one level for each quasi-identifier, in the policy's order.

    `loss` is the granularity loss (NCP) of the release, weighted where the policy
    weighs, between 0 and 1; `rows` the source's rows, `suppressed` those of them that
    the release leaves out, `limit` how many it was allowed to leave out. `nodes` is the
    size of the lattice, `checked` how many of its nodes had their classes counted.
    """

    levels: tuple[int, ...]
    loss: Fraction
    rows: int
    suppressed: int
    limit: int
    nodes: int
    checked: int
