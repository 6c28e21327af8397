"""Sums over buckets of rows and values, from which counts are estimated and bounded, for many queries.

A bucket of n rows has n values. For a query, m of the rows satisfy its conditions on rows, and s of the values its
conditions on values. Summed over the buckets of n rows are m s, m s^2, and the least and the greatest number of rows
that satisfy both, max(0, m + s - n) and min(m, s).

Rows and values come in blocks. A block lists the codes of its rows and of its values; a code gives the conditions that
its labels satisfy and the bucket within the block. A value occurs as often as the bucket contains it. The first result
has the sums over all blocks of a call: a struct for each n with a list entry for each query, and a struct without lists
with the number of buckets that do not have as many values as rows.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sqlanon.estimates.batch.label_masks import (
    Codes,
    Plane,
    Totals,
    counted,
    fields,
    in_order,
    lesser,
    product,
    rows_of,
    sort_bits,
    squares,
)

__all__ = ["PARAMETERS", "RETURNS", "bucket_sums"]

PARAMETERS = ("STRUCT(rows BIGINT[], value BIGINT[])",)
RETURNS = "STRUCT(n BIGINT, hits BIGINT[], squares BIGINT[], low BIGINT[], high BIGINT[], wrong BIGINT)[]"

# In buckets of up to this size, buckets are counted for each pair of numbers of satisfying rows and values.
_ROWS_FOR_PAIRS = 7
# The number of pairs that are added up at a time: they fit a processor's cache.
_PAIRS_IN_CACHE = 4608

_LISTS = [(name, pa.list_(pa.int64())) for name in ("hits", "squares", "low", "high")]
_RESULT = pa.list_(pa.struct([("n", pa.int64()), *_LISTS, ("wrong", pa.int64())]))


def bucket_sums(blocks: pa.Array | pa.ChunkedArray, row_codes: Codes, value_codes: Codes) -> pa.Array:
    """Returns the sums of each query over the buckets of all blocks, as the first of the results; others are empty."""
    rows, values = fields(blocks)
    pairs = zip(rows_of(rows, row_codes.count), rows_of(values, value_codes.count), strict=True)
    wrong = 0
    sums: dict[int, _Pairs | _Sums] = {}
    for some_rows, some_values in pairs:
        (sorted_rows, sizes), (sorted_values, value_counts) = in_order(some_rows), in_order(some_values)
        wrong += int(np.count_nonzero(sizes != value_counts))
        if wrong:
            continue
        # A bucket has as many rows as values, so both begin at the same index.
        first = np.cumsum(sizes) - sizes
        for n in (np.flatnonzero(np.bincount(sizes)[1:]) + 1).tolist():
            if n not in sums:
                sums[n] = (_Pairs if n <= _ROWS_FOR_PAIRS else _Sums)(n, row_codes.queries)
            alike = first[sizes == n]
            for start in range(0, len(alike), sums[n].CHUNK):
                # The first row of each bucket, then the second, ...
                at = alike[start : start + sums[n].CHUNK] + np.arange(n)[:, None]
                sums[n].add(row_codes.satisfied(sorted_rows[:, at]), value_codes.satisfied(sorted_values[:, at]))
    found: list[dict[str, object]] = [{"wrong": wrong}]
    if not wrong:
        found += [{"n": n, **part.totals()} for n, part in sums.items()]
    return pa.array([found] + [[] for _ in range(len(blocks) - 1)], type=_RESULT)


class _Pairs:
    """Sums over buckets of n rows, from the number of buckets with at least i satisfying rows and j satisfying values.

    The sum of these numbers over all i and j is m s; with the weight 2 j - 1 it is m s^2; over i = j it is min(m, s);
    and over i + j = n + 1 it is max(0, m + s - n).
    """

    CHUNK = 4096

    def __init__(self, n: int, queries: int) -> None:
        self._n, self._queries, self._step = n, queries, max(1, _PAIRS_IN_CACHE // n**2)
        self._totals = Totals(self._step)

    def add(self, rows: Plane, values: Plane) -> None:
        """Adds the masks of buckets: first those of the first row, or value, of each bucket, then of the second, ..."""
        sort_bits(rows)
        sort_bits(values)
        for first in range(0, rows.shape[1], self._step):
            chunk = slice(first, first + self._step)
            self._totals.add(0, rows[:, None, chunk] & values[None, :, chunk])

    def totals(self) -> dict[str, NDArray[np.int64]]:
        pairs, i = self._totals.counts(self._queries), np.arange(self._n)
        return {
            "hits": pairs.sum(axis=(0, 1)),
            "squares": ((2 * i + 1)[:, None] * pairs.sum(axis=0)).sum(axis=0),
            "low": pairs[i, self._n - 1 - i].sum(axis=0),
            "high": pairs[i, i].sum(axis=0),
        }


class _Sums:
    """Sums over buckets of n rows, by arithmetic with bits."""

    CHUNK = 512

    def __init__(self, n: int, queries: int) -> None:
        self._queries = queries
        self._totals = [Totals(self.CHUNK) for _ in range(5)]

    def add(self, rows: Plane, values: Plane) -> None:
        """Adds the masks of buckets: first those of the first row, or value, of each bucket, then of the second, ..."""
        m, s, failing = counted(list(rows)), counted(list(values)), counted(list(~values))
        hits, square, satisfying, high, failed = self._totals
        for position, plane in product(m, s):
            hits.add(position, plane)
        for square_position, plane in squares(s):
            for position, bit in enumerate(m):
                square.add(position + square_position, bit & plane)
        satisfying.add_number(m)
        high.add_number(lesser(m, s))
        failed.add_number(lesser(m, failing))

    def totals(self) -> dict[str, NDArray[np.int64]]:
        hits, square, satisfying, high, failed = (total.counts(self._queries) for total in self._totals)
        # max(0, m + s - n) = m - min(m, n - s), where n - s values do not satisfy.
        return {"hits": hits, "squares": square, "low": satisfying - failed, "high": high}
