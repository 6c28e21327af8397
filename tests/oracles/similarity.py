"""How alike respondents rate two items (Slicing 2012, section 7), from the definition, over lists of ratings."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

__all__ = ["Rating", "similarity", "wide"]

# Respondent, item, value; None for no rating.
Rating = tuple[Hashable, str, int | None]


def similarity(ratings: Sequence[Rating], first: str, second: str) -> Fraction:
    """The respondents who rated both alike, among those who rated one or both; 0 where there are none."""
    of_first = {who: value for who, item, value in ratings if item == first and value is not None}
    of_second = {who: value for who, item, value in ratings if item == second and value is not None}
    either = of_first.keys() | of_second.keys()
    alike = [who for who in of_first.keys() & of_second.keys() if of_first[who] == of_second[who]]
    return Fraction(len(alike), len(either)) if either else Fraction(0)


def wide(ratings: Sequence[Rating], items: Sequence[str]) -> list[tuple[int | None, ...]]:
    """What each respondent gave the items, in their order; None for no rating. Respondents come as they appear."""
    known = {(who, item): value for who, item, value in ratings}
    return [tuple(known.get((who, item)) for item in items) for who in dict.fromkeys(who for who, _, _ in ratings)]
