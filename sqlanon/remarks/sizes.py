"""When a column or a class is worth a remark, and how many rows are looked at for it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable

__all__ = ["Sizes", "sizes"]


@dataclass(frozen=True)
class Sizes:
    """Thresholds of remarks. A remark that nobody needs teaches people to skip all of them, so each asks for a lot.

    Of a source, `sample_rows` rows are looked at first: reading those of at most `columns` columns takes milliseconds.
    Only of a column that is remarkable there are the rows of some values looked at, about as many, and of larger
    releases about as many rows by their classes.

    A column tells most rows apart if a share of `alone` of the rows has a value of its own: half is "most". It repeats
    if a value has `repeats` rows in the mean: a few duplicates in a register do not make it one of visits. It is like a
    person's number if at least `values` values repeat, which chance does not explain, and a share of `agreeing` of them
    has one value of a quasi-identifier, as births and sexes have, but for slips of the pen. A quasi-identifier
    with less than `entropy` bits is nearly constant, and any column would determine it. A column that determines a
    share of `determined` of the others is a person's, rather than, say, a place's.
    """

    sample_rows: int = 20_000
    columns: int = 64
    alone: float = 0.5
    repeats: float = 1.1
    values: int = 10
    agreeing: float = 0.99
    entropy: float = 0.5
    determined: float = 0.5


sizes = Adjustable(Sizes())
