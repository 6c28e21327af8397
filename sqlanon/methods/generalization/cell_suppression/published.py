"""Makes the tables of a release with suppressed cells: the labels of each class, and the class of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.values import QualifiedName
from sqlanon.methods.generalization.cell_suppression.patterns import PATTERN, REGION, Placed
from sqlanon.methods.generalization.local_recoding.union import labels_of, published_loss, suppressed_loss
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.methods.shared.lattice.losses.base import AddsUp
from sqlanon.methods.shared.lattice.node_evaluator import batch_of, loss_of
from sqlanon.methods.shared.task import Cells, Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, huge, if_, infix, is_not_null, is_null, or_zero, paren
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, left_join, select, subquery
from sqlanon.sql.cells.cells import CodedColumn, Field, codes, decoded_cells, key_name
from sqlanon.sql.cells.labels import label_at
from sqlanon.sql.release.recode import Placed as Regions
from sqlanon.sql.release.recode import label_name


def marked(task: Task, placed: Placed) -> str:
    """Makes the table of the source's cells with their patterns and regions, which are NULL for unpublished cells."""
    cells = task.encoded
    words = range(cells.layout.words)
    masks = cells.layout.masks(placed.levels)
    keys = [alias(_masked(word, masks[word]), key_name(word)) for word in words]
    classes = select(*keys, column(PATTERN), column(REGION), distinct=True, of=relation(placed.rows))
    on = [_masked(word, masks[word], "cell").eq(column(key_name(word), "place")) for word in words]
    query = select(*(column(key_name(word), "cell") for word in words), column("n", "cell"))
    query = extend(query, column(PATTERN, "place"), column(REGION, "place"), of=relation(cells.table, as_="cell"))
    return task.temp.table("marked", extend(query, joins=[left_join(subquery(classes, "place"), and_(*on))]))


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
    """Whether the cell of the column at this index is suppressed in a pattern."""
    return _bits(column(PATTERN, of), 1 << index).neq(literal(0))


def _bits(number: exp.Expr, mask: int) -> exp.Expr:
    return paren(infix(number, "&", mask))


def _masked(word: int, mask: int, of: str | None = None) -> exp.Expr:
    return _bits(column(key_name(word), of), mask)


def _class_sizes(placed: Placed) -> exp.Select:
    """SELECT of one row: the number of classes, and the sum of their squared sizes."""
    sizes = select(alias(huge(f.sum(column("n"))), "size"), of=relation(placed.rows), group_by=[column(REGION)])
    return select(f.count(), or_zero(f.sum(column("size") * column("size"))), of=subquery(sizes, "sizes"))


def regions(task: Task, placed: Placed, table: str) -> Regions:
    """The tables that a release reads: the labels of each class, and the class of each combination of values."""
    names = [f"value_{index}" for index in range(len(task.policy.quasi_identifiers))]
    columns = {
        name: CodedColumn(fields, codes(relation(tree), fields), tree)
        for name, fields, tree in zip(names, task.encoded.layout.fields, task.encoded.trees, strict=True)
    }
    keys = [column(key_name(word)) for word in range(task.encoded.layout.words)]
    quasi = task.encoded.layout.masks([0] * len(names))
    keyed = select(*(alias(_bits(key, mask), key.name) for key, mask in zip(keys, quasi, strict=True)))
    keyed = extend(keyed, alias(column(REGION), "n"), distinct=True, of=relation(table))
    combinations = task.temp.table("combinations", extend(keyed, where=[is_not_null(column(REGION))]))
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
    keys = [alias(f.min(column(key_name(word))), key_name(word)) for word in range(cells.layout.words)]
    classes = select(column(REGION), alias(f.min(column(PATTERN)), PATTERN), *keys)
    classes = extend(classes, of=relation(placed.rows), group_by=[column(REGION)])
    query = select(column(REGION, "class"), alias(column(REGION, "class"), "class"), of=subquery(classes, "class"))
    for index, bound in enumerate(task.policy.quasi_identifiers):
        level = placed.levels[index]
        if level == bound.height:
            extend(query, alias(literal("*"), label_name(index)))
            continue
        words = _words(cells.layout.fields[index], level)
        table = task.temp.table("labels", _labels(bound, cells, index, level, words))
        name = f"labels_{index}"
        on = [_masked(word, mask, "class").eq(column(key_name(word), name)) for word, mask in words.items()]
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


def _labels(bound: BoundAttribute, cells: Cells, index: int, level: int, words: Mapping[int, int]) -> exp.Select:
    """SELECT of a row for each label of a column at a level: the words of the label's code, named by `key_name`, and
    `label`.
    """
    values = subquery(labels_of(bound, cells.trees[index], cells.layout.fields[index], [level]), "coded")
    keys = [alias(_masked(word, mask), key_name(word)) for word, mask in words.items()]
    return select(*keys, alias(column(label_at(level)), "label"), distinct=True, of=values)
