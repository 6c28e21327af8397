"""Explains the choice of a node by the reasons why the nodes around it, and nodes that might lose less, are not
published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.explanation import (
    CommonValue,
    ExaminedNode,
    Explanation,
    JoinReached,
    LessGeneral,
    Searched,
    Violated,
)
from sqlanon.domain.numbers import count_of, counted
from sqlanon.domain.release import level_range
from sqlanon.errors import InternalError
from sqlanon.methods.generalization.infeasible import Key, labels, violated
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.methods.shared.lattice.node_rows_sql import most_of_withheld
from sqlanon.methods.shared.lattice.nodes import Lattice, Node, nodes_between
from sqlanon.methods.shared.task import Cells, Task
from sqlanon.methods.shared.wording import loss_text
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.classes.guard import needs_rounds
from sqlanon.sql.classes.rows import projections, relation_names

if TYPE_CHECKING:
    from numpy.typing import NDArray


# The choice of generalization: the levels of the quasi-identifiers, in one round or several.


@dataclass(frozen=True)
class Round:
    """A full-domain recoding of the rows that no earlier round has published; it publishes `rows` rows."""

    levels: tuple[int, ...]
    rows: int


@dataclass(frozen=True)
class Generalization:
    """The choice of generalization: one level for each quasi-identifier, in the policy's order, in each round.

    Global recoding has one round. In local recoding a row is published by the first round that keeps its class, and
    levels never fall from one round to the next. `loss` is the release's loss by the measure `loss_name`, `rows` counts
    the source's rows, `suppressed` the rows left out, and `limit` is the maximum number of suppressed rows. In the
    search for the best global recoding, the classes of `checked` of the `nodes` of the lattice were counted, and
    `pruned` nodes were ruled out without counting. If `proven` is true, no node loses less; otherwise no node loses
    less than `least`. Several rounds are not proven to be the best, but never lose more than the best global recoding
    found. `parts` are the levels and the cells that each of several rounds publishes.
    """

    rounds: tuple[Round, ...]
    loss: Fraction
    rows: int
    suppressed: int
    limit: int
    nodes: int
    checked: int
    pruned: int = 0
    proven: bool = True
    least: Fraction | None = None
    loss_name: str = "granularity_loss"
    recoding: str = "global"
    parts: tuple[tuple[tuple[int, ...], str], ...] = field(default=(), compare=False, repr=False)

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels of the first round."""
        return self.rounds[0].levels

    @property
    def searched(self) -> Searched:
        """The search of the lattice that led to the choice."""
        return Searched(self.nodes, self.checked, self.pruned, self.proven, self.least)


# Nodes that could lose less: how many are named, how many nodes are ranked at most to find them, how many batches of
# these are examined at most, and how many nodes a batch has.
_CHEAPER = 3
_NEAR = 100_000
_LOOKS = 4
_AT_ONCE = 8


def why(task: Task, cells: Cells, choice: Generalization) -> Explanation:
    """Explains the search's choice by examining nodes of the lattice again; publishes nothing.

    If there are several rounds, it explains the first one, by the rows that it leaves to the later rounds.
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
    """Counts the people of the smallest published class by all quasi-identifiers; None if every requirement uses all of
    them.
    """
    if not projections(task.requirements):
        return None
    withheld = select(column("class_id"), of=relation("withheld"))
    least = select(f.min(column("entities")), of=relation("equivalence_class"))
    least = extend(least, where=[exp.not_(column("class_id").isin(query=withheld))])
    ((fewest,),) = task.engine.rows(with_steps(least, nodes.steps(levels)))
    return None if fewest is None else int(fewest)


def _lower(levels: Node, lattice: Lattice) -> list[Node | None]:
    """Returns for each attribute the node with that attribute one level less general; None at the lowest level."""
    return [
        (*levels[:index], level - 1, *levels[index + 1 :]) if level > least else None
        for index, (level, least) in enumerate(zip(levels, lattice.low, strict=True))
    ]


def _near(lattice: Lattice, levels: Node) -> tuple[NDArray[Any], int | None]:
    """Returns the nodes whose levels differ from `levels` by at most the reach, one node in each row, and the reach,
    which is None for all nodes.

    The reach is the greatest for which at most 100,000 nodes are ranked.
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
    """Returns the nodes whose bound is below a loss, in descending order of their bounds."""
    import numpy as np

    bounds = lattice.bounds(near, 0)
    below = np.flatnonzero(bounds < loss)
    order = below[np.argsort(-bounds[below], kind="stable")][: _LOOKS * _AT_ONCE]
    return [tuple(map(int, node)) for node in near[order]]


