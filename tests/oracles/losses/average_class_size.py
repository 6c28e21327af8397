"""The average class size C_avg (LeFevre et al. 2006): (rows of the source / published classes) / k."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from fractions import Fraction

from tests.oracles.granularity_loss import Taxonomy
from tests.oracles.lattice import recoded


def average_class_size(
    rows: Sequence[Sequence[Hashable]],
    taxonomies: Sequence[Taxonomy],
    levels: Sequence[int],
    suppressed: Set[int] = frozenset(),
    weights: Sequence[Fraction] | None = None,
    k: int = 1,
) -> Fraction:
    """Returns the loss; 0 without rows. If every row is suppressed, the loss is infinite, and twice the loss of a
    single class is returned.
    """
    if not rows:
        return Fraction(0)
    published = {recoded(row, taxonomies, tuple(levels)) for place, row in enumerate(rows) if place not in suppressed}
    if not published:
        return 2 * Fraction(len(rows), k)
    return Fraction(len(rows), len(published)) / k
