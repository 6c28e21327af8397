"""What Anatomy has chosen, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.counts import counted
from sqlanon.methods.anatomy.choice import Bucketization


def dealt_out(bucketization: Bucketization) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): into how many buckets the rows are dealt out."""
    mean = f", {bucketization.rows / bucketization.count:.1f} rows each in the mean" if bucketization.count else ""
    where = f", within {bucketization.regions} regions" if bucketization.regions > 1 else ""
    sizes = f"the largest has {counted(bucketization.largest, 'row')}, the smallest {bucketization.smallest}"
    yield "buckets", f"{bucketization.count}{where}{mean}; {sizes}"
    yield "suppressed rows", f"0 of {bucketization.rows}"