def _cheaper(look: Look, nodes: Sequence[Node], batch: int) -> tuple[ExaminedNode, ...]:
    """Returns the first three of these nodes that may not be published, with the reasons."""
    failing: list[Node] = []
    width = max(min(batch, _AT_ONCE), _CHEAPER)
    for first in range(0, min(len(nodes), _LOOKS * width), width):
        failing += look.failing(nodes[first : first + width])
        if len(failing) >= _CHEAPER:
            break
    return tuple(node for node, _ in look.at(failing[:_CHEAPER]))


def _labelled(task: Task, cells: Cells, seen: Sequence[Seen]) -> list[ExaminedNode]:
    """Adds to each node the label of the smallest class that violates the node's first violated requirement."""
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
    """Returns the most frequent value's share among the rows left out, for each sensitive attribute with its own
    requirements.
    """
    common: list[CommonValue] = []
    for attribute, values in _single_attributes(task):
        query = with_steps(most_of_withheld(values), nodes.steps(node))
        shares = {bool(gone): (int(rows), int(most)) for gone, rows, most in task.engine.rows(query)}
        if True in shares:
            common.append(CommonValue(attribute, *shares[True], *shares.get(False, (0, 0))))
    return tuple(common)


def _single_attributes(task: Task) -> Iterator[tuple[str, str]]:
    """Yields each attribute with its own requirements, with the relation of its values by class."""
    seen: set[str] = set()
    for requirement, names in zip(task.requirements, relation_names(task.requirements, whole=True), strict=True):
        values = names.get("class_sensitive_value")
        if values and len(requirement.attributes) == 1 and requirement.attributes[0] not in seen:
            seen.add(requirement.attributes[0])
            yield requirement.attributes[0], values


# An examined node, and the smallest class of each requirement that it violates.
Seen = tuple[ExaminedNode, tuple[Key, ...]]

# The rows of the classes that violate by themselves, and the requirements that they violate.
Violations = tuple[int, list[tuple[Violated, Key]]]


class Look:
    """Examines nodes, each at most once."""

    def __init__(self, task: Task, nodes: Nodes, cells: Cells, limit: int, *, settles: bool = True) -> None:
        """Prepares the examination; if `settles` is false, it excludes later rounds and the loss of a release at a
        node.
        """
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
        """Examines nodes, and counts the rows that each would suppress in all rounds."""
        self._look_at(levels)
        if self._settles:
            # If no round follows, a node beyond the limit remains beyond it.
            self._settle([node for node in levels if self._rounds or self._violations[node][0] <= self._limit])
        bounds = {node: self._nodes.loss.value(bound) for bound, _, node in self._nodes.lattice.ranks(levels)}
        return [self._examined(node, bounds[node]) for node in levels]

    def failing(self, levels: Sequence[Node]) -> list[Node]:
        """Returns the nodes that may not be published.

        No later round publishes a row that the first withholds, so only nodes within the limit at first are settled.
        """
        self._look_at(levels)
        self._settle([node for node in levels if self._violations[node][0] <= self._limit])
        return [node for node in levels if self._violations[node][0] > self._limit or not self._passes(node)]

    def loss(self, node: Node) -> int:
        """The loss of the chosen node, in the unit of the search. Raises InternalError if it may not be published."""
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
        """Stores the loss and the suppressed rows of nodes; None for a node at which nothing may be published."""
        new = [node for node in dict.fromkeys(levels) if node not in self._settled]
        # One at a time if there are rounds, because a call for several nodes settles only nodes that may be the best.
        width = 1 if self._rounds else self._nodes.rollups.batch
        for first in range(0, len(new), width):
            part = new[first : first + width]
            self._settled |= zip(part, self._nodes.settle_classes(part, None), strict=True)
        for node in new:
            answer = self._settled[node]
            self._joins[node] = () if answer is None or answer[1] > self._limit else self._nodes.joins(node, answer[1])

    def _violated(self, levels: Sequence[Node]) -> dict[Node, Violations]:
        """Returns for each node the rows of the classes that violate by themselves, and the violated requirements."""
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


