"""The nodes of a lattice: levels of attributes, their ranks, and the nodes that may still be the result of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from sqlanon.domain.context import Adjustable
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from numpy.typing import NDArray


# All nodes between two, as an array.


def nodes_between(low: tuple[int, ...], high: tuple[int, ...]) -> NDArray[Any]:
    """Returns the levels of all nodes from `low` to `high` as an array: one row per attribute, the nodes in the order
    of their levels.
    """
    import numpy as np

    shape = [top - bottom + 1 for bottom, top in zip(low, high, strict=True)]
    # An array has at most 64 dimensions. If all nodes fit in memory, fewer attributes have several levels.
    choices = [attribute for attribute, levels in enumerate(shape) if levels > 1]
    steps = np.indices([shape[attribute] for attribute in choices], dtype=np.int16).reshape(len(choices), prod(shape))
    nodes = np.repeat(np.array(low, dtype=np.int16)[:, None], prod(shape), axis=1)
    nodes[choices] += steps
    return nodes


# The limits between the strategies of a search.


@dataclass(frozen=True)
class Sizes:
    """The limits between the strategies of a search, which decide its time and its memory.

    `max_nodes` is the largest lattice that is searched completely. In a lattice of more than `raise_from` nodes, the
    lowest possible level of each attribute is found first. With `large_source` cells or more, nodes are counted one at
    a time, at first over one class in `one_in`; a node's rows are kept if there are `times_fewer` times fewer of them
    than cells. With fewer cells, one statement counts `batch` nodes: in a larger batch, one node's result would come
    too late to rule out others.

    If a node's rows come from `part_from` rows or more, a part of its classes is counted first. If the part shows that
    the node fails, all its classes are counted only if their excess is probably more than `times_beyond` times the
    suppression limit, and so rules out nodes below. If a batch would read more than `meet_from` rows, the rows of at
    most `meets` common less general nodes are made first.

    A lattice of at most `few_nodes` nodes over at most `few_cells` cells is counted in one statement. Before a descent
    over at most `fewest_cells` cells, any lattice that fits one statement is counted, too. From `lasting_from` cells
    on, a class that remains satisfied is kept as one row: this takes more statements, but they read less. If columns
    have fewer than `few_values` values, each query counts their leaves again. A search that is not complete counts
    nodes in memory if it holds at most `most_labels` labels: one for each cell and level.
    """

    max_nodes: int = 20_000_000
    raise_from: int = 250_000
    large_source: int = 300_000
    batch: int = 32
    one_in: int = 8
    times_fewer: int = 4
    part_from: int = 20_000
    times_beyond: int = 2
    meet_from: int = 800_000
    meets: int = 4
    few_nodes: int = 32
    few_cells: int = 1_000
    fewest_cells: int = 100
    lasting_from: int = 5_000
    few_values: int = 1_000
    most_labels: int = 20_000_000


sizes = Adjustable(Sizes())


Node = tuple[int, ...]

# Loss, height and levels, in the order of comparison; the least rank is the best.
Rank = tuple[int, int, Node]

# Returns the lower bound of each node's loss. A row of the first argument holds a node's levels; the second is the
# minimum number of rows that each node withholds.
Bounds = Callable[["NDArray[Any]", int], "NDArray[Any]"]

# The choice of the next nodes compares this many of the most general nodes as candidates
# with this many evenly spaced ones as a sample of the remaining nodes, which is quick.
_CANDIDATES = 128
_SAMPLE = 512
_HALVING = 64

# The number of nodes whose less general ones are found at once.
_TOGETHER = 256


class Remaining:
    """The nodes that may still be the best, in the order of their lower bounds."""

    def __init__(self, low: Node, high: Node, bounds: Bounds) -> None:
        """Starts with all nodes between `low` and `high`. Raises PolicyError for more than `max_nodes`."""
        import numpy as np

        shape = [top - bottom + 1 for bottom, top in zip(low, high, strict=True)]
        size = prod(shape)
        most = sizes().max_nodes
        if size > most:
            raise PolicyError(
                f"the lattice has {size:,} nodes, more than {most:,}",
                hint="search with a time_limit, narrow it with MIN LEVEL and MAX LEVEL, or use hierarchies with fewer "
                "levels",
            )
        self._low, self._shape = low, shape
        # One row per attribute, because comparisons with a node read one attribute after the other.
        self._levels = nodes_between(low, high)
        # Nodes are numbered in the order of their levels.
        self._number: NDArray[Any] = np.arange(size)
        self._bounds = bounds
        self._bound: NDArray[Any] = bounds(self._levels.T, 0)
        self._sort()

    def _sort(self) -> None:
        import numpy as np

        bound = self._bound
        if bound.dtype == object:
            order: Any = np.array(sorted(range(len(bound)), key=bound.__getitem__), dtype=np.int64)
        else:
            order = np.argsort(bound, kind="stable")
        self._keep(order)

    @property
    def count(self) -> int:
        return len(self._bound)

    @property
    def least(self) -> int | None:
        """Returns the least lower bound of the losses of all remaining nodes; None if no node remains."""
        return int(self._bound[0]) if self.count else None

    def halving(self, count: int) -> list[Node]:
        """Returns up to `count` nodes with many remaining nodes both below and above them.

        Each result rules out many nodes: a failing node rules out all nodes below it, and a satisfying node all nodes
        above it, because they lose more.
        """
        import numpy as np

        indexes = np.arange(0, self.count, max(self.count // _HALVING, 1))
        candidates, sample = self._levels[:, indexes], self._levels[:, :: max(self.count // _SAMPLE, 1)]
        below: Any = np.ones((candidates.shape[1], sample.shape[1]), dtype=bool)
        above = below.copy()
        for level, others in zip(candidates, sample, strict=True):
            below &= others[None, :] <= level[:, None]
            above &= others[None, :] >= level[:, None]
        lower, upper = below.sum(axis=1), above.sum(axis=1)
        chosen: list[Node] = []
        while len(chosen) < count and len(lower):
            index = int(np.argmax(np.minimum(lower, upper) * _HALVING + lower))
            if not lower[index]:
                break
            chosen.append(self._node(int(indexes[index])))
            taken = below[index] | above[index]
            lower = lower - below[:, taken].sum(axis=1)
            upper = upper - above[:, taken].sum(axis=1)
            below[:, taken] = False
            above[:, taken] = False
        return chosen

    def general(self, count: int) -> list[Node]:
        """Returns up to `count` nodes that together have most of the other nodes below them."""
        import numpy as np

        start = max(self.count - _CANDIDATES, 0)
        candidates, sample = self._levels[:, start:], self._levels[:, :: max(self.count // _SAMPLE, 1)]
        below: Any = np.ones((candidates.shape[1], sample.shape[1]), dtype=bool)
        for level, others in zip(candidates, sample, strict=True):
            below &= others[None, :] <= level[:, None]
        chosen: list[Node] = []
        gains = below.sum(axis=1)
        while len(chosen) < count and gains.size:
            # Of nodes with equal gains the most general one is taken, because no remaining node is above the last node.
            index = len(gains) - 1 - int(np.argmax(gains[::-1]))
            if chosen and not gains[index]:
                break
            chosen.append(self._node(start + index))
            taken = below[index].copy()
            gains = gains - below[:, taken].sum(axis=1)
            below[:, taken] = False
        return chosen

    def children(self, ranks: Sequence[Rank], count: int) -> list[Node]:
        """Returns up to `count` remaining nodes one level less general than one of these nodes, in the order of the
        given nodes.
        """
        import numpy as np

        chosen: dict[int, None] = {}
        steps = np.array(self._steps, dtype=np.int64)
        for first in range(0, len(ranks) if count else 0, _TOGETHER):
            above = np.array([rank[2] for rank in ranks[first : first + _TOGETHER]], dtype=np.int64)
            low = np.array(self._low, dtype=np.int64)
            below = ((above - low) @ steps)[:, None] - steps[None, :]
            remains = np.isin(below, self._number) & (above > low)
            chosen |= dict.fromkeys(below[remains].tolist())
            if len(chosen) >= count:
                break
        return [self._at(number) for number in list(chosen)[:count]]

    def neighbours(self, node: Node, count: int) -> list[Node]:
        """Returns up to `count` remaining neighbors of a node, those with the least bounds first.

        First come nodes with one attribute a level lower, then nodes that also raise another attribute by a level.
        """
        import numpy as np

        number, attributes = self._number_of(node), zip(self._steps, node, self._low, self._shape, strict=True)
        steps = [(step, level > low, level < low + width - 1) for step, level, low, width in attributes]
        lower = [number - step for step, falls, _ in steps if falls]
        swapped = [below + step for below in lower for step, _, rises in steps if rises and below + step != number]
        chosen: list[Node] = []
        for numbers in (lower, swapped):
            indexes = np.flatnonzero(np.isin(self._number, np.array(numbers, dtype=np.int64)))
            chosen += [self._node(int(index)) for index in indexes[: count - len(chosen)]]
        return chosen

    def cheapest(self, count: int) -> list[Node]:
        """Returns up to `count` nodes, the least bound first."""
        return [self._node(index) for index in range(min(count, self.count))]

    @property
    def _steps(self) -> list[int]:
        """The difference between the numbers of two nodes that are one level apart, for each attribute, if nodes are
        numbered.
        """
        return [prod(self._shape[index + 1 :]) for index in range(len(self._shape))]

    def _at(self, number: int) -> Node:
        levels: list[int] = []
        for bottom, width in zip(reversed(self._low), reversed(self._shape), strict=True):
            number, level = divmod(number, width)
            levels.append(bottom + level)
        return tuple(reversed(levels))

    def drop(self, nodes: Sequence[Node]) -> None:
        """Drops nodes that have been counted."""
        import numpy as np

        self._keep(~np.isin(self._number, np.array([self._number_of(node) for node in nodes], dtype=np.int64)))

    def drop_below(self, nodes: Sequence[Node]) -> None:
        """Drops these nodes and all below them."""
        import numpy as np

        gone = np.zeros(self.count, dtype=bool)
        for node in nodes:
            below = self._levels[0] <= node[0]
            for levels, level in zip(self._levels[1:], node[1:], strict=True):
                below &= levels <= level
            gone |= below
        if gone.any():
            self._keep(~gone)

    def drop_from(self, rank: Rank) -> None:
        """Drops every node whose best possible rank is not better than `rank`."""
        import numpy as np

        loss, height, node = rank
        start, end = (int(np.searchsorted(self._bound, loss, side=side)) for side in ("left", "right"))
        heights = self._levels[:, start:end].sum(axis=0)
        earlier = (heights < height) | ((heights == height) & (self._number[start:end] < self._number_of(node)))
        self._keep(np.concatenate([np.arange(start), start + np.flatnonzero(earlier)]))

    def raise_below(self, withheld: Sequence[tuple[Node, int]]) -> None:
        """Raises the lower bounds of these nodes and all below them; each node withholds at least the given number of
        rows.
        """
        import numpy as np

        changed = False
        for node, rows in withheld:
            below = self._levels[0] <= node[0]
            for levels, level in zip(self._levels[1:], node[1:], strict=True):
                below &= levels <= level
            if below.any():
                self._bound[below] = np.maximum(self._bound[below], self._bounds(self._levels[:, below].T, rows))
                changed = True
        if changed:
            self._sort()

    def raise_above(self, floors: Sequence[tuple[Node, int]]) -> None:
        """Raises the lower bounds of these nodes and all above them to the given floor of the node."""
        changed = False
        for node, floor in floors:
            above = self._bound < floor
            for levels, level in zip(self._levels, node, strict=True):
                above &= levels >= level
            if above.any():
                self._bound[above] = floor
                changed = True
        if changed:
            self._sort()

    def _keep(self, chosen: Any) -> None:
        self._levels = self._levels[:, chosen]
        self._bound, self._number = self._bound[chosen], self._number[chosen]

    def _node(self, index: int) -> Node:
        return tuple(self._levels[:, index].tolist())

    def _number_of(self, node: Node) -> int:
        number = 0
        for level, bottom, width in zip(node, self._low, self._shape, strict=True):
            number = number * width + level - bottom
        return number


# The inputs and results of a search: a lattice, the counts of a node, and the best node.


# The excess is a sum of rounded fractions; a node is ruled out only if it is more than this beyond the limit.
ROUNDING = 1e-3


@dataclass(frozen=True)
class Lattice:
    """The nodes with levels `low[i] .. high[i]` for each attribute i, and the function that bounds their losses from
    below.
    """

    low: Node
    high: Node
    bounds: Bounds

    @property
    def size(self) -> int:
        return prod(high - low + 1 for low, high in zip(self.low, self.high, strict=True))

    def nodes(self) -> Iterator[Node]:
        """Yields each node, in the order of the levels."""
        return product(*(range(low, high + 1) for low, high in zip(self.low, self.high, strict=True)))

    def ranks(self, nodes: Sequence[Node]) -> list[Rank]:
        """Returns the lower bounds of the ranks of these nodes."""
        import numpy as np

        if not nodes:
            return []
        bounds = self.bounds(np.array(nodes, dtype=np.int16), 0)
        return [(int(bound), sum(node), node) for bound, node in zip(bounds, nodes, strict=True)]


@dataclass(frozen=True)
class Counted:
    """The counts of a node's classes.

    `suppressed` is the number of rows in classes that violate a requirement alone, `excess` a lower bound of the rows
    that any node below suppresses. `floor` is a lower bound of the loss of the node and of every node above, `least` of
    the node alone; None if unknown. If a part of the classes showed that the node fails, the counts are counts of the
    part, and `whole` is false.
    """

    suppressed: int
    excess: float
    floor: int | None = None
    least: int | None = None
    whole: bool = True


@dataclass(frozen=True)
class Found:
    """The best node, its loss and suppressed rows, and the numbers of nodes that were counted and of those that were
    ruled out uncounted.

    `proven` is true if no other node can be better; otherwise `least` is the lower bound of all losses.
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
    """The progress of a search: the nodes that were counted, those ruled out without counting, all nodes, and the least
    loss so far.
    """

    checked: int
    pruned: int
    nodes: int
    loss: int | None


