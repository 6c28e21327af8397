"""The nodes of the joint lattice: a level for each quasi-identifier of all tables, and what a search asks of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from sqlglot import exp

from sqlanon.methods.multirelational.loss import RelatedLoss
from sqlanon.methods.multirelational.people import PERSON, People
from sqlanon.methods.shared.lattice.remaining import Node, Rank
from sqlanon.methods.shared.lattice.types import Counted, Lattice
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, if_, is_null, not_, or_zero, union_all
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import inner_join, select
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.classes.guard import kept_classes
from sqlanon.sql.classes.normal_relations import relations_of, sensitive_values
from sqlanon.sql.classes.requirement import relation_names, subjects
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.known import Known, by_known


class RelatedNodes:
    """The nodes from the lowest levels up, at each of which at most `limit` people may be left out."""

    def __init__(self, task: Task, limit: int) -> None:
        quasi = list(chain(*task.policy.quasi_identifiers_by_table))
        low, high = tuple(b.min_level for b in quasi), tuple(b.max_level for b in quasi)
        self._task, self._limit = task, limit
        self.people = People(task, low)
        self.loss = RelatedLoss(task, self.people)
        self.lattice = Lattice(low=low, high=high, bounds=self.loss.bounds)
        self._groups = by_known(task.requirements)
        for known in self._groups:
            if not known.is_partition:
                self.people.require_countable(known)
        self._left_out: dict[Node, int] = {}

    def count(self, nodes: Sequence[Node]) -> list[Counted]:
        """What the classes of some nodes tell."""
        return [self._count(node) for node in nodes]

    def _count(self, node: Node) -> Counted:
        suppressed, excess = 0, 0.0
        for known, indexes in self._groups.items():
            people, exceeding = self.violating(node, known, [self._task.requirements[index] for index in indexes])
            suppressed += people
            excess += exceeding
        self._left_out[node] = suppressed
        return Counted(suppressed, excess)

    def violating(self, node: Node, known: Known, requirements: Sequence[BoundRequirement]) -> tuple[int, float]:
        """The people in classes that violate, and the excess of these.

        Where classes overlap nobody may be left out. One that violates what a class goes on satisfying whoever is added
        rules out every node below, and another tells of no other node.
        """
        size, of_class_excess = column("size", "of_all"), column("excess", "violated")
        excess: exp.Expr = if_(is_null(of_class_excess), 1, 0)
        if known.is_partition:
            excess = f.coalesce(of_class_excess.copy(), cast(size.copy(), "DOUBLE"))
        of_class = [column("class_id", "violated"), size]
        classes = select(
            *of_class,
            alias(f.max(excess), "excess"),
            of=_violations(requirements).subquery("violated"),
            joins=[inner_join(relation("equivalence_class", as_="of_all"), _same_class("of_all", "violated"))],
            group_by=[part.copy() for part in of_class],
        )
        figures = [or_zero(f.sum(column(name))) for name in ("size", "excess")]
        query = select(*figures, of=classes.subquery("violating_class"))
        ((people, exceeding),) = self._task.engine.rows(with_steps(query, self.steps(node, known, requirements)))
        return int(people), float(exceeding)

    def steps(self, node: Node, known: Known, requirements: Sequence[BoundRequirement]) -> list[Step]:
        """Steps to the normal relations of a node."""
        rows = self.people.rows_at(node, known, subjects(requirements))
        return [*relations_of(rows, requirements), *sensitive_values(requirements, rows)]

    def settle(self, nodes: Sequence[Node], best: Rank | None) -> list[tuple[int, int] | None]:
        """Each node's loss and the people it leaves out; None if that is more than may be."""
        return [self._settle(node) for node in nodes]

    def _settle(self, node: Node) -> tuple[int, int] | None:
        gone, number = self.left_out(node)
        return None if number > self._limit else (self.loss.of(node, gone), number)

    def left_out(self, node: Node) -> tuple[str | None, int]:
        """The table of the people who are left out at a node, None for nobody, and how many they are."""
        if node not in self._left_out:
            self._count(node)
        if not self._left_out[node]:
            return None, 0
        # Nobody may be left out unless what is known is the same for all requirements, and each person in one class.
        ((known, _),) = self._groups.items()
        requirements = self._task.requirements
        steps = [*self.steps(node, known, requirements), *kept_classes(requirements)]
        kept_ids = select(column("class_id"), of=relation("kept"))
        gone = select(column(PERSON), of=relation("member"), where=[not_(column("class_id").isin(query=kept_ids))])
        return self._task.scratch.counted_table("gone", with_steps(gone, steps))

    def smallest_class(self, node: Node, known: Known, requirements: Sequence[BoundRequirement]) -> int:
        """How many people the smallest class that violates has."""
        classes = select(column("class_id"), of=_violations(requirements).subquery("violation"))
        query = select(
            f.min(column("size")), of=relation("equivalence_class"), where=[column("class_id").isin(query=classes)]
        )
        return int(self._task.engine.rows(with_steps(query, self.steps(node, known, requirements)))[0][0] or 0)


def _violations(requirements: Sequence[BoundRequirement]) -> exp.Query:
    """The classes that violate a requirement: class_id and excess, NULL where all of a class counts."""
    queries = []
    for requirement, names in zip(requirements, relation_names(requirements), strict=True):
        excess: exp.Expr = exp.null() if requirement.question.monotone_under_suppression else column("excess")
        violations = requirement.statement("violations", names).subquery("violations", copy=False)
        queries.append(select(column("class_id"), alias(cast(excess, "DOUBLE"), "excess"), of=violations))
    return union_all(queries)


def _same_class(first: str, second: str) -> exp.Expr:
    return column("class_id", first).eq(column("class_id", second))
