"""Combines rounds of local recoding: finds the rows that their union must withhold, and computes the loss
of the union.
"""

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
from sqlanon.sql.build.expressions import added, big, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, reading
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.cells import Field, KeyLayout, codes, key_name
from sqlanon.sql.cells.labels import code_at, generalized, numbered, shown_at, stored_labels
from sqlanon.sql.classes.guard import needs_rounds

# The rows that several rounds publish together, in classes by their labels.
#
# A prefix code identifies a class of one node, but not across levels. Here each attribute has one field with the number
# of its label, the same for equal labels of different levels.


def labels_of(bound: BoundAttribute, tree: str, fields: Sequence[Field], levels: Sequence[int]) -> exp.Query:
    """SELECT of a row for each value of an attribute: its bits in the words of a key, and its label at each of
    `levels`.

    Each label comes with a number, by which the labels of several rounds are compared.
    """
    occurring = filled_query("SELECT value, n FROM tree", tables={"tree": tree})
    values = generalized(bound, occurring, stored_labels(bound), counted=True)
    text = "SELECT value, $labels FROM generalized"
    labels = filled_select(text, tables={"generalized": values}, labels=shown_at(bound, levels))
    coded = codes(relation(tree), fields) or filled_select("SELECT value FROM tree", tables={"tree": tree})
    text = """
        SELECT coded.*, labels.* EXCLUDE (value)
        FROM coded JOIN labels ON labels.value IS NOT DISTINCT FROM coded.value
    """
    return filled_query(text, tables={"coded": coded, "labels": numbered(labels, levels)})


def label_counts(tables: Sequence[str], levels: Sequence[Sequence[int]]) -> exp.Query:
    """SELECT of one row that counts the labels of each attribute in all rounds of a local recoding.

    `tables` are the tables of `labels_of`, one for each attribute.
    """
    counts: list[exp.Expr] = []
    for table, shown_levels in zip(tables, levels, strict=True):
        codes_of_labels = [
            filled("coalesce(max({code}), -1)", names={"code": code_at(level)}) for level in shown_levels
        ]
        count = filled("(SELECT greatest($codes) + 1 FROM labels)", codes=codes_of_labels)
        counts.append(reading(count, {"labels": table}))
    names = {"labels": [f"labels_{index}" for index in range(len(counts))]}
    return filled_query("""SELECT $counts AS "{labels}" """, names=names, counts=counts)


def class_layout(labels: Sequence[int], cells: KeyLayout) -> KeyLayout:
    """Returns the key layout of the classes of a union of rounds.

    Each attribute has a field for the numbers of its labels and one number more, for cells that no round publishes; the
    carried columns follow.
    """
    return KeyLayout.pack([(count + 1,) for count in labels], [1 << field.bits for field in cells.carried])


def class_word(word: int) -> str:
    """Returns the name of the column with one 64-bit word of the key that encodes a row's class and carried values."""
    return f"class_{word}"


def masked(word: int, mask: int, of: str | None = None) -> exp.Expr:
    """The SQL of the bits of a word of a cell's key that `mask` keeps."""
    return filled("($key & $mask)", key=column(key_name(word), of), mask=mask)


def moved(source: Field, target: Field, of: str | None = None) -> exp.Expr:
    """The SQL that moves a carried column's bits from the field `source` of a cell's key to the field `target`."""
    bits = masked(source.word, source.mask, of)
    return filled("(($bits >> $here) << $there)", bits=bits, here=source.shift, there=target.shift)


def class_words(words: Sequence[Sequence[exp.Expr]]) -> list[exp.Expr]:
    """Returns the columns class_0, ..., one for each word of a class's key: the sum of the word's parts, or 0 if it has
    none.
    """
    each = enumerate(words)
    return [alias(added(parts) if parts else big(literal(0)), class_word(word)) for word, parts in each]


