"""Lists every source table from which a release of fragments may have been made.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose associations (2010): a row of
the association represents one row of the source, which in each fragment is one of the rows of its group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from math import factorial, prod
from typing import Any

__all__ = ["count", "sources"]

Row = Mapping[str, Any]
# The rows of a fragment, each with its group.
Fragment = Sequence[tuple[Row, Any]]


def count(fragments: Sequence[Fragment]) -> int:
    """Counts the ways to assign each row of the association its own row of each fragment."""
    groups = [[group for _, group in fragment] for fragment in fragments]
    return prod(factorial(own.count(group)) for own in groups for group in set(own))


def sources(fragments: Sequence[Fragment], association: Sequence[Sequence[Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yields the source's rows, in the order of the association, for each way that `count` counts."""
    for chosen in product(*(_dealt(fragment, place, association) for place, fragment in enumerate(fragments))):
        yield [{name: value for part in row for name, value in part.items()} for row in zip(*chosen, strict=True)]


def _dealt(fragment: Fragment, place: int, association: Sequence[Sequence[Any]]) -> list[list[Row]]:
    """Returns every way to assign the rows of one fragment to the rows of the association with the same group."""
    wanted = [groups[place] for groups in association]
    order = list(dict.fromkeys(wanted))
    held = {group: [row for row, own in fragment if own == group] for group in order}
    found = []
    for chosen in product(*(permutations(held[group]) for group in order)):
        left = {group: list(rows) for group, rows in zip(order, chosen, strict=True)}
        found.append([left[group].pop() for group in wanted])
    return found
