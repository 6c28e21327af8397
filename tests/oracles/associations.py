"""Releases of fragments read back as every table that they may have been made of.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose associations (2010): a row of
the association is one row of the source, and in each fragment it is one of the rows of its group there.
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
    """How many ways there are to give each row of the association its own row of each fragment."""
    groups = [[group for _, group in fragment] for fragment in fragments]
    return prod(factorial(own.count(group)) for own in groups for group in set(own))


def sources(fragments: Sequence[Fragment], association: Sequence[Sequence[Any]]) -> Iterator[list[dict[str, Any]]]:
    """The rows, in the order of the association, for each of these ways."""
    for chosen in product(*(_dealt(fragment, place, association) for place, fragment in enumerate(fragments))):
        yield [{name: value for part in row for name, value in part.items()} for row in zip(*chosen, strict=True)]


def _dealt(fragment: Fragment, place: int, association: Sequence[Sequence[Any]]) -> list[list[Row]]:
    """Every way to give the rows of one fragment to those of the association that have their group."""
    wanted = [groups[place] for groups in association]
    order = list(dict.fromkeys(wanted))
    held = {group: [row for row, own in fragment if own == group] for group in order}
    found = []
    for chosen in product(*(permutations(held[group]) for group in order)):
        left = {group: list(rows) for group, rows in zip(order, chosen, strict=True)}
        found.append([left[group].pop() for group in wanted])
    return found
