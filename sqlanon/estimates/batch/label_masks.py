"""Which of many queries rows satisfy, as words of bits that functions under udfs/ add up.

A label has a mask, a bit for each query. Labels between which no query differs have one, and a row says by one number,
its code, which masks its labels have: a code has a digit for each column, or for some columns that have few masks
together. What a row satisfies is the AND of the masks of its digits.
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

# The masks of several columns, each with each, are no more than this: so they stay in a processor's cache.
_MOST_TOGETHER = 1 << 11


@dataclass(frozen=True)
class Masks:
    """The words of the masks of a column, and the number of the first label that has each."""

    words: Plane
    first: NDArray[np.int64]


@dataclass(frozen=True)
class CodePosition:
    """Where a column is in the codes of a row: mask i of it adds i times the stride to the code at an index."""

    index: int
    stride: int


@dataclass(frozen=True)
class _Digit:
    words: Plane
    index: int
    shift: int
    bits: int


@dataclass(frozen=True)
class Codes:
    """What rows satisfy, by their codes, of which a row has `count`."""

    columns: Sequence[CodePosition]
    count: int
    queries: int
    digits: Sequence[_Digit]

    def satisfied(self, rows: NDArray[np.int64]) -> Plane:
        """The words of some rows along a last axis, from an array of any shape for each of their codes."""
        words = -(-self.queries // WORD)
        if not self.digits:
            return np.full((*rows.shape[1:], words), _packed(np.ones(self.queries, dtype=bool), words))
        found = np.empty((*rows.shape[1:], words), dtype=np.uint64)
        other = np.empty_like(found)
        for number, digit in enumerate(self.digits):
            which = rows[digit.index] >> digit.shift
            which &= (1 << digit.bits) - 1
            # No code is out of range, and to clip is faster than to look.
            np.take(digit.words, which, axis=0, out=found if number == 0 else other, mode="clip")
            if number:
                np.bitwise_and(found, other, out=found)
        return found


def masks_of(queries: int, asked: Sequence[int], intervals: Sequence[tuple[int, int, int]]) -> Masks:
    """The masks of labels for so many queries, of which some are `asked` of the labels: the others hold for all.

    The intervals have a query, and the first and the last number of labels that satisfy it; those of a query are apart.
    """
    words = -(-queries // WORD)
    query, first, last = np.asarray(intervals, dtype=np.int64).reshape(-1, 3).T
    starts, places = np.unique(np.concatenate([[0], first, last + 1]), return_inverse=True)
    turned = np.zeros((len(starts), words), dtype=np.uint64)
    turned[0] = _packed(~np.isin(np.arange(queries), np.asarray(asked, dtype=np.int64)), words)
    bit = np.left_shift(np.uint64(1), (query % WORD).astype(np.uint64))
    for ends in np.split(places[1:], 2):
        np.bitwise_xor.at(turned, (ends, query // WORD), bit)
    return Masks(np.bitwise_xor.accumulate(turned, axis=0), starts)


def encoded(columns: Sequence[Masks], queries: int, *, together: int = _MOST_TOGETHER, bits: int = CODE_BITS) -> Codes:
    """The codes of rows that have these columns: of `bits` each, and columns of at most so many masks `together`."""
    found: dict[int, CodePosition] = {}
    digits: list[_Digit] = []
    index = shift = 0
    for some in _digits([len(one.words) for one in columns], together):
        words = columns[some[0]].words
        for number in some[1:]:
            words = (words[:, None, :] & columns[number].words[None, :, :]).reshape(-1, words.shape[1])
        own = max(1, (len(words) - 1).bit_length())
        if shift and shift + own > bits:
            index, shift = index + 1, 0
        digits.append(_Digit(words, index, shift, own))
        stride = len(words)
        for number in some:
            stride //= len(columns[number].words)
            found[number] = CodePosition(index, stride << shift)
        shift += own
    return Codes([found[number] for number in range(len(columns))], index + 1, queries, digits)


def _digits(sizes: Sequence[int], most: int) -> list[list[int]]:
    """The columns of each digit, from how many masks each column has."""
    digits: list[tuple[int, list[int]]] = []
    for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        for at, (size, some) in enumerate(digits):
            if size * sizes[number] <= most:
                digits[at] = (size * sizes[number], [*some, number])
                break
        else:
            digits.append((sizes[number], [number]))
    return [some for _, some in digits]


def _packed(bits: NDArray[np.bool_], words: int) -> NDArray[np.uint64]:
    full = np.zeros(words * WORD, dtype=bool)
    full[: len(bits)] = bits
    return np.packbits(full, bitorder="little").view(np.uint64)
