"""The full-domain lattice, and the search for its node of least loss (Samarati 2001; LeFevre et al. 2005).

A node is a level for each attribute. Three facts prune the lattice:

- Loss. A node loses at least its `bound`, which needs the marginal counts of single
  attributes only. No node whose bound is above the loss of a node that satisfies can
  be better.
- Excess. A class exceeds a requirement by a convex function of its rows, so that the
  sum over all classes never grows when classes merge; and the rows that may be
  suppressed bound that sum for a node that satisfies. So a node beyond it rules out
  every node below. For a requirement like k-anonymity, which a class goes on
  satisfying whatever rows it gains, the excess is the suppressed rows themselves.
- Classes. Merging classes never adds to their number, nor takes from the sum of their
  squared sizes: what these losses are at one node is a bound for every node above.

The search looks at some nodes at a time. Some are the next less general ones of those
that lose least, some have many of those that remain below and above them: both close in
on the best node. The others are the most general of what remains, each of which has to
fail before the best node is known to be optimal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from sqlanon.search.remaining import Bounds, Node, Rank, Remaining

__all__ = ["Counted", "Found", "Lattice", "Node", "Progress", "search"]


# The excess is a sum of fractions of rows, each rounded: a node is ruled out only where it is clearly too much.
_ROUNDING = 1e-3


@dataclass(frozen=True)
class Lattice:
    """Levels `low[i] .. high[i]` for each attribute i, and the least loss that nodes may have."""

    low: Node
    high: Node
    bounds: Bounds

    @property
    def size(self) -> int:
        return prod(high - low + 1 for low, high in zip(self.low, self.high, strict=True))

    def ranks(self, nodes: Sequence[Node]) -> list[Rank]:
        """The least ranks that some nodes may have."""
        import numpy as np

        if not nodes:
            return []
        bounds = self.bounds(np.array(nodes, dtype=np.int16))
        return [(int(bound), sum(node), node) for bound, node in zip(bounds, nodes, strict=True)]


@dataclass(frozen=True)
class Counted:
    """What a look at a node's classes tells.

    `suppressed` and `excess` are rows: those of the classes that violate a requirement
    by themselves, and the least that every node below has to suppress. `floor` is the
    least loss of the node and of every node above, `least` that of the node alone, if its
    classes tell one. Where a part of the classes was enough to see that the node fails,
    all are those of the part.
    """

    suppressed: int
    excess: float
    floor: int | None = None
    least: int | None = None


@dataclass(frozen=True)
class Found:
    """The best node, its loss, the rows it suppresses, how many nodes were checked, and how many ruled out unseen.

    `proven` tells whether no other node can be better; if not, none loses less than `least`.
    """

    node: Node
    loss: int
    suppressed: int
    checked: int
    pruned: int
    proven: bool = True
    least: int | None = None


@dataclass(frozen=True)
class Progress:
    """How far a search has come: nodes checked, ruled out unseen, and all; the best loss so far."""

    checked: int
    pruned: int
    nodes: int
    loss: int | None


def search(
    lattice: Lattice,
    limit: int,
    count: Callable[[Sequence[Node]], Sequence[Counted]],
    settle: Callable[[Sequence[Node], Rank | None], Sequence[tuple[int, int] | None]],
    *,
    batch: int = 1,
    progress: Callable[[Progress], None] | None = None,
    expired: Callable[[], bool] = lambda: False,
) -> Found | None:
    """The node of least loss that suppresses at most `limit` rows; None if there is none.

    `count` looks at some nodes at once, at most `batch`; `settle` gives the loss of each
    and all the rows it suppresses, None if it cannot be published or cannot be better
    than the rank given. Among
    nodes of equal loss the one of least height, then the first in the order of its
    levels, is taken. Once `expired` says so, the best node so far is returned.
    """
    remaining = Remaining(lattice.low, lattice.high, lattice.bounds)
    best: tuple[Rank, int] | None = None
    inside: list[Rank] = []
    checked, dropped = 0, 0
    nodes: list[Node] = [lattice.high]
    while nodes:
        before = remaining.count
        counted = list(zip(nodes, count(nodes), strict=True))
        checked += len(counted)
        remaining.drop(nodes)
        remaining.drop_below([node for node, seen in counted if seen.excess > limit + _ROUNDING])
        inside += lattice.ranks([node for node, seen in counted if seen.excess <= limit])
        floors = [(node, seen.floor) for node, seen in counted if seen.floor is not None]
        remaining.raise_above(floors)
        candidates = [
            node
            for node, seen in counted
            if seen.suppressed <= limit and (best is None or seen.least is None or seen.least <= best[0][0])
        ]
        if best is not None:
            candidates = [rank[2] for rank in lattice.ranks(candidates) if rank < best[0]]
        settled = settle(candidates, best[0] if best else None) if candidates else []
        for node, answer in zip(candidates, settled, strict=True):
            if answer is not None and answer[1] <= limit:
                rank = (answer[0], sum(node), node)
                if best is None or rank < best[0]:
                    best = (rank, answer[1])
        if best is not None:
            remaining.drop_from(best[0])
        dropped += before - remaining.count
        if progress:
            progress(Progress(checked, dropped - checked, lattice.size, best[0][0] if best else None))
        if best is not None and expired():
            break
        nodes = _next(remaining, [rank[2] for rank in sorted(inside)], batch)
    if best is None:
        return None
    (loss, _, node), suppressed = best
    least = remaining.least
    return Found(
        node,
        loss,
        suppressed,
        checked,
        lattice.size - checked - remaining.count,
        proven=least is None,
        least=None if least is None else min(least, loss),
    )


def _next(remaining: Remaining, inside: Sequence[Node], batch: int) -> list[Node]:
    """The nodes to look at next; `inside` are those that did not rule out what is below them, least loss first."""
    nodes = remaining.children(inside, batch // 4)
    rest = batch - len(nodes)
    nodes += remaining.general(rest // 2)
    nodes += remaining.halving(rest - rest // 2)
    return list(dict.fromkeys(nodes))
