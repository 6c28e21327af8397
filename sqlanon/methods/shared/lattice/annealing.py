"""Simulated annealing over a lattice that is too large for a complete search (Kirkpatrick et al. 1983).

Each step moves to a neighboring node: with one attribute at another level, or with one attribute a level higher and
another a level lower. A node that loses less is always accepted, a node that loses more with a probability that falls
as the temperature does. Nodes that suppress too many rows are allowed on the way, at a price for each further row. The
price rises while most nodes suppress too many rows, and falls while few do, so that the walk stays near the limit,
where the best nodes are. Later rounds begin at the best node so far, and have twice as many steps.

Between the rounds, the lower bound of all losses is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp, floor
from random import Random
from time import monotonic

from sqlanon.methods.shared.lattice.node_arrays import Labels, NodeArrays
from sqlanon.methods.shared.lattice.nodes import Found, Lattice, Node, Progress, Settle
from sqlanon.methods.shared.lattice.part_bounds import PartBounds

_SEED = 1
# Temperatures, in shares of the greatest loss, at the beginning of a round and at its end.
_HOT, _COLD = (0.02, 0.01, 0.005), 0.0005
# The steps of the first rounds.
_STEPS = 2_000
# The shares of moves of one attribute by a level, and of two attributes; other moves are of one attribute to any level.
_ONE, _TWO = 0.4, 0.5
# The price of a suppressed row beyond the limit, in losses of a row: it changes by a factor after some steps, unless
# the share of them that suppress few enough rows is between these two.
_LEAST_PRICE, _MOST_PRICE = 1.0, 20.0
_FACTOR, _AFTER, _FEW, _MANY = 1.1, 32, 0.3, 0.7
# The steps between two readings of the clock.
_STEPS_TIMED = 16
# The greatest share of the time in which the lower bound of all losses is raised.
_BOUND_SHARE = 0.2
# The greatest number of nodes whose counts are remembered.
_REMEMBERED = 200_000


@dataclass(frozen=True)
class _Position:
    """A node with its labels, and lower bounds of the rows that it suppresses and of its loss."""

    node: Node
    labels: Labels
    suppressed: int
    loss: float


class Annealing:
    """A walk through the nodes of a lattice that suppress at most `limit` rows, or a few more."""

    def __init__(self, arrays: NodeArrays, lattice: Lattice, limit: int) -> None:
        self._arrays, self._lattice, self._limit = arrays, lattice, limit
        self._random = Random(_SEED)
        self._price = _LEAST_PRICE
        self._movable = [i for i, (low, high) in enumerate(zip(lattice.low, lattice.high, strict=True)) if low < high]
        self._known: dict[Node, tuple[int, float]] = {}
        self.counted = 0
        # The nodes that lost less than each node before, with their losses: the last one is the best.
        self.improvements: list[tuple[float, Node]] = []

    def rounds(self, expired: Callable[[], bool]) -> Iterator[None]:
        """Walks until the time is over, or no round of three finds a new node; yields after each round."""
        node, steps = self._lattice.high, _STEPS
        self._note(node, self._arrays.labels_of(node))
        while self._movable and not expired():
            before = self.counted
            for hot in _HOT:
                self._walk(self.improvements[-1][1] if self.improvements else node, steps, hot, expired)
                yield
            if self.counted == before:
                return
            steps *= 2

    def _walk(self, node: Node, steps: int, hot: float, expired: Callable[[], bool]) -> None:
        labels = self._arrays.labels_of(node)
        position = _Position(node, labels, *self._arrays.least(labels))
        priced = within = 0
        for step in range(steps):
            if step % _STEPS_TIMED == 0 and expired():
                return
            other = self._neighbour(position.node)
            if other is None:
                continue
            labels_of_other: Labels | None = None
            counts = self._known.get(other)
            if counts is None:
                labels_of_other = self._arrays.moved(position.labels, position.node, other)
                counts = self._look(other, labels_of_other)
            worse = self._priced(*counts) - self._priced(position.suppressed, position.loss)
            if worse <= 0 or self._random.random() < exp(-worse / (hot * (_COLD / hot) ** (step / steps))):
                labels_of_other = labels_of_other or self._arrays.moved(position.labels, position.node, other)
                position = _Position(other, labels_of_other, *counts)
            priced, within = priced + 1, within + (position.suppressed <= self._limit)
            if priced == _AFTER:
                self._reprice(within / _AFTER)
                priced = within = 0

    def _look(self, node: Node, labels: Labels) -> tuple[int, float]:
        """Counts a node that has not been counted, and notes it if it is the best so far."""
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        counts = self._known[node] = self._arrays.least(labels)
        self.counted += 1
        if counts[0] <= self._limit and (not self.improvements or counts[1] < self.improvements[-1][0]):
            self._note(node, labels)
        return counts

    def _note(self, node: Node, labels: Labels) -> None:
        suppressed, loss = self._arrays.exact(labels)
        if suppressed <= self._limit and (not self.improvements or loss < self.improvements[-1][0]):
            self.improvements.append((loss, node))

    def _priced(self, suppressed: int, loss: float) -> float:
        return loss + self._price * max(suppressed - self._limit, 0) / self._arrays.rows

    def _reprice(self, within: float) -> None:
        """Changes the price of a row beyond the limit, by the share of the last nodes that are within the limit."""
        if within > _MANY:
            self._price = max(self._price / _FACTOR, _LEAST_PRICE)
        elif within < _FEW:
            self._price = min(self._price * _FACTOR, _MOST_PRICE)

    def _neighbour(self, node: Node) -> Node | None:
        """Returns a random neighbor of a node; None if the move leads out of the lattice."""
        random, levels = self._random, list(node)
        index, move = random.choice(self._movable), random.random()
        if move < _ONE:
            levels[index] += random.choice((-1, 1))
        elif move < _ONE + _TWO:
            other = random.choice(self._movable)
            levels[index] += 1
            levels[other] -= 1
            if levels[other] < self._lattice.low[other]:
                return None
        else:
            levels[index] = random.randint(self._lattice.low[index], self._lattice.high[index])
        inside = self._lattice.low[index] <= levels[index] <= self._lattice.high[index]
        neighbour = tuple(levels)
        return neighbour if inside and neighbour != node else None


def anneal(
    arrays: NodeArrays,
    lattice: Lattice,
    limit: int,
    settle: Settle,
    *,
    outside: tuple[int, int],
    progress: Callable[[Progress], None] | None,
    expired: Callable[[], bool],
) -> Found | None:
    """Finds a good node of a lattice that is too large for a complete search; None if the most general node fails.

    The result is not proven to be the best. `outside` has the numbers of nodes outside the lattice, none of which
    satisfies: the counted ones, and the others.
    """
    walk, bounds = Annealing(arrays, lattice, limit), PartBounds(arrays, lattice, limit)
    checked, pruned = outside
    begun, size = monotonic(), lattice.size + sum(outside)
    bounding = 0.0
    for _ in walk.rounds(expired):
        before = monotonic()
        bounds.improve(before + (before - begun) * _BOUND_SHARE - bounding, expired)
        bounding += monotonic() - before
        if progress:
            loss = floor(walk.improvements[-1][0] * arrays.whole) if walk.improvements else None
            progress(Progress(checked + walk.counted, pruned, size, loss))
    for _, node in reversed(walk.improvements):
        (answer,) = settle([node], None)
        if answer is not None and answer[1] <= limit:
            loss, suppressed = answer
            least = min(bounds.least, loss)
            return Found(node, loss, suppressed, checked + walk.counted, pruned, proven=False, least=least)
    return None
