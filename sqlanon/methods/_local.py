"""Local recoding: the rows that a node would suppress are recoded further, in rounds, instead of being left out.

A round is a search over the rows that the rounds before have left, among the nodes at
least as general as theirs. It keeps the classes that violate nothing, and what it leaves
costs as much as suppressed rows do; so the first round is more precise than a recoding of
all rows at once can be. The last has to come within the budget. Each number of rounds
gives one candidate, with global recoding as the first: the one that loses least is taken.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from sqlanon.methods._nodes import Nodes, Problem
from sqlanon.methods._union import Kept, Left, published
from sqlanon.search.lattice import Found, Node
from sqlanon.search.rollup import CellSource
from sqlanon.sqlgen.cells import tree_summary
from sqlanon.sqlgen.keys import KeyLayout
from sqlanon.sqlgen.leftover import classes_kept, divided, recounted
from sqlanon.sqlgen.names import relation
from sqlanon.sqlgen.rows import Step

__all__ = ["ROUNDS", "Recoded", "recoded"]

# So many rounds at most: what the later ones keep is little.
ROUNDS = 4

# Searches some nodes, of which so many rows may be suppressed.
Search = Callable[[Nodes, int], Found | None]

# To height suppressed rows are as good as published ones: what is left is recoded by what levels cost a row.
_INSTEAD = {"height": "precision"}


@dataclass(frozen=True)
class Recoded:
    """The levels and the published rows of each round, the rows that are not published, the loss in its unit."""

    rounds: tuple[tuple[Node, int], ...]
    suppressed: int
    loss: int


@dataclass(frozen=True)
class _Cells:
    """The cells of the rows that are left, as a source of their own; what is given stays that of the whole source."""

    table: str
    trees: tuple[str, ...]
    layout: KeyLayout
    rows: int
    values: tuple[int, ...]
    spread: tuple[tuple[int, ...], ...]
    most: tuple[tuple[int, ...], ...]
    carried: tuple[str, ...]
    given: tuple[Step, ...]
    public: str | None


def recoded(
    problem: Problem, cells: CellSource, nodes: Nodes, found: Found, limit: int, loss: str, search: Search
) -> Recoded | None:
    """The best union of several rounds; None if none is better than `found`, the best of `nodes`.

    Of those that lose as much the one that suppresses least is the better. At most
    `limit` rows are suppressed.
    """
    union = _Rounds(problem, cells, limit, loss, (found.loss, found.suppressed))
    last: Found | None = found
    measure = loss
    while len(union.kept) + 1 < ROUNDS:
        most = _may_be_left(nodes, union.left.rows, limit, last)
        nodes = nodes.allowing(most, measure)
        free = search(nodes, most)
        if free is None or free.suppressed == union.left.rows:
            break
        union.add(nodes, free.node)
        if not free.suppressed:
            union.consider()
            break
        measure = _INSTEAD.get(loss, loss)
        nodes = Nodes(problem, union.left, free.node, limit, measure)
        last = search(nodes, limit)
        if last is not None:
            union.consider(nodes, last.node)
    return union.best


def _may_be_left(nodes: Nodes, rows: int, limit: int, last: Found | None) -> int:
    """How many rows a round may leave and not lose more than `last`; `limit` where that costs nothing."""
    ground = (0,) * len(nodes.lattice.low)

    def least(left: int) -> int:
        return nodes.loss.least(ground, left) or 0

    if not least(rows):
        return limit
    return rows if last is None else max(limit, bisect_right(range(rows + 1), last.loss, key=least) - 1)


class _Rounds:
    """The rounds so far, the cells that they leave, and the best union that has been considered."""

    def __init__(self, problem: Problem, cells: CellSource, limit: int, loss: str, best: tuple[int, int]) -> None:
        self._problem, self._cells, self._limit, self._loss = problem, cells, limit, loss
        self._least = best
        self.kept: list[Kept] = []
        self.left = cells
        self.best: Recoded | None = None

    def add(self, nodes: Nodes, node: Node) -> None:
        """The node is the next round; what it leaves are the cells of the one after."""
        kept, left = self._divided(nodes, node)
        self.kept.append(kept)
        self.left = self._recounted(left)

    def consider(self, nodes: Nodes | None = None, node: Node = ()) -> None:
        """Compares the union of the rounds, and of the node as the last, with the best one so far."""
        rounds, left = list(self.kept), Left(self.left.table, self.left.public)
        if nodes is not None:
            kept, left = self._divided(nodes, node)
            rounds.append(kept)
        found = published(self._problem, self._cells, rounds, left, self._limit, self._loss)
        if found is not None and (found.loss, found.suppressed) < self._least:
            self._least = (found.loss, found.suppressed)
            levels = [kept.levels for kept in rounds]
            parts = tuple((own, rows) for own, rows in zip(levels, found.rows, strict=True) if rows)
            self.best = Recoded(parts, found.suppressed, found.loss)

    def _divided(self, nodes: Nodes, node: Node) -> tuple[Kept, Left]:
        """The cells of the classes that violate nothing at a node, and the others."""
        keep, layout = self._problem.keep, self._cells.layout
        classes = keep("classes", classes_kept(nodes.batch, *nodes.rollups.rows_of(node)))
        inside, outside = (
            keep("cells", divided(self.left.table, layout, node, classes, within=within)) for within in (True, False)
        )
        if self.left.public is None:
            return Kept(node, inside), Left(outside)
        public = [
            keep("public", divided(self.left.public, layout, node, classes, within=within)) for within in (True, False)
        ]
        return Kept(node, inside, public[0]), Left(outside, public[1])

    def _recounted(self, left: Left) -> CellSource:
        """The cells that are left, as a source of their own."""
        own, problem = self._cells, self._problem
        trees: list[str] = []
        spread: list[tuple[int, ...]] = []
        most: list[tuple[int, ...]] = []
        rows = 0
        attributes = zip(problem.policy.quasi_identifiers, own.trees, own.layout.fields, own.values, strict=True)
        for bound, tree, fields, values in attributes:
            trees.append(problem.keep("tree", recounted(tree, fields, left.cells)))
            _, rows, *figures = map(int, problem.engine.rows(tree_summary(bound, relation(trees[-1])))[0])
            others, top = figures[bound.height :], max(values - 1, 0)
            spread.append((0, *others[: bound.height - 1], rows * top))
            most.append((0, *others[bound.height - 1 :], top))
        return _Cells(
            left.cells,
            tuple(trees),
            own.layout,
            rows,
            tuple(own.values),
            tuple(spread),
            tuple(most),
            own.carried,
            own.given,
            left.public,
        )
