"""How many rows satisfy each of many queries, from the numbers of the rows' labels and the masks of these.

A block of rows is a list for each column, of the numbers of its rows' labels. The counts stand in one result for all
blocks of a call; the others are empty. So the sum over all results is the count of all rows.
"""

from __future__ import annotations

import pyarrow as pa

from sqlanon.workload.answering import Masks, gathered
from sqlanon.workload.blocks import columns_of, results
from sqlanon.workload.planes import Totals

__all__ = ["PARAMETERS", "RETURNS", "satisfying_rows"]

PARAMETERS = ("INTEGER[][]",)
RETURNS = "BIGINT[]"

# So many rows at a time: their masks fit a processor's cache.
_CHUNK = 1024


def satisfying_rows(blocks: pa.Array | pa.ChunkedArray, masks: list[Masks], queries: int) -> pa.Array:
    """The number of rows that satisfy each query; `masks` has those of each column."""
    numbers = columns_of(blocks, len(masks))
    rows = len(numbers[0]) if numbers else 0
    places = [one.places[own] for one, own in zip(masks, numbers, strict=True)]
    satisfying = Totals(_CHUNK)
    for first in range(0, rows, _CHUNK):
        some = slice(first, min(rows, first + _CHUNK))
        satisfying.add(0, gathered(masks, places, some, queries))
    return results(len(blocks), satisfying.counts(queries))
