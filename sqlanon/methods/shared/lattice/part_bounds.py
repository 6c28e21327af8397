"""A lower bound of the losses of all nodes of a lattice, from complete searches of parts of the attributes.

In a satisfying node, the classes by some of the attributes satisfy, too, because merging classes never makes more rows
violate. So the least loss of a part of the attributes bounds their share in the loss of any node, and the bounds of
parts without a common attribute add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from random import Random
from time import monotonic

from sqlanon.methods.shared.lattice.node_arrays import NodeArrays
from sqlanon.methods.shared.lattice.nodes import Counted, Lattice, Node, Rank
from sqlanon.methods.shared.lattice.search import search

_SEED = 1
# The nodes of the lattice of a part, at most; and the nodes that a search of a part counts at once.
_PART_NODES = 100_000
_PART_BATCH = 8


class PartBounds:
    """The attributes in parts, and a lower bound of the loss from each part."""

    def __init__(self, arrays: NodeArrays, lattice: Lattice, limit: int) -> None:
        self._arrays, self._lattice, self._limit = arrays, lattice, limit
        self._random = Random(_SEED)
        self._nothing = lattice.ranks([lattice.low])[0][0]
        self._parts = self._divided()
        self._least = [self._nothing for _ in self._parts]

    @property
    def least(self) -> int:
        """The lower bound: what the lowest node loses, and what each part adds."""
        return self._nothing + sum(least - self._nothing for least in self._least)

    def _divided(self) -> list[list[int]]:
        """Deals the attributes with several levels out to as few parts as can be searched.

        Attributes with much information come first, so that each part has some of them.
        """
        levels = zip(self._lattice.low, self._lattice.high, strict=True)
        spread = self._arrays.entropies(self._lattice.low)
        movable = sorted((i for i, (low, high) in enumerate(levels) if low < high), key=lambda i: -spread[i])
        for number in range(1, len(movable) + 1):
            parts = [movable[first::number] for first in range(number)]
            if all(self._size(part) <= _PART_NODES for part in parts):
                return parts
        return []

    def _size(self, part: Sequence[int]) -> int:
        return prod(self._lattice.high[index] - self._lattice.low[index] + 1 for index in part)

    def improve(self, until: float, expired: Callable[[], bool]) -> None:
        """Searches parts, and then parts that exchange two attributes, until the time `until`."""

        def over() -> bool:
            return monotonic() > until or expired()

        for number in range(len(self._parts)):
            if self._least[number] == self._nothing and not over():
                self._least[number] = max(self._nothing, self._searched(self._parts[number], over))
        while len(self._parts) > 1 and not over():
            self._exchange(over)

    def _exchange(self, over: Callable[[], bool]) -> None:
        """Exchanges an attribute of one part for an attribute of another if the bound is greater then."""
        first, second = self._random.sample(range(len(self._parts)), 2)
        left, right = list(self._parts[first]), list(self._parts[second])
        i, j = self._random.randrange(len(left)), self._random.randrange(len(right))
        left[i], right[j] = right[j], left[i]
        if max(self._size(left), self._size(right)) > _PART_NODES:
            return
        bounds = self._searched(left, over), self._searched(right, over)
        if sum(bounds) > self._least[first] + self._least[second]:
            self._parts[first], self._parts[second] = left, right
            self._least[first], self._least[second] = bounds

    def _searched(self, part: Sequence[int], over: Callable[[], bool]) -> int:
        """Returns the least loss of a node whose classes by the attributes of this part satisfy, if the other
        attributes were not generalized at all; a lower bound of it if the time is over.
        """
        high = list(self._lattice.low)
        for index in part:
            high[index] = self._lattice.high[index]
        of_part = replace(self._lattice, high=tuple(high))

        def count(nodes: Sequence[Node]) -> list[Counted]:
            return [self._arrays.count_part(node, part) for node in nodes]

        def settle(nodes: Sequence[Node], best: Rank | None) -> list[tuple[int, int] | None]:
            return [(loss, 0) for loss, _, _ in of_part.ranks(nodes)]

        best = search(of_part, self._limit, count, settle, batch=_PART_BATCH, expired=over)
        if best is None:
            return self._nothing
        return best.loss if best.least is None else best.least
