"""Makes the tables of a release with suppressed cells: the labels of each class, and the class of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.values import QualifiedName
from sqlanon.methods.generalization.cell_suppression.patterns import PATTERN, REGION, Placed
from sqlanon.methods.generalization.local_recoding.union import labels_of, masked, published_loss, suppressed_loss
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.methods.shared.lattice.losses.base import AddsUp
from sqlanon.methods.shared.lattice.node_evaluator import batch_of, loss_of
from sqlanon.methods.shared.task import Cells, Task
from sqlanon.sql.build.expressions import and_, if_, is_not_null, is_null
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, left_join, select
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select
from sqlanon.sql.cells.cells import CodedColumn, Field, codes, decoded_cells, key_name
from sqlanon.sql.cells.labels import label_at
from sqlanon.sql.release.recode import Placed as Regions
from sqlanon.sql.release.recode import label_name


def marked(task: Task, placed: Placed) -> str:
    """Makes the table of the source's cells with their patterns and regions, which are NULL for unpublished cells."""
    cells = task.encoded
    query = filled_query(
        """
        SELECT {cell.keys}, cell.n, {place.marks}
        FROM cells AS cell
        LEFT JOIN (SELECT DISTINCT ({keys} & $masks) AS "{keys}", {marks} FROM rows) AS place
          ON ({cell.keys} & $masks) = {place.keys}
        """,
        tables={"cells": cells.table, "rows": placed.rows},
        names={"keys": [*map(key_name, range(cells.layout.words))], "marks": [PATTERN, REGION]},
        masks=cells.layout.masks(placed.levels),
    )
    return task.temp.table("marked", query)


def loss_of_cells(task: Task, name: str, placed: Placed, table: str) -> int:
    """Returns the loss in the measure's unit: a suppressed cell loses as much as `*`, and a row left out loses all its
    cells.

    `table` is the table that `marked` returns. Losses that add up over rows add up over columns, too, because a column
    that is not generalized loses nothing.
    """
    cells, levels = task.encoded, placed.levels
    if LOSSES[name].ADDS_UP is not AddsUp.ROWS:
        answer = task.engine.rows(_class_sizes(placed))[0] if LOSSES[name].ADDS_UP is AddsUp.CLASSES else ()
        return loss_of(task, name, cells, 0, batch_of(task, cells)).of(levels, placed.suppressed, answer)
    published, left = (_part(task, table, condition(column(REGION))) for condition in (is_not_null, is_null))
    loss = published_loss(task, name, cells, published, levels) + suppressed_loss(task, name, cells, left)
    for index, bound in enumerate(task.policy.quasi_identifiers):
        if not placed.blanked(index):
            continue
        blanked = _part(task, table, _is_blanked(index))
        ground = [0] * len(levels)
        nodes = [(*ground[:index], level, *ground[index + 1 :]) for level in (bound.height, levels[index])]
        suppressed, generalized = (published_loss(task, name, cells, blanked, node) for node in nodes)
        loss += suppressed - generalized
    return loss


def _part(task: Task, table: str, condition: exp.Expr) -> str:
    return task.temp.table("part", select(exp.Star(), of=relation(table), where=[condition]))


def _is_blanked(index: int, of: str | None = None) -> exp.Expr:
    """The SQL condition that a row's pattern suppresses the cell of the column at this index."""
    return filled("($pattern & $bit) <> 0", pattern=column(PATTERN, of), bit=1 << index)


def _class_sizes(placed: Placed) -> exp.Query:
    """SELECT of one row about rows with suppressed cells: the number of their classes, and the sum of the squared class
    sizes.
    """
    text = """
        SELECT count(*), coalesce(sum(size * size), 0)
        FROM (SELECT CAST(sum(n) AS HUGEINT) AS size FROM rows GROUP BY {region}) AS sizes
    """
    return filled_query(text, tables={"rows": placed.rows}, names={"region": REGION})


def regions(task: Task, placed: Placed, table: str) -> Regions:
    """The tables that a release reads: the labels of each class, and the class of each combination of values."""
    names = [f"value_{index}" for index in range(len(task.policy.quasi_identifiers))]
    columns = {
        name: CodedColumn(fields, codes(relation(tree), fields), tree)
        for name, fields, tree in zip(names, task.encoded.layout.fields, task.encoded.trees, strict=True)
    }
    keyed = filled_query(
        """SELECT DISTINCT ({keys} & $masks) AS "{keys}", {region} AS n FROM rows WHERE {region} IS NOT NULL""",
        tables={"rows": table},
        names={"keys": [key_name(word) for word in range(task.encoded.layout.words)], "region": REGION},
        masks=task.encoded.layout.masks([0] * len(names)),
    )
    combinations = task.temp.table("combinations", keyed)
    # The number n of a cell is the number of its class here.
    region_map = task.temp.table("region_map", decoded_cells(combinations, columns, None, REGION))
    labels = task.temp.table("labels", _labels_of_classes(task, placed))
    return Regions(
        QualifiedName((labels,)),
        QualifiedName((region_map,)),
        ranks=(None,) * len(names),
        publish="cells",
        bounds=False,
        boxes=False,
    )


def _labels_of_classes(task: Task, placed: Placed) -> exp.Select:
    """SELECT of region, label_0, ..., class: the labels of each class."""
    cells = task.encoded
    query = filled_select(
        """
        SELECT {class.region}, {class.region} AS class
        FROM (SELECT {region}, min({others}) AS "{others}" FROM rows GROUP BY {region}) AS class
        """,
        tables={"rows": placed.rows},
        names={"region": REGION, "others": [PATTERN, *map(key_name, range(cells.layout.words))]},
    )
    for index, bound in enumerate(task.policy.quasi_identifiers):
        level = placed.levels[index]
        if level == bound.height:
            extend(query, alias(literal("*"), label_name(index)))
            continue
        words = _words(cells.layout.fields[index], level)
        table = task.temp.table("labels", _labels(bound, cells, index, level, words))
        name = f"labels_{index}"
        on = [masked(word, mask, "class").eq(column(key_name(word), name)) for word, mask in words.items()]
        # LEFT JOIN, because the code of a suppressed cell need not be the code of a label.
        extend(query, joins=[left_join(relation(table, as_=name), and_(exp.true(), *on))])
        label = if_(exp.not_(_is_blanked(index, "class")), column("label", name))
        extend(query, alias(label, label_name(index)))
    return query


def _words(fields: Sequence[Field], level: int) -> dict[int, int]:
    """Returns, by word of a key, the bits that distinguish the labels of a column at a level."""
    masks: dict[int, int] = {}
    for field in fields[level:]:
        if field.bits:
            masks[field.word] = masks.get(field.word, 0) | field.mask
    return masks


def _labels(bound: BoundAttribute, cells: Cells, index: int, level: int, words: Mapping[int, int]) -> exp.Query:
    """SELECT of the labels of a column at a level, one row for each.

    A row has the words of the label's code in a key, named by `key_name`, and `label`. `words` maps the words to the
    bits of the column.
    """
    values = labels_of(bound, cells.trees[index], cells.layout.fields[index], [level])
    text = """SELECT DISTINCT ({keys} & $masks) AS "{keys}", {label} AS label FROM coded"""
    names = {"keys": [*map(key_name, words)], "label": label_at(level)}
    return filled_query(text, tables={"coded": values}, names=names, masks=[*words.values()])
