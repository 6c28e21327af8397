"""The discernibility metric (Bayardo and Agrawal 2005): each row costs the number of rows equal to it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.methods.shared.lattice.losses.base import AddsUp, Labels, Setting, published_of
from sqlanon.methods.shared.lattice.nodes import Classes, Node

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Discernibility:
    """A published row costs the size of its class, a suppressed row the size of the source.

    So a class costs its size squared, and at least as much if it is suppressed. The policy's weights do not count.
    """

    NAME = "discernibility"
    DEFINITION = (
        "discernibility metric (Bayardo and Agrawal 2005): a released row costs the number of rows of its class, a "
        "suppressed row the number of rows of the source; the sum over all rows of the source"
    )
    ADDS_UP = AddsUp.CLASSES
    LATER_ROUNDS = NAME
    GROWS = True
    PORTABLE = True

    def __init__(self, setting: Setting) -> None:
        self._rows = setting.cells.rows
        self._index = setting.index
        self._labels = Labels(setting)

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        """Bounds the loss of each node by its labels: a label splits into at most as many classes as the other
        attributes' labels have combinations.

        The sum of squared class sizes is smallest when these classes have equal size.
        """
        import numpy as np

        # Every class has a row at least, and so every row costs 1.
        least: NDArray[Any] = self._labels.most(levels) * 0 + self._rows
        for index in range(levels.shape[1]):
            classes = self._labels.most(levels, without=index)
            least = np.maximum(least, -(-self._labels.squared(levels, index) // classes))
        return np.maximum(least, self._beside(levels, withheld)) if withheld else least

    def _beside(self, levels: NDArray[Any], withheld: int) -> NDArray[Any]:
        """Returns the cost of withheld rows plus the least possible cost of the other rows.

        The sum of squared class sizes is least if these rows are in classes of nearly equal size.
        """
        import numpy as np

        most = self._labels.most(levels)
        size, larger = (self._rows - withheld) // most, (self._rows - withheld) % most
        cost = withheld * self._rows + (most - larger) * size**2 + larger * (size + 1) ** 2
        # A single class is withheld whole, or not at all.
        return np.where(most > 1, cost, self._rows**2)

    def floor(self, classes: Classes) -> int | None:
        return classes.squares

    def least(self, node: Node, withheld: int) -> int | None:
        import numpy as np

        return int(self.bounds(np.array([node]), withheld)[0])

    def query(self, first: int) -> exp.Query:
        return published_of(self._index, first)

    def parameters(self, nodes: Sequence[Node]) -> list[list[int]]:
        return [list(range(len(nodes)))]

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        _, squares = answer
        return int(squares) + withheld * self._rows

    def value(self, loss: int) -> Fraction:
        return Fraction(loss)
