"""Counts the rows of classes that satisfy each of many queries, in arrays.

A class has a label in each column and counts n rows. For each column there is a matrix with a line for each label and a
column for each query: whether the label may satisfy the query's condition, whether it does for certain, and the share
of its leaves that do. The product of the shares of a class's labels is the probability p that a row of the class
satisfies the query; counts are sums of n p over classes, and their variances are sums of n p (1 - p).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.estimates.batch.bitmasks import WORD, MaskedColumn
from sqlanon.estimates.batch.distinct_rows import DistinctRows, listed, number_of
from sqlanon.estimates.batch.label_masks import Plane, digits_of
from sqlanon.estimates.fixed_sql import fixed, sizes
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.sql_files import filled_query

# The most combinations of labels for which columns are combined to one.
_LABELS_TOGETHER = 1 << 11
# The number of classes that are added together, and of those whose masks fit a processor's cache.
_TOGETHER, _TURNED = 1 << 16, 1 << 11


@dataclass(frozen=True)
class ClassCounts:
    """Figures of a count by query: the bounds `low` and `high`, the expected number of rows `hits` and its variance.

    `unknown` tells whether the share of a label that may satisfy the query is unknown; hits and variance are then
    without meaning.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    hits: NDArray[np.float64]
    variance: NDArray[np.float64]
    unknown: NDArray[np.bool_]

    def table(self, temp: TempTables) -> str:
        """Creates the table of query, hits, variance, low and high; hits and variance are NULL if unknown."""
        hits, variances = (
            [
                None if unknown else figure
                for unknown, figure in zip(self.unknown.tolist(), figures.tolist(), strict=True)
            ]
            for figures in (self.hits, self.variance)
        )
        kinds = {"query": "INTEGER", "hits": "DOUBLE", "variance": "DOUBLE", "low": "BIGINT", "high": "BIGINT"}
        values = [list(range(len(hits))), hits, variances, self.low.tolist(), self.high.tolist()]
        return temp.table("summed", listed(kinds), values)


