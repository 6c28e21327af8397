"""What nodes of the lattice violate, suppress and lose: those around a chosen one, looked at to explain the choice."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlanon.domain.explanation import ExaminedNode, JoinReached, Violated
from sqlanon.errors import InternalError
from sqlanon.methods.generalization.violating_classes import Key, violated
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.methods.shared.lattice.remaining import Node
from sqlanon.methods.shared.task import Task
from sqlanon.sql.classes.guard import needs_rounds

# A node that was looked at, and the smallest class of each requirement that it violates.
Seen = tuple[ExaminedNode, tuple[Key, ...]]

# The rows of the classes that violate by themselves, and the requirements that they violate.
Violations = tuple[int, list[tuple[Violated, Key]]]


class Look:
    """Looks at nodes, each once."""

    def __init__(self, task: Task, nodes: Nodes, cells: Cells, limit: int, *, settles: bool = True) -> None:
        """Unless it `settles` nodes, it asks neither for later rounds nor for what a release at a node would lose."""
        self._task = task
        self._nodes = nodes
        self._cells = cells
        self._limit = limit
        self._settles = settles
        self._rounds = needs_rounds(task.requirements)
        self._violations: dict[Node, Violations] = {}
        self._settled: dict[Node, tuple[int, int] | None] = {}
        self._joins: dict[Node, tuple[JoinReached, ...]] = {}

    def at(self, levels: Sequence[Node]) -> list[Seen]:
        """Each of some nodes, with the rows that it would suppress counted through all rounds."""
        self._look_at(levels)
        if self._settles:
            # Where no round follows, a node that is beyond the limit at first remains so.
            self._settle([node for node in levels if self._rounds or self._violations[node][0] <= self._limit])
        bounds = {node: self._nodes.loss.value(bound) for bound, _, node in self._nodes.lattice.ranks(levels)}
        return [self._examined(node, bounds[node]) for node in levels]

    def failing(self, levels: Sequence[Node]) -> list[Node]:
        """Those of some nodes that may not be published.

        No later round publishes a row that the first withholds: only nodes that are
        within the limit at first are settled.
        """
        self._look_at(levels)
        self._settle([node for node in levels if self._violations[node][0] <= self._limit])
        return [node for node in levels if self._violations[node][0] > self._limit or not self._passes(node)]

    def loss(self, node: Node) -> int:
        """The loss of a node that was looked at, in the search's own units."""
        answer = self._settled.get(node)
        if answer is None or not self._passes(node):
            raise InternalError("the chosen node may not be published")
        return answer[0]

    def _passes(self, node: Node) -> bool:
        answer = self._settled[node]
        within = answer is not None and answer[1] <= self._limit
        return within and all(reached.satisfied for reached in self._joins[node])

    def _examined(self, node: Node, bound: Fraction) -> Seen:
        withheld, broken = self._violations[node]
        later: int | None = 0
        loss = None
        if node in self._settled:
            answer = self._settled[node]
            later = None if answer is None else answer[1] - withheld
            loss = self._nodes.loss.value(answer[0]) if answer is not None and self._passes(node) else None
        joins = self._joins.get(node, ())
        seen = ExaminedNode(node, bound, withheld, later, tuple(requirement for requirement, _ in broken), loss, joins)
        return seen, tuple(key for _, key in broken)

    def _look_at(self, levels: Sequence[Node]) -> None:
        new = [node for node in dict.fromkeys(levels) if node not in self._violations]
        width = self._nodes.rollups.batch
        for first in range(0, len(new), width):
            self._violations |= self._violated(new[first : first + width])

    def _settle(self, levels: Sequence[Node]) -> None:
        """Asks for the loss and the rows that are suppressed; None where nothing may be published."""
        new = [node for node in dict.fromkeys(levels) if node not in self._settled]
        # One by one where there are rounds: of several at once only those are settled that may be the best.
        width = 1 if self._rounds else self._nodes.rollups.batch
        for first in range(0, len(new), width):
            part = new[first : first + width]
            self._settled |= zip(part, self._nodes.settle_classes(part, None), strict=True)
        for node in new:
            answer = self._settled[node]
            self._joins[node] = () if answer is None or answer[1] > self._limit else self._nodes.joins(node, answer[1])

    def _violated(self, levels: Sequence[Node]) -> dict[Node, Violations]:
        """For each node the rows of the classes that violate by themselves, and the requirements that they violate."""
        batch, rollups = self._nodes.batch, self._nodes.rollups
        if rollups.batch > 1:
            # Nodes that are counted whole are kept: one statement then reads them all.
            rollups.look(levels, self._cells.rows)
        engine, requirements = self._task.engine, self._task.requirements
        together = None if self._cells.public else rollups.rows_of_all(levels)
        if together is None:
            each = {node: batch.relations(*rollups.rows_of(node)) for node in levels}
            return {node: violated(engine, batch, requirements, steps).get(0, (0, [])) for node, steps in each.items()}
        rows, parameters = together
        violations = violated(engine, batch, requirements, batch.relations(rows), parameters)
        return {node: violations.get(index, (0, [])) for index, node in enumerate(levels)}
