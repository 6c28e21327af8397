"""Similarity of two items by their ratings (Slicing 2012, section 7), from the definition, over lists of ratings."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

__all__ = ["Rating", "similarity", "wide"]

# Respondent, item, value; None for no rating.
Rating = tuple[Hashable, str, int | None]


def similarity(ratings: Sequence[Rating], first: str, second: str) -> Fraction:
    """Returns the share of respondents who rated both items alike, among those who rated one or both; 0 without any."""
    of_first = {who: value for who, item, value in ratings if item == first and value is not None}
    of_second = {who: value for who, item, value in ratings if item == second and value is not None}
    either = of_first.keys() | of_second.keys()
    alike = [who for who in of_first.keys() & of_second.keys() if of_first[who] == of_second[who]]
    return Fraction(len(alike), len(either)) if either else Fraction(0)


def wide(ratings: Sequence[Rating], items: Sequence[str]) -> list[tuple[int | None, ...]]:
    """Returns each respondent's ratings of the items in order, None for no rating, by order of appearance."""
    known = {(who, item): value for who, item, value in ratings}
    return [tuple(known.get((who, item)) for item in items) for who in dict.fromkeys(who for who, _, _ in ratings)]
