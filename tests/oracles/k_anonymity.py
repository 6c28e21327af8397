"""k-anonymity (Samarati 2001), naively: rows in a dictionary of classes, respondents in sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

Row = Sequence[Hashable]


def equivalence_classes(keys: Sequence[Row]) -> dict[tuple[Hashable, ...], list[int]]:
    """Groups the places of rows by key; None is a value like any other."""
    classes: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        classes[tuple(key)].append(place)
    return dict(classes)


def respondents(places: Sequence[int], entities: Sequence[Hashable] | None) -> int:
    """Counts the respondents that rows have at least, whoever None represents.

    A row of None may belong to a respondent of another row; rows of None alone belong to one respondent. Without
    entities each row is its own respondent.
    """
    if entities is None or not places:
        return len(places)
    known = {entities[place] for place in places if entities[place] is not None}
    return len(known) or 1


def achieved(keys: Sequence[Row], entities: Sequence[Hashable] | None = None) -> int | None:
    """Returns the k of a table: the number of respondents of its smallest class; None without rows."""
    return min((respondents(places, entities) for places in equivalence_classes(keys).values()), default=None)


def violating_rows(keys: Sequence[Row], k: int, entities: Sequence[Hashable] | None = None) -> set[int]:
    """Returns the places of the rows in classes with fewer than k respondents."""
    small = (places for places in equivalence_classes(keys).values() if respondents(places, entities) < k)
    return {place for places in small for place in places}
