"""Blocks of rows as functions under udfs/ receive them: each has a list of the codes of its rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sqlanon.estimates.batch.code_layout import CODE_BITS, LOCAL_BITS

# The most buckets, or groups, in a block.
MOST_LOCAL = 1 << LOCAL_BITS

Numbers = NDArray[np.int64]


def _contiguous(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def fields(array: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    """The fields of an array of structs, each an array of lists."""
    return list(_contiguous(array).flatten())


def lists(array: pa.Array | pa.ChunkedArray) -> Iterator[Numbers]:
    """The numbers of each list. NULL is an empty list."""
    number_lists = _contiguous(array)
    ends = np.cumsum(number_lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)).tolist()
    values = number_lists.flatten().to_numpy(zero_copy_only=False)
    for start, end in zip([0, *ends], ends, strict=False):
        yield values[start:end]


def rows_of(array: pa.Array | pa.ChunkedArray, codes: int) -> Iterator[Numbers]:
    """The codes of the rows of each block, a line of the array for each code of a row."""
    return (numbers.reshape(codes, -1) for numbers in lists(array))


def in_order(rows: Numbers) -> tuple[Numbers, Numbers]:
    """The rows of a block in the order of their buckets, and the number of rows of each bucket."""
    # Sorting numbers is several times as fast as finding their order.
    ordered = np.sort(rows) if len(rows) == 1 else rows[:, np.argsort(rows[0])]
    return ordered, np.bincount(ordered[0] >> CODE_BITS, minlength=MOST_LOCAL)


def results(rows: int, numbers: Numbers) -> pa.Array:
    """One list for the first row, and an empty one for each of the others."""
    offsets = np.full(rows + 1, len(numbers), dtype=np.int32)
    if rows:
        offsets[0] = 0
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(numbers))
