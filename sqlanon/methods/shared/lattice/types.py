"""What a search of the lattice goes by: nodes between two levels, what a look at one tells, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from sqlanon.methods.shared.lattice.remaining import Bounds, Node, Rank

# The excess is a sum of fractions of rows, each rounded: a node is ruled out only where it is clearly too much.
ROUNDING = 1e-3


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
        bounds = self.bounds(np.array(nodes, dtype=np.int16), 0)
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


# The loss of each node and all the rows it suppresses; None for one that cannot be published, or not be the best.
Settle = Callable[[Sequence[Node], Rank | None], Sequence[tuple[int, int] | None]]


@dataclass
class Incumbent:
    """The best node so far by its rank, and the rows that it suppresses; `rank` is None before the first."""

    rank: Rank | None = None
    suppressed: int = 0

    @property
    def loss(self) -> int | None:
        """The loss of the best node; None before the first."""
        return None if self.rank is None else self.rank[0]

    def improve(self, satisfying: Iterable[tuple[Rank, int]]) -> None:
        """Takes the best of some nodes, each with the rows that it suppresses, where it beats the one so far."""
        for rank, suppressed in satisfying:
            if self.rank is None or rank < self.rank:
                self.rank, self.suppressed = rank, suppressed


def satisfying_ranks(
    nodes: Sequence[Node], limit: int, settle: Settle, best: Rank | None
) -> Iterator[tuple[Rank, int]]:
    """The rank of each node that can be published with at most `limit` rows suppressed, and these rows."""
    answers = settle(nodes, best) if nodes else ()
    for node, answer in zip(nodes, answers, strict=True):
        if answer is not None and answer[1] <= limit:
            yield (answer[0], sum(node), node), answer[1]


@dataclass(frozen=True)
class Classes:
    """A node's classes: how many, the sum of their squared sizes; the rows, excess and number of those that violate.

    Unless `whole`, the figures are of a part of the classes.
    """

    classes: int = 0
    squares: int = 0
    suppressed: int = 0
    excess: float = 0.0
    rows: int = 0
    whole: bool = True
    violating: int = 0


def classes_by_index(rows: Sequence[tuple[Any, ...]]) -> dict[int, Classes]:
    """The answers of `counts` by the index of the node."""
    return {
        int(index): Classes(
            int(classes), int(squares), int(suppressed), float(excess), int(rows_in_rollup), violating=int(violating)
        )
        for index, classes, squares, suppressed, excess, rows_in_rollup, violating in rows
    }
