"""The join of two releases, row by row (Wang and Fung 2006, definitions 1 and 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

__all__ = ["anonymity", "linkability"]

# A row of the join: its value of X and its value of Y.
Pair = tuple[Hashable, Hashable]


def anonymity(join: Iterable[Pair]) -> int | None:
    """Returns the least number of values of Y that one value of X is joined with; None if no rows match."""
    values: dict[Hashable, set[Hashable]] = {}
    for x, y in join:
        values.setdefault(x, set()).add(y)
    return min((len(of_x) for of_x in values.values()), default=None)


def linkability(join: Iterable[Pair]) -> float | None:
    """Returns the greatest share of one value of Y among the rows with one value of X; None if no rows match."""
    pairs = Counter(join)
    rows: Counter[Hashable] = Counter()
    for (x, _), n in pairs.items():
        rows[x] += n
    return max((n / rows[x] for (x, _), n in pairs.items()), default=None)
