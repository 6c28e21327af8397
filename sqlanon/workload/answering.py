"""The masks of labels: which of many queries each satisfies, as arrays of words that functions under udfs/ read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sqlanon.workload.planes import Plane

__all__ = ["WORD", "Masks", "gathered", "masks_of"]

WORD = 64


@dataclass(frozen=True)
class Masks:
    """The words of different masks, and which of them each label has, by its number."""

    words: Plane
    places: NDArray[np.int32]


def masks_of(labels: int, queries: int, asked: Sequence[int], intervals: Sequence[tuple[int, int, int]]) -> Masks:
    """Masks of so many labels and queries, of which some are `asked` of the labels: the others hold for all of them.

    The intervals have a query, and the first and the last number of labels that satisfy it; those of a query are apart.
    """
    turned = np.zeros((labels + 1, -(-queries // WORD)), dtype=np.uint64)
    free = ~np.isin(np.arange(queries), np.asarray(asked, dtype=np.int64))
    turned[0] = _packed(free, turned.shape[1])
    if intervals:
        query, first, last = np.asarray(intervals, dtype=np.int64).T
        bit = np.left_shift(np.uint64(1), (query % WORD).astype(np.uint64))
        np.bitwise_xor.at(turned, (first, query // WORD), bit)
        np.bitwise_xor.at(turned, (last + 1, query // WORD), bit)
    changed: NDArray[np.bool_] = np.concatenate([np.ones(1, dtype=bool), turned[1:labels].any(axis=1)])[:labels]
    # Labels between which no query differs have one mask.
    words = np.bitwise_xor.accumulate(turned[:labels][changed], axis=0)
    return Masks(np.ascontiguousarray(words), (np.cumsum(changed) - 1).astype(np.int32))


def _packed(bits: NDArray[np.bool_], words: int) -> NDArray[np.uint64]:
    full = np.zeros(words * WORD, dtype=bool)
    full[: len(bits)] = bits
    return np.packbits(full, bitorder="little").view(np.uint64)


def gathered(columns: Sequence[Masks], places: Sequence[NDArray[np.int32]], rows: slice, queries: int) -> Plane:
    """What rows satisfy: the AND of the masks that they have in each of some columns."""
    size = rows.stop - rows.start
    words = -(-queries // WORD)
    if not columns:
        return np.repeat(_packed(np.ones(queries, dtype=bool), words)[None, :], size, axis=0)
    found = np.empty((size, words), dtype=np.uint64)
    other = np.empty_like(found)
    for number, (one, own) in enumerate(zip(columns, places, strict=True)):
        # Numbers are those of the labels: none is out of range, and to clip is faster than to look.
        np.take(one.words, own[rows], axis=0, out=found if number == 0 else other, mode="clip")
        if number:
            np.bitwise_and(found, other, out=found)
    return found
