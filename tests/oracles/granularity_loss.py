"""Granularity loss, cell by cell in fractions.

A kept cell costs (leaves below its generalized value - 1) / (leaves - 1), a cell of a
suppressed row costs 1; the loss is the mean over all cells, weighted by attribute.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction

Label = Hashable


@dataclass(frozen=True)
class Taxonomy:
    """The leaves of one attribute's hierarchy, each with its labels at levels 0 (itself), 1, ... and `*`."""

    paths: dict[Hashable, tuple[Label, ...]]
    height: int

    def label(self, value: Hashable, level: int) -> Label:
        return "*" if level == self.height else self.paths[value][level]

    def below(self, value: Hashable, level: int) -> int:
        """Counts the leaves that share the value's label at a level."""
        if level == self.height:
            return len(self.paths)
        own = self.paths[value][level]
        return sum(1 for path in self.paths.values() if path[level] == own)

    def cost(self, value: Hashable, level: int) -> Fraction:
        leaves = len(self.paths)
        return Fraction(self.below(value, level) - 1, leaves - 1) if leaves > 1 else Fraction(0)


def granularity_loss(
    rows: Sequence[Sequence[Hashable]],
    taxonomies: Sequence[Taxonomy],
    levels: Sequence[int],
    suppressed: Set[int] = frozenset(),
    weights: Sequence[Fraction] | None = None,
) -> Fraction:
    """The loss of recoding `rows` to `levels` and suppressing the rows at the places `suppressed`; 0 without rows."""
    if not rows:
        return Fraction(0)
    weights = weights or [Fraction(1)] * len(taxonomies)
    total = Fraction(0)
    for place, row in enumerate(rows):
        for value, taxonomy, level, weight in zip(row, taxonomies, levels, weights, strict=True):
            total += weight * (1 if place in suppressed else taxonomy.cost(value, level))
    return total / (len(rows) * sum(weights))
