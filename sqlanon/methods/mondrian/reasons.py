"""What Mondrian has chosen, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.counts import counted
from sqlanon.methods.shared.partition.choice import Partition
from sqlanon.methods.shared.wording import loss_text


def cut_up(partition: Partition) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): into how many regions the rows are cut, and at what loss."""
    mean = f", {partition.rows / partition.count:.1f} rows each in the mean" if partition.count else ""
    sizes = f"the largest has {counted(partition.largest, 'row')}, the smallest {partition.smallest}"
    yield "regions", f"{partition.count}{mean}; {sizes}"
    yield "suppressed rows", f"0 of {partition.rows}"
    yield partition.loss_name.replace("_", " "), f"{loss_text(partition.loss)}, not proven to be the least"
    yield "attempts", f"{partition.attempts}: each cuts all regions that are still open"
