"""What slicing chose: columns of attributes, and a bucket for every row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlanon.methods.slicing.column_regions import ColumnRegions


@dataclass(frozen=True)
class Sliced:
    """Slicing (Li, Li, Zhang and Molloy 2012): columns of attributes, and buckets of rows.

    `columns` are the sets of attributes that are published together, the last that of the sensitive ones unless the
    user named them in another order. `points` is a temporary table of `partition.Points.carried` with the region of
    each row of the source, and `numbers` that of the regions' buckets (region, bucket), drawn; if `single`, a point
    stands for one row, and else for its `n`; if `by_number`, it has the number of that row and nothing else; if
    `by_value`, the values of that row that are published, named by `source_rows.value_name`. `ranges` has, by the index
    of a column, those in place of its quasi-identifiers. There are `count` buckets of `smallest` to `largest` rows;
    `likeliest` is the greatest p(t,s), where it has been measured. Nothing is suppressed; how much coarser ranges are
    is not counted, and without them the loss is 0.
    """

    columns: tuple[tuple[str, ...], ...]
    points: str
    numbers: str
    count: int
    smallest: int
    largest: int
    rows: int
    single: bool
    by_number: bool = False
    by_value: bool = False
    likeliest: float | None = None
    reasons: tuple[tuple[str, str], ...] = ()
    ranges: Mapping[int, ColumnRegions] = field(default_factory=dict)
    loss: Fraction = Fraction(0)
    suppressed: int = 0
    loss_name: str = "granularity_loss"

    @property
    def searched(self) -> None:
        """None: there was no search whose end could be proven."""
        return
