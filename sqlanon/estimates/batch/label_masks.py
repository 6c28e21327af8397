"""Bitmasks of labels, and the codes by which rows name them, for the functions under udfs/ that add up masks.

A label has a mask, with a bit for each query. Labels that no query distinguishes share a mask. A row has a number, its
code, which names the masks of its labels: a code has a digit for each column, or one digit for several columns with few
masks. The AND of the masks of a row's digits has the queries that the row satisfies.

The numbers of many queries are bit planes: plane i has the i-th bit of each query's number. A plane is an array of
words, with a row for each counted item and a bit for each query, so one operation on a word computes results for 64
queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimates.batch.code_layout import CODE_BITS, LOCAL_BITS

if TYPE_CHECKING:
    # Only the functions on blocks need the package; a workload can be measured without it.
    import pyarrow as pa

WORD = 64

# The most masks of columns that share a digit, one for each combination. They stay in a processor's cache.
_MASKS_OF_A_DIGIT = 1 << 11


@dataclass(frozen=True)
class Masks:
    """The masks of a column's labels."""

    # The words of each mask.
    words: Plane
    # The number of the first label that has each mask.
    first: NDArray[np.int64]


@dataclass(frozen=True)
class CodePosition:
    """The position of a column in a row's codes: mask i of the column adds i * stride to the code at `index`."""

    index: int
    stride: int


@dataclass(frozen=True)
class _Digit:
    """One digit of a code: the bits from `shift` on of the code at `index`.

    `words` has the mask of each value of the digit.
    """

    words: Plane
    index: int
    shift: int
    bits: int


