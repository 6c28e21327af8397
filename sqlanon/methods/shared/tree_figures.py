"""Figures of the trees that keys are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.domain.bound import BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.sql.cells.cells import tree_summaries


@dataclass(frozen=True)
class TreeFigures:
    """Figures of a tree: its leaves and rows, the most siblings at each level, and what `Cells` has of each level."""

    leaves: int
    rows: int
    siblings: Sequence[int]
    spread: tuple[int, ...]
    most: tuple[int, ...]


def figures_of(engine: Engine, policy: BoundPolicy, trees: Sequence[str]) -> list[TreeFigures]:
    """The figures of the trees of a policy's quasi-identifiers, from one query about all of them."""
    quasi = policy.quasi_identifiers
    answers = dict(engine.rows(tree_summaries(list(zip(quasi, trees, strict=True))))) if trees else {}
    figures: list[TreeFigures] = []
    for number, bound in enumerate(quasi):
        leaves, rows, *rest = (int(figure or 0) for figure in answers[number])
        others, top = rest[bound.height :], max(leaves - 1, 0)
        spread = (0, *others[: bound.height - 1], rows * top)
        figures.append(TreeFigures(leaves, rows, rest[: bound.height], spread, (0, *others[bound.height - 1 :], top)))
    return figures
