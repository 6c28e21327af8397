"""Counts nodes of the lattice in memory, where the rows of a class decide whether the class satisfies.

Each label of each attribute has a random number, and the number of a class is the exclusive or of its labels' numbers
(Zobrist 1970). A neighboring node differs in a few labels, so the numbers of its classes take a few operations on whole
arrays. Two classes with equal numbers would count as one, with a probability below 2^-24 for a million classes; so a
node that is to be published is settled by SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.methods.shared.lattice.nodes import Counted, Lattice, Node, sizes
from sqlanon.methods.shared.task import Cells
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.cells.cells import Field, key_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The numbers need not be secret: they only tell classes apart.
_SEED = 1
# The bits of a code that fit a 64-bit integer with its sign.
_CODE_BITS = 62
# A code with at most this many bits is an index of a table.
_TABLE_BITS = 16
# Classes are first counted in buckets: at least this many for each cell, and at most 2^20.
_BUCKETS_EACH, _MOST_BITS, _LEAST_BITS = 4, 20, 12


@dataclass(frozen=True)
class LabelCosts:
    """The cost of each label, if the loss of a node is the sum over its rows' cells.

    `labels` is a query of attribute, level, part_0 ..., others: the nodes of each attribute's tree with the bits of
    their codes in each word of a key. A cell with such a label costs `others * unit[attribute]`, a share of the cost of
    a suppressed row. `whole` is the loss if all rows are suppressed.
    """

    labels: exp.Query
    unit: Sequence[float]
    whole: int


@dataclass(frozen=True)
class Labels:
    """The labels of all cells at a node: the number of each cell's class, the cost of a row of the cell, and its mean
    over all rows. `several` is false if all cells certainly have the same labels.
    """

    numbers: NDArray[Any]
    costs: NDArray[Any]
    mean: float
    several: bool = True


class NodeArrays:
    """The labels of all cells at each level of each attribute."""

    def __init__(self, engine: Engine, cells: Cells, lattice: Lattice, least_rows: int, costs: LabelCosts) -> None:
        """Reads the cells; a class violates if it has fewer than `least_rows` rows."""
        import numpy as np

        layout = cells.layout
        words = [key_name(word) for word in range(layout.words)]
        read = engine.arrays(select(*map(column, (*words, "n")), of=relation(cells.table)))
        keys = [np.asarray(read[word], dtype=np.int64) for word in words]
        self._n: NDArray[Any] = np.asarray(read["n"], dtype=np.int64)
        self.rows, self.whole, self._least_rows = max(cells.rows, 1), costs.whole, least_rows
        self._unit = costs.unit
        self._single = bool((self._n == 1).all())
        self._bits = min(max((_BUCKETS_EACH * len(self._n)).bit_length(), _LEAST_BITS), _MOST_BITS)
        random = np.random.default_rng(_SEED)
        of_labels: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
        for attribute, level, *figures in engine.rows(costs.labels):
            of_labels.setdefault((int(attribute), int(level)), []).append(tuple(figures))
        self._labels: list[list[Labels]] = []
        for index, fields in enumerate(layout.fields):
            unit = costs.unit[index]
            levels = [
                self._of_level(keys, fields[level:], of_labels.get((index, level), ()), unit, random)
                for level in range(lattice.high[index] + 1)
            ]
            self._labels.append(levels)

    def _of_level(
        self,
        keys: Sequence[NDArray[Any]],
        fields: Sequence[Field],
        of_labels: Sequence[tuple[Any, ...]],
        unit: float,
        random: Any,
    ) -> Labels:
        """Returns the labels of an attribute at a level, whose codes are in these fields."""
        import numpy as np

        words = zip(*((int(part) for part in parts) for *parts, _ in of_labels), strict=True)
        labels = _codes([np.array(word, dtype=np.int64) for word in words], fields) if of_labels else None
        index, bits = _codes(keys, fields), sum(field.bits for field in fields)
        if bits > _TABLE_BITS:
            known, index = np.unique(index, return_inverse=True)
            labels = None if labels is None else np.searchsorted(known, labels)
            count = len(known) + 1
        else:
            count = 1 << bits
        numbers = random.integers(0, 1 << 63, count, dtype=np.uint64) << np.uint64(1)
        costs: NDArray[Any] = np.zeros(count)
        if labels is not None:
            costs[labels] = np.array([float(figures[-1]) for figures in of_labels]) * unit
        of_cells = costs[index]
        return Labels(numbers[index], of_cells, float((of_cells * self._n).sum()) / self.rows, bits > 0)

    def labels_of(self, node: Node) -> Labels:
        """Returns the labels of all cells at a node."""
        parts = [levels[level] for levels, level in zip(self._labels, node, strict=True)]
        numbers, costs = parts[0].numbers, parts[0].costs
        for part in parts[1:]:
            numbers, costs = numbers ^ part.numbers, costs + part.costs
        return Labels(numbers, costs, sum(part.mean for part in parts))

    def moved(self, labels: Labels, node: Node, other: Node) -> Labels:
        """Returns the labels at the node `other`, from the labels at `node`."""
        numbers, costs, mean = labels.numbers, labels.costs, labels.mean
        for levels, level, new in zip(self._labels, node, other, strict=True):
            if level != new:
                numbers = numbers ^ levels[level].numbers ^ levels[new].numbers
                costs = costs - levels[level].costs + levels[new].costs
                mean += levels[new].mean - levels[level].mean
        return Labels(numbers, costs, mean)

    def least(self, labels: Labels) -> tuple[int, float]:
        """Returns lower bounds of the suppressed rows and of the loss at these labels, both nearly exact.

        Classes are counted in buckets, and a class is taken for satisfying if its bucket has enough rows.
        """
        return self._lost(labels, self._few(self._buckets(labels.numbers)))

    def _buckets(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Returns the bucket of each cell's class."""
        import numpy as np

        buckets: NDArray[Any] = (numbers >> np.uint64(64 - self._bits)).astype(np.int64)
        return buckets

    def _few(self, buckets: NDArray[Any]) -> NDArray[Any]:
        """Whether the bucket of each cell's class has too few rows."""
        import numpy as np

        counts = np.bincount(buckets, weights=None if self._single else self._n)
        few: NDArray[Any] = counts[buckets] < self._least_rows
        return few

    def exact(self, labels: Labels) -> tuple[int, float]:
        """Returns the suppressed rows and the loss at these labels."""
        return self._lost(labels, self._violate(labels.numbers))

    def _violate(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Whether the class of each cell has too few rows."""
        import numpy as np

        buckets = self._buckets(numbers)
        violates = self._few(buckets)
        # A class alone in its bucket has the rows of the bucket.
        of_buckets = np.zeros(1 << self._bits, dtype=np.uint64)
        of_buckets[buckets] = numbers
        several = np.zeros(1 << self._bits, dtype=bool)
        several[buckets[of_buckets[buckets] != numbers]] = True
        others = np.flatnonzero(several[buckets] & ~violates)
        _, index = np.unique(numbers[others], return_inverse=True)
        counts = np.bincount(index, weights=None if self._single else self._n[others])
        violates[others] = counts[index] < self._least_rows
        return violates

    def _lost(self, labels: Labels, violates: NDArray[Any]) -> tuple[int, float]:
        rows = self._n[violates]
        suppressed = int(rows.sum())
        return suppressed, labels.mean + (suppressed - float((labels.costs[violates] * rows).sum())) / self.rows

    def suppressed(self, node: Node, limit: int) -> int:
        """Returns the suppressed rows of a node, or a lower bound above `limit`."""
        numbers = self._numbers(node, range(len(node)))
        rows = int(self._n[self._few(self._buckets(numbers))].sum())
        return rows if rows > limit else int(self._n[self._violate(numbers)].sum())

    def withheld(self, node: Node) -> tuple[int, list[int]]:
        """Returns the suppressed rows of a node, and for each attribute the sum over them of (leaves below their label
        - 1).
        """
        import numpy as np

        violates = self._violate(self._numbers(node, range(len(node))))
        rows = self._n[violates]
        costs = [levels[level].costs[violates] for levels, level in zip(self._labels, node, strict=True)]
        others = [np.rint(of / unit).astype(np.int64) for of, unit in zip(costs, self._unit, strict=True)]
        return int(rows.sum()), [int((of * rows).sum()) for of in others]

    def count(self, nodes: Sequence[Node]) -> list[Counted]:
        """Returns a lower bound of the suppressed rows of each node."""
        return [self.count_part(node, range(len(node))) for node in nodes]

    def count_part(self, node: Node, part: Sequence[int]) -> Counted:
        """Returns a lower bound of the rows suppressed at a node if only the attributes of a part are published."""
        rows = int(self._n[self._few(self._buckets(self._numbers(node, part)))].sum())
        return Counted(rows, float(rows))

    def _numbers(self, node: Node, part: Sequence[int]) -> NDArray[Any]:
        """Returns the number of each cell's class by the attributes of a part."""
        import numpy as np

        numbers: NDArray[Any] = np.zeros(len(self._n), dtype=np.uint64)
        for index in part:
            labels = self._labels[index][node[index]]
            if labels.several:
                numbers ^= labels.numbers
        return numbers

    def entropies(self, node: Node) -> list[float]:
        """Returns the entropy of each attribute's labels at a node."""
        import numpy as np

        entropies: list[float] = []
        for levels, level in zip(self._labels, node, strict=True):
            _, index = np.unique(levels[level].numbers, return_inverse=True)
            shares = np.bincount(index, weights=self._n) / self.rows
            entropies.append(float(-(shares * np.log(shares)).sum()))
        return entropies


def fit_in_memory(cells: Cells, count: int, lattice: Lattice) -> bool:
    """Whether the labels of so many cells fit in memory."""
    levels = sum(high + 1 for high in lattice.high)
    widths = [sum(field.bits for field in fields) for fields in cells.layout.fields]
    return levels * count <= sizes().most_labels and max(widths, default=0) <= _CODE_BITS


def _codes(keys: Sequence[NDArray[Any]], fields: Sequence[Field]) -> NDArray[Any]:
    """Joins the bits of some fields of each key into one number."""
    import numpy as np

    codes: NDArray[Any] = np.zeros(len(keys[0]), dtype=np.int64)
    offset = 0
    for field in fields:
        if field.bits:
            codes |= ((keys[field.word] >> field.shift) & ((1 << field.bits) - 1)) << offset
            offset += field.bits
    return codes
