"""What the trees of a source come to, read in one query for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.domain.bound import BoundAttribute
from sqlanon.engines.base import Engine
from sqlanon.sqlgen.build.names import relation
from sqlanon.sqlgen.cells.cells import tree_summaries

__all__ = ["TreeFigures", "tree_figures"]


@dataclass(frozen=True)
class TreeFigures:
    """The figures of one tree: `siblings` has the most at each level, `others` and `most_others` leaves less one.

    `others` is summed over the rows for each level from 1 to the one below the top, `most_others` the greatest.
    """

    leaves: int
    rows: int
    values: int
    siblings: tuple[int, ...]
    others: tuple[int, ...]
    most_others: tuple[int, ...]

    def spread(self, leaves: int) -> tuple[int, ...]:
        """What `Cells.spread` has of the tree, whose top stands for so many leaves."""
        return (0, *self.others, self.rows * max(leaves - 1, 0))

    def most(self, leaves: int) -> tuple[int, ...]:
        """What `Cells.most` has of the tree, whose top stands for so many leaves."""
        return (0, *self.most_others, max(leaves - 1, 0))


def tree_figures(engine: Engine, attributes: Sequence[BoundAttribute], trees: Sequence[str]) -> list[TreeFigures]:
    """The figures of the tree of each attribute, from the tables of these names."""
    if not trees:
        return []
    tables = [(bound, relation(name)) for bound, name in zip(attributes, trees, strict=True)]
    rows = sorted(tuple(map(int, row)) for row in engine.rows(tree_summaries(tables)))
    return [_figures(bound.height, figures) for bound, (_, *figures) in zip(attributes, rows, strict=True)]


def _figures(height: int, figures: Sequence[int]) -> TreeFigures:
    leaves, rows, values, *of_levels = figures
    siblings, others = of_levels[:height], of_levels[height : 2 * height - 1]
    most_others = of_levels[2 * height - 1 : 3 * height - 2]
    return TreeFigures(leaves, rows, values, tuple(siblings), tuple(others), tuple(most_others))
