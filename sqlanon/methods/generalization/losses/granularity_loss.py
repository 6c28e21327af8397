"""Granularity loss (NCP): how many of an attribute's values a released value may stand for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.methods.generalization.lattice.node_summary_sql import leaf_counts, spread_of
from sqlanon.methods.generalization.lattice.rollup import Classes
from sqlanon.methods.generalization.lattice.search import Node
from sqlanon.methods.generalization.losses.base import Setting, additive

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GranularityLoss"]


class GranularityLoss:
    """NCP: a generalized value costs (leaves below it - 1) / (leaves - 1), a cell of a suppressed row 1.

    The loss is the mean over all cells, weighted where the policy weighs.
    """

    GROWS = True

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._leaves = ""
        cells, weights = setting.cells, setting.weights
        # Units that divide the loss of a cell exactly, for every attribute and weight.
        others = [max(leaves - 1, 1) for leaves in cells.values]
        unit = lcm(*(weight.denominator * n for weight, n in zip(weights, others, strict=True)))
        self._others = others
        self._row = int(unit * sum(weights))
        # What each further leaf below a cell's label costs, by attribute.
        self._leaf = [int(unit * weight / n) for weight, n in zip(weights, others, strict=True)]
        self._costs = [[leaf * n for n in spreads] for leaf, spreads in zip(self._leaf, cells.spread, strict=True)]
        self._most = [[leaf * n for n in most] for leaf, most in zip(self._leaf, cells.most, strict=True)]

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        """Each withheld row loses at least what is left of a suppressed one's loss beside the costliest labels."""
        costs = [
            [cost + withheld * (leaf * n - most) for cost, most in zip(*own, strict=True)]
            for leaf, n, *own in zip(self._leaf, self._others, self._costs, self._most, strict=True)
        ]
        return additive(costs, levels)

    def floor(self, classes: Classes) -> int | None:
        return None

    def least(self, node: Node, withheld: int) -> int | None:
        own = sum(most[level] for most, level in zip(self._most, node, strict=True))
        return self._base(node) + withheld * (self._row - own)

    def _base(self, node: Node) -> int:
        """The loss of the node's recoding where no row is suppressed."""
        return sum(cost[level] for cost, level in zip(self._costs, node, strict=True))

    def query(self, first: int) -> exp.Select:
        setting = self._setting
        if not self._leaves:
            self._leaves = setting.keep("leaves", leaf_counts(setting.policy, setting.cells))
        return spread_of(len(self._leaf), self._leaves, setting.cells.layout.words, setting.key, first)

    def parameters(self, nodes: Sequence[Node]) -> list[list[int]]:
        """For each node and attribute its level, and the masks that keep of the key its ancestor at that level."""
        layout = self._setting.cells.layout
        items: list[tuple[int, ...]] = []
        for number, node in enumerate(nodes):
            items.append((number, -1, 0, *(0 for _ in range(layout.words))))
            for place, (fields, level) in enumerate(zip(layout.fields, node, strict=True)):
                masks = (sum(f.mask for f in fields[level:] if f.word == word) for word in range(layout.words))
                items.append((number, place, level, *masks))
        return [list(each) for each in zip(*items, strict=True)]

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        """That of the node's recoding, with the suppressed rows' own loss replaced by 1 a cell."""
        own = sum(leaf * int(spread or 0) for leaf, spread in zip(self._leaf, answer, strict=True))
        return self._base(node) + withheld * self._row - own

    def value(self, loss: int) -> Fraction:
        cells = self._row * self._setting.cells.rows
        return Fraction(loss, cells) if cells else Fraction()
