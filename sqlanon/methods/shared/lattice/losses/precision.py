"""Precision (Sweeney 2002): the level of each cell as a share of its hierarchy's height."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.methods.shared.lattice.losses.base import AddsUp, Setting, additive, withheld_of
from sqlanon.methods.shared.lattice.nodes import Classes, Node

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Precision:
    """A cell costs level / height, and a cell of a suppressed row 1; the loss is the mean over all cells, weighted by
    attribute.

    Sweeney's precision is 1 minus this loss.
    """

    NAME = "precision"
    DEFINITION = (
        "loss of precision (Sweeney 2002): a value costs its level divided by the height of its hierarchy, a "
        "suppressed row 1 in each quasi-identifier; the mean over all rows of the source and all quasi-identifiers, "
        "weighted where the policy weighs"
    )
    ADDS_UP = AddsUp.ROWS
    LATER_ROUNDS = NAME
    GROWS = True
    PORTABLE = True

    def __init__(self, setting: Setting) -> None:
        weights = setting.weights
        heights = [bound.height for bound in setting.policy.quasi_identifiers]
        # Units that divide the cost of a cell exactly, for every attribute and level.
        unit = lcm(*(weight.denominator * height for weight, height in zip(weights, heights, strict=True)))
        self._rows = setting.cells.rows
        self._row = int(unit * sum(weights))
        # The cost of one row in an attribute, by level.
        self._cell = [
            [int(unit * weight * level / height) for level in range(height + 1)]
            for weight, height in zip(weights, heights, strict=True)
        ]

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        published = self._rows - withheld
        return additive([[published * cost + withheld * costs[-1] for cost in costs] for costs in self._cell], levels)

    def floor(self, classes: Classes) -> int | None:
        return None

    def least(self, node: Node, withheld: int) -> int | None:
        return self.of(node, withheld, ())

    def query(self, first: int) -> exp.Query:
        return withheld_of(first)

    def parameters(self, nodes: Sequence[Node]) -> list[list[int]]:
        return [list(range(len(nodes)))]

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        published_row = sum(costs[level] for costs, level in zip(self._cell, node, strict=True))
        return (self._rows - withheld) * published_row + withheld * self._row

    def value(self, loss: int) -> Fraction:
        cells = self._row * self._rows
        return Fraction(loss, cells) if cells else Fraction()
