"""epsilon-privacy (Machanavajjhala, Gehrke and Goetz 2009): each ratio from the adversary's posterior, row by row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from math import inf

from tests.oracles.models.support import Class, Table, shares

# A ratio: a fraction, or infinity.
Ratio = Fraction | float


def worst(table: Table, of: Class, stubbornness: Fraction | str, known: int = 0, ratios: str = "both") -> Ratio:
    """Returns the largest ratio of a class: of the beliefs in each row's value with and without the row."""
    rows = [table.values[place] for place in table.classes[of]]
    return worst_of_rows(rows, shares(table.baseline), stubbornness, known, ratios)


def worst_of_rows(
    rows: Sequence[Hashable],
    prior: Mapping[Hashable, Fraction],
    stubbornness: Fraction | str,
    known: int,
    ratios: str,
    only: Hashable = ...,
) -> Ratio:
    """Returns the largest ratio of a class's rows, or of its rows with the value `only`; 0 without such a row."""
    bounded: list[Ratio] = [Fraction(0)]
    for place, value in enumerate(rows):
        if only not in (..., value):
            continue
        others = [other for at, other in enumerate(rows) if at != place]
        lacking = [other for other in others if other != value]
        candidates = 1 + len(others) - len(lacking[:known])
        inside = Fraction(1 + others.count(value), candidates)
        outside = predicted(others, value, prior, stubbornness)
        bounded.append(inside / outside if outside else inf)
        if ratios == "both":
            bounded.append((1 - (outside or 0)) / (1 - inside) if inside < 1 else inf)
    return max(bounded)


def predicted(
    others: Sequence[Hashable], value: Hashable, prior: Mapping[Hashable, Fraction], stubbornness: Fraction | str
) -> Fraction | None:
    """Returns the probability of a value after the other rows by Polya's urn; None without prior and rows."""
    if stubbornness == "infinite":
        return prior[value]
    assert isinstance(stubbornness, Fraction)
    urn = {name: stubbornness * share for name, share in prior.items()}
    for other in others:
        urn[other] += 1
    balls = sum(urn.values())
    return urn[value] / balls if balls else None


def violating(
    table: Table, epsilon: Fraction, stubbornness: Fraction | str, known: int = 0, ratios: str = "both"
) -> set[Class]:
    return {of for of in table.classes if worst(table, of, stubbornness, known, ratios) > epsilon}


def achieved(
    table: Table, stubbornness: Fraction | str, known: int = 0, ratios: str = "both", epsilon: Fraction = Fraction(1)
) -> Ratio | None:
    return max((worst(table, of, stubbornness, known, ratios) for of in table.classes), default=None)
