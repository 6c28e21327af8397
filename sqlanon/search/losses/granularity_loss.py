"""Granularity loss (NCP): how many of an attribute's values a released value may stand for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.search.lattice import Node
from sqlanon.search.losses.base import Setting, additive
from sqlanon.search.rollup import Classes
from sqlanon.sqlgen.lattice import leaf_counts, spread_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GranularityLoss"]


class GranularityLoss:
    """NCP: a generalized value costs (leaves below it - 1) / (leaves - 1), a cell of a suppressed row 1; weighted mean."""

    GROWS = True

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._leaves = ""
        cells, weights = setting.cells, setting.weights
        # Units that divide the loss of a cell exactly, for every attribute and weight.
        self._unit = lcm(*(w.denominator * max(v - 1, 1) for w, v in zip(weights, cells.values, strict=True)))
        self._row = int(self._unit * sum(weights))
        self._most = cells.most
        self._costs = [[self._cost(place, n) for n in spreads] for place, spreads in enumerate(cells.spread)]

    def _cost(self, place: int, spread: int) -> int:
        """The loss of an attribute whose cells together spread over so many further leaves."""
        weight = self._setting.weights[place]
        return int(self._unit * weight * spread / max(self._setting.cells.values[place] - 1, 1))

    def bounds(self, levels: NDArray[Any]) -> NDArray[Any]:
        return additive(self._costs, levels)

    def floor(self, classes: Classes) -> int | None:
        return None

    def least(self, node: Node, withheld: int) -> int | None:
        """Each withheld row loses at least what is left of a suppressed one's loss beside the costliest labels."""
        base = sum(cost[level] for cost, level in zip(self._costs, node, strict=True))
        own = sum(
            self._cost(place, most[level]) for place, (most, level) in enumerate(zip(self._most, node, strict=True))
        )
        return base + withheld * (self._row - own)

    def query(self, first: int) -> exp.Select:
        setting = self._setting
        if not self._leaves:
            self._leaves = setting.keep("leaves", leaf_counts(setting.policy, setting.cells))
        return spread_of(setting.policy, self._leaves, setting.cells.layout.words, setting.key, first)

    def parameters(self, nodes: Sequence[Node]) -> list[list[int]]:
        """For each attribute its level, and the masks that keep of the key its ancestor at that level."""
        layout = self._setting.cells.layout
        lists = [list(range(len(nodes)))]
        for place, fields in enumerate(layout.fields):
            lists.append([node[place] for node in nodes])
            for word in range(layout.words):
                masks = [sum(f.mask for f in fields[node[place] :] if f.word == word) for node in nodes]
                lists.append(masks)
        return lists

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        """That of the node's recoding, with the suppressed rows' own loss replaced by 1 a cell."""
        base = sum(cost[level] for cost, level in zip(self._costs, node, strict=True))
        own = sum(self._cost(place, int(spread or 0)) for place, spread in enumerate(answer))
        return base + withheld * self._row - own

    def value(self, loss: int) -> Fraction:
        cells = self._row * self._setting.cells.rows
        return Fraction(loss, cells) if cells else Fraction()
