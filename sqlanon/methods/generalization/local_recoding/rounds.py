"""Local recoding: the rows that a node would suppress are recoded further, in rounds, instead of being left out.

A round publishes the classes of one node that violate no requirement, among the rows that earlier rounds left. Its node
is at least as general as the nodes of earlier rounds. A descent finds the node: it starts at the best node for all
these rows together and moves to the best neighbor, as long as that loses less. Each row that a node leaves is expected
to lose as much as under the best node for all rows, so a round may be more precise than that node. The last round must
stay within the suppression limit. Each number of rounds gives one candidate; global recoding is the first. The
candidate with the least loss is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from sqlglot import exp

from sqlanon.methods.generalization.local_recoding.union import Kept, Left, published
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.methods.shared.lattice.node_rows_sql import Batch, withheld_at_once
from sqlanon.methods.shared.lattice.nodes import Found, Lattice, Node
from sqlanon.methods.shared.task import Cells, Task
from sqlanon.methods.shared.wording import figures_of
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, reading
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.cells import Field, KeyLayout, codes, key_name

# The maximum number of rounds: later ones publish few rows.
ROUNDS = 4


class Searches(Protocol):
    """The searches of a statement, which share its time limit."""

    def of_a_round(self, nodes: Nodes, limit: int) -> Found | None:
        """The best node at which the classes that violate by themselves have at most `limit` rows; None if there is
        none.
        """
        ...

    def expired(self) -> bool:
        """Whether the time limit of the statement is over."""
        ...


@dataclass(frozen=True)
class Recoded:
    """A recoding in rounds: the levels and the number of published rows of each, the suppressed rows, and the loss.

    `cells` are the tables of the cells that each round publishes.
    """

    rounds: tuple[tuple[Node, int], ...]
    suppressed: int
    loss: int
    cells: tuple[str, ...]


def recoded(
    task: Task, cells: Cells, nodes: Nodes, best: Found, limit: int, loss: str, searches: Searches
) -> Recoded | None:
    """Returns the best recoding in several rounds; None if none loses less than `best`, the best of `nodes`.

    If losses are equal, the recoding that suppresses fewer rows is better. At most `limit` rows are suppressed. No
    round begins after the time limit.
    """
    rounds = _Rounds(task, cells, limit, loss, (best.loss, best.suppressed))
    last: Found | None = best
    while len(rounds.rounds) + 1 < ROUNDS and not searches.expired():
        node, suppressed = Descent(nodes, rounds.left.rows, last).end(searches.expired)
        if suppressed == rounds.left.rows:
            break
        rounds.add(nodes, node)
        if not suppressed:
            rounds.consider()
            break
        nodes = Nodes(task, rounds.left, node, limit, LOSSES[loss].LATER_ROUNDS)
        last = searches.of_a_round(nodes, limit)
        if last is not None:
            rounds.consider((nodes, last))
    return rounds.best


class Descent:
    """A descent to the node of the next round, by the expected loss of all rounds.

    Each row that a round leaves is expected to lose as much as under `last`, the best node for all rows together, or as
    much as a suppressed row if `last` is None; and at least the share `least` of a suppressed row.
    """

    def __init__(self, nodes: Nodes, rows: int, last: Found | None, least: Fraction = Fraction(0)) -> None:
        self._nodes, self._rows, self._last = nodes, rows, last
        self._ground = (0,) * len(nodes.lattice.low)
        # What all rows lose if they are suppressed.
        self._whole = nodes.loss.least(self._ground, rows)
        share = Fraction(last.loss, self._whole) if self._whole and last is not None else Fraction(1)
        self._share = max(share, least)
        self._seen: dict[Node, tuple[Fraction, int]] = {}

    def end(self, expired: Callable[[], bool]) -> tuple[Node, int]:
        """Returns the node without a better neighbor, and the number of rows that it leaves."""
        here = self._nodes.lattice.high if self._last is None else self._last.node
        if self._whole == 0 and self._last is not None:
            # Rows that are left cost nothing here, so leaving more of them cannot be better.
            return here, self._last.suppressed
        rollups, lattice = self._nodes.rollups, self._nodes.lattice
        # A step costs more than a few nodes of few rows.
        self._look(list(lattice.nodes()) if lattice.size <= rollups.few_of_descent else [here])
        while not expired():
            around = _neighbours(here, self._nodes.lattice)
            self._look(around)
            best = min([here, *around], key=lambda node: (self._seen[node][0], sum(node), node))
            if best == here:
                break
            here = best
        return here, self._seen[here][1]

    def _look(self, some: Sequence[Node]) -> None:
        nodes = self._nodes
        batch = max(nodes.rollups.batch, nodes.rollups.few_of_descent)
        new = [node for node in some if node not in self._seen]
        for first in range(0, len(new), batch):
            part = new[first : first + batch]
            nodes.rollups.look(part, self._rows)
            for node, (loss, left) in zip(part, nodes.withheld_at_once(part), strict=True):
                self._seen[node] = (loss - (1 - self._share) * (self._least(left) - self._least(0)), left)

    def _least(self, left: int) -> int:
        """Returns the least loss of `left` suppressed rows; 0 for a measure without such a bound."""
        return self._nodes.loss.least(self._ground, left) or 0


def _neighbours(node: Node, lattice: Lattice) -> list[Node]:
    """Returns the nodes of the lattice that differ from `node` by one level in one attribute."""
    bounds = enumerate(zip(node, lattice.low, lattice.high, strict=True))
    return [
        (*node[:index], other, *node[index + 1 :])
        for index, (level, low, high) in bounds
        for other in (level - 1, level + 1)
        if low <= other <= high
    ]


class _Rounds:
    """The rounds of a local recoding so far, the cells that they leave, and the best union of rounds considered."""

    def __init__(self, task: Task, cells: Cells, limit: int, loss: str, best: tuple[int, int]) -> None:
        self._task, self._cells, self._limit, self._loss = task, cells, limit, loss
        self._least = best
        self.rounds: list[Kept] = []
        self.left = cells
        self.best: Recoded | None = None

    def add(self, nodes: Nodes, node: Node) -> None:
        """Adds the classes of a node as the next round; the cells that it leaves are left for the round after it."""
        round_, left = self._divided(nodes, node)
        self.rounds.append(round_)
        self.left = self._recounted(left)

    def consider(self, last: tuple[Nodes, Found] | None = None) -> None:
        """Compares the union of the rounds so far with the best union.

        `last` is one more round, if it publishes a row.
        """
        rounds, left = list(self.rounds), Left(self.left.table, self.left.public)
        if last is not None and last[1].suppressed < self.left.rows:
            round_, left = self._divided(last[0], last[1].node)
            rounds.append(round_)
        if len(rounds) == 1:
            # This is one node for all rows, and no better than the best node.
            return
        union = published(self._task, self._cells, rounds, left, self._limit, self._loss)
        if union is not None and (union.loss, union.suppressed) < self._least:
            self._least = (union.loss, union.suppressed)
            levels = [round_.levels for round_ in rounds]
            rounds_published = tuple(zip(levels, union.rows, strict=True))
            self.best = Recoded(rounds_published, union.suppressed, union.loss, union.cells)

    def _divided(self, nodes: Nodes, node: Node) -> tuple[Kept, Left]:
        """Divides the remaining cells by a node's classes: cells whose class violates no requirement, and all other
        cells.
        """
        temp, layout = self._task.temp, self._cells.layout
        classes = temp.table("classes", classes_kept(nodes.batch, *nodes.rollups.rows_of(node)))
        inside, outside = (
            temp.table("cells", divided(self.left.table, layout, node, classes, within=within))
            for within in (True, False)
        )
        if self.left.public is None:
            return Kept(node, inside), Left(outside)
        public = [
            temp.table("public", divided(self.left.public, layout, node, classes, within=within))
            for within in (True, False)
        ]
        return Kept(node, inside, public[0]), Left(outside, public[1])

    def _recounted(self, left: Left) -> Cells:
        """Returns the cells that are left for the next round, with their values counted again.

        Relations that do not depend on the node still describe the whole source.
        """
        source, task = self._cells, self._task
        trees = [
            task.temp.table("tree", recounted(tree, fields, left.cells))
            for tree, fields in zip(source.trees, source.layout.fields, strict=True)
        ]
        figures = figures_of(task.engine, task.policy, trees)
        return Cells(
            left.cells,
            tuple(trees),
            source.layout,
            figures[-1].rows if figures else 0,
            source.values,
            tuple(each.spread for each in figures),
            tuple(each.most for each in figures),
            entity=source.entity,
            carried=source.carried,
            carried_values=source.carried_values,
            fixed_relations=source.fixed_relations,
            public=left.public,
        )


def cells_kept(task: Task, nodes: Nodes, node: Node) -> str:
    """The table of the cells of the classes that a release of one node publishes after all rounds of its guard."""
    batch, cells = nodes.batch, task.encoded
    words = [alias(batch.key(column("class_id"), word), key_name(word)) for word in range(batch.layout.words)]
    withheld = with_steps(select(*words, of=relation("withheld")), nodes.steps(node))
    gone = task.temp.table("withheld", withheld)
    return task.temp.table("cells", divided(cells.table, cells.layout, node, gone, within=False))


def classes_kept(batch: Batch, rows: exp.Query, public: exp.Query | None) -> exp.Query:
    """SELECT of key_0, ...: the key words of the classes of one node that violate no requirement by themselves.

    `batch` describes the node, `rows` its rows, and `public` the rows of the policy's public table, if there is one.
    """
    text = """
        SELECT $words AS "{keys}" FROM equivalence_class WHERE NOT class_id IN (SELECT class_id FROM withheld)
    """
    words = range(batch.layout.words)
    names, keys = {"keys": [*map(key_name, words)]}, [batch.key(column("class_id"), word) for word in words]
    return with_steps(filled_query(text, names=names, words=keys), withheld_at_once(batch, rows, public))


def divided(cells: str, layout: KeyLayout, levels: Sequence[int], classes: str, *, within: bool) -> exp.Query:
    """SELECT of the cells whose class at these levels is in the table `classes`, or, unless `within`, is not in it."""
    exists = "EXISTS(SELECT 1 FROM classes AS class WHERE ({cell.keys} & $masks) = {class.keys})"
    in_classes = filled(exists, names={"keys": [*map(key_name, range(layout.words))]}, masks=layout.masks(levels))
    text = "SELECT cell.* FROM cells AS cell WHERE $in_classes"
    query = filled_query(text, in_classes=in_classes if within else exp.not_(in_classes))
    return reading(query, {"cells": cells, "classes": classes})


def recounted(tree: str, fields: Sequence[Field], cells: str) -> exp.Query:
    """SELECT of an attribute's tree, with the number of rows `n` of each value counted in the table `cells`.

    The leaves stay, even if no row has their value.
    """
    coded = codes(relation(tree), fields)
    words = [] if coded is None else sorted({field.word for field in fields if field.bits})
    masks = [sum(field.mask for field in fields if field.word == word) for word in words]
    text = """
        SELECT tree.* EXCLUDE (n), counted.n
        FROM tree
        JOIN (
          SELECT coded.value, CAST(coalesce(sum(cell.n), 0) AS BIGINT) AS n
          FROM coded
          LEFT JOIN cells AS cell ON ({cell.keys} & $masks) = {coded.keys}
          GROUP BY coded.value
        ) AS counted ON counted.value IS NOT DISTINCT FROM tree.value
    """
    values = filled_query("SELECT value FROM tree", tables={"tree": tree}) if coded is None else coded
    tables: dict[str, Relation] = {"tree": tree, "cells": cells, "coded": values}
    return filled_query(text, tables=tables, names={"keys": [*map(key_name, words)]}, masks=masks)
