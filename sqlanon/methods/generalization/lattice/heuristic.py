"""Lattices with too many nodes to hold: what rules most of them out at once, and a search that proves nothing.

The least level that an attribute can have in any node that satisfies is found where all
other attributes are as general as they may be: if even that node's excess is too great, so
is that of every node with the attribute at this level or below. What remains is often
small enough to be searched whole. If it is not, the best node so far is
followed downwards until the time is over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from heapq import heappop, heappush

from sqlanon.methods.generalization.lattice.remaining import Node, Rank
from sqlanon.methods.generalization.lattice.types import ROUNDING, Counted, Found, Lattice, Progress, Settle

__all__ = ["descend", "raised"]


def raised(lattice: Lattice, limit: int, count: Callable[[Sequence[Node]], Sequence[Counted]]) -> tuple[Lattice, int]:
    """The lattice without the levels that no node which satisfies can have, and how many nodes outside it were seen."""
    low = list(lattice.low)
    seen = 0
    attributes = [index for index in range(len(low)) if low[index] < lattice.high[index]]
    while attributes:
        counted = count([_with_level(lattice.high, index, low[index]) for index in attributes])
        failed = [index for index, node in zip(attributes, counted, strict=True) if node.excess > limit + ROUNDING]
        seen += len(failed)
        for index in failed:
            low[index] += 1
        attributes = [index for index in failed if low[index] < lattice.high[index]]
    return replace(lattice, low=tuple(low)), seen


def _with_level(node: Node, index: int, level: int) -> Node:
    return (*node[:index], level, *node[index + 1 :])


def descend(
    lattice: Lattice,
    limit: int,
    count: Callable[[Sequence[Node]], Sequence[Counted]],
    settle: Settle,
    *,
    outside: tuple[int, int],
    progress: Callable[[Progress], None] | None,
    expired: Callable[[], bool],
) -> Found | None:
    """The best node that is reached from the most general one, a level of one attribute at a time.

    Of the nodes that satisfy, the one of least loss is followed first. Nothing is proven;
    no node loses less than the least general one may. `outside` has the numbers of nodes that
    are not in the lattice because none of them satisfies: of those seen, and of all the others.
    """
    checked, pruned = outside
    whole = lattice.size + checked + pruned
    seen: set[Node] = {lattice.high}
    queue: list[tuple[Rank, int]] = []
    best: tuple[Rank, int] | None = None
    nodes: list[Node] = [lattice.high]
    while nodes and not (best and expired()):
        looks = zip(nodes, count(nodes), strict=True)
        checked += len(nodes)
        passing = [node for node, counted in looks if counted.suppressed <= limit]
        for node, answer in zip(passing, settle(passing, None) if passing else (), strict=True):
            if answer is not None and answer[1] <= limit:
                candidate = ((answer[0], sum(node), node), answer[1])
                heappush(queue, candidate)
                best = candidate if best is None else min(best, candidate)
        if progress:
            progress(Progress(checked, pruned, whole, best[0][0] if best else None))
        nodes = []
        while queue and not nodes:
            (_, _, node), _ = heappop(queue)
            below = [
                _with_level(node, index, level - 1) for index, level in enumerate(node) if level > lattice.low[index]
            ]
            nodes = [child for child in below if child not in seen]
            seen.update(nodes)
    if best is None:
        return None
    (loss, _, node), suppressed = best
    least = lattice.ranks([lattice.low])[0][0]
    return Found(node, loss, suppressed, checked, pruned, proven=False, least=min(least, loss))
