"""Evaluates the nodes of a policy's lattice over some cells: finds their classes, losses and joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlglot import exp

from sqlanon.domain.explanation import JoinReached
from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import RAISE_BOUND, TooManyRows
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.methods.shared.lattice.losses.base import Loss, Setting, SumOfCells, with_node_tables
from sqlanon.methods.shared.lattice.node_arrays import NodeArrays, fit_in_memory
from sqlanon.methods.shared.lattice.node_rows_sql import Batch, withheld, withheld_at_once
from sqlanon.methods.shared.lattice.nodes import Counted, Lattice, Node, Rank
from sqlanon.methods.shared.lattice.rollup import Rollups
from sqlanon.methods.shared.task import Cells, Task
from sqlanon.sources.joins import Join
from sqlanon.sql.build.expressions import as_text, big, total
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.render import repeated
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.cells import cells_beside, key_name
from sqlanon.sql.cells.labels import generalized, level_name, published_value, stored_labels
from sqlanon.sql.classes.guard import needs_rounds
from sqlanon.sql.classes.related import counted_columns
from sqlanon.sql.classes.rows import projections
from sqlanon.sql.classes.supersets import SUPERSET
from sqlanon.sql.questions.ask import BoundRequirement, least_rows

# The figures of the join with another release at a node of the lattice (Wang and Fung 2006).
#
# Neither figure is monotone: if a more general level lets more rows match, values of X may join that had no row before.
# So each node is evaluated by itself, once its classes meet the requirements. Nodes that suppress no row and agree in
# the columns of the join are evaluated once.


class JoinedNodes:
    """Evaluates the join of nodes with another release."""

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
        self._rows = task.temp.table("joined_cells", cells_beside(policy, source, cells.codes, cells.layout, beside))
        self._labels: dict[tuple[int, int], str] = {}
        self._known: dict[Node, tuple[JoinReached, ...]] = {}

    def reached(self, node: Node, steps: Sequence[Step]) -> tuple[JoinReached, ...]:
        """Measures the requirements on the join with another release if this node is published.

        The classes in `withheld`, a relation that `steps` make, are left out.
        """
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
        """SELECT of the rows that a release at a node publishes, counted for the join with another release.

        Rows are grouped by the shared columns at `levels`, and by the other columns `names` as they are published.
        """
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
        text = """
            SELECT $columns FROM cells AS cell JOIN "{tables}" AS "{labels}" ON $same
            WHERE $published GROUP BY $groups
        """
        published = "NOT cell.class_id IN (SELECT class_id FROM withheld)"
        query = filled_select(
            text,
            tables={"cells": self._cells_of(node)},
            names={"tables": [self._label_table(*key) for key in labels], "labels": [*labels.values()]},
            columns=columns,
            same=[self._same_node(index, level, of) for (index, level), of in labels.items()],
            published=[filled(published)] if steps else [],
            groups=[group for group in groups if group.find(exp.Column)],
        )
        return with_steps(query, steps)

    def _same_node(self, index: int, level: int, of: str) -> exp.Expr:
        """Returns the condition that a cell is below the node of a row of the table of labels `of`."""
        masks = self._words(index, level)
        names = {"keys": [*map(key_name, masks)], "of": [of] * len(masks)}
        text = '({cell.keys} & $masks) IS NOT DISTINCT FROM "{of}"."{keys}"'
        return filled(text, names=names, masks=[*masks.values()]) if masks else exp.true()

    def _cells_of(self, node: Node) -> exp.Query:
        """SELECT of the cells of the source, each with its class at a lattice node."""
        layout = self._cells.layout
        return filled_query(
            """
            SELECT $class_id AS class_id, *
            FROM (SELECT ({keys} & $masks) AS "{keys}", {beside}, n FROM cells) AS masked
            """,
            tables={"cells": self._rows},
            names={
                "keys": [key_name(word) for word in range(layout.words)],
                "beside": [f"beside_{number}" for number in range(len(self._as_is))],
            },
            masks=layout.masks(node),
            class_id=self._batch.class_id(big(literal(0))),
        )

    def _words(self, index: int, level: int) -> dict[int, int]:
        """Returns, by word of a key, the bits that distinguish the labels of an attribute at a level."""
        masks: dict[int, int] = {}
        for part in self._cells.layout.fields[index][level:]:
            if part.bits:
                masks[part.word] = masks.get(part.word, 0) | part.mask
        return masks

    def _label_table(self, index: int, level: int) -> str:
        """Makes the table of an attribute's labels at a level, each with the bits of its code in a key; returns its
        name.
        """
        if (index, level) not in self._labels:
            self._labels[index, level] = self._task.temp.table("label", self._label_query(index, level))
        return self._labels[index, level]

    def _label_query(self, index: int, level: int) -> exp.Select:
        bound = self._task.policy.quasi_identifiers[index]
        values = filled_query('SELECT value FROM "{tree}"', names={"tree": self._cells.trees[index]})
        codes, masks = self._cells.codes[index], self._words(index, level)
        joined = [] if codes is None or not masks else [codes]
        return filled_select(
            'SELECT DISTINCT {code.keys} & $masks AS "{keys}", {tree.label} AS label FROM tree'
            ' JOIN "{codes}" AS "{code}" ON tree.value IS NOT DISTINCT FROM "{code}".value',
            tables={"tree": generalized(bound, values, stored_labels(bound), counted=False)},
            names={
                "keys": [*map(key_name, masks)],
                "label": level_name(level) if level else "value",
                "codes": joined,
                "code": ["code"] * len(joined),
            },
            masks=[*masks.values()],
        )


# An excess is at most the rows of its class unless withholding cannot cure it; each is rounded.
_ROUNDING = 1.0


def batch_of(task: Task, cells: Cells) -> Batch:
    """Returns the description of nodes over these cells, from which the normal relations of their classes are made."""
    return Batch(
        cells.layout,
        task.requirements,
        cells.entity,
        cells.carried,
        task.guards,
        cells.fixed_relations,
        quasi=tuple(bound.attribute.name for bound in task.policy.quasi_identifiers),
    )


def _stays_satisfied(requirements: Sequence[BoundRequirement]) -> bool:
    """Whether a class that satisfies all requirements still does with any further rows, whatever the other
    classes are.
    """
    alone = not needs_rounds(requirements) and not projections(requirements)
    return alone and all(r.question.monotone_under_suppression for r in requirements)


def loss_of(task: Task, name: str, cells: Cells, limit: int, batch: Batch) -> Loss:
    """Makes the measure of this name over the cells; at most `limit` rows are suppressed."""
    least = least_rows(task.requirements)
    setting = Setting(task.policy, cells, limit, least, batch.key, task.temp, batch.index, task.engine.rows)
    return LOSSES[name](setting)


class Nodes:
    """The lattice nodes from `low` up over some cells; each may suppress at most `limit` rows."""

    def __init__(self, task: Task, cells: Cells, low: Node, limit: int, loss: str, *, lasting: bool = False) -> None:
        """Evaluates nodes; if `lasting`, a class that satisfies for good is not examined again in the nodes above.

        The content of such a class is not known for the nodes above.
        """
        self._task = task
        self._cells = cells
        self.batch = batch_of(task, cells)
        if (
            lasting
            and _stays_satisfied(task.requirements)
            and cells.public is None
            and (self.batch.entity or cells.carried)
        ):
            self.batch = replace(self.batch, lasting=True)
        self.rollups = Rollups(task.engine, cells, self.batch, task.temp)
        self._joined = JoinedNodes(task, task.join, cells, self.batch) if task.join else None
        self._bind(low, limit, loss)

    def _bind(self, low: Node, limit: int, loss: str) -> None:
        self._limit = limit
        self.loss = loss_of(self._task, loss, self._cells, limit, self.batch)
        # Written once, with the rows of the nodes as parameters.
        self._text, self._alone = "", ""
        high = tuple(bound.max_level for bound in self._task.policy.quasi_identifiers)
        self.lattice = Lattice(low=low, high=high, bounds=self.loss.bounds)

    def count(self, nodes: Sequence[Node]) -> list[Counted]:
        """Returns the counts of each node's classes."""
        summaries = self.rollups.look(nodes, self._limit)
        return [
            Counted(
                classes.suppressed,
                classes.excess,
                self.loss.floor(classes) if classes.whole else None,
                self.loss.least(node, classes.suppressed) if classes.whole else None,
                classes.whole,
            )
            for node, classes in zip(nodes, summaries, strict=True)
        ]

    def arrays(self) -> NodeArrays | None:
        """Returns arrays that count nodes in memory; None unless the rows of a class decide whether it satisfies, and
        the loss is a sum of costs of labels.
        """
        task, cells, least = self._task, self._cells, least_rows(self._task.requirements)
        rows_decide = all(requirement.satisfied_by(least) for requirement in task.requirements)
        reads_more = cells.entity or cells.carried or cells.public or cells.elsewhere or self._joined
        if not rows_decide or reads_more or not isinstance(self.loss, SumOfCells):
            return None
        if not fit_in_memory(cells, self.rollups.cell_count, self.lattice):
            return None
        return NodeArrays(task.engine, cells, self.lattice, least, self.loss.label_costs())

    def count_in_memory(self, arrays: NodeArrays, nodes: Sequence[Node]) -> list[Counted]:
        """Returns the counts of each node's classes, from arrays; a node that fails may have a lower bound."""
        suppressed = [arrays.suppressed(node, self._limit) for node in nodes]
        return [
            Counted(rows, float(rows), None, self.loss.least(node, rows))
            for node, rows in zip(nodes, suppressed, strict=True)
        ]

    def settle_in_memory(self, arrays: NodeArrays, nodes: Sequence[Node]) -> list[tuple[int, int] | None]:
        """Returns each node's loss and suppressed rows, from arrays."""
        settled: list[tuple[int, int] | None] = []
        for node in nodes:
            rows, spreads = arrays.withheld(node)
            settled.append((self.loss.of(node, rows, spreads), rows))
        return settled

    def count_last(self, nodes: Sequence[Node]) -> list[Counted]:
        """Counts each node's classes in a last round.

        A node with a violation that withholding rows cannot mend counts as suppressing more rows than the limit.
        """
        most = self._cells.rows + _ROUNDING
        return [replace(seen, suppressed=self._limit + 1) if seen.excess > most else seen for seen in self.count(nodes)]

    def steps(self, node: Node) -> list[Step]:
        """The steps that make the normal relations of a node and withheld(class_id, size)."""
        return withheld(self._batch_of(node), *self.rollups.rows_of(node))

    def _batch_of(self, node: Node) -> Batch:
        """Returns the batch with a single node, if a requirement compares the node's classes with the classes of nodes
        above.
        """
        reads = any(SUPERSET in r.reads and r.within is None for r in self._task.requirements)
        return replace(self.batch, node=node) if reads else self.batch

    def settle(self, nodes: Sequence[Node], best: Rank | None) -> list[tuple[int, int] | None]:
        """Settles nodes as `settle_classes` does; also returns None for a node whose join with another release
        violates.
        """
        settled = self.settle_classes(nodes, best)
        if self._joined is None:
            return settled
        passing = [(answer, node) for answer, node in zip(settled, nodes, strict=True) if answer is not None]
        ranks = sorted(((loss, sum(node), node), rows) for (loss, rows), node in passing if rows <= self._limit)
        joined: dict[Node, tuple[int, int] | None] = {}
        for rank, rows in ranks:
            # No later node can be better than the first that passes.
            passes = (best is None or rank < best) and all(of.satisfied for of in self.joins(rank[2], rows))
            joined[rank[2]] = (rank[0], rows) if passes else None
            best = rank if passes else best
        return [joined.get(node, answer) for node, answer in zip(nodes, settled, strict=True)]

    def joins(self, node: Node, suppressed: int) -> tuple[JoinReached, ...]:
        """Measures the requirements of the join with another release at a node that suppresses `suppressed` rows."""
        return () if self._joined is None else self._joined.reached(node, self.steps(node) if suppressed else ())

    def broken_joins(self, node: Node) -> tuple[JoinReached, ...]:
        """Returns the violated requirements of the join with another release, if the node's classes meet all others."""
        (answer,) = self.settle_classes([node], None)
        if answer is None or answer[1] > self._limit:
            return ()
        return tuple(reached for reached in self.joins(node, answer[1]) if not reached.satisfied)

    def settle_classes(self, nodes: Sequence[Node], best: Rank | None) -> list[tuple[int, int] | None]:
        """Returns each node's loss and suppressed rows; None for a node that cannot be published or cannot be better
        than `best`.

        Requirements that need no rounds are settled for all nodes in one statement. Otherwise that statement gives, for
        most losses, a lower bound, and the rounds are computed only for nodes that may be the best.
        """
        if not needs_rounds(self._task.requirements):
            return list(self.withheld_at_once(nodes))
        if not self.loss.GROWS:
            return [self._settle_alone(node) for node in nodes]
        losses: dict[Node, tuple[int, int] | None] = {}
        at_once = self._cells.public is None and not any(r.of_whole_release for r in self._task.requirements)
        least = zip(self.withheld_at_once(nodes), nodes, strict=True)
        for loss, height, node, rows in sorted((loss, sum(node), node, rows) for (loss, rows), node in least):
            rank = (loss, height, node)
            settled = None
            if best is None or rank < best:
                # If nothing violates, nothing is withheld, and no round follows.
                sure = rows == 0 and at_once
                settled = (loss, 0) if sure else self._settle_alone(node)
            losses[node] = settled
            # A node whose rounds exceed the limit is no bound for the others.
            if settled is not None and settled[1] <= self._limit:
                best = min(best, (settled[0], height, node)) if best else (settled[0], height, node)
        return [losses[node] for node in nodes]

    def settle_at_once(self, nodes: Sequence[Node], best: Rank | None) -> list[tuple[int, int] | None]:
        """Returns each node's loss and suppressed rows, if only the classes that violate by themselves are
        suppressed.
        """
        return list(self.withheld_at_once(nodes))

    def withheld_at_once(self, nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """Returns, for each node, its loss and the rows of the classes that violate by themselves, if these are
        suppressed.
        """
        source = self.rollups.rows_of_all(nodes)
        if source is None or self._cells.public is not None:
            return [self._lost(node, withheld_at_once(self.batch, *self.rollups.rows_of(node))) for node in nodes]
        rows, parameters = source
        if not self._text:
            query = self.loss.query(first=len(parameters) + 1)
            steps = withheld_at_once(self.batch, rows, lasting=self.rollups.lasting)
            self._text = repeated(with_steps(query, steps))
        answers = self._task.engine.rows(self._text, [*parameters, *self.loss.parameters(nodes)])
        return [
            (self.loss.of(nodes[index], int(rows), answer), int(rows))
            for index, rows, *answer in sorted(answers, key=lambda answer: int(answer[0]))
        ]

    def _answer(self, node: Node, query: exp.Query) -> Sequence[Any]:
        """Returns the row of a query about one node; the query's parameters are those of the measure of loss."""
        parameters = self.loss.parameters([node])
        if self._cells.elsewhere:
            # On the cells' engine, a parameter cannot be a list.
            query = with_node_tables(query, lambda rows: self._task.temp.table("node", rows, parameters))
            parameters = []
        return self._task.engine.rows(query, parameters)[0]

    def _settle_alone(self, node: Node) -> tuple[int, int] | None:
        """Returns a node's loss and the rows suppressed in all rounds; None if a class still violates after the
        last.
        """
        source = self.rollups.rows_of_all([node])
        if source is None and self._cells.elsewhere:
            raise TooManyRows(
                "the classes of levels that may be the best have too many rows to be settled in memory, where it is "
                f"settled in rounds which of them may be published: {', '.join(map(str, self._task.requirements))}",
                hint=RAISE_BOUND,
            )
        if source is None or self._cells.public is not None:
            blocked, _, gone, *answer = self._answer(node, self._all_rounds(self.steps(node), first=1))
        else:
            rows, parameters = source
            batch = self._batch_of(node)
            text = self._alone if batch is self.batch else ""
            text = text or repeated(self._all_rounds(withheld(batch, rows), len(parameters) + 1))
            self._alone = text if batch is self.batch else ""
            values = [*parameters, *self.loss.parameters([node])]
            blocked, _, gone, *answer = self._task.engine.rows(text, values)[0]
        return None if blocked else (self.loss.of(node, int(gone), answer), int(gone))

    def _all_rounds(self, steps: Sequence[Step], first: int) -> exp.Query:
        """SELECT of one row: whether a class still violates after the last round, and the columns of the loss."""
        text = "SELECT EXISTS(SELECT 1 FROM violating) AS still, lost.* FROM lost"
        return with_steps(filled_query(text, tables={"lost": self.loss.query(first=first)}), steps)

    def _lost(self, node: Node, steps: Sequence[Step]) -> tuple[int, int]:
        _, rows, *answer = self._answer(node, with_steps(self.loss.query(first=1), steps))
        return self.loss.of(node, int(rows), answer), int(rows)
