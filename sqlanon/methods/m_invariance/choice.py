"""What m-invariance chose: a bucket for every row and for every counterfeit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Invariant:
    """A bucket for every row of the source and for every counterfeit; no value is changed, and no row left out.

    `rows_in_buckets` is a temporary table of bucket, the columns that rows take along, and the respondent; `in_bucket`
    one of row_no, code and bucket, where row_no is NULL for a counterfeit, and `codes` one of value and code. With
    `ranges`, a table of `region_labels` by bucket, `rows_in_buckets` has the code in place of these columns, and a row
    for each counterfeit, without respondent. Of the respondents some are `staying`, who were in the series before, some
    are `newcomers`, and some have `changed`: their value is none that they had to choose from. `respondent` is the
    column with them, which no published column is called.
    """

    rows_in_buckets: str
    in_bucket: str
    codes: str
    buckets: int
    counterfeits: int
    staying: int
    newcomers: int
    changed: int
    rows: int
    respondent: str
    ranges: str | None = None
    loss: Fraction = Fraction(0)
    suppressed: int = 0
    loss_name: str = "granularity_loss"

    @property
    def searched(self) -> None:
        """None: there was no search whose end could be proven."""
        return
