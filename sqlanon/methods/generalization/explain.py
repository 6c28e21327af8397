"""Why a node was chosen: what keeps the nodes around it, and those that could lose less, from being published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.domain.explanation import ExaminedNode, Explanation, LessGeneral
from sqlanon.methods.generalization.choice import Generalization
from sqlanon.methods.generalization.node_report import Look, Seen
from sqlanon.methods.generalization.suppressed_rows import common_values
from sqlanon.methods.generalization.violating_classes import labels
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.lattice.box import nodes_between
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.methods.shared.lattice.remaining import Node
from sqlanon.methods.shared.lattice.types import Lattice
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.classes.requirement import projections

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
