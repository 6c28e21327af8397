"""Non-uniform entropy (De Waal and Willenborg 1999; Gionis and Tassa 2009): the bits it takes to undo the recoding."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.methods.generalization.lattice.rollup import Classes
from sqlanon.methods.generalization.lattice.search import Node
from sqlanon.methods.generalization.losses.base import Setting, additive
from sqlanon.methods.generalization.losses.loss_sql import LOG_BITS, cost_totals, entropy_of, value_costs

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NonUniformEntropy"]

# The unit of the loss is 2 ** -30 bits: far above the error of the logarithms, far below what tells nodes apart.
_UNIT_BITS = 30


class NonUniformEntropy:
    """For each attribute a kept row costs -log2(rows with its value / rows with its label), rows of the whole source.

    The suppressed rows cost -log2(rows with the value among them / their number) each.
    The sum over all attributes, weighted. Logarithms are irrational: losses are rounded
    to multiples of 2 ** -30 bits of the attribute of the greatest weight, and nodes
    that agree in them count as equal.
    """

    # Of the rows of one class the values may be told apart from less than what the recoding has cost them.
    GROWS = False

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        whole = lcm(*(weight.denominator for weight in setting.weights))
        self._weights = [int(weight * whole) for weight in setting.weights]
        self._most = max(setting.weights)
        # So many weighted units of 2 ** -LOG_BITS are a unit of the loss.
        self._per_unit = max(self._weights) << (LOG_BITS - _UNIT_BITS)
        self._costs = setting.keep("costs", value_costs(setting.policy, setting.cells))
        heights = [bound.height for bound in setting.policy.quasi_identifiers]
        # By attribute and level: the bits of all rows, and the least that is left of them beside the suppressed rows'.
        self._all = [[0] * (height + 1) for height in heights]
        self._left = [[0] * (height + 1) for height in heights]
        totals = cost_totals(self._costs, setting.cells.layout.words, setting.limit)
        for attribute, level, every, costliest in setting.rows(totals):
            self._all[attribute][level] = int(every)
            self._left[attribute][level] = int(every) - int(costliest)

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        """What every attribute's costliest rows leave, were it they that are suppressed, and cost nothing then."""
        costs = [
            [weight * left // self._per_unit for left in own]
            for weight, own in zip(self._weights, self._left, strict=True)
        ]
        return additive(costs, levels)

    def floor(self, classes: Classes) -> int | None:
        return None

    def least(self, node: Node, withheld: int) -> int | None:
        return None

    def query(self, first: int) -> exp.Select:
        setting = self._setting
        return entropy_of(len(self._weights), self._costs, setting.cells, setting.key, first)

    def parameters(self, nodes: Sequence[Node]) -> list[list[int]]:
        """Its mask of each word, and the level of each attribute."""
        layout = self._setting.cells.layout
        masks = [list(word) for word in zip(*(layout.masks(node) for node in nodes), strict=True)]
        levels = [list(own) for own in zip(*nodes, strict=True)]
        return [list(range(len(nodes))), *masks, *levels]

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        """That of the node's recoding of all rows, and what withholding some adds to it."""
        total = sum(
            weight * (own[level] + int(more))
            for weight, own, level, more in zip(self._weights, self._all, node, answer, strict=True)
        )
        return (2 * total + self._per_unit) // (2 * self._per_unit)

    def value(self, loss: int) -> Fraction:
        return Fraction(loss, 1 << _UNIT_BITS) * self._most
