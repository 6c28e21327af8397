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

from sqlanon.methods.shared.lattice.remaining import Node, Rank
from sqlanon.methods.shared.lattice.types import (
    ROUNDING,
    Counted,
    Found,
    Incumbent,
    Lattice,
    Progress,
    Settle,
    satisfying_ranks,
)


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
    incumbent = Incumbent()
    nodes: list[Node] = [lattice.high]
    while nodes and not (incumbent.rank and expired()):
        looks = zip(nodes, count(nodes), strict=True)
        checked += len(nodes)
        passing = [node for node, counted in looks if counted.suppressed <= limit]
        satisfying = list(satisfying_ranks(passing, limit, settle, None))
        incumbent.improve(satisfying)
        for candidate in satisfying:
            heappush(queue, candidate)
        if progress:
            progress(Progress(checked, pruned, whole, incumbent.loss))
        nodes = []
        while queue and not nodes:
            (_, _, node), _ = heappop(queue)
            nodes = [child for child in _children(node, lattice.low) if child not in seen]
            seen.update(nodes)
    if incumbent.rank is None:
        return None
    loss, _, node = incumbent.rank
    least = lattice.ranks([lattice.low])[0][0]
    return Found(node, loss, incumbent.suppressed, checked, pruned, proven=False, least=min(least, loss))


def _children(node: Node, low: Node) -> list[Node]:
    """The nodes of the lattice that are one level less general than this one in one attribute."""
    return [_with_level(node, index, level - 1) for index, level in enumerate(node) if level > low[index]]
