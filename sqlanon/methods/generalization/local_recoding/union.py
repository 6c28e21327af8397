"""Joins rounds of recoding: the rows that the guard withholds from their union, and the loss of the union."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.methods.shared.lattice.losses import LOSSES
from sqlanon.methods.shared.lattice.losses.base import AddsUp
from sqlanon.methods.shared.lattice.node_evaluator import batch_of, loss_of
from sqlanon.methods.shared.lattice.node_rows_sql import Batch, withheld
from sqlanon.methods.shared.lattice.nodes import Node
from sqlanon.methods.shared.task import Cells, Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import added, and_, big, huge, identical, infix, or_zero, paren, total, union_all
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.cells import Field, KeyLayout, codes, key_name
from sqlanon.sql.cells.labels import code_at, generalized, numbered, shown_at, stored_labels
from sqlanon.sql.classes.guard import needs_rounds

# The rows that several rounds publish together, in classes by their labels.
#
# A prefix code identifies a class of one node, but not across levels. Here each attribute has one field with the number
# of its label, the same for equal labels of different levels.


def labels_of(bound: BoundAttribute, tree: str, fields: Sequence[Field], levels: Sequence[int]) -> exp.Select:
    """SELECT of a row for each value of an attribute: its code in the words of the key, and for each level its label
    and the label's number.
    """
    occurring = select(column("value"), column("n"), of=relation(tree))
    listed = stored_labels(bound)
    values = subquery(generalized(bound, occurring, listed, counted=True), "generalized")
    labels = select(column("value"), *shown_at(bound, levels), of=values)
    coded = codes(relation(tree), fields) or select(column("value"), of=relation(tree))
    others = exp.Star(**{"except_": [identifier("value")]})
    on = identical(column("value", "labels"), column("value", "coded"))
    return select(
        exp.Column(this=exp.Star(), table=identifier("coded")),
        exp.Column(this=others, table=identifier("labels")),
        of=subquery(coded, "coded"),
        joins=[inner_join(subquery(numbered(labels, levels), "labels"), on)],
    )


def label_counts(tables: Sequence[str], levels: Sequence[Sequence[int]]) -> exp.Select:
    """SELECT of one row that counts the labels of each attribute in all rounds; `tables` are tables of `labels_of`."""
    counts: list[exp.Expr] = []
    for table, shown_levels in zip(tables, levels, strict=True):
        greatest = [f.coalesce(f.max(column(code_at(level))), -1) for level in shown_levels]
        most = f.greatest(greatest[0], *greatest[1:]) if len(greatest) > 1 else greatest[0]
        count = subquery(select(most + 1, of=relation(table)))
        counts.append(alias(count, f"labels_{len(counts)}"))
    return select(*counts)


def class_layout(labels: Sequence[int], cells: KeyLayout) -> KeyLayout:
    """The key layout of classes: for each attribute a field for the numbers of its labels and one more number, and the
    carried columns.
    """
    return KeyLayout.pack([(count + 1,) for count in labels], [1 << field.bits for field in cells.carried])


def class_word(word: int) -> str:
    """The name of the column that holds one word of the key, which encodes the class and the carried values."""
    return f"class_{word}"


def keyed_by_label(
    cells: str, layout: KeyLayout, labels: Sequence[str], levels: Sequence[int], classes: KeyLayout, entity: bool
) -> exp.Select:
    """SELECT of key_0, ..., entity, n, class_0, ...: the cells of one round, and the key of their class.

    `labels` are tables of `labels_of`, `levels` are the levels of the round, `classes` the layout of the classes' keys.
    """
    words: list[list[exp.Expr]] = [[] for _ in range(classes.words)]
    query = select(of=relation(cells, as_="cell"))
    for index, (table, level, (target,)) in enumerate(zip(labels, levels, classes.fields, strict=True)):
        name = f"labels_{index}"
        words[target.word].append(_shifted(column(code_at(level), name), target))
        extend(query, joins=[inner_join(relation(table, as_=name), _same_value(layout.fields[index], name))])
    for source, target in zip(layout.carried, classes.carried, strict=True):
        value = infix(column(key_name(source.word), "cell"), "&", source.mask)
        part = infix(paren(value), ">>", source.shift)
        words[target.word].append(_shifted(paren(part), target))
    others = [*(key_name(word) for word in range(layout.words)), *(["entity"] if entity else []), "n"]
    keys = [alias(_sum(parts), class_word(word)) for word, parts in enumerate(words)]
    return extend(query, *(column(name, "cell") for name in others), *keys)


def _same_value(fields: Sequence[Field], name: str) -> exp.Expr:
    alike = []
    for word in sorted({field.word for field in fields if field.bits}):
        mask = sum(field.mask for field in fields if field.word == word)
        code = infix(column(key_name(word), "cell"), "&", mask)
        alike.append(paren(code).eq(column(key_name(word), name)))
    return and_(*alike) if alike else exp.true()


def nowhere(cells: str, layout: KeyLayout, labels: Sequence[int], classes: KeyLayout) -> exp.Select:
    """SELECT of the public table's cells that no round publishes, in a class of their own."""
    key = [0] * classes.words
    for count, (field,) in list(zip(labels, classes.fields, strict=True))[:1]:
        key[field.word] = count << field.shift
    named = [column(key_name(word)) for word in range(layout.words)]
    words = [alias(big(literal(part)), class_word(word)) for word, part in enumerate(key)]
    return select(*named, column("n"), *words, of=relation(cells))


