"""How often rows are dealt and drawn again."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable


@dataclass(frozen=True)
class Sizes:
    """Where there are several keys, rows left out are dealt again, together with those of drawn blocks.

    That ends after `max_deals_without_gain` deals in a row that placed none of them.

    How many rows one draw leaves out is chance. Where it leaves out too many, all is drawn again, `max_draws` times in
    all: for tables of at most `max_rows_drawn_again` rows, since in larger ones draws hardly differ.

    On Spark at most `max_rows_numbered` rows with one value are numbered by one task; of more, those whose draws begin
    alike are. Blocks with rows that are alike are dealt again there while they have more than `max_rows_moved` rows and
    are at most half as many each time, else in DuckDB, with as many others, `min_blocks_dealt_again` of them at least.
    """

    max_deals_without_gain: int = 3
    max_draws: int = 8
    max_rows_drawn_again: int = 100_000
    max_rows_numbered: int = 1_000_000
    max_rows_moved: int = 100_000
    min_blocks_dealt_again: int = 1_000


sizes = Adjustable(Sizes())
