"""Blocks of rows as functions under udfs/ receive them: each has a list of the codes of its rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sqlanon.estimates.batch.code_layout import CODE_BITS, LOCAL_BITS

__all__ = ["MOST_LOCAL", "Numbers", "fields", "in_order", "lists", "results", "rows_of"]

# The buckets, or groups, in a block at most.
MOST_LOCAL = 1 << LOCAL_BITS

Numbers = NDArray[np.int64]


def _contiguous(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def fields(array: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    """The fields of an array of structs, each an array of lists."""
    return list(_contiguous(array).flatten())


def lists(array: pa.Array | pa.ChunkedArray) -> Iterator[Numbers]:
    """The numbers of each list. NULL is an empty list."""
    found = _contiguous(array)
    ends = np.cumsum(found.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)).tolist()
    values = found.flatten().to_numpy(zero_copy_only=False)
    for start, end in zip([0, *ends], ends, strict=False):
        yield values[start:end]


def rows_of(array: pa.Array | pa.ChunkedArray, codes: int) -> Iterator[Numbers]:
    """The codes of the rows of each block, a line of the array for each code of a row."""
    return (numbers.reshape(codes, -1) for numbers in lists(array))


def in_order(rows: Numbers) -> tuple[Numbers, Numbers]:
    """The rows of a block in the order of their buckets, and the number of rows of each bucket."""
    # Sorting numbers is several times as fast as finding their order.
    found = np.sort(rows) if len(rows) == 1 else rows[:, np.argsort(rows[0])]
    return found, np.bincount(found[0] >> CODE_BITS, minlength=MOST_LOCAL)


def results(rows: int, found: Numbers) -> pa.Array:
    """One list for the first row, and an empty one for each of the others."""
    offsets = np.full(rows + 1, len(found), dtype=np.int32)
    if rows:
        offsets[0] = 0
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(found))
