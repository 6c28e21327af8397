"""What is drawn of a hierarchy: the labels of its levels, each as wide as there are values below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, ascending, order_by, window
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.sqlgen.cells.labels import generalized, level_name, published_value, stored_labels

__all__ = ["Block", "hierarchy_blocks"]

# More labels of a level cannot be read.
_MOST = 60


@dataclass(frozen=True)
class Block:
    """A label of a level, NULL as None, and the values below it by their numbers, from `start` to before `end`."""

    level: int
    label: str | None
    start: int
    end: int


def hierarchy_blocks(engine: Engine, b: BoundAttribute, source: QualifiedName, scratch: Scratch) -> list[Block]:
    """The labels of each level that has few enough, the highest level first; those below one stand together.

    Values are those of the column and, of a stored hierarchy, those that it lists. Level 0, which is the values
    themselves, is there of stored hierarchies alone.
    """
    value = published_value(b)
    distinct = exp.select(alias(value, "value")).distinct().from_(relation(source))
    listed = stored_labels(b)
    tree = scratch.table("tree", generalized(b, distinct, listed, counted=False))
    ((total,),) = engine.rows(exp.select(f.count()).from_(relation(tree)))
    for lowest in range(0 if b.stored else 1, b.height):
        rows = engine.rows(_paths(b, tree, lowest).limit(_MOST + 1))
        if len(rows) <= _MOST:
            return [Block(b.height, "*", 0, total), *_blocks(b, lowest, rows)]
    return [Block(b.height, "*", 0, total)]


def _paths(b: BoundAttribute, tree: str, lowest: int) -> exp.Select:
    """The labels from a level up, the number of values below them, and the place of the first among all values."""
    names = [level_name(level) if level else "value" for level in range(lowest, b.height)]
    order_number = window(f.row_number(), order=order_by(ascending(column("value"))))
    placed = exp.select("*", alias(order_number, "rank")).from_(relation(tree)).subquery("placed")
    labels = [as_text(column(name)) for name in names]
    query = exp.select(*labels, alias(f.count(), "n"), alias(f.min(column("rank")), "first")).from_(placed)
    return query.group_by(*map(column, names))


def _blocks(b: BoundAttribute, lowest: int, rows: Sequence[Sequence[object]]) -> list[Block]:
    """The labels of the levels from the highest to the lowest, in the order of the first values below them."""
    paths = [(tuple(row[:-2]), int(str(row[-2])), int(str(row[-1]))) for row in rows]
    firsts: dict[tuple[object, ...], int] = {}
    for path, _, first in paths:
        for level in range(len(path)):
            above = path[level:]
            firsts[above] = min(first, firsts.get(above, first))
    # Values below one label stand together, whatever stands between them.
    paths.sort(key=lambda each: [firsts[each[0][level:]] for level in reversed(range(len(each[0])))])
    blocks: list[Block] = []
    for level in reversed(range(b.height - lowest)):
        start = 0
        former: tuple[object, ...] | None = None
        for path, count, _ in paths:
            if former == path[level:]:
                last = blocks.pop()
                blocks.append(Block(last.level, last.label, last.start, last.end + count))
            else:
                label = path[level]
                blocks.append(Block(lowest + level, None if label is None else str(label), start, start + count))
            former, start = path[level:], start + count
    return blocks
