"""What the join of two releases tells, row by row (Wang and Fung 2006, definitions 1 and 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

__all__ = ["anonymity", "linkability"]

# A row of the join: its value of X and its value of Y.
Pair = tuple[Hashable, Hashable]


def anonymity(join: Iterable[Pair]) -> int | None:
    """The least number of values of Y that a value of X goes with; None if no rows match."""
    values: dict[Hashable, set[Hashable]] = {}
    for x, y in join:
        values.setdefault(x, set()).add(y)
    return min((len(of_x) for of_x in values.values()), default=None)


def linkability(join: Iterable[Pair]) -> float | None:
    """The greatest share of a value of Y among the rows of a value of X; None if no rows match."""
    pairs = Counter(join)
    rows: Counter[Hashable] = Counter()
    for (x, _), n in pairs.items():
        rows[x] += n
    return max((n / rows[x] for (x, _), n in pairs.items()), default=None)