# EXPLAIN's words for a search's choice and its reasons.


def decision(
    choice: Generalization, explained: Explanation, quasi: Sequence[BoundAttribute]
) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): each attribute's level, the suppressed rows with their reasons, and the loss with its
    proof.
    """
    for bound, *levels in zip(quasi, *(round_.levels for round_ in choice.rounds), strict=True):
        yield bound.column, _level(levels, bound)
    if _several(choice):
        for number, round_ in enumerate(choice.rounds, start=1):
            yield f"round {number}", f"{_levels(round_.levels, quasi)}: {counted(round_.rows, 'row')}"
    yield "suppressed rows", f"{choice.suppressed} of {choice.rows}, at most {choice.limit} allowed"
    if not _several(choice):
        for violated in explained.chosen.violated:
            classes = counted(violated.classes, "class that violates", "classes that violate")
            yield "of which", f"{violated.rows} in {classes} {violated.requirement}"
        if explained.chosen.later:
            yield "of which", f"{explained.chosen.later} in later rounds: without the others these violate too"
    yield from (("rows left out", _common(value)) for value in explained.common_values)
    for reached in explained.chosen.joins:
        yield f"joined with {reached.other}", f"{reached.requirement} comes to {reached.figure}"
    if explained.together is not None:
        yield "all columns together", f"k is {explained.together} for readers who know all quasi-identifiers"
    yield choice.loss_name.replace("_", " "), f"{loss_text(choice.loss)}, {_proof(choice)}"


def _common(value: CommonValue) -> str:
    published = f", of those published {value.most_published / value.published:.1%}" if value.published else ""
    return f"{value.most / value.rows:.1%} share one value of {value.attribute}{published}"


def reasons(
    choice: Generalization, explained: Explanation, quasi: Sequence[BoundAttribute]
) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): the binding requirement, the reasons why no attribute is less general, and nodes that
    might lose less.
    """
    yield "binding requirement", _binding_rounds(choice, explained, quasi) if _several(choice) else _binding(explained)
    for step in explained.less_general:
        lacks = f"MIN LEVEL {step.level + 1}" if step.node is None else _lacks(step.node, explained, choice)
        yield step.column, f"not level {step.level}: {lacks}"
    levels = f"within {counted(explained.reach or 0, 'level')}"
    near = "" if explained.reach is None else f" (of the {explained.among} nodes {levels})"
    for node in explained.cheaper:
        because = node.broken_joins[:1] or [f"{v.rows} by {v.requirement}" for v in node.violated[:1]]
        yield (
            "next cheaper",
            f"{_could_lose(node, quasi)}, but {', '.join([_suppressed(node, choice), *map(str, because)])}{near}",
        )


def _could_lose(node: ExaminedNode, quasi: Sequence[BoundAttribute]) -> str:
    """Describes the least that a node may lose by the counts of single columns."""
    least = f"as little as {loss_text(node.bound)}" if node.bound else "nothing"
    return f"{_levels(node.levels, quasi)} might lose {least}"


def _lacks(node: ExaminedNode, explained: Explanation, choice: Generalization) -> str:
    """The reason why a node one level less general was not chosen. Either it may not be published, or it loses more."""
    if _several(choice):
        rather = f"{_suppressed(node, choice)} rather than {explained.chosen.withheld}"
        return "; ".join([rather, *map(str, node.violated[:1])])
    if node.broken_joins:
        return "; ".join([_suppressed(node, choice), *map(str, node.broken_joins)])
    if node.loss is None:
        allowed = "" if node.later is None else f", at most {explained.limit} allowed"
        return "; ".join([_suppressed(node, choice) + allowed, *map(str, node.violated[:1])])
    return f"it would lose {_compared(node, explained)}; {_suppressed(node, choice)}"


def _compared(node: ExaminedNode, explained: Explanation) -> str:
    """Compares the loss of a node with the loss of the choice. If the choice is not proven to be the best, the node may
    lose less.
    """
    difference = explained.extra_loss(node)
    if difference > 0:
        return f"{_difference(difference)} more"
    less = f"{_difference(-difference)} less" if difference else "as much"
    return f"{less}, which the search has not come to"


