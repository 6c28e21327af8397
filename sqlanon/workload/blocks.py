"""Blocks of rows as functions under udfs/ get them: in each a list for every column, all as long as there are rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sqlanon.workload.labelled import LOCAL_BITS

__all__ = ["MOST_LOCAL", "buckets_of", "columns_of", "fields", "lists", "results", "taken"]

# So many buckets, or groups, are in a block at most.
MOST_LOCAL = 1 << LOCAL_BITS


def _one(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def fields(array: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    """The fields of structs, which have lists."""
    return list(_one(array).flatten())


def lists(array: pa.Array | pa.ChunkedArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers in all lists one behind the other, and how many each list has: none for NULL."""
    found = _one(array)
    lengths = found.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return found.flatten().to_numpy(zero_copy_only=False), lengths


def columns_of(blocks: pa.Array | pa.ChunkedArray, columns: int) -> list[NDArray[np.int32]]:
    """The numbers of each column, those of all blocks one behind the other."""
    every, lengths = lists(_one(blocks).flatten())
    if not len(lengths):
        return [np.zeros(0, dtype=np.int32) for _ in range(columns)]
    ends = np.cumsum(lengths)
    parts = [every[end - length : end] for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)]
    return [np.concatenate(parts[place::columns]) for place in range(columns)]


def buckets_of(array: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
    """The buckets that the rows of all blocks are in: those of a later block have greater numbers."""
    own, lengths = lists(array)
    return own.astype(np.int64) + np.repeat(np.arange(len(lengths)) * MOST_LOCAL, lengths)


def taken(columns: Sequence[NDArray[np.int32]], rows: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    """What these rows have in each column."""
    return [one[rows] for one in columns]


def results(rows: int, found: NDArray[np.int64]) -> pa.Array:
    """One list for the first row, and an empty one for each of the others."""
    offsets = np.full(rows + 1, len(found), dtype=np.int32)
    if rows:
        offsets[0] = 0
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(found))
