"""What several rounds of recoding publish together: the rows that the guard withholds of it, and what it loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.methods.generalization.local_recoding.union_sql import (
    class_layout,
    class_sizes,
    keyed_by_label,
    label_counts,
    labels_of,
    not_published,
    nowhere,
    published_of_round,
    row_count,
    rows_of_classes,
    together,
    wholly_withheld,
    withheld_classes,
)
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.methods.shared.lattice.losses.base import AddsUp
from sqlanon.methods.shared.lattice.node_evaluator import batch_of, loss_of
from sqlanon.methods.shared.lattice.remaining import Node
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.key_layout import KeyLayout


@dataclass(frozen=True)
class Kept:
    """What one round publishes: the cells of the source, and of the public table if any, recoded to `levels`."""

    levels: Node
    cells: str
    public: str | None = None


@dataclass(frozen=True)
class Left:
    """The cells that no round publishes, of the source and of the public table."""

    cells: str
    public: str | None = None


@dataclass(frozen=True)
class Published:
    """The rows that are published of each round, those that are not, and the loss in the measure's unit."""

    rows: tuple[int, ...]
    suppressed: int
    loss: int


def published(task: Task, cells: Cells, rounds: Sequence[Kept], left: Left, limit: int, loss: str) -> Published | None:
    """The union of some rounds over `cells`; None if more than `limit` rows of it have to be withheld.

    Classes of different rounds that show the same are one class. They are judged as the
    guard of the release judges them: by what is published, no longer by the whole source.
    """
    scratch, engine, layout = task.scratch, task.engine, cells.layout
    union = _Union(task, cells, rounds)
    in_classes, public = union.in_classes(), union.public(left.public)
    withheld = scratch.table(
        "withheld", withheld_classes(union.batch, rows_of_classes(in_classes, union.classes, union.entity), public)
    )
    if engine.rows(exp.select(column("still")).from_(relation(withheld)).where(column("still")).limit(1)):
        return None
    parts = [
        scratch.table("published", published_of_round(in_classes, number, withheld, layout, union.classes))
        for number in range(1, len(rounds) + 1)
    ]
    counts = [int(engine.rows(row_count(part))[0][0]) for part in parts]
    suppressed = cells.rows - sum(counts)
    if suppressed > limit:
        return None
    gone = scratch.table("suppressed", not_published(in_classes, left.cells, withheld, layout, union.classes))
    levels = [round_.levels for round_ in rounds]
    lost = union_loss(
        task,
        loss,
        cells,
        list(zip(levels, parts, strict=True)),
        (gone, suppressed),
        (in_classes, withheld, union.classes),
    )
    return Published(tuple(counts), suppressed, lost)


class _Union:
    """The classes that some rounds show together, and which bits of a key have their numbers."""

    def __init__(self, task: Task, cells: Cells, rounds: Sequence[Kept]) -> None:
        self._scratch, self._cells, self._rounds = task.scratch, cells, rounds
        self._labels: list[str] = []
        levels = [sorted({round_.levels[index] for round_ in rounds}) for index in range(len(cells.trees))]
        for attribute in zip(task.policy.quasi_identifiers, cells.trees, cells.layout.fields, levels, strict=True):
            self._labels.append(task.scratch.table("labels", labels_of(*attribute)))
        self._counts = [int(count) for count in task.engine.rows(label_counts(self._labels, levels))[0]]
        self.classes = class_layout(self._counts, cells.layout)
        self.batch = replace(batch_of(task, cells), layout=self.classes)
        self.entity = self.batch.entity

    def in_classes(self) -> str:
        """The cells that the rounds publish, with their round and the key of their class."""
        keyed = [self._keyed(round_.cells, round_.levels, self.entity) for round_ in self._rounds]
        return self._scratch.table("round_cells", together(keyed))

    def public(self, left: str | None) -> exp.Query | None:
        """The public table's rows in the same classes; those of `left` are in none. None without a public table."""
        if left is None:
            return None
        keyed = [self._keyed(round_.public, round_.levels, False) for round_ in self._rounds if round_.public]
        keyed.append(nowhere(left, self._cells.layout, self._counts, self.classes))
        return rows_of_classes(self._scratch.table("round_cells", together(keyed)), self.classes)

    def _keyed(self, cells: str, levels: Node, entity: bool) -> exp.Select:
        return keyed_by_label(cells, self._cells.layout, self._labels, levels, self.classes, entity)


def union_loss(
    task: Task,
    name: str,
    cells: Cells,
    rounds: Sequence[tuple[Node, str]],
    suppressed: tuple[str, int],
    classes: tuple[str, str, KeyLayout],
) -> int:
    """The loss of a union in the measure's unit.

    `rounds` are the levels of each and the cells that it publishes, `suppressed` the
    cells that are not published and their rows, `classes` the cells with their classes,
    the classes that are withheld, and the layout of their keys.
    """
    adds_up = LOSSES[name].ADDS_UP
    if adds_up is AddsUp.ROWS:
        rows = sum(_published(task, name, cells, table, levels) for levels, table in rounds)
        return rows + _suppressed(task, name, cells, suppressed[0])
    answer = task.engine.rows(class_sizes(*classes))[0] if adds_up is AddsUp.CLASSES else ()
    return loss_of(task, name, cells, 0, batch_of(task, cells)).of(rounds[0][0], suppressed[1], answer)


def _published(task: Task, name: str, cells: Cells, table: str, levels: Node) -> int:
    """What the rows of some cells lose at these levels.

    The measure knows what a node loses of which some rows are suppressed. Suppressing
    these takes away what they lose there, and adds what suppressed rows lose, as it
    does at the level 0, where they lose nothing else.
    """
    ground = tuple(0 for _ in levels)
    none, all_here, all_there = _losses(task, name, cells, table, [levels, levels, ground], withheld=(1, 2))
    return none - all_here + all_there


def _suppressed(task: Task, name: str, cells: Cells, table: str) -> int:
    """What the rows of some cells lose if they are suppressed."""
    ground = tuple(0 for _ in cells.trees)
    return _losses(task, name, cells, table, [ground], withheld=(0,))[0]


def _losses(
    task: Task, name: str, cells: Cells, table: str, nodes: Sequence[Node], withheld: Sequence[int]
) -> list[int]:
    """The losses of nodes over all cells, where at the indexes `withheld` those of `table` are suppressed."""
    batch = batch_of(task, cells)
    # A measure that looks into suppressed rows finds them among its cells.
    loss = loss_of(task, name, replace(cells, table=table), 0, batch)
    steps = [("withheld", wholly_withheld(batch, table, [(index, nodes[index]) for index in withheld]))]
    answers = task.engine.rows(with_steps(loss.query(first=1), steps), loss.parameters(nodes))
    return [
        loss.of(nodes[index], int(rows), answer)
        for index, rows, *answer in sorted(answers, key=lambda answer: int(answer[0]))
    ]
