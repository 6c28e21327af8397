"""What nodes of the lattice violate, suppress and lose: those around a chosen one, looked at to explain the choice."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.explanation import ExaminedNode, Violated
from sqlanon.errors import InternalError
from sqlanon.methods._classes import Key, violated
from sqlanon.methods._nodes import Nodes, Problem
from sqlanon.search.lattice import Node
from sqlanon.search.rollup import CellSource
from sqlanon.sqlgen.guard import needs_rounds

__all__ = ["Look", "Seen"]

# A node as it was seen, and the smallest class of each requirement that it violates.
Seen = tuple[ExaminedNode, tuple[Key, ...]]


class Look:
    """Looks at nodes, each once."""

    def __init__(self, problem: Problem, nodes: Nodes, cells: CellSource, limit: int, *, settles: bool = True) -> None:
        """Unless it `settles` nodes, it does not ask what a release at one of them would lose."""
        self._problem = problem
        self._nodes = nodes
        self._cells = cells
        self._limit = limit
        self._settles = settles
        self._seen: dict[Node, Seen] = {}
        self._loss: dict[Node, int] = {}

    def at(self, levels: Sequence[Node]) -> list[Seen]:
        """Each of some nodes as it is; looks at those that it has not seen yet."""
        new = [node for node in dict.fromkeys(levels) if node not in self._seen]
        width = self._nodes.rollups.batch
        for first in range(0, len(new), width):
            self._look(new[first : first + width])
        return [self._seen[node] for node in levels]

    def loss(self, node: Node) -> int:
        """The loss of a node that was looked at, in the search's own units."""
        if node not in self._loss:
            raise InternalError("the chosen node may not be published")
        return self._loss[node]

    def _look(self, levels: Sequence[Node]) -> None:
        held = self._violated(levels)
        settled = self._settled([node for node in levels if self._settles and held[node][0] <= self._limit])
        bounds = {node: self._nodes.loss.value(bound) for bound, _, node in self._nodes.lattice.ranks(levels)}
        for node in levels:
            withheld, broken = held[node]
            loss, suppressed = settled.get(node, (None, withheld))
            if suppressed is None or suppressed > self._limit:
                loss = None
            if loss is not None:
                self._loss[node] = loss
            one = ExaminedNode(
                levels=node,
                bound=bounds[node],
                withheld=withheld,
                later=None if suppressed is None else suppressed - withheld,
                violated=tuple(requirement for requirement, _ in broken),
                loss=None if loss is None else self._nodes.loss.value(loss),
            )
            self._seen[node] = one, tuple(key for _, key in broken)

    def _violated(self, levels: Sequence[Node]) -> dict[Node, tuple[int, list[tuple[Violated, Key]]]]:
        """For each node the rows of the classes that violate by themselves, and the requirements that they violate."""
        batch, rollups = self._nodes.batch, self._nodes.rollups
        if rollups.batch > 1:
            # Nodes that are counted whole are kept: one statement then reads them all.
            rollups.look(levels, self._cells.rows)
        found: dict[Node, tuple[int, list[tuple[Violated, Key]]]] = {}
        kept = None if self._cells.public else rollups.rows_of_all(levels)
        if kept is None:
            for node in levels:
                steps = batch.relations(*rollups.rows_of(node))
                found[node] = violated(self._problem.engine, batch, self._problem.requirements, steps).get(0, (0, []))
            return found
        rows, parameters = kept
        seen = violated(self._problem.engine, batch, self._problem.requirements, batch.relations(rows), parameters)
        return {node: seen.get(place, (0, [])) for place, node in enumerate(levels)}

    def _settled(self, levels: Sequence[Node]) -> dict[Node, tuple[int | None, int | None]]:
        """The loss and the rows that are suppressed; no loss and no rows where nothing may be published."""
        if not levels:
            return {}
        if needs_rounds(self._problem.requirements):
            # One by one: of several at once only those are settled that may be the best.
            answers = [self._nodes.settle([node], None)[0] for node in levels]
        else:
            answers = self._nodes.settle(levels, None)
        return {node: answer or (None, None) for node, answer in zip(levels, answers, strict=True)}
