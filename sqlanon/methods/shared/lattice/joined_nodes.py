"""What the join with another release tells at a node of the lattice (Wang and Fung 2006).

Neither figure is monotone: where a more general level lets more rows match, values of X may join that had no row
before. So each node is asked by itself, after its classes have met what is required of them. Nodes that suppress no row
and agree in the columns that the join is about are asked once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from sqlglot import exp

from sqlanon.domain.explanation import JoinReached
from sqlanon.domain.identifiers import fold
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.lattice.batch_sql import Batch
from sqlanon.methods.shared.lattice.remaining import Node
from sqlanon.methods.shared.task import Task
from sqlanon.sources.joins.join import Join
from sqlanon.sql.build.expressions import as_text, big, identical, infix, named, paren, total
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.cells import cells_beside, key_name
from sqlanon.sql.cells.labels import generalized, level_name, published_value, stored_labels
from sqlanon.sql.classes.joined import counted_columns


class JoinedNodes:
    """Asks nodes what their join with another release tells."""

    def __init__(self, task: Task, join: Join, cells: Cells, batch: Batch) -> None:
        self._task = task
        self._join = join
        self._cells = cells
        self._batch = batch
        policy = task.policy
        self._indexes = {fold(bound.column): index for index, bound in enumerate(policy.quasi_identifiers)}
        self._as_is = [name for name in join.own_columns if name not in self._indexes]
        known = {fold(bound.column): bound for bound in policy.published}
        beside = [
            alias(published_value(known[name], "source"), f"beside_{number}") for number, name in enumerate(self._as_is)
        ]
        source = relation(policy.relation)
        self._rows = task.scratch.table("joined_cells", cells_beside(policy, source, cells.codes, cells.layout, beside))
        self._labels: dict[tuple[int, int], str] = {}
        self._known: dict[Node, tuple[JoinReached, ...]] = {}

    def reached(self, node: Node, steps: Sequence[Step]) -> tuple[JoinReached, ...]:
        """What is reached of each requirement by a node without the classes in `withheld`, which `steps` make."""
        about = {*self._join.shared, *self._join.own_columns}
        levels = tuple(node[index] for name, index in self._indexes.items() if name in about)
        if not steps and levels in self._known:
            return self._known[levels]
        own_levels = {name: node[self._indexes[name]] for name in self._join.shared}
        measurements = self._join.measured(own_levels, partial(self._counted, node, steps))
        reached = tuple(
            JoinReached(str(requirement), str(self._join.name), measured.achieved, bool(measured.satisfied))
            for requirement, measured in zip(self._join.requirements, measurements, strict=True)
        )
        if not steps:
            self._known[levels] = reached
        return reached

    def _counted(
        self, node: Node, steps: Sequence[Step], levels: Mapping[str, int], names: Sequence[str]
    ) -> exp.Select:
        """The rows that a node publishes, by the shared columns at these levels and by columns as it shows them."""
        labels: dict[tuple[int, int], str] = {}

        def label(index: int, level: int) -> exp.Column:
            labels[index, level] = f"label_{index}_{level}"
            return column("label", f"label_{index}_{level}")

        keys = [as_text(label(self._indexes[name], level)) for name, level in levels.items()]
        values: list[exp.Expr] = []
        for name in names:
            if name not in self._indexes:
                values.append(column(f"beside_{self._as_is.index(name)}", "cell"))
                continue
            index = self._indexes[name]
            hidden = node[index] == self._task.policy.quasi_identifiers[index].height
            values.append(literal("*") if hidden else label(index, node[index]))
        columns, groups = counted_columns(keys, values, total(column("n", "cell")))
        query = exp.select(*columns).from_(self._cells_of(node).subquery("cell"))
        for (index, level), name in labels.items():
            same = [
                identical(paren(infix(column(key_name(word), "cell"), "&", mask)), column(key_name(word), name))
                for word, mask in self._words(index, level).items()
            ]
            table = relation(self._label_table(index, level), as_=name)
            query = query.join(table, on=exp.and_(exp.true(), *same))
        if steps:
            withheld = exp.select(column("class_id")).from_(relation("withheld"))
            query = query.where(exp.not_(column("class_id", "cell").isin(query=withheld)))
        constant = [group for group in groups if group.find(exp.Column)]
        return with_steps(query.group_by(*constant) if constant else query, steps)

    def _cells_of(self, node: Node) -> exp.Select:
        """The cells with their class at a node."""
        layout = self._cells.layout
        keys = [
            alias(paren(infix(column(key_name(word)), "&", mask)), key_name(word))
            for word, mask in enumerate(layout.masks(node))
        ]
        beside = [column(f"beside_{number}") for number in range(len(self._as_is))]
        masked = exp.select(*keys, *beside, column("n")).from_(relation(self._rows)).subquery("masked")
        return exp.select(alias(self._batch.class_id(big(literal(0))), "class_id"), exp.Star()).from_(masked)

    def _words(self, index: int, level: int) -> dict[int, int]:
        """The bits of each word that tell the labels of an attribute apart at a level."""
        masks: dict[int, int] = {}
        for part in self._cells.layout.fields[index][level:]:
            if part.bits:
                masks[part.word] = masks.get(part.word, 0) | part.mask
        return masks

    def _label_table(self, index: int, level: int) -> str:
        """A table of the codes of an attribute's labels at a level, and the labels."""
        if (index, level) not in self._labels:
            self._labels[index, level] = self._task.scratch.table("label", self._label_query(index, level))
        return self._labels[index, level]

    def _label_query(self, index: int, level: int) -> exp.Select:
        bound = self._task.policy.quasi_identifiers[index]
        values = exp.select(column("value")).from_(relation(self._cells.trees[index]))
        tree = generalized(bound, values, stored_labels(bound), counted=False).subquery("tree")
        label = column(level_name(level) if level else "value", "tree")
        words = self._words(index, level)
        keys = [alias(infix(column(key_name(word), "code"), "&", mask), key_name(word)) for word, mask in words.items()]
        query = exp.select(*keys, alias(label, "label")).distinct().from_(tree)
        codes = self._cells.codes[index]
        if codes is None or not words:
            return query
        return query.join(named(codes.copy(), "code"), on=identical(column("value", "tree"), column("value", "code")))
