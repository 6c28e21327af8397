"""Searches the full-domain lattice for the node of least loss (Samarati 2001; LeFevre et al. 2005).

A node has a level for each attribute. Three facts rule out nodes:

Loss. A node's loss is at least its `bound`, which needs only the marginal counts of single attributes. So a node whose
bound is above the loss of a satisfying node cannot be better.

Excess. A class exceeds a requirement by a convex function of its rows, so the sum over all classes never grows when
classes merge. In a satisfying node, the suppressed rows are at least that sum. So a node whose sum is above the limit
rules out every node below, and any other node gives a lower bound of the rows that each node below suppresses, and so
of its loss. For a requirement like k-anonymity, which a class continues to satisfy with any further rows, the excess is
the number of suppressed rows itself.

Classes. Merging classes never increases their number, and never decreases the sum of their squared sizes. So for losses
that depend on these figures, a node's loss is a lower bound for every node above.

The search counts several nodes at a time. Some of them are one level less general than the nodes of least loss, some
have many remaining nodes both below and above them: both approach the best node. The others are the most general
remaining nodes, which must all fail to prove the best node. A search with a time limit counts these last. If the least
general node nearly satisfies, as in a table of many rows, the nodes of least bound are counted first.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from math import ceil
from time import monotonic

from sqlanon.methods.shared.lattice.nodes import (
    ROUNDING,
    Counted,
    Found,
    Incumbent,
    Lattice,
    Node,
    Progress,
    Rank,
    Remaining,
    Settle,
    satisfying_ranks,
    sizes,
)

# If the least general node suppresses at most this many times the allowed rows, the nodes of least bound are next.
_FEW_TIMES = 10

Count = Callable[[Sequence[Node]], Sequence[Counted]]


# Lattices with too many nodes for memory: ruling most of them out at once, and a search without proof.
#
# The lowest level of an attribute in any satisfying node is found by nodes in which all other attributes have their
# highest level: if even that node's excess is too great, so is the excess of every node with the attribute at this
# level or below. The remaining lattice is often small enough for a complete search. Otherwise two walks approach
# the best node until the time is over: one down from the satisfying nodes, one up from the lowest node.


def raised(lattice: Lattice, limit: int, count: Callable[[Sequence[Node]], Sequence[Counted]]) -> tuple[Lattice, int]:
    """Returns the lattice without the levels that no satisfying node has, and the number of nodes outside it that were
    counted.
    """
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


def wander(
    lattice: Lattice,
    limit: int,
    count: Callable[[Sequence[Node]], Sequence[Counted]],
    settle: Settle,
    *,
    outside: tuple[int, int],
    progress: Callable[[Progress], None] | None,
    expired: Callable[[], bool],
) -> Found | None:
    """Finds a good node of a lattice that is too large for a complete search; None if the most general node fails.

    The search goes down from the most general node to a node without a better child. Then three ways share the time
    equally: to the children of other satisfying nodes, aside from the best nodes, and up from the lowest node. The time
    is shared and not the nodes, because the lowest nodes take longest to count. The result is not proven to be the
    best. `outside` has the numbers of nodes outside the lattice, none of which satisfies: the counted ones, and the
    others.
    """
    walk = _Walk(lattice, limit, count, settle)
    checked, pruned = outside
    down = walk.down()
    seconds = {down: 0.0}
    walk.visit([lattice.high])
    while seconds and walk.incumbent.rank and not expired():
        way, begun = min(seconds, key=seconds.__getitem__), monotonic()
        improved = next(way, None)
        if improved is None:
            del seconds[way]
            continue
        if len(seconds) == 1 and way is down and not improved:
            seconds |= {walk.aside(): 0.0, walk.up(): 0.0}
            seconds[down] = 0.0
        else:
            seconds[way] += monotonic() - begun
        if progress:
            progress(Progress(checked + len(walk.counted), pruned, lattice.size + sum(outside), walk.incumbent.loss))
    if walk.incumbent.rank is None:
        return None
    loss, _, node = walk.incumbent.rank
    least = lattice.ranks([lattice.low])[0][0]
    suppressed, checked = walk.incumbent.suppressed, checked + len(walk.counted)
    return Found(node, loss, suppressed, checked, pruned, proven=False, least=min(least, loss))


class _Walk:
    """Three strategies for a lattice that is too large for a complete search; they share the counted nodes."""

    def __init__(self, lattice: Lattice, limit: int, count: Count, settle: Settle) -> None:
        self._lattice, self._limit = lattice, limit
        self._count, self._settle = count, settle
        self.counted: dict[Node, Counted] = {}
        self.incumbent = Incumbent()
        self._satisfying: dict[Node, Rank] = {}
        self._queue: list[Rank] = []

    def visit(self, nodes: Sequence[Node]) -> list[Rank]:
        """Counts those of the nodes that have not been counted yet, and returns the ranks of the nodes that satisfy."""
        new = [node for node in nodes if node not in self.counted]
        counted = dict(zip(new, self._count(new), strict=True)) if new else {}
        self.counted |= counted
        passing = [node for node, seen in counted.items() if seen.suppressed <= self._limit]
        satisfying = list(satisfying_ranks(passing, self._limit, self._settle, None))
        self.incumbent.improve(satisfying)
        ranks = [rank for rank, _ in satisfying]
        for rank in ranks:
            self._satisfying[rank[2]] = rank
            heappush(self._queue, rank)
        return ranks

    def down(self) -> Iterator[bool]:
        """Visits the children of each satisfying node, least loss first."""
        while self._queue:
            rank = heappop(self._queue)
            yield any(child < rank for child in self.visit(_children(rank[2], self._lattice.low)))

    def aside(self) -> Iterator[bool]:
        """Visits the nodes beside each satisfying node, least loss first.

        A node beside another is a level lower in one attribute, and a level higher in another. Nodes whose bounds are
        not below the least loss are left out.
        """
        done: set[Node] = set()
        while waiting := self._satisfying.keys() - done:
            rank = min(self._satisfying[node] for node in waiting)
            done.add(rank[2])
            bounds = sorted(self._lattice.ranks(_swapped(rank[2], self._lattice)))
            for first in range(0, len(bounds), sizes().batch):
                part = [bound for bound in bounds[first : first + sizes().batch] if self._promising(bound)]
                yield any(other < rank for other in self.visit([node for _, _, node in part]))

    def _promising(self, bound: Rank) -> bool:
        return self.incumbent.rank is None or bound < self.incumbent.rank

    def up(self) -> Iterator[bool]:
        """Climbs from the lowest node to a node that satisfies the requirements.

        Each step counts the parents of a node and goes on from one of them: the one that saves the most suppressed rows
        for each unit of loss that its bound adds.
        """
        node = self._lattice.low
        self.visit([node])
        while node not in self._satisfying and node != self._lattice.high:
            parents = _parents(node, self._lattice.high)
            yield bool(self.visit(parents))
            (start, *bounds) = [bound for bound, _, _ in self._lattice.ranks([node, *parents])]
            gains = [
                (self.counted[node].suppressed - self.counted[parent].suppressed) / (bound - start + 1)
                for parent, bound in zip(parents, bounds, strict=True)
            ]
            node = parents[gains.index(max(gains))]


def _children(node: Node, low: Node) -> list[Node]:
    """Returns the nodes of the lattice that are one level less general in one attribute."""
    return [_with_level(node, index, level - 1) for index, level in enumerate(node) if level > low[index]]


def _parents(node: Node, high: Node) -> list[Node]:
    """Returns the nodes of the lattice that are one level more general in one attribute."""
    return [_with_level(node, index, level + 1) for index, level in enumerate(node) if level < high[index]]


def _swapped(node: Node, lattice: Lattice) -> list[Node]:
    """Returns the nodes of the lattice that are a level less general in one attribute, and more general in another."""
    lower = [(index, level - 1) for index, level in enumerate(node) if level > lattice.low[index]]
    return [
        swapped
        for index, level in lower
        for swapped in _parents(_with_level(node, index, level), lattice.high)
        if swapped[index] == level
    ]


def search(
    lattice: Lattice,
    limit: int,
    count: Callable[[Sequence[Node]], Sequence[Counted]],
    settle: Settle,
    *,
    batch: int = 1,
    few: int = 0,
    progress: Callable[[Progress], None] | None = None,
    expired: Callable[[], bool] | None = None,
) -> Found | None:
    """Finds the node of least loss that suppresses at most `limit` rows; None if there is none.

    `count` counts up to `batch` nodes at once, and all of a lattice of at most `few` nodes. `settle` returns the loss
    and the number of suppressed rows of each node, or None if the node cannot be published or cannot be better than the
    given rank. Among nodes of equal loss, the node of least height is chosen, then the first in the order of levels. If
    `expired` returns true, the best node so far is returned. Raises PolicyError for a lattice that is too large for a
    complete search, unless the time is limited: then `wander` finds a good node.
    """
    whole, checked = lattice, 0
    if lattice.size > sizes().raise_from:
        lattice, checked = raised(lattice, limit, count)
    if lattice.size > sizes().max_nodes and expired is not None:
        outside = checked, whole.size - lattice.size - checked
        return wander(lattice, limit, count, settle, outside=outside, progress=progress, expired=expired)
    remaining = Remaining(lattice.low, lattice.high, lattice.bounds)
    incumbent = Incumbent()
    inside: list[Rank] = []
    nodes = list(lattice.nodes()) if lattice.size <= few else _first_nodes(lattice, batch, few)
    turn = 0
    while nodes:
        counted = list(zip(nodes, count(nodes), strict=True))
        checked += len(counted)
        remaining.drop(nodes)
        _prune(remaining, counted, limit)
        for rank in lattice.ranks([node for node, seen in counted if seen.excess <= limit]):
            insort(inside, rank)
        candidates = _candidates(lattice, counted, limit, incumbent.rank)
        incumbent.improve(satisfying_ranks(candidates, limit, settle, incumbent.rank))
        if incumbent.rank is not None:
            remaining.drop_from(incumbent.rank)
        if progress:
            pruned = whole.size - checked - remaining.count
            progress(Progress(checked, pruned, whole.size, incumbent.loss))
        turn += 1
        nodes = []
        if incumbent.rank is not None and expired is not None:
            if expired():
                break
            nodes = _near(remaining, incumbent.rank[2], inside, batch)
        if turn == 1 and _nearly_satisfied(lattice, counted, limit):
            nodes = remaining.cheapest(batch // 4)
        nodes = nodes or _next(remaining, inside, batch, turn)
    return _result(incumbent, remaining, checked, whole.size)


def _first_nodes(lattice: Lattice, batch: int, few: int) -> list[Node]:
    """Returns the nodes to count first: the most general one, and of a table with many classes also the least general
    one, if nodes are counted together.
    """
    return [lattice.high] if few or batch == 1 else list(dict.fromkeys([lattice.high, lattice.low]))


def _nearly_satisfied(lattice: Lattice, counted: Sequence[tuple[Node, Counted]], limit: int) -> bool:
    """Whether the least general node suppresses at most a few times too many rows.

    Then the best node is likely to be one of the nodes with the least bounds, and its loss rules out most others.
    """
    return any(node == lattice.low and seen.whole and seen.suppressed <= _FEW_TIMES * limit for node, seen in counted)


def _prune(remaining: Remaining, counted: Sequence[tuple[Node, Counted]], limit: int) -> None:
    """Drops the nodes that the excess of some nodes rules out, and raises the bounds of others."""
    remaining.drop_below([node for node, seen in counted if seen.excess > limit + ROUNDING])
    remaining.raise_above([(node, seen.floor) for node, seen in counted if seen.floor is not None])
    within = [(node, seen.excess) for node, seen in counted if ROUNDING < seen.excess <= limit + ROUNDING]
    remaining.raise_below([(node, ceil(excess - ROUNDING)) for node, excess in within])


def _candidates(lattice: Lattice, counted: Sequence[tuple[Node, Counted]], limit: int, best: Rank | None) -> list[Node]:
    """Returns the nodes whose violating classes have at most `limit` rows, and which may be better than the best so
    far.
    """
    passing = [(node, seen) for node, seen in counted if seen.suppressed <= limit]
    if best is None:
        return [node for node, _ in passing]
    no_worse = [
        node for node, seen in passing if all(loss is None or loss <= best[0] for loss in (seen.least, seen.floor))
    ]
    return [rank[2] for rank in lattice.ranks(no_worse) if rank < best]


def _result(incumbent: Incumbent, remaining: Remaining, checked: int, nodes: int) -> Found | None:
    """Returns the best node, proven to be the best if no node remains; None if no node satisfies the requirements.
    `nodes` is the size of the lattice.
    """
    if incumbent.rank is None:
        return None
    loss, _, node = incumbent.rank
    least = remaining.least
    pruned = nodes - checked - remaining.count
    least_of_all = None if least is None else min(least, loss)
    return Found(node, loss, incumbent.suppressed, checked, pruned, proven=least is None, least=least_of_all)


def _next(remaining: Remaining, inside: Sequence[Rank], batch: int, turn: int) -> list[Node]:
    """Returns the next nodes to count; `inside` are the nodes that did not rule out the nodes below them, the least
    loss first.
    """
    ways = (remaining.general, remaining.halving)
    if batch == 1:
        # One node at a time, chosen by each function in turn.
        return (remaining.children(inside, 1) if turn % 4 == 0 else []) or ways[turn % 2](1) or remaining.general(1)
    nodes = remaining.children(inside, batch // 8)
    rest = batch - len(nodes)
    nodes += remaining.general(rest // 2)
    nodes += remaining.halving(rest - rest // 2)
    return list(dict.fromkeys(nodes))


def _near(remaining: Remaining, best: Node, inside: Sequence[Rank], batch: int) -> list[Node]:
    """Returns neighbors of the best node and, in half of the batch, other nodes; the result is empty if the best node
    has no remaining neighbor.
    """
    nodes = remaining.neighbours(best, max(batch // 2, 1))
    if nodes:
        nodes += remaining.children(inside, batch // 8)
        nodes += remaining.halving(batch - len(nodes))
    return list(dict.fromkeys(nodes))
