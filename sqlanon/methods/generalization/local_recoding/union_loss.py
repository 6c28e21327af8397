"""What several rounds of recoding lose together, by each of the measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlanon.methods.generalization.lattice.remaining import Node
from sqlanon.methods.generalization.local_recoding.union_sql import class_sizes, wholly_withheld
from sqlanon.methods.generalization.losses import LOSSES, AddsUp
from sqlanon.methods.generalization.node_evaluator import batch_of, loss_of
from sqlanon.methods.shared.cells import Cells
from sqlanon.methods.shared.task import Task
from sqlanon.sqlgen.build.steps import with_steps
from sqlanon.sqlgen.cells.key_layout import KeyLayout

__all__ = ["union_loss"]


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
