"""Non-uniform entropy (De Waal and Willenborg 1999; Gionis and Tassa 2009), cell by cell.

A kept cell costs -log2(rows with its value / rows with its label), both of the whole
source; a suppressed one -log2(suppressed rows with its value / suppressed rows).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence, Set
from fractions import Fraction
from math import fsum, log2

from tests.oracles.granularity_loss import Taxonomy


def non_uniform_entropy(
    rows: Sequence[Sequence[Hashable]],
    taxonomies: Sequence[Taxonomy],
    levels: Sequence[int],
    suppressed: Set[int] = frozenset(),
    weights: Sequence[Fraction] | None = None,
    k: int = 1,
) -> float:
    """Returns the bits of all cells, weighted by attribute."""
    weights = weights or [Fraction(1)] * len(taxonomies)
    bits = []
    for column, (taxonomy, level, weight) in enumerate(zip(taxonomies, levels, weights, strict=True)):
        values = Counter(row[column] for row in rows)
        labels = Counter(taxonomy.label(row[column], level) for row in rows)
        lost = Counter(rows[place][column] for place in suppressed)
        for place, row in enumerate(rows):
            value = row[column]
            if place in suppressed:
                share = Fraction(lost[value], len(suppressed))
            else:
                share = Fraction(values[value], labels[taxonomy.label(value, level)])
            bits.append(float(weight) * (log2(share.denominator) - log2(share.numerator)))
    return fsum(bits)
