"""Height (Samarati 2001): the sum of the levels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from fractions import Fraction

from tests.oracles.granularity_loss import Taxonomy


def height(
    rows: Sequence[Sequence[Hashable]],
    taxonomies: Sequence[Taxonomy],
    levels: Sequence[int],
    suppressed: Set[int] = frozenset(),
    weights: Sequence[Fraction] | None = None,
    k: int = 1,
) -> Fraction:
    """Returns the sum of the levels; no other argument has an effect."""
    return Fraction(sum(levels))
