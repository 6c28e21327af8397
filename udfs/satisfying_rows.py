"""Counts the rows that satisfy each of many queries, from codes that give the conditions each row's labels satisfy.

A block of rows is a list of their codes. The first result has the counts over all blocks of a call, and the other
results are empty. So the sum over all results is the count of all rows.
"""

from __future__ import annotations

import pyarrow as pa

from sqlanon.estimates.batch.label_masks import Codes, Totals, results, rows_of

__all__ = ["PARAMETERS", "RETURNS", "satisfying_rows"]

PARAMETERS = ("BIGINT[]",)
RETURNS = "BIGINT[]"

# The number of rows at a time: their masks fit a processor's cache.
_CHUNK = 4096


def satisfying_rows(blocks: pa.Array | pa.ChunkedArray, codes: Codes) -> pa.Array:
    """Returns the number of rows that satisfy each query."""
    satisfying = Totals(_CHUNK)
    for rows in rows_of(blocks, codes.count):
        for first in range(0, rows.shape[1], _CHUNK):
            satisfying.add(0, codes.satisfied(rows[:, first : first + _CHUNK]))
    return results(len(blocks), satisfying.counts(codes.queries))
