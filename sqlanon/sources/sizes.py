"""Which columns are taken to have few different texts, how many items are pivoted, and how many sets are counted."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable


@dataclass(frozen=True)
class Sizes:
    """A column's texts are counted in a sample of `sample_rows` rows of the source.

    With at most `few_texts` different ones there it is taken to have few; with more, a dictionary costs more than it
    saves. At most `max_items` items of a long table become columns. No more than `most_itemsets` sets of items in lists
    are counted.
    """

    sample_rows: int = 100_000
    few_texts: int = 2_000
    max_items: int = 2_000
    most_itemsets: int = 500_000_000


sizes = Adjustable(Sizes())