def keyed_by_label(
    cells: str, layout: KeyLayout, labels: Sequence[str], levels: Sequence[int], classes: KeyLayout, entity: bool
) -> exp.Select:
    """SELECT of key_0, ..., entity, n, class_0, ...: the cells that one round of a local recoding publishes.

    class_0, ... are the words of the key of the cell's class. `labels` are tables of `labels_of`, `levels` are the
    levels of the round, `classes` is the layout of the classes' keys.
    """
    words: list[list[exp.Expr]] = [[] for _ in range(classes.words)]
    query = select(of=relation(cells, as_="cell"))
    for index, (table, level, (target,)) in enumerate(zip(labels, levels, classes.fields, strict=True)):
        name = f"labels_{index}"
        words[target.word].append(filled("($code << $shift)", code=column(code_at(level), name), shift=target.shift))
        extend(query, joins=[inner_join(relation(table, as_=name), _same_value(layout.fields[index], name))])
    for source, target in zip(layout.carried, classes.carried, strict=True):
        words[target.word].append(moved(source, target, "cell"))
    others = [*map(key_name, range(layout.words)), *(["entity"] if entity else []), "n"]
    return extend(query, *(column(name, "cell") for name in others), *class_words(words))


def _same_value(fields: Sequence[Field], name: str) -> exp.Expr:
    words = sorted({field.word for field in fields if field.bits})
    masks = [sum(field.mask for field in fields if field.word == word) for word in words]
    return filled(
        "$codes = $keys",
        codes=[masked(word, mask, "cell") for word, mask in zip(words, masks, strict=True)],
        keys=[column(key_name(word), name) for word in words],
    )


def nowhere(cells: str, layout: KeyLayout, labels: Sequence[int], classes: KeyLayout) -> exp.Select:
    """SELECT of the public table's cells that no round of a local recoding publishes, in a class of their own."""
    key = [0] * classes.words
    for count, (field,) in list(zip(labels, classes.fields, strict=True))[:1]:
        key[field.word] = count << field.shift
    text = """SELECT {keys}, n, CAST($key AS BIGINT) AS "{words}" FROM cells"""
    names = {"keys": [*map(key_name, range(layout.words))], "words": [*map(class_word, range(classes.words))]}
    return filled_select(text, tables={"cells": cells}, names=names, key=key)


def together(rounds: Sequence[exp.Select]) -> exp.Query:
    """SELECT of the cells of all rounds in one relation; the column `round` has the number of the cell's
    round, from 1.
    """
    numbered = enumerate(rounds, start=1)
    return union_all([extend(cells, alias(literal(number), "round")) for number, cells in numbered])


def rows_of_classes(cells: str, classes: KeyLayout, entity: bool = False) -> exp.Query:
    """SELECT of the cells that rounds publish, as the rows of one lattice node whose classes have keys in the layout
    `classes`.

    `cells` is the table of `together`. All rows have the index 0, so the queries for lattice nodes can judge them.
    """
    text = """
        SELECT CAST(0 AS BIGINT) AS tag, {words} AS "{keys}", {entity}, CAST(sum(n) AS BIGINT) AS n
        FROM cells GROUP BY {words}, {entity}
    """
    words = range(classes.words)
    names = {
        "words": [*map(class_word, words)],
        "keys": [*map(key_name, words)],
        "entity": ["entity"] if entity else [],
    }
    return filled_query(text, tables={"cells": cells}, names=names)


def withheld_classes(batch: Batch, rows: exp.Query, public: exp.Query | None) -> exp.Query:
    """SELECT of key_0, ..., size, still: the classes of a union of rounds that the guard withholds.

    `still` is true, in every row, if a class violates even after the guard's last round.
    """
    still = filled("EXISTS(SELECT 1 FROM violating)") if needs_rounds(batch.requirements) else exp.false()
    text = """SELECT $words AS "{keys}", size, $still AS still FROM withheld"""
    words = range(batch.layout.words)
    names, key = {"keys": [*map(key_name, words)]}, [batch.key(column("class_id"), word) for word in words]
    return with_steps(filled_query(text, names=names, words=key, still=still), withheld(batch, rows, public))


def _among(withheld: str, classes: KeyLayout) -> exp.Expr:
    text = "EXISTS(SELECT 1 FROM withheld AS gone WHERE $words = {gone.keys})"
    words = range(classes.words)
    of_class = [_of_class(classes, word) for word in words]
    is_among = filled(text, names={"keys": [*map(key_name, words)]}, words=of_class)
    return reading(is_among, {"withheld": withheld})


def _of_class(classes: KeyLayout, word: int) -> exp.Expr:
    """The SQL of the bits of a key word that identify the class, without the carried columns."""
    mask = classes.masks([0] * len(classes.fields))[word]
    return filled("({cell.word} & $mask)", names={"word": class_word(word)}, mask=mask)


