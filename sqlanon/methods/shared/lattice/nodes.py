"""The nodes of a lattice that may still be the answer of a search."""

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
    """The levels of all nodes from `low` to `high`: a row an attribute, the nodes in the order of their levels."""
    import numpy as np

    shape = [top - bottom + 1 for bottom, top in zip(low, high, strict=True)]
    # An array has at most 64 dimensions. Attributes with a choice are fewer wherever the nodes can be held at all.
    choices = [attribute for attribute, levels in enumerate(shape) if levels > 1]
    steps = np.indices([shape[attribute] for attribute in choices], dtype=np.int16).reshape(len(choices), prod(shape))
    nodes = np.repeat(np.array(low, dtype=np.int16)[:, None], prod(shape), axis=1)
    nodes[choices] += steps
    return nodes


# From which sizes on a search of the lattice goes another way.


@dataclass(frozen=True)
class Sizes:
    """Sizes that decide how a search goes: how long it takes depends on them, and what it may hold in memory.

    `max_nodes` is the largest lattice that is searched whole. From `raise_from` nodes on it
    pays to look first at how low each attribute can be at all. A source of `large_source`
    cells is looked at a node at a time: one class in `one_in` first; and a node's rows are
    kept where there are `times_fewer` times fewer of them. Otherwise `batch` nodes are looked
    at in one statement: with more, what one of them rules out is found too late for the
    others. Of a node that comes from `part_from` rows, most of which fail by far, a part is
    looked at first; if it is too much to suppress, all classes are looked at only where their excess is likely to
    be `times_beyond` times what may be suppressed. Where a batch would read more than `meet_from` rows, the rows
    of at most `meets` nodes between the cells and its own are made first. A lattice of at most `few_nodes` over
    at most `few_cells` is looked at whole in one turn: there a turn costs more than its nodes. Before a
    descent over at most `fewest_cells` that is so of any lattice that fits one statement.
    From `lasting_from` cells on a class that satisfies for good is kept as one row: that takes more
    statements, and reads less. Where columns have fewer than `few_values` values, each query counts their leaves anew.
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


sizes = Adjustable(Sizes())


Node = tuple[int, ...]

# Loss, height and levels: by these nodes are compared, the least is the best.
Rank = tuple[int, int, Node]

# The least loss that each of some nodes may have; a row of the first argument holds a node's levels, the second are
# rows that each of them withholds at least.
Bounds = Callable[["NDArray[Any]", int], "NDArray[Any]"]

# In the choice of what to check next, this many of the most general nodes stand for all candidates,
# and this many evenly spaced ones for all that remain: enough to choose well, and quick.
_CANDIDATES = 128
_SAMPLE = 512
_HALVING = 64

# Of so many nodes at a time the less general ones are looked for.
_TOGETHER = 256


class Remaining:
    """A set of nodes in the order of their bound."""

    def __init__(self, low: Node, high: Node, bounds: Bounds) -> None:
        """All nodes between `low` and `high`; raises PolicyError if there are too many to hold."""
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
        # A row an attribute: comparisons with a node go through one attribute after the other.
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
        """The least loss that a remaining node may have; None if none remains."""
        return int(self._bound[0]) if self.count else None

    def halving(self, count: int) -> list[Node]:
        """Up to `count` nodes that have many others below them and many above.

        Whether such a node satisfies or not, much can be dropped: what is below one that
        fails, and what is above, and so loses more than, one that satisfies.
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
        """Up to `count` nodes that together have most of the others below them."""
        import numpy as np

        start = max(self.count - _CANDIDATES, 0)
        candidates, sample = self._levels[:, start:], self._levels[:, :: max(self.count // _SAMPLE, 1)]
        below: Any = np.ones((candidates.shape[1], sample.shape[1]), dtype=bool)
        for level, others in zip(candidates, sample, strict=True):
            below &= others[None, :] <= level[:, None]
        chosen: list[Node] = []
        gains = below.sum(axis=1)
        while len(chosen) < count and gains.size:
            # Of equals the most general: nothing that remains is above the last one.
            index = len(gains) - 1 - int(np.argmax(gains[::-1]))
            if chosen and not gains[index]:
                break
            chosen.append(self._node(start + index))
            taken = below[index].copy()
            gains = gains - below[:, taken].sum(axis=1)
            below[:, taken] = False
        return chosen

    def children(self, ranks: Sequence[Rank], count: int) -> list[Node]:
        """Up to `count` of those that are one level less general than a node of these, in the order of these."""
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
        """Up to `count` of those that lower one attribute of a node by a level, then of those that also raise another.

        Of both those with the least bounds first.
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

    @property
    def _steps(self) -> list[int]:
        """Returns by how much the number of a node falls with a level of each attribute."""
        return [prod(self._shape[index + 1 :]) for index in range(len(self._shape))]

    def _at(self, number: int) -> Node:
        levels: list[int] = []
        for bottom, width in zip(reversed(self._low), reversed(self._shape), strict=True):
            number, level = divmod(number, width)
            levels.append(bottom + level)
        return tuple(reversed(levels))

    def drop(self, nodes: Sequence[Node]) -> None:
        """Drops nodes that have been looked at."""
        import numpy as np

        self._keep(~np.isin(self._number, np.array([self._number_of(node) for node in nodes], dtype=np.int64)))

    def drop_below(self, nodes: Sequence[Node]) -> None:
        """Drops every node at most as general as one of these."""
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
        """Drops every node that cannot beat this rank: whose bound, height and levels are not before it."""
        import numpy as np

        loss, height, node = rank
        start, end = (int(np.searchsorted(self._bound, loss, side=side)) for side in ("left", "right"))
        heights = self._levels[:, start:end].sum(axis=0)
        earlier = (heights < height) | ((heights == height) & (self._number[start:end] < self._number_of(node)))
        self._keep(np.concatenate([np.arange(start), start + np.flatnonzero(earlier)]))

    def raise_below(self, withheld: Sequence[tuple[Node, int]]) -> None:
        """Takes into account that every node at most as general as one of these withholds at least that many rows."""
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
        """Takes into account that no node at least as general as one of these loses less than its floor."""
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


# What a search of the lattice goes by: nodes between two levels, what a look at one tells, and what was found.


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

    def nodes(self) -> Iterator[Node]:
        """Each node, in the order of the levels."""
        return product(*(range(low, high + 1) for low, high in zip(self.low, self.high, strict=True)))

    def ranks(self, nodes: Sequence[Node]) -> list[Rank]:
        """The least ranks that some nodes may have."""
        import numpy as np

        if not nodes:
            return []
        bounds = self.bounds(np.array(nodes, dtype=np.int16), 0)
        return [(int(bound), sum(node), node) for bound, node in zip(bounds, nodes, strict=True)]


@dataclass(frozen=True)
class Counted:
    """The result of counting a node's classes.

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
    """The progress of a search: nodes checked, ruled out unseen, and all; the best loss so far."""

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
