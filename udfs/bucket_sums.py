"""Sums over buckets of rows and values, from which counts are estimated and bounded, for many queries.

A bucket of n rows has n values of each set. For a query, m of the rows satisfy its conditions on rows, and s of a set's
values its conditions on the set. Each way to assign the values to the rows is equally likely, independently for each
set, so a row has satisfying values with the probability p, the product of s / n over the sets. The sums over buckets
are m p, the expected number of rows that satisfy everything; m p (1 - p), its variance as for independent rows; and the
bounds of that number. At most n - s rows fail by a set's values, so at least m less the n - s of all sets satisfy, and
at most the least of m and every s.

Rows and values come in blocks. A block lists the codes of its rows and then, for each set, those of its values; a code
gives the conditions that its labels satisfy and the bucket within the block. A value occurs as often as the bucket
contains it. The first result has the sums over all blocks of a call, in lists with an entry for each query. If some
bucket has not as many values of a set as rows, it counts these buckets and sets instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sqlanon.estimates.batch.label_masks import (
    AskedSides,
    Codes,
    Numbers,
    Plane,
    Totals,
    counted,
    in_order,
    nested_lists,
    numbers_of,
    sizes_of,
    sort_bits,
)

__all__ = ["PARAMETERS", "RETURNS", "bucket_sums"]

PARAMETERS = ("BIGINT[][]",)
RETURNS = "STRUCT(wrong BIGINT, hits DOUBLE[], variance DOUBLE[], low BIGINT[], high BIGINT[])[]"

# The most combinations of numbers of satisfying rows and values for which buckets are counted.
_COMBINATIONS = 200
# The number of combinations that are added up at a time: they fit a processor's cache.
_COMBINATIONS_IN_CACHE = 4608
# The number of numbers that are computed with at a time.
_NUMBERS_IN_CACHE = 1 << 17
# The number of buckets whose masks are looked up at a time, and the number of their masks for one word of queries.
_CHUNK, _MASKS_IN_CHUNK = 4096, 1 << 14

_TYPES = {"hits": pa.float64(), "variance": pa.float64(), "low": pa.int64(), "high": pa.int64()}
_LISTS = [(name, pa.list_(kind)) for name, kind in _TYPES.items()]
_RESULT = pa.list_(pa.struct([("wrong", pa.int64()), *_LISTS]))

# The sums of some queries, by their names.
_Sums = dict[str, NDArray[Any]]


def bucket_sums(blocks: pa.Array | pa.ChunkedArray, codes: Sequence[Codes], asked: Sequence[AskedSides]) -> pa.Array:
    """Returns the sums of each query over the buckets of all blocks, as the first of the results; others are empty.

    `codes` are those of the rows, and of the values of each set; `asked` has all queries, in their order.
    """
    sums, wrong = _Buckets(codes, asked), 0
    for sides in nested_lists(blocks, [layout.count for layout in codes]):
        rows, *values = [sizes_of(side) for side in sides]
        wrong += sum(int(np.count_nonzero(rows != count)) for count in values)
        if not wrong:
            sums.add(sides)
    found = {"wrong": wrong} if wrong else {"wrong": 0, **sums.totals()}
    return pa.array([[found]] + [[] for _ in range(len(blocks) - 1)], type=_RESULT)


class _Buckets:
    """Sums over buckets, by their number of rows and by the sides that queries have conditions on."""

    def __init__(self, codes: Sequence[Codes], asked: Sequence[AskedSides]) -> None:
        self._codes, self._asked = codes, asked
        self._sides = sorted({side for queries in asked for side in queries.sides})
        self._sums: dict[int, list[_Exact | _Combinations | _Products]] = {}

    def add(self, sides: Sequence[Numbers]) -> None:
        """Adds the buckets of a block."""
        sizes = sizes_of(sides[0])
        ordered = {side: in_order(sides[side]) for side in self._sides}
        # A bucket has as many values as rows, so all of them begin at the same index.
        first = np.cumsum(sizes) - sizes
        for n in (np.flatnonzero(np.bincount(sizes)[1:]) + 1).tolist():
            alike, chunk = first[sizes == n], max(1, min(_CHUNK, _MASKS_IN_CHUNK // n))
            for start in range(0, len(alike), chunk):
                # The first row of each bucket, then the second, ...
                at = alike[start : start + chunk] + np.arange(n)[:, None]
                masks = {side: self._codes[side].satisfied(rows[:, at]) for side, rows in ordered.items()}
                self._add(n, masks)

    def _add(self, n: int, masks: Mapping[int, Plane]) -> None:
        """Adds the masks of buckets of n rows, which are sorted."""
        if n not in self._sums:
            self._sums[n] = [_sums_of(n, queries) for queries in self._asked]
        if any(isinstance(sums, _Combinations) for sums in self._sums[n]):
            for side in masks.values():
                sort_bits(side)
        for sums, queries in zip(self._sums[n], self._asked, strict=True):
            sums.add([masks[side][..., queries.words] for side in queries.sides])

    def totals(self) -> _Sums:
        queries = self._asked[-1].last
        totals: _Sums = {name: np.zeros(queries, dtype=kind.to_pandas_dtype()) for name, kind in _TYPES.items()}
        for of_size in self._sums.values():
            for sums, asked in zip(of_size, self._asked, strict=True):
                for name, part in sums.totals().items():
                    totals[name][asked.first : asked.last] += part[asked.in_words]
        return totals


def _sums_of(n: int, asked: AskedSides) -> _Exact | _Combinations | _Products:
    if len(asked.sides) == 1:
        return _Exact(asked)
    return (_Combinations if n ** len(asked.sides) <= _COMBINATIONS else _Products)(n, asked)


class _Exact:
    """Sums for queries with conditions on one side alone: as many rows satisfy everything as satisfy these."""

    def __init__(self, asked: AskedSides) -> None:
        self._queries, self._satisfying = asked.queries, Totals(_CHUNK)

    def add(self, masks: Sequence[Plane]) -> None:
        """Adds the masks of buckets: first those of the first row, or value, of each bucket, then of the second, ..."""
        for plane in masks[0]:
            self._satisfying.add(0, plane)

    def totals(self) -> _Sums:
        satisfying = self._satisfying.counts(self._queries)
        return {"hits": satisfying.astype(np.float64), "low": satisfying, "high": satisfying}


class _Combinations:
    """Sums over buckets of n rows, from the number of buckets with at least i satisfying rows, j satisfying values, ...

    A function of these numbers that is 0 if one of them is 0 adds up over the buckets to the counts times its mixed
    differences.
    """

    def __init__(self, n: int, asked: AskedSides) -> None:
        self._n, self._asked = n, asked
        self._step = max(1, _COMBINATIONS_IN_CACHE // n ** len(asked.sides))
        self._totals = Totals(self._step)

    def add(self, masks: Sequence[Plane]) -> None:
        """Adds the masks of buckets, each bit of which is sorted: first those of the first row, or value, of each
        bucket, then of the second, ...
        """
        axes = range(len(masks))
        for first in range(0, masks[0].shape[1], self._step):
            chunk = slice(first, first + self._step)
            sides = [
                np.expand_dims(side[:, chunk], tuple(other for other in axes if other != axis))
                for axis, side in zip(axes, masks, strict=True)
            ]
            self._totals.add(0, reduce(and_, sides))

    def totals(self) -> _Sums:
        n, sets = self._n, self._asked.sets
        counts = self._totals.counts(self._asked.queries)
        numbers = list(np.indices((n + 1,) * len(self._asked.sides)))
        m = numbers.pop(0) if self._asked.of_rows else np.full_like(numbers[0], n)
        ways, satisfying = n**sets, reduce(np.multiply, numbers)
        low = np.maximum(m + sum(numbers) - sets * n, 0)
        functions = (m * satisfying, m * satisfying * (ways - satisfying), low, reduce(np.minimum, numbers, m))
        hits, variance, least, most = (np.tensordot(_differences(of), counts, of.ndim) for of in functions)
        return {"hits": hits / ways, "variance": variance / ways**2, "low": least, "high": most}


def _differences(function: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the mixed differences of a function on a grid: the difference along each axis."""
    return reduce(lambda values, axis: np.diff(values, axis=axis), range(function.ndim), function)


