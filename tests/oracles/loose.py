"""Loose associations (De Capitani di Vimercati et al. 2010 and 2015), from their definitions, over lists of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Pair:
    """Properties of two fragments under a constraint, from the groups of the first fragment to the groups of the
    second.
    """

    group: bool
    association: bool
    deep: bool
    k: int | None


def pair(
    one: Sequence[tuple[Row, Any]], other: Sequence[tuple[Row, Any]], association: Sequence[tuple[Any, Any]]
) -> Pair:
    """Returns the properties of two fragments, each given as rows (the attributes of a constraint) with their groups.

    k is the least number, over the groups of the first fragment, of different values in all associated groups of the
    second; None without any group.
    """
    linked = {group: {there for here, there in association if here == group} for _, group in one}
    values = {group: [row for row, own in other if own in groups] for group, groups in linked.items()}
    return Pair(
        group=all(count == 1 for held in (one, other) for count in Counter(held).values()),
        association=all(count == 1 for count in Counter(association).values()),
        deep=all(len(set(found)) == len(found) for found in values.values()),
        k=min((len(set(found)) for found in values.values()), default=None),
    )


def most_blocks(values: Sequence[Any], size: int) -> int:
    """Counts the disjoint sets of `size` rows with different values, taken greedily: each has one row of each of the
    values with most rows left. No other choice gives more sets.
    """
    left = Counter(values)
    found = 0
    while len(chosen := left.most_common(size)) == size and chosen[-1][1] > 0:
        left.subtract(value for value, _ in chosen)
        found += 1
    return found
