"""The full-domain lattice, and the search for its node of least loss (Samarati 2001; LeFevre et al. 2005).

A node is a level for each attribute. Two facts prune the lattice:

- Loss. Suppressing a row replaces its loss by 1 a cell, which is never less. So a node
  loses at least `bound`, the loss of its recoding without any suppression, which needs
  the marginal counts of single attributes only. No node whose bound is above the loss
  of a node that satisfies can be better.
- Monotonicity under suppression. Where merging classes never adds suppressed rows (as
  for k-anonymity), a node that suppresses too many rows rules out every node below it.

The search first closes in on the least bound at which nodes satisfy, checking some
evenly spaced nodes of what remains at a time. Then it checks the most general nodes of
what remains, each of which has to fail before the best node is known to be optimal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from sqlanon.search.remaining import Node, Rank, Remaining

__all__ = ["Found", "Lattice", "Node", "search"]


@dataclass(frozen=True)
class Lattice:
    """Levels `low[i] .. high[i]` for each attribute i.

    `costs[i][level]` is the loss that attribute i adds at that level when nothing is
    suppressed, and `row` the loss of a suppressed row, in one exact integer unit.
    """

    low: Node
    high: Node
    costs: tuple[tuple[int, ...], ...]
    row: int

    @property
    def size(self) -> int:
        return prod(high - low + 1 for low, high in zip(self.low, self.high, strict=True))

    def bound(self, node: Node) -> int:
        return sum(cost[level] for cost, level in zip(self.costs, node, strict=True))


@dataclass(frozen=True)
class Found:
    """The optimal node, its loss in the lattice's unit, the rows it suppresses, and how many nodes were checked."""

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

    `suppressed` counts the rows that each of some nodes suppresses, `batch` how many
    nodes it is best asked at a time; `loss` is a node's loss with its suppressed rows.
    Among nodes of equal loss the one of least height, then the first in the order of
    its levels, is taken.
    """
    remaining = Remaining(lattice.low, lattice.high, lattice.costs)
    satisfying = _Satisfying(lattice, loss)
    checked = 0
    proving = False
    while nodes := remaining.general(batch) if proving else remaining.spread(batch):
        passed = False
        for node, rows in zip(nodes, suppressed(nodes), strict=True):
            checked += 1
            if rows > limit:
                remaining.drop_below(node)
                continue
            passed = True
            remaining.drop(node)
            remaining.drop_from(satisfying.add(node, rows))
        proving = not passed
        if proving and satisfying.nodes:
            remaining.drop_from(satisfying.settle())
        if progress:
            progress(lattice.size - remaining.count, lattice.size)
    if not satisfying.nodes:
        return None
    loss_of_best, _, node = satisfying.settle()
    return Found(node, loss_of_best, satisfying.nodes[node], checked)


class _Satisfying:
    """The nodes that satisfy so far. The loss of one that suppresses rows is asked for only if it may be the least."""

    def __init__(self, lattice: Lattice, loss: Callable[[Node], int]) -> None:
        self._lattice = lattice
        self._loss = loss
        self._open: list[Rank] = []
        self._best: Rank | None = None
        self._limit: int | None = None
        self.nodes: dict[Node, int] = {}

    def add(self, node: Node, rows: int) -> Rank:
        """Notes a node that satisfies; returns a rank from which on no node can be the best."""
        self.nodes[node] = rows
        bound = self._lattice.bound(node)
        rank = (bound, sum(node), node)
        if rows == 0:
            self._best = rank if self._best is None else min(self._best, rank)
        else:
            self._open.append(rank)
        most = bound + rows * self._lattice.row
        self._limit = most if self._limit is None else min(self._limit, most)
        return self._beyond()

    def settle(self) -> Rank:
        """Asks for the losses that are needed to tell the best node, whose rank is returned."""
        for bound, height, node in sorted(self._open):
            if self._best is None or (bound, height, node) < self._best:
                rank = (self._loss(node), height, node)
                self._best = rank if self._best is None else min(self._best, rank)
        self._open.clear()
        assert self._best is not None
        return self._best

    def _beyond(self) -> Rank:
        assert self._limit is not None
        loose: Rank = (self._limit + 1, 0, ())
        return loose if self._best is None else min(loose, self._best)
