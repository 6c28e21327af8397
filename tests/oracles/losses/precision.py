"""Precision (Sweeney 2002), cell by cell: the mean of level / height, 1 for a cell of a suppressed row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from fractions import Fraction

from tests.oracles.granularity_loss import Taxonomy


def precision(
    rows: Sequence[Sequence[Hashable]],
    taxonomies: Sequence[Taxonomy],
    levels: Sequence[int],
    suppressed: Set[int] = frozenset(),
    weights: Sequence[Fraction] | None = None,
    k: int = 1,
) -> Fraction:
    """Returns the mean loss of the cells, weighted by attribute; 0 without rows."""
    if not rows:
        return Fraction(0)
    weights = weights or [Fraction(1)] * len(taxonomies)
    total = Fraction(0)
    for place in range(len(rows)):
        for taxonomy, level, weight in zip(taxonomies, levels, weights, strict=True):
            total += weight * (1 if place in suppressed else Fraction(level, taxonomy.height))
    return total / (len(rows) * sum(weights))