def together(rounds: Sequence[exp.Select]) -> exp.Query:
    """SELECT of the cells of several rounds, with the round's number from 1 in the column round."""
    numbered = enumerate(rounds, start=1)
    return union_all([extend(cells, alias(literal(number), "round")) for number, cells in numbered])


def rows_of_classes(cells: str, classes: KeyLayout, entity: bool = False) -> exp.Select:
    """SELECT of the cells `together`, as rows of a batch with index 0, whose keys have the layout of the classes."""
    words = [alias(column(class_word(word)), key_name(word)) for word in range(classes.words)]
    others = [column("entity")] if entity else []
    tag = alias(big(literal(0)), "tag")
    query = select(tag, *words, *others, alias(total(column("n")), "n"))
    groups = [column(class_word(word)) for word in range(classes.words)]
    return extend(query, of=relation(cells), group_by=[*groups, *others])


def withheld_classes(batch: Batch, rows: exp.Query, public: exp.Query | None) -> exp.Select:
    """SELECT of key_0, ..., size, still: the classes that the guard withholds in all its rounds.

    `still` is true, in every row, if a class violates even after the last round.
    """
    words = [alias(batch.key(column("class_id"), word), key_name(word)) for word in range(batch.layout.words)]
    still: exp.Expr = exp.false()
    if needs_rounds(batch.requirements):
        still = exp.Exists(this=select(literal(1), of=relation("violating")))
    query = select(*words, column("size"), alias(still, "still"), of=relation("withheld"))
    return with_steps(query, withheld(batch, rows, public))


def published_of_round(cells: str, number: int, withheld: str, layout: KeyLayout, classes: KeyLayout) -> exp.Select:
    """SELECT of key_0, ..., n: the cells of one round whose class is not withheld."""
    return _cells(cells, layout).where(column("round", "cell").eq(number), exp.not_(_among(withheld, classes)))


def row_count(cells: str) -> exp.Select:
    """SELECT of one number: the rows that these cells count."""
    return select(or_zero(f.sum(column("n"))), of=relation(cells))


def not_published(cells: str, left: str, withheld: str, layout: KeyLayout, classes: KeyLayout) -> exp.Query:
    """SELECT of key_0, ..., n: the cells that no round publishes, and the cells whose class is withheld."""
    of_withheld = _cells(cells, layout).where(_among(withheld, classes))
    return exp.union(_cells(left, layout), of_withheld, distinct=False)


def _cells(table: str, layout: KeyLayout) -> exp.Select:
    names = [*(key_name(word) for word in range(layout.words)), "n"]
    return select(*(column(name, "cell") for name in names), of=relation(table, as_="cell"))


