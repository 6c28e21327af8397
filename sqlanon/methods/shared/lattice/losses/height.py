"""Height (Samarati 2001): the levels of all attributes together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.methods.shared.lattice.losses.base import AddsUp, Setting, withheld_of
from sqlanon.methods.shared.lattice.nodes import Classes, Node

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Height:
    """The loss of a node is the sum of its levels. It does not depend on the rows, so suppression costs nothing.

    The policy's weights do not count. Among nodes of equal height, the first in the order of levels is the best, not
    the node that suppresses the fewest rows.
    """

    NAME = "height"
    DEFINITION = "height (Samarati 2001): the sum of the levels of all quasi-identifiers"
    ADDS_UP = AddsUp.LEVELS
    # Suppressed rows cost no more than published ones, so the rows left are recoded by their loss of precision.
    LATER_ROUNDS = "precision"
    GROWS = True
    PORTABLE = True

    def __init__(self, setting: Setting) -> None:
        pass

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        import numpy as np

        height: NDArray[Any] = levels.sum(axis=1, dtype=np.int64)
        return height

    def floor(self, classes: Classes) -> int | None:
        return None

    def least(self, node: Node, withheld: int) -> int | None:
        return sum(node)

    def query(self, first: int) -> exp.Query:
        return withheld_of(first)

    def parameters(self, nodes: Sequence[Node]) -> list[list[int]]:
        return [list(range(len(nodes)))]

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        return sum(node)

    def value(self, loss: int) -> Fraction:
        return Fraction(loss)
