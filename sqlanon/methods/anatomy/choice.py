"""What Anatomy chose: a bucket for every row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Bucketization:
    """Bucketization (Xiao and Tao 2006): a bucket for every row, and no value changed.

    `rows_in_buckets` is a temporary table with a row for each row of the source: its bucket, the codes of
    its sensitive values, and its other columns that are published (bucket, code_0, ..., column_0, ...);
    those in `words` are of a type of few texts. `codes` are the sensitive columns
    in that order, each with the table of its values (value, code). There are `count`
    buckets of `smallest` to `largest` rows, within `regions` regions. `once` says that
    no bucket has two rows of one value. Nothing is suppressed, and no value is coarser:
    the loss is 0.
    """

    rows_in_buckets: str
    codes: tuple[tuple[str, str], ...]
    count: int
    smallest: int
    largest: int
    regions: int
    rows: int
    loss: Fraction = Fraction(0)
    suppressed: int = 0
    loss_name: str = "granularity_loss"
    once: bool = False
    words: tuple[str, ...] = ()

    @property
    def searched(self) -> None:
        """None: there was no search whose end could be proven."""
        return
