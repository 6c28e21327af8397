"""The nodes of a lattice that may still be the answer of a search."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAX_NODES", "Node", "Rank", "Remaining"]

Node = tuple[int, ...]

# Loss, height and levels: by these nodes are compared, the least is the best.
Rank = tuple[int, int, Node]

MAX_NODES = 20_000_000
_INT64 = (1 << 62) - 1


# In the choice of what to check next, so many of the most general nodes stand for all candidates,
# and so many evenly spaced ones for all that remain: enough to choose well, and quick.
_CANDIDATES = 128
_SAMPLE = 2048


class Remaining:
    """A set of nodes in the order of their rank, that is of bound, height and levels."""

    def __init__(self, low: Node, high: Node, costs: Sequence[Sequence[int]]) -> None:
        """All nodes between `low` and `high`; raises PolicyError if there are too many to hold."""
        import numpy as np

        size = prod(top - bottom + 1 for bottom, top in zip(low, high, strict=True))
        if size > MAX_NODES:
            raise PolicyError(
                f"the lattice has {size:,} nodes, more than {MAX_NODES:,}",
                hint="narrow it with MIN LEVEL and MAX LEVEL, or use hierarchies with fewer levels",
            )
        shape = [top - bottom + 1 for bottom, top in zip(low, high, strict=True)]
        levels = np.indices(shape, dtype=np.int16).reshape(len(shape), -1).T + np.array(low, dtype=np.int16)
        exact = sum(max(cost) for cost in costs) <= _INT64
        bound: NDArray[Any] = np.zeros(size, dtype=np.int64 if exact else object)
        for place, cost in enumerate(costs):
            bound = bound + np.array(cost, dtype=bound.dtype)[levels[:, place]]
        height = levels.sum(axis=1)
        # The nodes come in the order of their levels, which both sorts keep among equals.
        order = np.lexsort((height, bound)) if exact else sorted(range(size), key=lambda n: (bound[n], height[n]))
        self._levels: NDArray[Any] = levels[order]
        self._bound: NDArray[Any] = bound[order]

    @property
    def count(self) -> int:
        return len(self._bound)

    def spread(self, count: int) -> list[Node]:
        """Up to `count` nodes at even distances: whichever of them satisfy, much can be dropped."""
        places = {self.count * (i + 1) // (count + 1) for i in range(count)} if self.count else set()
        return [_node(self._levels[place]) for place in sorted(places)]

    def general(self, count: int) -> list[Node]:
        """Up to `count` nodes that together have most of the others below them."""
        import numpy as np

        candidates = self._levels[max(self.count - _CANDIDATES, 0) :]
        sample = self._levels[:: max(self.count // _SAMPLE, 1)]
        below: Any = (sample[None, :, :] <= candidates[:, None, :]).all(axis=2)
        chosen: list[Node] = []
        while len(chosen) < count and below.size:
            gains = below.sum(axis=1)
            # Of equals the most general: nothing that remains is above the last one.
            place = len(gains) - 1 - int(np.argmax(gains[::-1]))
            if chosen and not gains[place]:
                break
            chosen.append(_node(candidates[place]))
            below = below[:, ~below[place]]
        return chosen

    def drop(self, node: Node) -> None:
        self._keep((self._levels != _row(node)).any(axis=1))

    def drop_below(self, node: Node) -> None:
        """Every node at most as general as this one suppresses at least as much."""
        self._keep((self._levels > _row(node)).any(axis=1))

    def drop_from(self, rank: Rank) -> None:
        """Every node whose bound, height and levels are not before this rank cannot beat it."""
        import numpy as np

        start, end = (int(np.searchsorted(self._bound, rank[0], side=side)) for side in ("left", "right"))
        for place in range(start, end):
            node = _node(self._levels[place])
            if (sum(node), node) >= rank[1:]:
                end = place
                break
        self._levels, self._bound = self._levels[:end], self._bound[:end]

    def _keep(self, chosen: Any) -> None:
        self._levels, self._bound = self._levels[chosen], self._bound[chosen]


def _node(levels: NDArray[Any]) -> Node:
    return tuple(levels.tolist())


def _row(node: Node) -> NDArray[Any]:
    import numpy as np

    return np.array(node, dtype=np.int16)
