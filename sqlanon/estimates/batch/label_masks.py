"""Bitmasks of labels, and the codes by which rows name them, for the functions under udfs/ that add up masks.

A label has a mask, a bit for each query. Labels that no query tells apart have the same mask. A row has a number, its
code, which says what masks its labels have: a code has a digit for each column, or for several columns that have few
masks together. The queries that a row satisfies are the AND of the masks of its digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.estimates.batch.bit_planes import Plane
from sqlanon.estimates.batch.code_layout import CODE_BITS

__all__ = ["WORD", "CodePosition", "Codes", "Masks", "encoded", "masks_of"]

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
    """The part of a row's codes for a column: its mask i adds i times the stride to the code at the index."""

    index: int
    stride: int


@dataclass(frozen=True)
class _Digit:
    """Bits of the code at an index, from a shift on, and the words of the mask for each number in these bits."""

    words: Plane
    index: int
    shift: int
    bits: int


@dataclass(frozen=True)
class Codes:
    """How rows name the masks of their labels: by `count` codes each, made of digits."""

    columns: Sequence[CodePosition]
    count: int
    queries: int
    digits: Sequence[_Digit]

    def satisfied(self, rows: NDArray[np.int64]) -> Plane:
        """The masks of rows, their words along a last axis, from an array of any shape for each code of a row."""
        words = -(-self.queries // WORD)
        if not self.digits:
            return np.full((*rows.shape[1:], words), _packed(np.ones(self.queries, dtype=bool), words))
        masks = np.empty((*rows.shape[1:], words), dtype=np.uint64)
        other = np.empty_like(masks)
        for number, digit in enumerate(self.digits):
            which = rows[digit.index] >> digit.shift
            which &= (1 << digit.bits) - 1
            # No code is out of range, and to clip is faster than to look.
            np.take(digit.words, which, axis=0, out=masks if number == 0 else other, mode="clip")
            if number:
                np.bitwise_and(masks, other, out=masks)
        return masks


def masks_of(queries: int, asking: Sequence[int], intervals: Sequence[tuple[int, int, int]]) -> Masks:
    """The masks of the labels of a column for queries, of which those in `asking` have a condition on the column.

    An interval is a query with the first and the last number of labels that satisfy it; those of a query do not touch.
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
    """The codes of rows for columns with these masks.

    A code has `bits`, and columns share a digit if that has at most `together` masks.
    """
    positions: dict[int, CodePosition] = {}
    digits: list[_Digit] = []
    index = shift = 0
    for members in _digits([len(masks.words) for masks in columns], together):
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


def _digits(sizes: Sequence[int], most: int) -> list[list[int]]:
    """The columns of each digit, from the number of masks of each column."""
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
    """The bits as words, padded with 0."""
    full = np.zeros(words * WORD, dtype=bool)
    full[: len(bits)] = bits
    return np.packbits(full, bitorder="little").view(np.uint64)
