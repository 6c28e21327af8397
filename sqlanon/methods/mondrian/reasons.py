"""What Mondrian has chosen, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.methods.shared.partition.choice import Partition
from sqlanon.methods.shared.wording import loss_text

__all__ = ["cut_up"]


def cut_up(found: Partition) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): into how many regions the rows are cut, and at what loss."""
    mean = f", {found.rows / found.count:.1f} rows each in the mean" if found.count else ""
    yield "regions", f"{found.count}{mean}; the largest has {found.largest} rows, the smallest {found.smallest}"
    yield "suppressed rows", f"0 of {found.rows}"
    yield found.loss_name.replace("_", " "), f"{loss_text(found.loss)}, not proven to be the least"
    yield "attempts", f"{found.attempts}: each cuts all regions that are still open"
