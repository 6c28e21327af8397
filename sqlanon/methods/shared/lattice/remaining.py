"""The nodes of a lattice that may still be the answer of a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from sqlanon.errors import PolicyError
from sqlanon.methods.shared.lattice.box import nodes_between
from sqlanon.methods.shared.lattice.sizes import sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

Node = tuple[int, ...]

# Loss, height and levels: by these nodes are compared, the least is the best.
Rank = tuple[int, int, Node]

# The least loss that each of some nodes may have; a row of the first argument holds a node's levels, the second are
# rows that each of them withholds at least.
Bounds = Callable[["NDArray[Any]", int], "NDArray[Any]"]

# In the choice of what to check next, this many of the most general nodes stand for all candidates,
# and this many evenly spaced ones for all that remain: enough to choose well, and quick.
_CANDIDATES = 128
_SAMPLE = 512
_HALVING = 64

# Of so many nodes at a time the less general ones are looked for.
_TOGETHER = 256


class Remaining:
    """A set of nodes in the order of their bound."""

    def __init__(self, low: Node, high: Node, bounds: Bounds) -> None:
        """All nodes between `low` and `high`; raises PolicyError if there are too many to hold."""
        import numpy as np

        shape = [top - bottom + 1 for bottom, top in zip(low, high, strict=True)]
        size = prod(shape)
        most = sizes().max_nodes
        if size > most:
            raise PolicyError(
                f"the lattice has {size:,} nodes, more than {most:,}",
                hint="search with a time_limit, narrow it with MIN LEVEL and MAX LEVEL, or use hierarchies with fewer "
                "levels",
            )
        self._low, self._shape = low, shape
        # A row an attribute: comparisons with a node go through one attribute after the other.
        self._levels = nodes_between(low, high)
        # Nodes are numbered in the order of their levels.
        self._number: NDArray[Any] = np.arange(size)
        self._bounds = bounds
        self._bound: NDArray[Any] = bounds(self._levels.T, 0)
        self._sort()

    def _sort(self) -> None:
        import numpy as np

        bound = self._bound
        if bound.dtype == object:
            order: Any = np.array(sorted(range(len(bound)), key=bound.__getitem__), dtype=np.int64)
        else:
            order = np.argsort(bound, kind="stable")
        self._keep(order)

    @property
    def count(self) -> int:
        return len(self._bound)

    @property
    def least(self) -> int | None:
        """The least loss that a remaining node may have; None if none remains."""
        return int(self._bound[0]) if self.count else None

    def halving(self, count: int) -> list[Node]:
        """Up to `count` nodes that have many others below them and many above.

        Whether such a node satisfies or not, much can be dropped: what is below one that
        fails, and what is above, and so loses more than, one that satisfies.
        """
        import numpy as np

        indexes = np.arange(0, self.count, max(self.count // _HALVING, 1))
        candidates, sample = self._levels[:, indexes], self._levels[:, :: max(self.count // _SAMPLE, 1)]
        below: Any = np.ones((candidates.shape[1], sample.shape[1]), dtype=bool)
        above = below.copy()
        for level, others in zip(candidates, sample, strict=True):
            below &= others[None, :] <= level[:, None]
            above &= others[None, :] >= level[:, None]
        lower, upper = below.sum(axis=1), above.sum(axis=1)
        chosen: list[Node] = []
        while len(chosen) < count and len(lower):
            index = int(np.argmax(np.minimum(lower, upper) * _HALVING + lower))
            if not lower[index]:
                break
            chosen.append(self._node(int(indexes[index])))
            taken = below[index] | above[index]
            lower = lower - below[:, taken].sum(axis=1)
            upper = upper - above[:, taken].sum(axis=1)
            below[:, taken] = False
            above[:, taken] = False
        return chosen

    def general(self, count: int) -> list[Node]:
        """Up to `count` nodes that together have most of the others below them."""
        import numpy as np

        start = max(self.count - _CANDIDATES, 0)
        candidates, sample = self._levels[:, start:], self._levels[:, :: max(self.count // _SAMPLE, 1)]
        below: Any = np.ones((candidates.shape[1], sample.shape[1]), dtype=bool)
        for level, others in zip(candidates, sample, strict=True):
            below &= others[None, :] <= level[:, None]
        chosen: list[Node] = []
        gains = below.sum(axis=1)
        while len(chosen) < count and gains.size:
            # Of equals the most general: nothing that remains is above the last one.
            index = len(gains) - 1 - int(np.argmax(gains[::-1]))
            if chosen and not gains[index]:
                break
            chosen.append(self._node(start + index))
            taken = below[index].copy()
            gains = gains - below[:, taken].sum(axis=1)
            below[:, taken] = False
        return chosen

    def children(self, ranks: Sequence[Rank], count: int) -> list[Node]:
        """Up to `count` of those that are one level less general than a node of these, in the order of these."""
        import numpy as np

        chosen: dict[int, None] = {}
        steps = np.array(self._steps, dtype=np.int64)
        for first in range(0, len(ranks) if count else 0, _TOGETHER):
            above = np.array([rank[2] for rank in ranks[first : first + _TOGETHER]], dtype=np.int64)
            low = np.array(self._low, dtype=np.int64)
            below = ((above - low) @ steps)[:, None] - steps[None, :]
            remains = np.isin(below, self._number) & (above > low)
            chosen |= dict.fromkeys(below[remains].tolist())
            if len(chosen) >= count:
                break
        return [self._at(number) for number in list(chosen)[:count]]

    def neighbours(self, node: Node, count: int) -> list[Node]:
        """Up to `count` of those that lower one attribute of a node by a level, then of those that also raise another.

        Of both those with the least bounds first.
        """
        import numpy as np

        number, attributes = self._number_of(node), zip(self._steps, node, self._low, self._shape, strict=True)
        steps = [(step, level > low, level < low + width - 1) for step, level, low, width in attributes]
        lower = [number - step for step, falls, _ in steps if falls]
        swapped = [below + step for below in lower for step, _, rises in steps if rises and below + step != number]
        chosen: list[Node] = []
        for numbers in (lower, swapped):
            indexes = np.flatnonzero(np.isin(self._number, np.array(numbers, dtype=np.int64)))
            chosen += [self._node(int(index)) for index in indexes[: count - len(chosen)]]
        return chosen

    @property
    def _steps(self) -> list[int]:
        """By how much the number of a node falls with a level of each attribute."""
        return [prod(self._shape[index + 1 :]) for index in range(len(self._shape))]

    def _at(self, number: int) -> Node:
        levels: list[int] = []
        for bottom, width in zip(reversed(self._low), reversed(self._shape), strict=True):
            number, level = divmod(number, width)
            levels.append(bottom + level)
        return tuple(reversed(levels))

    def drop(self, nodes: Sequence[Node]) -> None:
        """Drops nodes that have been looked at."""
        import numpy as np

        self._keep(~np.isin(self._number, np.array([self._number_of(node) for node in nodes], dtype=np.int64)))

    def drop_below(self, nodes: Sequence[Node]) -> None:
        """Drops every node at most as general as one of these."""
        import numpy as np

        gone = np.zeros(self.count, dtype=bool)
        for node in nodes:
            below = self._levels[0] <= node[0]
            for levels, level in zip(self._levels[1:], node[1:], strict=True):
                below &= levels <= level
            gone |= below
        if gone.any():
            self._keep(~gone)

    def drop_from(self, rank: Rank) -> None:
        """Drops every node that cannot beat this rank: whose bound, height and levels are not before it."""
        import numpy as np

        loss, height, node = rank
        start, end = (int(np.searchsorted(self._bound, loss, side=side)) for side in ("left", "right"))
        heights = self._levels[:, start:end].sum(axis=0)
        earlier = (heights < height) | ((heights == height) & (self._number[start:end] < self._number_of(node)))
        self._keep(np.concatenate([np.arange(start), start + np.flatnonzero(earlier)]))

    def raise_below(self, withheld: Sequence[tuple[Node, int]]) -> None:
        """Takes into account that every node at most as general as one of these withholds at least that many rows."""
        import numpy as np

        changed = False
        for node, rows in withheld:
            below = self._levels[0] <= node[0]
            for levels, level in zip(self._levels[1:], node[1:], strict=True):
                below &= levels <= level
            if below.any():
                self._bound[below] = np.maximum(self._bound[below], self._bounds(self._levels[:, below].T, rows))
                changed = True
        if changed:
            self._sort()

    def raise_above(self, floors: Sequence[tuple[Node, int]]) -> None:
        """Takes into account that no node at least as general as one of these loses less than its floor."""
        changed = False
        for node, floor in floors:
            above = self._bound < floor
            for levels, level in zip(self._levels, node, strict=True):
                above &= levels >= level
            if above.any():
                self._bound[above] = floor
                changed = True
        if changed:
            self._sort()

    def _keep(self, chosen: Any) -> None:
        self._levels = self._levels[:, chosen]
        self._bound, self._number = self._bound[chosen], self._number[chosen]

    def _node(self, index: int) -> Node:
        return tuple(self._levels[:, index].tolist())

    def _number_of(self, node: Node) -> int:
        number = 0
        for level, bottom, width in zip(node, self._low, self._shape, strict=True):
            number = number * width + level - bottom
        return number
