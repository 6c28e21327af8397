"""The full-domain lattice, and the search for its node of least loss (Samarati 2001; LeFevre et al. 2005).

A node is a level for each attribute. Two facts prune the lattice:

- Loss. Suppressing a row replaces its loss by 1 a cell, which is never less. So a node
  loses at least `bound`, the loss of its recoding without any suppression, which needs
  the marginal counts of single attributes only. No node whose bound is above the loss
  of a node that satisfies can be better.
- Monotonicity under suppression. Where merging classes never adds suppressed rows (as
  for k-anonymity), a node that suppresses too many rows rules out every node below it.

What is left between the two is checked, most general first from the middle of what
remains, until nothing remains: the node found is optimal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MAX_NODES", "Found", "Lattice", "Node", "search"]

Node = tuple[int, ...]
MAX_NODES = 20_000_000
_INT64 = (1 << 62) - 1


@dataclass(frozen=True)
class Lattice:
    """Levels `low[i] .. high[i]` for each attribute i.

    `costs[i][level]` is the loss that attribute i adds at that level when nothing is
    suppressed, in one exact integer unit for all attributes.
    """

    low: Node
    high: Node
    costs: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        return prod(high - low + 1 for low, high in zip(self.low, self.high, strict=True))

    def bound(self, node: Node) -> int:
        return sum(cost[level] for cost, level in zip(self.costs, node, strict=True))


@dataclass(frozen=True)
class Found:
    """The optimal node, its loss in the lattice's unit and the rows it suppresses; the nodes checked on the way."""

    node: Node
    loss: int
    suppressed: int
    checked: int


def search(
    lattice: Lattice,
    limit: int,
    suppressed: Callable[[Sequence[Node]], Sequence[int]],
    loss: Callable[[Node], int],
    *,
    batch: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Found | None:
    """The node of least loss that suppresses at most `limit` rows; None if there is none.

    `suppressed` counts the rows that each of some nodes suppresses, `loss` is a node's
    loss with its suppressed rows. Among nodes of equal loss the one of least height,
    then the first in the order of its levels, is taken.
    """
    state = _Remaining(lattice)
    best: tuple[int, int, Node] | None = None
    found: Found | None = None
    checked = 0
    while nodes := state.pick(batch):
        for node, rows in zip(nodes, suppressed(nodes), strict=True):
            checked += 1
            if rows > limit:
                state.drop_below(node)
                continue
            rank = (loss(node), sum(node), node)
            if best is None or rank < best:
                best, found = rank, Found(node, rank[0], rows, 0)
                state.drop_from(rank)
            state.drop(node)
        if progress:
            progress(lattice.size - state.left, lattice.size)
    return Found(found.node, found.loss, found.suppressed, checked) if found else None


class _Remaining:
    """The nodes that may still be the answer, ordered by bound, height and levels."""

    def __init__(self, lattice: Lattice) -> None:
        import numpy as np

        if lattice.size > MAX_NODES:
            raise PolicyError(
                f"the lattice has {lattice.size:,} nodes, more than {MAX_NODES:,}",
                hint="narrow it with MIN LEVEL and MAX LEVEL, or use hierarchies with fewer levels",
            )
        ranges = [range(low, high + 1) for low, high in zip(lattice.low, lattice.high, strict=True)]
        exact = max((max(cost) for cost in lattice.costs), default=0) * max(len(ranges), 1) <= _INT64
        grids = np.meshgrid(*(np.array(r, dtype=np.int16) for r in ranges), indexing="ij")
        levels = np.stack([grid.ravel() for grid in grids], axis=1)
        bound: NDArray[np.generic] = np.zeros(len(levels), dtype=np.int64 if exact else object)
        for i, cost in enumerate(lattice.costs):
            bound = bound + np.array(cost, dtype=bound.dtype)[levels[:, i]]
        height = levels.sum(axis=1)
        # meshgrid lists the nodes in the order of their levels, which a stable sort keeps.
        order = np.lexsort((height, bound)) if exact else sorted(range(len(levels)), key=lambda n: (bound[n], height[n]))
        self._levels = levels[order]
        self._bound = bound[order]
        self._alive = np.ones(len(levels), dtype=bool)
        self._end = len(levels)

    @property
    def left(self) -> int:
        return int(self._alive[: self._end].sum())

    def pick(self, count: int) -> list[Node]:
        """Up to `count` nodes to check next.

        The most general node that remains is one of them: nothing that remains is
        above it, so it has to be checked sooner or later. The others lie at the middle
        and beyond, where either answer removes much.
        """
        import numpy as np

        alive = np.flatnonzero(self._alive[: self._end])
        if not len(alive):
            return []
        last = len(alive) - 1
        places = {last // 2} if count == 1 else {last - (last >> (i + 1)) for i in range(count - 1)} | {last}
        return [tuple(int(level) for level in self._levels[alive[place]]) for place in sorted(places)]

    def drop(self, node: Node) -> None:
        self._alive[: self._end] &= ~(self._levels[: self._end] == self._row(node)).all(axis=1)

    def drop_below(self, node: Node) -> None:
        """Every node at most as general as this one suppresses at least as much."""
        self._alive[: self._end] &= ~(self._levels[: self._end] <= self._row(node)).all(axis=1)

    def drop_from(self, best: tuple[int, int, Node]) -> None:
        """Every node whose bound, height and levels are not before the best node's rank cannot beat it."""
        import numpy as np

        self._end = min(self._end, int(np.searchsorted(self._bound[: self._end], best[0], side="right")))
        start = int(np.searchsorted(self._bound[: self._end], best[0], side="left"))
        for place in range(start, self._end):
            node = tuple(int(level) for level in self._levels[place])
            if (sum(node), node) >= best[1:]:
                self._end = place
                return

    def _row(self, node: Node) -> NDArray[np.int16]:
        import numpy as np

        return np.array(node, dtype=np.int16)
