"""What slicing has chosen, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.domain.counts import counted
from sqlanon.methods.slicing.choice import Sliced


def sliced_up(choice: Sliced) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): the columns and why, and into how many buckets the rows are put."""
    yield "columns", ", ".join(f"({', '.join(names)})" for names in choice.columns)
    yield from choice.reasons
    mean = f", {choice.rows / choice.count:.1f} rows each in the mean" if choice.count else ""
    sizes = f"the largest has {counted(choice.largest, 'row')}, the smallest {choice.smallest}"
    whole = (
        "; all rows are in it, for no two buckets meet what is required"
        if choice.count == 1 and choice.rows > 1
        else ""
    )
    yield "buckets", f"{choice.count}{mean}; {sizes}{whole}"
    yield "suppressed rows", f"0 of {choice.rows}"