def class_sizes(cells: str, withheld: str, classes: KeyLayout) -> exp.Query:
    """SELECT of two numbers of a union of rounds: its published classes, and the sum of their squared sizes."""
    text = """
        SELECT count(*), coalesce(sum(size * size), 0)
        FROM (
          SELECT CAST(sum(cell.n) AS HUGEINT) AS size FROM cells AS cell WHERE NOT $withheld GROUP BY $words
        ) AS sizes
    """
    words = [_of_class(classes, word) for word in range(classes.words)]
    return filled_query(text, tables={"cells": cells}, withheld=_among(withheld, classes), words=words)


def wholly_withheld(batch: Batch, cells: str, nodes: Sequence[tuple[int, Sequence[int]]]) -> exp.Query:
    """SELECT of index, class_id, size: the table `withheld` for nodes that suppress all of these cells.

    `nodes` has the index and the levels of each node.
    """
    rows = """SELECT CAST($index AS BIGINT) AS tag, ({keys} & $masks) AS "{keys}", n FROM cells"""
    names = {"keys": [*map(key_name, range(batch.layout.words))]}
    each = [
        filled_query(rows, tables={"cells": cells}, names=names, index=index, masks=batch.layout.masks(levels))
        for index, levels in nodes
    ]
    text = """
        SELECT tag AS index, $class_id AS class_id, CAST(sum(n) AS BIGINT) AS size
        FROM node_row GROUP BY tag, $class_id
    """
    return filled_query(text, tables={"node_row": union_all(each)}, class_id=batch.class_id())


@dataclass(frozen=True)
class Kept:
    """The cells that one round of a local recoding publishes at `levels`: of the source, and of any public table."""

    levels: Node
    cells: str
    public: str | None = None


@dataclass(frozen=True)
class Left:
    """The cells that no round of a local recoding publishes: of the source, and of any public table."""

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
    if engine.rows(filled_query("SELECT still FROM withheld WHERE still LIMIT 1", tables={"withheld": withheld})):
        return None
    of_round = "SELECT {cell.keys}, cell.n FROM cells AS cell WHERE cell.round = $round AND NOT $withheld"
    names, among = {"keys": [*map(key_name, range(layout.words))]}, _among(withheld, union.classes)
    of_rounds = [
        filled_query(of_round, tables={"cells": in_classes}, names=names, round=number, withheld=among)
        for number in range(1, len(rounds) + 1)
    ]
    parts = [temp.table("published", query) for query in of_rounds]
    row_count = "SELECT coalesce(sum(n), 0) FROM cells"
    counts = [int(engine.rows(filled_query(row_count, tables={"cells": part}))[0][0]) for part in parts]
    suppressed = cells.rows - sum(counts)
    if suppressed > limit:
        return None
    not_published = """
        SELECT {cell.keys}, cell.n FROM remaining AS cell
        UNION ALL SELECT {cell.keys}, cell.n FROM cells AS cell WHERE $withheld
    """
    tables = {"cells": in_classes, "remaining": left.cells}
    gone = temp.table("suppressed", filled_query(not_published, tables=tables, names=names, withheld=among))
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
    """The classes of a union of rounds of local recoding, and the layout of their keys."""

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
        """Makes the table of the cells that the rounds publish, with their round and the key of their class; returns
        its name.
        """
        keyed = [self._keyed(round_.cells, round_.levels, self.entity) for round_ in self._rounds]
        return self._temp.table("round_cells", together(keyed))

    def public(self, left: str | None) -> exp.Query | None:
        """Returns the public table's rows in the classes of the union; the rows of `left` are in a class of their own.

        Returns None if there is no public table.
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
    """Returns the loss of the rows in the table of cells `table` if they are all suppressed, in units of
    the measure.
    """
    ground = tuple(0 for _ in cells.trees)
    return losses_of(task, name, cells, table, [ground], withheld=(0,))[0]


def losses_of(
    task: Task, name: str, cells: Cells, table: str, nodes: Sequence[Node], withheld: Sequence[int]
) -> list[int]:
    """Returns the loss of each node over all cells, in units of the measure.

    At the nodes with the indexes `withheld`, the cells in the table `table` are suppressed; at other nodes no cell is.
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