def _among(withheld: str, classes: KeyLayout) -> exp.Expr:
    in_class = [_of_class(classes, word).eq(column(key_name(word), "gone")) for word in range(classes.words)]
    return exp.Exists(this=select(literal(1), of=relation(withheld, as_="gone"), where=in_class))


def _of_class(classes: KeyLayout, word: int) -> exp.Expr:
    """The part of a key word that identifies the class."""
    mask = classes.masks([0] * len(classes.fields))[word]
    return paren(infix(column(class_word(word), "cell"), "&", mask))


def class_sizes(cells: str, withheld: str, classes: KeyLayout) -> exp.Select:
    """SELECT of two numbers: the number of published classes, and the sum of their squared sizes."""
    words = [_of_class(classes, word) for word in range(classes.words)]
    sizes = select(alias(huge(f.sum(column("n", "cell"))), "size"), of=relation(cells, as_="cell"))
    sizes = extend(sizes, where=[exp.not_(_among(withheld, classes))], group_by=words)
    squares = or_zero(f.sum(column("size") * column("size")))
    return select(f.count(), squares, of=subquery(sizes, "sizes"))


def wholly_withheld(batch: Batch, cells: str, nodes: Sequence[tuple[int, Sequence[int]]]) -> exp.Select:
    """SELECT of index, class_id, size: the relation `withheld` if all these cells are withheld, in the classes of some
    nodes (index, levels).
    """
    rows: list[exp.Select] = []
    for index, levels in nodes:
        masks = batch.layout.masks(levels)
        keys = [
            alias(paren(infix(column(key_name(word)), "&", mask)), key_name(word)) for word, mask in enumerate(masks)
        ]
        rows.append(select(alias(big(literal(index)), "tag"), *keys, column("n"), of=relation(cells)))
    label = batch.class_id()
    size = alias(total(column("n")), "size")
    query = select(alias(column("tag"), "index"), alias(label, "class_id"), size)
    return extend(query, of=subquery(union_all(rows), "node_row"), group_by=[column("tag"), label])


def _shifted(part: exp.Expr, field: Field) -> exp.Expr:
    return paren(infix(part, "<<", field.shift))


def _sum(parts: Sequence[exp.Expr]) -> exp.Expr:
    return added(parts) if parts else big(literal(0))


@dataclass(frozen=True)
class Kept:
    """The cells of one round, of the source and of any public table, that are recoded to `levels`."""

    levels: Node
    cells: str
    public: str | None = None


@dataclass(frozen=True)
class Left:
    """The cells that no round publishes, of the source and of any public table."""

    cells: str
    public: str | None = None


@dataclass(frozen=True)
class Published:
    """A union of rounds: the published rows of each round, the suppressed rows, and the loss in the measure's unit.

    `cells` are the tables of the cells that each round publishes.
    """

    rows: tuple[int, ...]
    suppressed: int
    loss: int
    cells: tuple[str, ...]


def published(task: Task, cells: Cells, rounds: Sequence[Kept], left: Left, limit: int, loss: str) -> Published | None:
    """The union of some rounds over `cells`; None if more than `limit` of its rows must be withheld.

    Classes of different rounds with equal labels are one class. They are judged as the guard of the release does: by
    the published rows, not by the whole source.
    """
    temp, engine, layout = task.temp, task.engine, cells.layout
    union = _Union(task, cells, rounds)
    in_classes, public = union.in_classes(), union.public(left.public)
    withheld = temp.table(
        "withheld", withheld_classes(union.batch, rows_of_classes(in_classes, union.classes, union.entity), public)
    )
    if engine.rows(select(column("still"), of=relation(withheld), where=[column("still")], limit=1)):
        return None
    parts = [
        temp.table("published", published_of_round(in_classes, number, withheld, layout, union.classes))
        for number in range(1, len(rounds) + 1)
    ]
    counts = [int(engine.rows(row_count(part))[0][0]) for part in parts]
    suppressed = cells.rows - sum(counts)
    if suppressed > limit:
        return None
    gone = temp.table("suppressed", not_published(in_classes, left.cells, withheld, layout, union.classes))
    levels = [round_.levels for round_ in rounds]
    lost = union_loss(
        task,
        loss,
        cells,
        list(zip(levels, parts, strict=True)),
        (gone, suppressed),
        (in_classes, withheld, union.classes),
    )
    return Published(tuple(counts), suppressed, lost, tuple(parts))


