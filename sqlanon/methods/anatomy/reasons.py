"""What Anatomy has chosen, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.methods.anatomy.choice import Bucketization

__all__ = ["dealt_out"]


def dealt_out(found: Bucketization) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): into how many buckets the rows are dealt out."""
    mean = f", {found.rows / found.count:.1f} rows each in the mean" if found.count else ""
    where = f", within {found.regions} regions" if found.regions > 1 else ""
    sizes = f"the largest has {found.largest} rows, the smallest {found.smallest}"
    yield "buckets", f"{found.count}{where}{mean}; {sizes}"
    yield "suppressed rows", f"0 of {found.rows}"