class _Products:
    """Sums over buckets of n rows, from the numbers of satisfying rows and values of each bucket."""

    def __init__(self, n: int, asked: AskedSides) -> None:
        self._n, self._asked = n, asked
        self._sums: _Sums = {
            name: np.zeros(asked.queries, dtype=kind.to_pandas_dtype()) for name, kind in _TYPES.items()
        }

    def add(self, masks: Sequence[Plane]) -> None:
        """Adds the masks of buckets: first those of the first row, or value, of each bucket, then of the second, ..."""
        step = max(1, _NUMBERS_IN_CACHE // self._asked.queries)
        for first in range(0, masks[0].shape[1], step):
            sides = (counted(list(side[:, first : first + step])) for side in masks)
            self._add([numbers_of(planes, self._asked.queries) for planes in sides])

    def _add(self, numbers: Sequence[NDArray[np.int32]]) -> None:
        """Adds the numbers of satisfying rows and values of some buckets, for each query."""
        n, sums = self._n, self._sums
        m, values = (numbers[0], numbers[1:]) if self._asked.of_rows else (n, numbers)
        p = reduce(np.multiply, (satisfying / n for satisfying in values))
        expected = m * p
        sums["hits"] += expected.sum(axis=0)
        sums["variance"] += (expected * (1 - p)).sum(axis=0)
        failing = sum(n - side for side in numbers)
        sums["low"] += np.maximum(n - failing, 0).sum(axis=0, dtype=np.int64)
        sums["high"] += reduce(np.minimum, numbers).sum(axis=0, dtype=np.int64)

    def totals(self) -> _Sums:
        return self._sums
