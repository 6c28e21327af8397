"""What counts come to over buckets of rows and values, for each of many queries.

In a bucket of n rows as many values are dealt out. Of the rows m satisfy what a query asks of them, of the values s
what it asks of these. Added up over the buckets of n rows are m s, m s^2, and the least and the greatest number of rows
that satisfy both, max(0, m + s - n) and min(m, s).

Rows and values come in blocks, a list for each column, of the numbers of their labels, and the bucket of each of them
within the block. The sums stand in one result for all blocks of a call: a struct for each n with lists of an entry for
each query, and one without lists that says how many buckets do not have as many values as rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sqlanon.workload.answering import Masks, gathered
from sqlanon.workload.blocks import MOST_LOCAL, buckets_of, columns_of, fields, lists, taken
from sqlanon.workload.planes import Plane, Totals, counted, lesser, product, squares

__all__ = ["PARAMETERS", "RETURNS", "bucket_sums"]

PARAMETERS = (
    "STRUCT(rows INTEGER[][], row_buckets INTEGER[], value INTEGER[][], value_buckets INTEGER[], weight INTEGER[])",
)
RETURNS = "STRUCT(n BIGINT, hits BIGINT[], squares BIGINT[], low BIGINT[], high BIGINT[], wrong BIGINT)[]"

# So many buckets at a time: their masks fit a processor's cache.
_CHUNK = 512

_LISTS = [(name, pa.list_(pa.int64())) for name in ("hits", "squares", "low", "high")]
_RESULT = pa.list_(pa.struct([("n", pa.int64()), *_LISTS, ("wrong", pa.int64())]))

Numbers = Sequence[NDArray[np.int32]]


def bucket_sums(
    blocks: pa.Array | pa.ChunkedArray, row_masks: list[Masks], value_masks: list[Masks], queries: int
) -> pa.Array:
    """The sums of each query; a value counts as often as its weight says."""
    rows, row_buckets, values, value_buckets, weight = fields(blocks)
    row_places = [one.places[own] for one, own in zip(row_masks, columns_of(rows, len(row_masks)), strict=True)]
    value_places = [one.places[own] for one, own in zip(value_masks, columns_of(values, len(value_masks)), strict=True)]
    own_rows, own_values = buckets_of(row_buckets), buckets_of(value_buckets)
    often, _ = lists(weight)
    held = np.repeat(np.arange(len(often)), np.maximum(often, 0))
    own_values, value_places = own_values[held], [one[held] for one in value_places]
    most = MOST_LOCAL * len(blocks)
    sizes, dealt = np.bincount(own_rows, minlength=most), np.bincount(own_values, minlength=most)
    wrong = int(np.count_nonzero(sizes != dealt)) + int(np.count_nonzero(often < 0))
    row_order, value_order = _order(own_rows), _order(own_values)
    first_row, first_value = np.cumsum(sizes) - sizes, np.cumsum(dealt) - dealt
    found: list[dict[str, object]] = [{"wrong": wrong}]
    for n in [] if wrong else np.unique(sizes[sizes > 0]).tolist():
        sums = _Sums(n, row_masks, value_masks, queries)
        alike = np.flatnonzero(sizes == n)
        for first in range(0, len(alike), _CHUNK):
            some = alike[first : first + _CHUNK]
            at = np.arange(n)[:, None]
            sums.add(
                taken(row_places, row_order[first_row[some] + at].ravel()),
                taken(value_places, value_order[first_value[some] + at].ravel()),
                len(some),
            )
        found.append({"n": n, **sums.totals()})
    return pa.array([found] + [[] for _ in range(len(blocks) - 1)], type=_RESULT)


def _order(buckets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows in the order of their buckets. In what is nearly sorted numpy finds the runs."""
    return np.argsort(buckets, kind="stable")


class _Sums:
    """The sums over buckets of n rows."""

    def __init__(self, n: int, row_masks: list[Masks], value_masks: list[Masks], queries: int) -> None:
        self._n, self._queries = n, queries
        self._masks = row_masks, value_masks
        self._totals = [Totals(_CHUNK) for _ in range(5)]

    def add(self, rows: Numbers, values: Numbers, buckets: int) -> None:
        """The sums of some buckets, of whose rows and values the first stand before the second."""
        sides: list[list[Plane]] = []
        for masks, places in zip(self._masks, (rows, values), strict=True):
            parts = (slice(i * buckets, (i + 1) * buckets) for i in range(self._n))
            sides.append([gathered(masks, places, part, self._queries) for part in parts])
        m, s = counted(sides[0]), counted(sides[1])
        failing = counted([~one for one in sides[1]])
        hits, square, satisfying, high, failed = self._totals
        for place, plane in product(m, s):
            hits.add(place, plane)
        for further, plane in squares(s):
            for place, one in enumerate(m):
                square.add(place + further, one & plane)
        satisfying.add_number(m)
        high.add_number(lesser(m, s))
        failed.add_number(lesser(m, failing))

    def totals(self) -> dict[str, NDArray[np.int64]]:
        hits, square, satisfying, high, failed = (one.counts(self._queries) for one in self._totals)
        # max(0, m + s - n) is m less the lesser of m and of the n - s values that do not satisfy.
        return {"hits": hits, "squares": square, "low": satisfying - failed, "high": high}
