"""The average class size C_avg (LeFevre et al. 2006), as a multiple of the minimum class size."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.methods.shared.lattice.losses.base import AddsUp, Labels, Setting, published_of
from sqlanon.methods.shared.lattice.nodes import Classes, Node

if TYPE_CHECKING:
    from numpy.typing import NDArray


class AverageClassSize:
    """The loss is (rows of the source / published classes) / k.

    k is the minimum number of rows of a class that the policy's requirements declare, or 1 if they declare none. The
    loss decreases as more classes are published. The search compares the rows minus the published classes, which is
    never below 0. The policy's weights do not count.
    """

    NAME = "average_class_size"
    DEFINITION = (
        "average class size (LeFevre et al. 2006): the rows of the source divided by the number of released classes, "
        "as a multiple of the k rows, or respondents, that the policy asks of a class, or of 1"
    )
    ADDS_UP = AddsUp.CLASSES
    LATER_ROUNDS = NAME
    GROWS = True
    PORTABLE = True

    def __init__(self, setting: Setting) -> None:
        self._rows = setting.cells.rows
        self._least_rows = setting.least_rows
        self._index = setting.index
        self._labels = Labels(setting)
        self._public = setting.cells.public is not None

    def bounds(self, levels: NDArray[Any], withheld: int = 0) -> NDArray[Any]:
        """Bounds the loss by the most possible classes: withheld rows make up at least one, and each published class
        has a row.
        """
        import numpy as np

        most: NDArray[Any] = np.minimum(self._labels.most(levels) - (withheld > 0), self._rows - withheld)
        return self._rows - most

    def floor(self, classes: Classes) -> int | None:
        """Returns a lower bound of the loss of the nodes above, from the number of their classes.

        A class that is published at a node above contains a class that satisfies the requirements at this node, or at
        least two classes that violate them. With a public table it may consist of a single violating class, because
        more rows of the public table match it at the node above.
        """
        alone = classes.violating if self._public else classes.violating // 2
        return self._rows - (classes.classes - classes.violating + alone)

    def least(self, node: Node, withheld: int) -> int | None:
        import numpy as np

        return int(self.bounds(np.array([node]), withheld)[0])

    def query(self, first: int) -> exp.Query:
        return published_of(self._index, first)

    def parameters(self, nodes: Sequence[Node]) -> list[list[int]]:
        return [list(range(len(nodes)))]

    def of(self, node: Node, withheld: int, answer: Sequence[Any]) -> int:
        classes, _ = answer
        return self._rows - int(classes)

    def value(self, loss: int) -> Fraction:
        """Returns the average class size as a multiple of the minimum class size.

        It is infinite if no class is published; the result is then twice the figure for a single class, which no
        release that publishes anything reaches.
        """
        classes = self._rows - loss
        return Fraction(self._rows, self._least_rows) / (classes or Fraction(1, 2))
