"""epsilon-privacy (Machanavajjhala, Gehrke and Goetz 2009) with the lower ends of the table's ranges as prior."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from tests.oracles.models.epsilon_privacy import Ratio, worst_of_rows
from tests.oracles.models.support import Class, Table


def worst(table: Table, of: Class, stubbornness: Fraction | str, known: int = 0, ratios: str = "both") -> Ratio:
    """Returns the largest ratio of a class; infinite if a value was impossible."""
    prior = {value: low for value, (low, _) in (table.ranges or {}).items() if low}
    rows = [table.values[place] for place in table.classes[of]]
    if not prior.keys() >= set(rows):
        return inf
    # Two colors at a time, so the weights of the others may be any.
    bounded = [
        worst_of_rows(
            [row == value for row in rows], {True: share, False: 1 - share}, stubbornness, known, ratios, True
        )
        for value, share in prior.items()
    ]
    return max(bounded)


def violating(
    table: Table, epsilon: Fraction, stubbornness: Fraction | str, known: int = 0, ratios: str = "both"
) -> set[Class]:
    return {of for of in table.classes if worst(table, of, stubbornness, known, ratios) > epsilon}


def achieved(
    table: Table, stubbornness: Fraction | str, known: int = 0, ratios: str = "both", epsilon: Fraction = Fraction(1)
) -> Ratio | None:
    return max((worst(table, of, stubbornness, known, ratios) for of in table.classes), default=None)