@dataclass(frozen=True)
class Codes:
    """The layout of rows' codes: each row has `count` codes; their digits are the numbers of the masks of its
    labels.
    """

    columns: Sequence[CodePosition]
    count: int
    queries: int
    digits: Sequence[_Digit]

    def satisfied(self, rows: NDArray[np.int64]) -> Plane:
        """Returns the mask of queries that each row satisfies, as words along the last axis.

        `rows` has, for each code of a row, an array of any shape.
        """
        words = -(-self.queries // WORD)
        if not self.digits:
            return np.full((*rows.shape[1:], words), _packed(np.ones(self.queries, dtype=bool), words))
        masks = np.empty((*rows.shape[1:], words), dtype=np.uint64)
        other = np.empty_like(masks)
        for number, digit in enumerate(self.digits):
            which = rows[digit.index] >> digit.shift
            which &= (1 << digit.bits) - 1
            # No code is out of range; mode "clip" is faster than a check.
            np.take(digit.words, which, axis=0, out=masks if number == 0 else other, mode="clip")
            if number:
                np.bitwise_and(masks, other, out=masks)
        return masks


@dataclass(frozen=True)
class AskedSides:
    """The queries from number `first` to before `last` have conditions on these sides of buckets: side 0 are the rows,
    the others the values of sets.
    """

    sides: tuple[int, ...]
    first: int
    last: int

    @property
    def of_rows(self) -> bool:
        """Whether the queries have conditions on the rows themselves."""
        return 0 in self.sides

    @property
    def sets(self) -> int:
        """The number of sets whose values the queries have conditions on."""
        return len(self.sides) - self.of_rows

    @property
    def words(self) -> slice:
        """The words of a mask that have the bits of these queries."""
        return slice(self.first // WORD, -(-self.last // WORD))

    @property
    def queries(self) -> int:
        """The number of queries, from the first bit of their words on."""
        return self.last - self.first // WORD * WORD

    @property
    def in_words(self) -> slice:
        """The bits of these queries in their words."""
        return slice(self.first % WORD, self.queries)


def masks_of(queries: int, asking: Sequence[int], intervals: Sequence[tuple[int, int, int]]) -> Masks:
    """Computes the masks of a column's labels for a batch of queries; `asking` are the queries with a condition on the
    column.

    An interval is (query, first label, last label): the labels from the first to the last satisfy the query. Intervals
    of one query do not touch.
    """
    words = -(-queries // WORD)
    query, first, last = np.asarray(intervals, dtype=np.int64).reshape(-1, 3).T
    starts, positions = np.unique(np.concatenate([[0], first, last + 1]), return_inverse=True)
    turned = np.zeros((len(starts), words), dtype=np.uint64)
    turned[0] = _packed(~np.isin(np.arange(queries), np.asarray(asking, dtype=np.int64)), words)
    bit = np.left_shift(np.uint64(1), (query % WORD).astype(np.uint64))
    for ends in np.split(positions[1:], 2):
        np.bitwise_xor.at(turned, (ends, query // WORD), bit)
    return Masks(np.bitwise_xor.accumulate(turned, axis=0), starts)


def encoded(
    columns: Sequence[Masks], queries: int, *, together: int = _MASKS_OF_A_DIGIT, bits: int = CODE_BITS
) -> Codes:
    """Lays out the codes of rows for columns with these masks.

    A code has `bits` bits. Columns share a digit if their masks combine to at most `together` masks.
    """
    positions: dict[int, CodePosition] = {}
    digits: list[_Digit] = []
    index = shift = 0
    for members in digits_of([len(masks.words) for masks in columns], together):
        words = columns[members[0]].words
        for number in members[1:]:
            words = (words[:, None, :] & columns[number].words[None, :, :]).reshape(-1, words.shape[1])
        bits_needed = max(1, (len(words) - 1).bit_length())
        if shift and shift + bits_needed > bits:
            index, shift = index + 1, 0
        digits.append(_Digit(words, index, shift, bits_needed))
        stride = len(words)
        for number in members:
            stride //= len(columns[number].words)
            positions[number] = CodePosition(index, stride << shift)
        shift += bits_needed
    return Codes([positions[number] for number in range(len(columns))], index + 1, queries, digits)


def digits_of(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Groups columns into digits of codes, by the number of masks of each column; a digit has at most `most` masks."""
    digits: list[tuple[int, list[int]]] = []
    for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        for index, (size, members) in enumerate(digits):
            if size * sizes[number] <= most:
                digits[index] = (size * sizes[number], [*members, number])
                break
        else:
            digits.append((sizes[number], [number]))
    return [members for _, members in digits]


def _packed(bits: NDArray[np.bool_], words: int) -> NDArray[np.uint64]:
    """Packs bits into words of 64, padded with 0."""
    full = np.zeros(words * WORD, dtype=bool)
    full[: len(bits)] = bits
    return np.packbits(full, bitorder="little").view(np.uint64)


Plane = NDArray[np.uint64]

# Rows are folded in halves down to at most this number; then the bits of each are counted.
_ROWS_NOT_FOLDED = 8


def counted(masks: Sequence[Plane]) -> list[Plane]:
    """Counts for each bit the masks that have it set; returns the planes of the counts."""
    levels: list[list[Plane]] = [list(masks)]
    planes: list[Plane] = []
    for level in levels:
        while len(level) > 1:
            bit, carry = _added(level.pop(), level.pop(), level.pop() if level else None)
            level.append(bit)
            if len(levels) == len(planes) + 1:
                levels.append([])
            levels[len(planes) + 1].append(carry)
        planes.append(level[0])
    return planes


def _added(a: Plane, b: Plane, c: Plane | None) -> tuple[Plane, Plane]:
    """Adds two or three planes; returns the sum's plane and the carry's plane."""
    either, carry = a ^ b, a & b
    if c is None:
        return either, carry
    bit = either ^ c
    either &= c
    carry |= either
    return bit, carry


def sort_bits(masks: Plane) -> None:
    """Sorts the masks bit by bit, in place: afterwards mask i has the bits that more than i of the masks had before."""
    for number, mask in enumerate(masks):
        for earlier in masks[:number]:
            both = earlier & mask
            earlier |= mask
            mask[...] = both


def numbers_of(planes: Sequence[Plane], queries: int) -> NDArray[np.int32]:
    """Returns the number of each counted item and query; the numbers of an item are along the last axis."""
    first, *others = (_bits_of(plane, queries) for plane in planes)
    numbers: NDArray[Any] = first.astype(np.uint8 if len(planes) <= 8 else np.int32)
    for position, bits in enumerate(others, start=1):
        numbers += bits.astype(numbers.dtype, copy=False) << position
    return numbers.astype(np.int32, copy=False)


def _bits_of(plane: Plane, queries: int) -> NDArray[np.uint8]:
    """Returns each query's bit, along the last axis."""
    return np.unpackbits(plane.view(np.uint8), axis=-1, count=queries, bitorder="little")


class Totals:
    """Adds up bit planes over their rows by carry-save addition.

    Three planes at one position become one plane there and one at the next position. The rows are the last axis but
    one; axes before it are not added up.
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._open: dict[int, list[Plane]] = {}

    def add(self, position: int, plane: Plane) -> None:
        """Adds a plane of bits at a position; it may have fewer rows than the totals."""
        if (missing := self._rows - plane.shape[-2]) > 0:
            zeros = np.zeros((*plane.shape[:-2], missing, plane.shape[-1]), dtype=np.uint64)
            plane = np.concatenate([plane, zeros], axis=-2)
        while True:
            waiting = self._open.setdefault(position, [])
            if len(waiting) < 2:
                waiting.append(plane)
                return
            bit, plane = _added(waiting.pop(), waiting.pop(), plane)
            waiting.append(bit)
            position += 1

    def counts(self, queries: int) -> NDArray[np.int64]:
        """Returns the sum for each query, along the last axis."""
        folded = self
        while folded._rows > _ROWS_NOT_FOLDED:
            half = (folded._rows + 1) // 2
            smaller = Totals(half)
            for position, plane in folded._planes():
                smaller.add(position, plane[..., :half, :])
                smaller.add(position, plane[..., half:, :])
            folded = smaller
        sums = np.zeros(queries, dtype=np.int64)
        for position, plane in folded._planes():
            bits = _bits_of(np.ascontiguousarray(plane), queries)
            sums = sums + (bits.sum(axis=-2, dtype=np.int64) << position)
        return sums

    def _planes(self) -> Iterator[tuple[int, Plane]]:
        for position, waiting in self._open.items():
            for plane in waiting:
                yield position, plane


# Blocks of rows as functions under udfs/ receive them: each has a list of the codes of its rows.


# The most buckets, or groups, in a block.
MOST_LOCAL = 1 << LOCAL_BITS

Numbers = NDArray[np.int64]


def _contiguous(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def fields(array: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    """Returns the fields of an array of structs, each an array of lists."""
    return list(_contiguous(array).flatten())


def lists(array: pa.Array | pa.ChunkedArray) -> Iterator[Numbers]:
    """Yields the numbers of each list; NULL is an empty list."""
    number_lists = _contiguous(array)
    ends = np.cumsum(number_lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)).tolist()
    values = number_lists.flatten().to_numpy(zero_copy_only=False)
    for start, end in zip([0, *ends], ends, strict=False):
        yield values[start:end]


def rows_of(array: pa.Array | pa.ChunkedArray, codes: int) -> Iterator[Numbers]:
    """Yields the codes of the rows of each block, as an array with a line for each code of a row."""
    return (numbers.reshape(codes, -1) for numbers in lists(array))


def nested_lists(array: pa.Array | pa.ChunkedArray, codes: Sequence[int]) -> Iterator[list[Numbers]]:
    """Yields the lists of each block. A list has the codes of its rows, as an array with a line for each code of a row;
    `codes` has the number of codes of a row for each list of a block.
    """
    masks = lists(_contiguous(array).flatten())
    for sides in zip(*[masks] * len(codes), strict=True):
        yield [numbers.reshape(count, -1) for numbers, count in zip(sides, codes, strict=True)]


def in_order(rows: Numbers) -> Numbers:
    """Returns the rows of a block sorted by their buckets."""
    # sort() is several times as fast as argsort().
    return np.sort(rows) if len(rows) == 1 else rows[:, np.argsort(rows[0])]


def sizes_of(rows: Numbers) -> Numbers:
    """Returns the number of rows of each bucket of a block."""
    return np.bincount(rows[0] >> CODE_BITS, minlength=MOST_LOCAL)


def results(rows: int, numbers: Numbers) -> pa.Array:
    """Returns an array whose first row is the list of the numbers; all other rows are empty lists."""
    import pyarrow as pa

    offsets = np.full(rows + 1, len(numbers), dtype=np.int32)
    if rows:
        offsets[0] = 0
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(numbers))
