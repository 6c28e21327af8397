"""How many classes a node can have at most: one for every combination of its labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.lattice.losses.base import Setting
from sqlanon.methods.shared.lattice.losses.loss_sql import huge_total, occurring, rank_path
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import huge, union_all
from sqlanon.sql.build.names import alias, column, literal, relation

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Labels:
    """For each attribute and level the labels that occur, and the sum of the squares of their rows.

    `small` says whether the square of all rows fits an int64; where it does not, arrays hold Python's integers.
    """

    def __init__(self, setting: Setting) -> None:
        self.rows = setting.cells.rows
        heights = [bound.height for bound in setting.policy.quasi_identifiers]
        self.counts = [[0] * (height + 1) for height in heights]
        self.squares = [[0] * (height + 1) for height in heights]
        for attribute, level, labels, squares in setting.rows(_label_counts(setting.policy, setting.cells)):
            self.counts[attribute][level] = int(labels)
            self.squares[attribute][level] = int(squares)
        self.small = self.rows < 1 << 31

    def most(self, levels: NDArray[Any], without: int | None = None) -> NDArray[Any]:
        """For each row of levels the most classes it can have: at least 1, at most the rows.

        `without` an attribute, the most classes that a label of it can be divided into.
        """
        import numpy as np

        most: NDArray[Any] = np.ones(len(levels), dtype=np.int64 if self.small else object)
        top = max(self.rows, 1)
        for index, counts in enumerate(self.counts):
            if index != without:
                capped = np.array([min(max(count, 1), top) for count in counts], dtype=most.dtype)
                most = np.minimum(most * capped[levels[:, index]], top)
        return most

    def squared(self, levels: NDArray[Any], index: int) -> NDArray[Any]:
        """For each row of levels the sum of the squared rows of one attribute's labels."""
        import numpy as np

        squares: NDArray[Any] = np.array(self.squares[index], dtype=np.int64 if self.small else object)
        return squares.take(levels[:, index])


def _label_counts(policy: BoundPolicy, cells: Cells) -> exp.Query:
    """For each attribute and level: attribute, level, the labels that occur there, the sum of their squared rows."""
    queries: list[exp.Query] = []
    for index, bound in enumerate(policy.quasi_identifiers):
        for level in range(bound.height + 1):
            rows = alias(huge(f.sum(column("n"))), "n")
            labels = exp.select(rows).from_(relation(cells.trees[index])).where(occurring())
            if level < bound.height:
                labels.group_by(*rank_path(bound, level), copy=False)
            figures = [f.count(column("n")), huge_total(column("n") * column("n"))]
            queries.append(exp.select(literal(index), literal(level), *figures).from_(labels.subquery("labels")))
    return union_all(queries)