class _Union:
    """The common classes of some rounds, and the layout of their keys."""

    def __init__(self, task: Task, cells: Cells, rounds: Sequence[Kept]) -> None:
        self._temp, self._cells, self._rounds = task.temp, cells, rounds
        self._labels: list[str] = []
        levels = [sorted({round_.levels[index] for round_ in rounds}) for index in range(len(cells.trees))]
        for attribute in zip(task.policy.quasi_identifiers, cells.trees, cells.layout.fields, levels, strict=True):
            self._labels.append(task.temp.table("labels", labels_of(*attribute)))
        self._counts = [int(count) for count in task.engine.rows(label_counts(self._labels, levels))[0]]
        self.classes = class_layout(self._counts, cells.layout)
        self.batch = replace(batch_of(task, cells), layout=self.classes)
        self.entity = self.batch.entity

    def in_classes(self) -> str:
        """The table of the cells that the rounds publish, with their round and the key of their class."""
        keyed = [self._keyed(round_.cells, round_.levels, self.entity) for round_ in self._rounds]
        return self._temp.table("round_cells", together(keyed))

    def public(self, left: str | None) -> exp.Query | None:
        """The public table's rows in the same classes; the rows of `left` are in a class of their own. None if there is
        no public table.
        """
        if left is None:
            return None
        keyed = [self._keyed(round_.public, round_.levels, False) for round_ in self._rounds if round_.public]
        keyed.append(nowhere(left, self._cells.layout, self._counts, self.classes))
        return rows_of_classes(self._temp.table("round_cells", together(keyed)), self.classes)

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
    """The loss of a union of rounds, in units of the measure.

    `rounds` are the levels and the cells of each, `suppressed` the table of the suppressed cells and their rows,
    `classes` the cells with their classes, the withheld classes, and the layout of their keys.
    """
    adds_up = LOSSES[name].ADDS_UP
    if adds_up is AddsUp.ROWS:
        rows = sum(published_loss(task, name, cells, table, levels) for levels, table in rounds)
        return rows + suppressed_loss(task, name, cells, suppressed[0])
    answer = task.engine.rows(class_sizes(*classes))[0] if adds_up is AddsUp.CLASSES else ()
    return loss_of(task, name, cells, 0, batch_of(task, cells)).of(rounds[0][0], suppressed[1], answer)


def published_loss(task: Task, name: str, cells: Cells, table: str, levels: Node) -> int:
    """Returns the loss of the rows of some cells at these levels.

    A measure computes the loss of all rows at a node with some suppressed. The loss of the suppressed rows is the loss
    at the node, minus the loss of the node with these rows suppressed, plus the loss at level 0 with these rows
    suppressed, where no other row loses.
    """
    ground = tuple(0 for _ in levels)
    none, all_here, all_there = losses_of(task, name, cells, table, [levels, levels, ground], withheld=(1, 2))
    return none - all_here + all_there


def suppressed_loss(task: Task, name: str, cells: Cells, table: str) -> int:
    """Returns the loss of the rows of some cells if they are all suppressed."""
    ground = tuple(0 for _ in cells.trees)
    return losses_of(task, name, cells, table, [ground], withheld=(0,))[0]


def losses_of(
    task: Task, name: str, cells: Cells, table: str, nodes: Sequence[Node], withheld: Sequence[int]
) -> list[int]:
    """The losses of nodes over all cells; at the nodes with the indexes `withheld` the cells of `table` are
    suppressed.
    """
    batch = batch_of(task, cells)
    # A measure that looks into suppressed rows finds them among its cells.
    loss = loss_of(task, name, replace(cells, table=table), 0, batch)
    steps = [("withheld", wholly_withheld(batch, table, [(index, nodes[index]) for index in withheld]))]
    answers = task.engine.rows(with_steps(loss.query(first=1), steps), loss.parameters(nodes))
    return [
        loss.of(nodes[index], int(rows), answer)
        for index, rows, *answer in sorted(answers, key=lambda answer: int(answer[0]))
    ]
