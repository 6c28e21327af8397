"""Arithmetic for many queries at once: plane i of a number has its i-th bit for each query.

A plane is an array of words with a row for each thing that is counted and a bit for each query, so that one operation
on a word computes for 64 queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Plane", "Totals", "counted", "lesser", "product", "sort_bits", "squares"]

Plane = NDArray[np.uint64]

# Rows are folded in halves until there are no more than this; then the bits of each are counted.
_ROWS_NOT_FOLDED = 8


def counted(masks: Sequence[Plane]) -> list[Plane]:
    """The planes of a count: for each bit, how many of the masks have it set."""
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
    """The sum of two or three bits, and the carry."""
    either, carry = a ^ b, a & b
    if c is None:
        return either, carry
    bit = either ^ c
    either &= c
    carry |= either
    return bit, carry


def sort_bits(masks: Plane) -> None:
    """Sorts the masks bit by bit, in place: then mask i has the bits that more than i of the masks had."""
    for number, mask in enumerate(masks):
        for earlier in masks[:number]:
            both = earlier & mask
            earlier |= mask
            mask[...] = both


def product(a: Sequence[Plane], b: Sequence[Plane]) -> Iterator[tuple[int, Plane]]:
    """Planes and their positions that add up to the product of two numbers."""
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            yield i + j, left & right


def squares(a: Sequence[Plane]) -> list[tuple[int, Plane]]:
    """Planes and their positions that add up to the square of a number: a bit is its own square."""
    planes = [(2 * i, bit) for i, bit in enumerate(a)]
    planes += [(i + j + 1, bit & a[j]) for i, bit in enumerate(a) for j in range(i)]
    return planes


def lesser(a: Sequence[Plane], b: Sequence[Plane]) -> list[Plane]:
    """The planes of the lesser of two numbers that have equally many planes."""
    less, same = np.zeros_like(a[0]), ~np.zeros_like(a[0])
    for bit_a, bit_b in zip(reversed(a), reversed(b), strict=True):
        differ = bit_a ^ bit_b
        less |= same & differ & bit_b
        same &= ~differ
    return [bit_b ^ ((bit_a ^ bit_b) & less) for bit_a, bit_b in zip(a, b, strict=True)]


class Totals:
    """Adds up planes over their rows: three of a position make one there and one at the next (carry-save addition).

    The rows are the last axis but one; planes may have others before it, which stay apart.
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

    def add_number(self, planes: Sequence[Plane]) -> None:
        """Adds a number, plane i at position i."""
        for position, plane in enumerate(planes):
            self.add(position, plane)

    def counts(self, queries: int) -> NDArray[np.int64]:
        """The sum for each query, along the last axis."""
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
            bits = np.unpackbits(np.ascontiguousarray(plane).view(np.uint8), axis=-1, bitorder="little")
            sums = sums + (bits[..., :queries].sum(axis=-2, dtype=np.int64) << position)
        return sums

    def _planes(self) -> Iterator[tuple[int, Plane]]:
        for position, waiting in self._open.items():
            for plane in waiting:
                yield position, plane
