"""The discernibility metric (Bayardo and Agrawal 2005), row by row.

A published row costs the number of published rows that look like it, a suppressed row
the number of all rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from fractions import Fraction

from tests.oracles.granularity_loss import Taxonomy
from tests.oracles.lattice import recoded


def discernibility(
    rows: Sequence[Sequence[Hashable]],
    taxonomies: Sequence[Taxonomy],
    levels: Sequence[int],
    suppressed: Set[int] = frozenset(),
    weights: Sequence[Fraction] | None = None,
    k: int = 1,
) -> Fraction:
    """Returns the cost of all rows; weights and k have no effect."""
    keys = [recoded(row, taxonomies, tuple(levels)) for row in rows]
    total = 0
    for place, key in enumerate(keys):
        alike = sum(1 for other, theirs in enumerate(keys) if theirs == key and other not in suppressed)
        total += len(rows) if place in suppressed else alike
    return Fraction(total)