# Returns each node's loss and suppressed rows; None for one that cannot be published, or cannot be the best.
Settle = Callable[[Sequence[Node], Rank | None], Sequence[tuple[int, int] | None]]


@dataclass
class Incumbent:
    """The best node so far by its rank, and the number of rows that it suppresses; `rank` is None before the first."""

    rank: Rank | None = None
    suppressed: int = 0

    @property
    def loss(self) -> int | None:
        """The loss of the best node; None before the first."""
        return None if self.rank is None else self.rank[0]

    def improve(self, satisfying: Iterable[tuple[Rank, int]]) -> None:
        """Replaces the best node by the best of the `satisfying` nodes, which come with their numbers of suppressed
        rows, if it is better.
        """
        for rank, suppressed in satisfying:
            if self.rank is None or rank < self.rank:
                self.rank, self.suppressed = rank, suppressed


def satisfying_ranks(
    nodes: Sequence[Node], limit: int, settle: Settle, best: Rank | None
) -> Iterator[tuple[Rank, int]]:
    """Yields the rank of each node that can be published with at most `limit` suppressed rows, and the number of these
    rows.
    """
    answers = settle(nodes, best) if nodes else ()
    for node, answer in zip(nodes, answers, strict=True):
        if answer is not None and answer[1] <= limit:
            yield (answer[0], sum(node), node), answer[1]


@dataclass(frozen=True)
class Classes:
    """The counts of a node's classes: their number, the sum of their squared sizes, and the rows, the excess and the
    number of the violating classes.

    `rows` counts the node's rows in the rollup. Unless `whole`, the counts cover a part of the classes only.
    """

    classes: int = 0
    squares: int = 0
    suppressed: int = 0
    excess: float = 0.0
    rows: int = 0
    whole: bool = True
    violating: int = 0


def classes_by_index(rows: Sequence[tuple[Any, ...]]) -> dict[int, Classes]:
    """Returns the results of the query `counts` by the node's index."""
    return {
        int(index): Classes(
            int(classes), int(squares), int(suppressed), float(excess), int(rows_in_rollup), violating=int(violating)
        )
        for index, classes, squares, suppressed, excess, rows_in_rollup, violating in rows
    }
