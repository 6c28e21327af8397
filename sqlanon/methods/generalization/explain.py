"""Why a node was chosen: what keeps the nodes around it, and those that could lose less, from being published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.domain.explanation import CommonValue, ExaminedNode, Explanation, JoinReached, LessGeneral, Violated
from sqlanon.errors import InternalError
from sqlanon.methods.generalization.choice import Generalization
from sqlanon.methods.generalization.violating_classes import Key, labels, violated
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.lattice.box import nodes_between
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.methods.shared.lattice.node_rows_sql import most_of_withheld
from sqlanon.methods.shared.lattice.remaining import Node
from sqlanon.methods.shared.lattice.types import Lattice
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.classes.guard import needs_rounds
from sqlanon.sql.classes.requirement import projections, relation_names

if TYPE_CHECKING:
    from numpy.typing import NDArray


# How many nodes that could lose less are named; how many nodes of a lattice are ranked for that; how many times, and
# how many at once, the first of these are looked at, until enough are found that may not be published.
_CHEAPER = 3
_NEAR = 100_000
_LOOKS = 4
_AT_ONCE = 8


def why(task: Task, cells: Cells, choice: Generalization) -> Explanation:
    """What the search's choice is owed to. Looks at nodes of the lattice again, and publishes nothing.

    Of several rounds it is the first that is explained, by the rows that it leaves to the others.
    """
    quasi, several = task.policy.quasi_identifiers, len(choice.rounds) > 1
    nodes = Nodes(task, cells, tuple(bound.min_level for bound in quasi), choice.limit, choice.loss_name)
    look = Look(task, nodes, cells, choice.limit, settles=not several)
    lower = _lower(choice.levels, nodes.lattice)
    (chosen, _), *seen = look.at([choice.levels, *(node for node in lower if node is not None)])
    examined = iter(_labelled(task, cells, seen))
    steps = [
        LessGeneral(bound.column, level - 1, None if node is None else next(examined))
        for bound, level, node in zip(quasi, choice.levels, lower, strict=True)
        if level > 0
    ]
    near, reach = _near(nodes.lattice, choice.levels)
    below = [] if several else _below(nodes.lattice, near, look.loss(choice.levels))
    cheaper = _cheaper(look, below, nodes.rollups.batch)
    common = common_values(task, nodes, choice.levels) if choice.suppressed and not several else ()
    together = _together(task, nodes, choice.levels)
    return Explanation(choice.limit, chosen, tuple(steps), cheaper, len(near), reach, common, together)


def _together(task: Task, nodes: Nodes, levels: Node) -> int | None:
    """The respondents of the smallest class by all quasi-identifiers that is published, if requirements are on some."""
    if not projections(task.requirements):
        return None
    withheld = exp.select(column("class_id")).from_(relation("withheld"))
    least = exp.select(f.min(column("entities"))).from_(relation("equivalence_class"))
    least = least.where(exp.not_(column("class_id").isin(query=withheld)))
    ((fewest,),) = task.engine.rows(with_steps(least, nodes.steps(levels)))
    return None if fewest is None else int(fewest)


def _lower(levels: Node, lattice: Lattice) -> list[Node | None]:
    """For each attribute the node with that one a level less general; None where it has the lowest allowed."""
    return [
        (*levels[:index], level - 1, *levels[index + 1 :]) if level > least else None
        for index, (level, least) in enumerate(zip(levels, lattice.low, strict=True))
    ]


def _near(lattice: Lattice, levels: Node) -> tuple[NDArray[Any], int | None]:
    """The nodes whose levels differ from these by no more than the reach, a row for each; all nodes if it is None.

    The reach is the greatest for which they are few enough to be ranked.
    """
    reach = max((high - low for low, high in zip(lattice.low, lattice.high, strict=True)), default=0)
    box = list(zip(lattice.low, lattice.high, strict=True))
    size = prod(high - low + 1 for low, high in box)
    while reach and prod(high - low + 1 for low, high in box) > _NEAR:
        reach -= 1
        box = [
            (max(low, level - reach), min(high, level + reach))
            for low, high, level in zip(lattice.low, lattice.high, levels, strict=True)
        ]
    near = nodes_between(tuple(low for low, _ in box), tuple(high for _, high in box)).T
    return near, None if len(near) == size else reach


def _below(lattice: Lattice, near: NDArray[Any], loss: int) -> list[Node]:
    """Those of the nodes whose bound is below a loss, the greatest bound first."""
    import numpy as np

    bounds = lattice.bounds(near, 0)
    below = np.flatnonzero(bounds < loss)
    order = below[np.argsort(-bounds[below], kind="stable")][: _LOOKS * _AT_ONCE]
    return [tuple(map(int, node)) for node in near[order]]


def _cheaper(look: Look, nodes: Sequence[Node], batch: int) -> tuple[ExaminedNode, ...]:
    """The first few of the nodes that may not be published."""
    failing: list[Node] = []
    width = max(min(batch, _AT_ONCE), _CHEAPER)
    for first in range(0, min(len(nodes), _LOOKS * width), width):
        failing += look.failing(nodes[first : first + width])
        if len(failing) >= _CHEAPER:
            break
    return tuple(node for node, _ in look.at(failing[:_CHEAPER]))


def _labelled(task: Task, cells: Cells, seen: Sequence[Seen]) -> list[ExaminedNode]:
    """The nodes, each with the label of the smallest class that violates the first of its requirements."""
    named = [(node.levels, keys[0], node.violated[0].on) for node, keys in seen if node.loss is None and keys]
    texts = iter(labels(task.engine, task.policy, cells, named))
    labelled: list[ExaminedNode] = []
    for node, keys in seen:
        if node.loss is None and keys:
            first, *others = node.violated
            node = replace(node, violated=(replace(first, label=next(texts)), *others))
        labelled.append(node)
    return labelled


def common_values(task: Task, nodes: Nodes, node: Node) -> tuple[CommonValue, ...]:
    """How frequent a value is among the rows left out, for each sensitive attribute that a requirement is about."""
    common: list[CommonValue] = []
    for attribute, values in _single_attributes(task):
        query = with_steps(most_of_withheld(values), nodes.steps(node))
        shares = {bool(gone): (int(rows), int(most)) for gone, rows, most in task.engine.rows(query)}
        if True in shares:
            common.append(CommonValue(attribute, *shares[True], *shares.get(False, (0, 0))))
    return tuple(common)


def _single_attributes(task: Task) -> Iterator[tuple[str, str]]:
    """The attributes that a requirement is about alone, each once, with the relation of their values by class."""
    seen: set[str] = set()
    for requirement, names in zip(task.requirements, relation_names(task.requirements, whole=True), strict=True):
        values = names.get("class_sensitive_value")
        if values and len(requirement.attributes) == 1 and requirement.attributes[0] not in seen:
            seen.add(requirement.attributes[0])
            yield requirement.attributes[0], values


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