def most_queries_on_classes(engine: Engine, classes: DistinctRows) -> int:
    """Returns the largest number of queries, in whole words of 64, whose matrices of these labels fit the limits."""
    most = max([1, *_label_counts(engine, classes.labels)])
    limits = sizes()
    return max(WORD, min(limits.max_queries_on_buckets, limits.max_rows // most) // WORD * WORD)


def counts_of_classes(
    engine: Engine, classes: DistinctRows, columns: Sequence[MaskedColumn], queries: int
) -> ClassCounts:
    """Counts the rows that satisfy each query; `columns` are those with conditions."""
    labels = _label_counts(engine, [column.labels for column in columns])
    matrices = [_matrix(engine, column, count, queries) for column, count in zip(columns, labels, strict=True)]
    groups = digits_of([len(matrix.possible) for matrix in matrices], _LABELS_TOGETHER)
    sums = _Sums(matrices, groups, queries)
    for n, numbers in _read(engine, classes, columns):
        sums.add(n, numbers)
    return sums.counts()


def _label_counts(engine: Engine, tables: Sequence[str]) -> list[int]:
    """Returns the number of labels in each of these tables."""
    text = "SELECT $index AS table_index, count(*) AS labels FROM label"
    counts = [filled_query(text, tables={"label": table}, index=index) for index, table in enumerate(tables)]
    return [int(labels) for _, labels in sorted(engine.rows(union_all(counts)))] if counts else []


@dataclass(frozen=True)
class _Matrix:
    """Bit masks of labels, a line for each label: the queries that a label may satisfy, satisfies for certain, and
    satisfies with an unknown share.

    `certain` is None if every label satisfies for certain or not at all, and `unknown` if every share is known.
    """

    possible: Plane
    certain: Plane | None
    unknown: Plane | None


@dataclass(frozen=True)
class _Column(_Matrix):
    """The masks of a column's labels, the queries with a condition on the column, and for each query the shares of the
    labels; `shares` is None if every label satisfies for certain or not at all.
    """

    with_condition: NDArray[np.bool_]
    shares: NDArray[np.float64] | None


_EXACT = "SELECT query, number FROM share"
_SHARES = "SELECT query, number, certain, coalesce(p, CAST('NaN' AS DOUBLE)) AS p FROM share"


def _matrix(engine: Engine, column: MaskedColumn, labels: int, queries: int) -> _Column:
    """Reads the shares of a column's labels, which are numbered from 1."""
    size = (labels + 1, queries)
    pairs = _pairs_with_shares(engine, column)
    with_condition = np.zeros(queries, dtype=bool)
    with_condition[list(column.queries)] = True
    at = (_whole(pairs["number"]), _whole(pairs["query"]))

    def bits(values: Any) -> Plane:
        matrix = np.broadcast_to(~with_condition, size).copy()
        matrix[at] = values
        return _packed(matrix)

    if column.exact:
        return _Column(bits(True), None, None, with_condition, None)
    shares = np.zeros((queries, labels + 1))
    known = ~np.isnan(pairs["p"])
    shares[at[1], at[0]] = np.where(known, pairs["p"], 0.0)
    unknown = None
    if not known.all():
        matrix = np.zeros(size, dtype=bool)
        matrix[at] = ~known
        unknown = _packed(matrix)
    return _Column(bits(True), bits(np.asarray(pairs["certain"], dtype=bool)), unknown, with_condition, shares)


def _pairs_with_shares(engine: Engine, column: MaskedColumn) -> Mapping[str, NDArray[Any]]:
    """Reads the queries with the numbers of the labels that may satisfy them, with certain and p unless all satisfy for
    certain.
    """
    shares = column.shares
    if column.leaves is not None:
        leaves = engine.arrays(filled_query(_LEAVES, tables={"leaf": column.leaves}))
        if int(leaves["leaves"].sum()) * len(column.queries) <= sizes().max_leaves_in_arrays:
            satisfying = engine.arrays(filled_query(_SATISFYING, tables={"satisfying": shares}))
            return _added_up(leaves, satisfying, np.array(sorted(column.queries)))
        shares = fixed("share", {"leaf": column.leaves, "satisfying": shares})
    return engine.arrays(filled_query(_EXACT if column.exact else _SHARES, tables={"share": shares}))


_LEAVES = """
    SELECT number, count(*) AS leaves, count(weight) AS known, coalesce(CAST(sum(weight) AS DOUBLE), 0) AS total
    FROM leaf
    GROUP BY number
"""
_SATISFYING = "SELECT query, number, coalesce(CAST(weight AS DOUBLE), 0) AS weight FROM satisfying"


def _added_up(
    leaves: Mapping[str, NDArray[Any]], satisfying: Mapping[str, NDArray[Any]], asking: NDArray[np.int64]
) -> Mapping[str, NDArray[Any]]:
    """Computes in arrays what sql/estimates/share.sql computes. p is NaN if it is unknown.

    `leaves` has each label, `satisfying` the leaves that satisfy a query, and `asking` the queries in ascending order.
    """
    labels = int(leaves["number"].max(initial=0)) + 1
    first = np.zeros(int(asking.max(initial=0)) + 1, dtype=np.int64)
    first[asking] = np.arange(len(asking)) * labels
    at = first[satisfying["query"]] + satisfying["number"]
    count = np.bincount(at, minlength=len(asking) * labels)
    weight = np.bincount(at, weights=satisfying["weight"], minlength=len(asking) * labels)
    (pair,) = np.nonzero(count > 0)
    of_label = {name: np.zeros(labels, dtype=leaves[name].dtype) for name in ("leaves", "known", "total")}
    for name, array in of_label.items():
        array[leaves["number"]] = leaves[name]
    number = pair % labels
    all_leaves, total = of_label["leaves"][number], of_label["total"][number]
    certain = count[pair] == all_leaves
    is_known = (of_label["known"][number] == all_leaves) & (total != 0)
    share = np.divide(weight[pair], total, out=np.full(len(pair), np.nan), where=is_known)
    p = np.where(certain, 1.0, np.minimum(1.0, share))
    return {"query": asking[pair // labels], "number": number, "certain": certain, "p": p}


def _whole(numbers: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(numbers, dtype=np.int64)


def _packed(matrix: NDArray[np.bool_]) -> Plane:
    """Packs a matrix of truths into words of 64 queries, padded with 0."""
    full = np.zeros((len(matrix), -(-matrix.shape[1] // WORD) * WORD), dtype=bool)
    full[:, : matrix.shape[1]] = matrix
    return np.packbits(full, axis=1, bitorder="little").view(np.uint64)


def _combined(matrices: Sequence[_Matrix]) -> _Matrix:
    """Returns a matrix with a line for each combination of the columns' labels, in the order of the columns."""
    first, *others = matrices
    for other in others:
        first = _Matrix(
            _pairs(first.possible, other.possible, np.bitwise_and),
            None
            if first.certain is None and other.certain is None
            else _pairs(_certain(first), _certain(other), np.bitwise_and),
            _unknown(first, other),
        )
    return first


def _pairs(left: NDArray[Any], right: NDArray[Any], of: np.ufunc) -> NDArray[Any]:
    made: NDArray[Any] = of(left[:, None, :], right[None, :, :]).reshape(-1, left.shape[1])
    return made


def _certain(matrix: _Matrix) -> Plane:
    return matrix.possible if matrix.certain is None else matrix.certain


def _unknown(first: _Matrix, other: _Matrix) -> Plane | None:
    if first.unknown is None and other.unknown is None:
        return None
    planes = [np.zeros_like(part.possible) if part.unknown is None else part.unknown for part in (first, other)]
    return _pairs(planes[0], planes[1], np.bitwise_or)


def _digit_numbers(columns: Sequence[tuple[NDArray[Any], int]]) -> NDArray[np.int64]:
    """Returns the number of each class's combination of labels, from the numbers and the sizes of the columns."""
    numbers = np.zeros(len(columns[0][0]), dtype=np.int64)
    for labels, size in columns:
        numbers *= size
        numbers += labels
    return numbers


def _read(
    engine: Engine, classes: DistinctRows, columns: Sequence[MaskedColumn]
) -> Iterator[tuple[NDArray[np.int64], list[NDArray[Any]]]]:
    """Yields the numbers of rows of some classes, and the numbers of their labels in each column."""
    names = [number_of(column.index) for column in columns]
    parts = max(1, -(-classes.count // sizes().max_classes_read))
    for part in range(parts):
        # Rows of a table that the same transaction has made have no stable numbers.
        query = filled_query(
            "SELECT CAST(n AS BIGINT) AS n, {names} FROM class WHERE $parts = 1 OR hash({names}) % $parts = $part",
            tables={"class": classes.table},
            names={"names": names},
            parts=parts,
            part=part,
        )
        arrays: Mapping[str, NDArray[Any]] = engine.arrays(query)
        yield _whole(arrays["n"]), [arrays[name] for name in names]


class _Sums:
    """Sums over classes by query. The labels of the columns of a group are combined to one digit for the masks."""

    def __init__(self, columns: Sequence[_Column], groups: Sequence[Sequence[int]], queries: int) -> None:
        self._columns, self._groups, self._queries = columns, groups, queries
        self._digits = [_combined([columns[number] for number in members]) for members in groups]
        self._exact = all(column.certain is None for column in columns)
        self._possible, self._certain = (np.zeros((-(-queries // WORD) * WORD // 8, 256)) for _ in range(2))
        self._unknown = np.zeros(-(-queries // WORD), dtype=np.uint64)
        self._hits, self._variance = np.zeros(queries), np.zeros(queries)

    def add(self, n: NDArray[np.int64], numbers: Sequence[NDArray[Any]]) -> None:
        """Adds classes of n rows with these numbers of labels in the columns."""
        for first in range(0, len(n), _TOGETHER):
            chunk = slice(first, first + _TOGETHER)
            self._add(n[chunk].astype(np.float64), [_whole(number[chunk]) for number in numbers])

    def _add(self, n: NDArray[np.float64], numbers: Sequence[NDArray[np.int64]]) -> None:
        digits = [
            _digit_numbers([(numbers[i], len(self._columns[i].possible)) for i in members]) for members in self._groups
        ]
        possible = _all([digit.possible for digit in self._digits], digits)
        _add_weighed(self._possible, n, possible)
        if self._exact:
            return
        certain = _all([_certain(digit) for digit in self._digits], digits)
        _add_weighed(self._certain, n, certain)
        for digit, number in zip(self._digits, digits, strict=True):
            if digit.unknown is not None:
                self._unknown |= np.bitwise_or.reduce(digit.unknown[number] & possible, axis=0)
        self._add_open(n, numbers, possible & ~certain)

    def _add_open(self, n: NDArray[np.float64], numbers: Sequence[NDArray[np.int64]], masks: Plane) -> None:
        """Adds n p and n p (1 - p) of the classes that may or may not satisfy a query: it has a bit in their masks."""
        by_byte = _by_byte(masks)
        for query in range(self._queries):
            # NumPy finds the places of truths several times as fast as those of numbers.
            (which,) = np.nonzero(by_byte[query // 8] & (1 << query % 8) != 0)
            if len(which):
                p = np.ones(len(which))
                for column, number in zip(self._columns, numbers, strict=True):
                    if column.shares is not None and column.with_condition[query]:
                        p *= column.shares[query][number[which]]
                expected = n[which] * p
                self._hits[query] += expected.sum()
                self._variance[query] += expected @ (1.0 - p)

    def counts(self) -> ClassCounts:
        high = _by_query(self._possible, self._queries)
        unknown = np.unpackbits(self._unknown.view(np.uint8), count=self._queries, bitorder="little").astype(bool)
        if self._exact:
            return ClassCounts(high, high, high.astype(np.float64), self._variance, unknown)
        low = _by_query(self._certain, self._queries)
        return ClassCounts(low, high, low + self._hits, self._variance, unknown)


def _all(masks: Sequence[Plane], numbers: Sequence[NDArray[np.int64]]) -> Plane:
    """Returns the AND of the masks of each class's digits."""
    plane: Plane = np.take(masks[0], numbers[0], axis=0)
    other = np.empty_like(plane)
    for mask, number in zip(masks[1:], numbers[1:], strict=True):
        plane &= np.take(mask, number, axis=0, out=other, mode="clip")
    return plane


def _add_weighed(sums: NDArray[np.float64], n: NDArray[np.float64], masks: Plane) -> None:
    """Adds the rows n of each class to the sums by byte of the masks and value of this byte."""
    for position, values in enumerate(_by_byte(masks)):
        sums[position] += np.bincount(values, weights=n, minlength=256)


def _by_byte(masks: Plane) -> NDArray[np.uint8]:
    """Returns the bytes of masks, a line for each byte."""
    by_mask = masks.view(np.uint8)
    by_byte = np.empty(by_mask.shape[::-1], dtype=np.uint8)
    for first in range(0, len(by_mask), _TURNED):
        by_byte[:, first : first + _TURNED] = by_mask[first : first + _TURNED].T
    return by_byte


def _by_query(sums: NDArray[np.float64], queries: int) -> NDArray[np.int64]:
    """Returns the number of rows for each bit, from the sums by byte and value. Whole numbers up to 2^53 are exact."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    counts: NDArray[np.int64] = (sums @ bits.astype(np.float64)).reshape(-1)[:queries].astype(np.int64)
    return counts
