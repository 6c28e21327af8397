"""k-anonymity (Samarati 2001), naively: rows in a dictionary of classes, respondents in sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

Row = Sequence[Hashable]


def equivalence_classes(keys: Sequence[Row]) -> dict[tuple[Hashable, ...], list[int]]:
    """The places of the rows that share a key. None is a value like any other."""
    classes: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        classes[tuple(key)].append(place)
    return dict(classes)


def respondents(places: Sequence[int], entities: Sequence[Hashable] | None) -> int:
    """The respondents that some rows have at the least, whoever those are that None stands for.

    A row of None may be of anybody who is there already; rows of nobody else are of one. Without entities every row is
    its own respondent.
    """
    if entities is None or not places:
        return len(places)
    known = {entities[place] for place in places if entities[place] is not None}
    return len(known) or 1


def achieved(keys: Sequence[Row], entities: Sequence[Hashable] | None = None) -> int | None:
    """The k of a table: the respondents of its smallest class, None where it has no row."""
    return min((respondents(places, entities) for places in equivalence_classes(keys).values()), default=None)


def violating_rows(keys: Sequence[Row], k: int, entities: Sequence[Hashable] | None = None) -> set[int]:
    """The places of the rows in classes of fewer than k respondents."""
    small = (places for places in equivalence_classes(keys).values() if respondents(places, entities) < k)
    return {place for places in small for place in places}