def _suppressed(node: ExaminedNode, choice: Generalization) -> str:
    if node.later is None and not node.broken_joins:
        return "whatever rows are suppressed, the rest violates"
    later = f", {node.later} of them in later rounds" if node.later else ""
    what = "left to later rounds" if _several(choice) else "suppressed"
    return f"{count_of(node.suppressed, choice.rows, 'row')} would be {what}{later}"


def _binding_rounds(choice: Generalization, explained: Explanation, quasi: Sequence[BoundAttribute]) -> str:
    """Names the reason that leaves most rows to the later rounds, and the levels of the rows in all rounds."""
    if explained.neighbours:
        most, leaving = explained.most_rows or "none", "the less general nodes would leave"
    else:
        violated = explained.chosen.violated
        most, leaving = violated[0].requirement if violated else "none", "round 1 leaves"
    later = counted(sum(round_.rows for round_ in choice.rounds[1:]), "row")
    rounds = zip(quasi, *(round_.levels for round_ in choice.rounds), strict=True)
    level_texts = ", ".join(f"{bound.column} {level_range(levels)}/{bound.height}" for bound, *levels in rounds)
    return (
        f"{most}: violated by most rows that {leaving} to later rounds; these publish {later}, and the levels of all "
        f"rounds are {level_texts}"
    )


def _binding(explained: Explanation) -> str:
    """Names the reason that rules out most of the nodes one level less general, and how it was counted."""
    if not explained.neighbours:
        return "none: no attribute may be less general"
    binding = explained.binding
    if binding is None:
        better, all_of = len(explained.better), len(explained.neighbours)
        if better:
            which = "the only less general node" if all_of == 1 else f"{better} of the {all_of} less general nodes"
            return f"none: {which} could be published, and would lose no more"
        most = f", most of which violate {explained.most_rows}" if explained.most_rows else ""
        return f"none: the less general nodes lose more by the rows that they leave out{most}"
    if binding.of == 1:
        where = "one level finer"
    elif binding.at == binding.of:
        where = f"at all {binding.of} nodes one level finer that cannot be published"
    else:
        where = f"at {binding.at} of the {binding.of} nodes one level finer that cannot be published"
    if binding.requirement is None:
        return f"the suppression budget: {where}, no requirement by itself suppresses too many rows"
    if binding.of_join:
        return f"{binding.requirement}: the join with another release violates it {where}"
    return f"{binding.requirement}: most rows violate it {where}"


def _several(choice: Generalization) -> bool:
    return len(choice.rounds) > 1


def _proof(choice: Generalization) -> str:
    if _several(choice):
        return (
            f"no more than the best of {counted(choice.nodes, 'node')} that was found for all rows; not proven to be "
            "the least"
        )
    least = "that of the only node" if choice.nodes == 1 else f"the least of all {choice.nodes} nodes"
    if choice.proven or choice.least is None:
        return least
    if choice.least == choice.loss:
        return f"{least}, others of which may lose as much and have lower levels"
    return (
        f"not proven to be the least: of {counted(choice.nodes, 'node')} none that may be published "
        f"loses less than {loss_text(choice.least)}"
    )


def _level(levels: Sequence[int], bound: BoundAttribute) -> str:
    """Describes a column's levels in the rounds, and whether its values are kept, generalized or suppressed."""
    name = f" of {bound.hierarchy.name}" if bound.hierarchy else ""
    first, last = (_meaning(level, bound) for level in (levels[0], levels[-1]))
    if levels[0] == levels[-1]:
        return f"level {levels[0]} of {bound.height}{name}: {first}"
    becomes = first if first == last else f"{first} in round 1, {last} in round {len(levels)}"
    return f"levels {level_range(levels)} of {bound.height}{name}: {becomes}"


def _meaning(level: int, bound: BoundAttribute) -> str:
    return "kept" if level == 0 else "suppressed ('*')" if level == bound.height else "generalized"


def _levels(levels: Sequence[int], quasi: Sequence[BoundAttribute]) -> str:
    return ", ".join(f"{b.column} {level}/{b.height}" for b, level in zip(quasi, levels, strict=True))


def _difference(losses: Fraction) -> str:
    """Formats a difference of losses; a difference above 0 is never shown as 0."""
    return "less than 0.000001" if losses < Fraction(1, 2_000_000) else loss_text(losses)
