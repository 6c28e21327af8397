"""The full-domain lattice, and the search for its node of least loss (Samarati 2001; LeFevre et al. 2005).

A node is a level for each attribute. Three facts prune the lattice:

- Loss. A node loses at least its `bound`, which needs the marginal counts of single
  attributes only. No node whose bound is above the loss of a node that satisfies can
  be better.
- Excess. A class exceeds a requirement by a convex function of its rows, so that the
  sum over all classes never grows when classes merge; and the rows that may be
  suppressed bound that sum for a node that satisfies. So a node beyond it rules out
  every node below, and one within it tells how many rows each node below suppresses at
  least, and so what it loses at least. For a requirement like k-anonymity, which a class goes on
  satisfying whatever rows it gains, the excess is the suppressed rows themselves.
- Classes. Merging classes never adds to their number, nor takes from the sum of their
  squared sizes: what these losses are at one node is a bound for every node above.

The search looks at some nodes at a time. Some are the next less general ones of those
that lose least, some have many of those that remain below and above them: both close in
on the best node. The others are the most general of what remains, each of which has to
fail before the best node is known to be optimal. A search that may be cut short leaves these for
later, as long as there is a node to look at beside the best.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil
from time import monotonic

from sqlanon.domain.context import Watching
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

# Lattices with too many nodes to hold: what rules most of them out at once, and a search that proves nothing.
#
# The least level that an attribute can have in any node that satisfies is found where all
# other attributes are as general as they may be: if even that node's excess is too great, so
# is that of every node with the attribute at this level or below. What remains is often
# small enough to be searched whole. If it is not, the best node so far is
# followed downwards until the time is over.


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
    """The node of least loss that suppresses at most `limit` rows; None if there is none.

    `count` looks at some nodes at once, at most `batch`, or at all of a lattice that has at
    most `few`; `settle` gives the loss of each and all the rows it suppresses, None if it
    cannot be published or cannot be better than the rank given. Among nodes of equal loss the
    one of least height, then the first in the order of its levels, is taken. Once `expired`
    says so, the best node so far is returned. Raises PolicyError for a lattice that is too large to search whole,
    unless the time is limited: then a heuristic looks for a good node.
    """
    whole, checked = lattice, 0
    if lattice.size > sizes().raise_from:
        lattice, checked = raised(lattice, limit, count)
    if lattice.size > sizes().max_nodes and expired is not None:
        outside = checked, whole.size - lattice.size - checked
        return descend(lattice, limit, count, settle, outside=outside, progress=progress, expired=expired)
    remaining = Remaining(lattice.low, lattice.high, lattice.bounds)
    incumbent = Incumbent()
    inside: list[Rank] = []
    nodes = list(lattice.nodes()) if lattice.size <= few else [lattice.high]
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
        nodes = nodes or _next(remaining, inside, batch, turn)
    return _result(incumbent, remaining, checked, whole.size)


def _prune(remaining: Remaining, counted: Sequence[tuple[Node, Counted]], limit: int) -> None:
    """Drops the nodes that the excess of some nodes rules out, and raises the bounds of others."""
    remaining.drop_below([node for node, seen in counted if seen.excess > limit + ROUNDING])
    remaining.raise_above([(node, seen.floor) for node, seen in counted if seen.floor is not None])
    within = [(node, seen.excess) for node, seen in counted if ROUNDING < seen.excess <= limit + ROUNDING]
    remaining.raise_below([(node, ceil(excess - ROUNDING)) for node, excess in within])


def _candidates(lattice: Lattice, counted: Sequence[tuple[Node, Counted]], limit: int, best: Rank | None) -> list[Node]:
    """The nodes that may satisfy, by the classes that violate, and be better than the best so far."""
    passing = [(node, seen) for node, seen in counted if seen.suppressed <= limit]
    if best is None:
        return [node for node, _ in passing]
    no_worse = [
        node for node, seen in passing if all(loss is None or loss <= best[0] for loss in (seen.least, seen.floor))
    ]
    return [rank[2] for rank in lattice.ranks(no_worse) if rank < best]


def _result(incumbent: Incumbent, remaining: Remaining, checked: int, nodes: int) -> Found | None:
    """The best node, proven to be the best if none of the `nodes` of the lattice remains; None if there is none."""
    if incumbent.rank is None:
        return None
    loss, _, node = incumbent.rank
    least = remaining.least
    pruned = nodes - checked - remaining.count
    least_of_all = None if least is None else min(least, loss)
    return Found(node, loss, incumbent.suppressed, checked, pruned, proven=least is None, least=least_of_all)


def _next(remaining: Remaining, inside: Sequence[Rank], batch: int, turn: int) -> list[Node]:
    """The nodes to look at next; `inside` are those that did not rule out what is below them, least loss first."""
    ways = (remaining.general, remaining.halving)
    if batch == 1:
        # One at a time: each way in its turn.
        return (remaining.children(inside, 1) if turn % 4 == 0 else []) or ways[turn % 2](1) or remaining.general(1)
    nodes = remaining.children(inside, batch // 8)
    rest = batch - len(nodes)
    nodes += remaining.general(rest // 2)
    nodes += remaining.halving(rest - rest // 2)
    return list(dict.fromkeys(nodes))


def _near(remaining: Remaining, best: Node, inside: Sequence[Rank], batch: int) -> list[Node]:
    """Neighbours of the best node and, in half of the places, others; none once it has no neighbour left."""
    nodes = remaining.neighbours(best, max(batch // 2, 1))
    if nodes:
        nodes += remaining.children(inside, batch // 8)
        nodes += remaining.halving(batch - len(nodes))
    return list(dict.fromkeys(nodes))


# Searches of a lattice that end when their time is up, and report how far they have come.


Count = Callable[[Sequence[Node]], Sequence[Counted]]


class TimedSearches:
    """Searches of one statement, which share its time: `time_limit` seconds, or as long as it takes."""

    def __init__(self, time_limit: Decimal | None, watching: Watching | None) -> None:
        self._until = None if time_limit is None else monotonic() + float(time_limit)
        self._watching = watching

    def best(
        self,
        lattice: Lattice,
        limit: int,
        count: Count,
        settle: Settle,
        value: Callable[[int], Fraction],
        *,
        batch: int = 1,
        few: int = 0,
    ) -> Found | None:
        """The best node, as `search` finds it; `value` is a loss as it is published, not in the units of the search."""
        progress = None if self._watching is None else _reported(self._watching, value)
        expired = None if self._until is None else self.expired
        return search(lattice, limit, count, settle, batch=batch, few=few, progress=progress, expired=expired)

    def expired(self) -> bool:
        """Whether time is up."""
        return self._until is not None and monotonic() > self._until


def _reported(watching: Watching, value: Callable[[int], Fraction]) -> Callable[[Progress], None]:
    """Tells the observer how many nodes have been checked and ruled out, and the least loss so far."""

    def report(seen: Progress) -> None:
        best = "" if seen.loss is None else f", best loss {float(value(seen.loss)):.6g}"
        detail = f"{seen.checked} of {seen.nodes} nodes checked, {seen.pruned} ruled out{best}"
        watching("solve", seen.checked + seen.pruned, seen.nodes, detail)

    return report
