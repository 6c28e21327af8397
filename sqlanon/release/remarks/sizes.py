"""When a column or a class is worth a remark, and how many rows are looked at for it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.context import Adjustable


@dataclass(frozen=True)
class Sizes:
    """Thresholds of remarks. A remark that nobody needs teaches people to skip all of them, so each asks for a lot.

    Of a source, `sample_rows` rows are looked at first: reading those of at most `columns` columns takes milliseconds.
    Only of a column that is remarkable there are the rows of some values looked at, about as many, and of larger
    releases about as many rows by their classes.

    A column tells most rows apart if a share of `alone` of the rows has a value of its own: half is "most". It repeats
    if a value has `repeats` rows in the mean: a few duplicates in a register do not make it one of visits. It
    determines a quasi-identifier if a share of `agreeing` of the values that repeat has one value of it, as births and
    sexes have, but for slips of the pen, and if that had at most the probability `chance` were the two columns
    independent. With 64 columns and 62 quasi-identifiers there are at most 3,968 such tests of a table: of 250 tables
    of independent columns one has a remark. A quasi-identifier of which a share of more than `common` of these rows has
    one value is nearly constant: what determines it tells little. A column of at least `values` values that repeat
    which determines a share of `determined` of the others is a person's, rather than, say, a place's. Of a column with
    at most `few` values all rows are read: of these there would be none among one value in many.
    """

    sample_rows: int = 20_000
    columns: int = 64
    alone: float = 0.5
    repeats: float = 1.1
    values: int = 10
    agreeing: float = 0.99
    chance: float = 1e-6
    common: float = 0.9
    determined: float = 0.5
    few: int = 1_000


sizes = Adjustable(Sizes())
