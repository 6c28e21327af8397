"""Class counts of lattice nodes, each grouped from the smallest table that is fine enough.

A node's classes are unions of the classes of any less general node, so its counts roll
up from that node's. On a source whose combinations are nearly all distinct the first
table is as large as the source; then every node that is checked is kept as a table
while it is much smaller than what it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.search.lattice import Node
from sqlanon.sqlgen.cells import equivalence_class, rolled_up
from sqlanon.sqlgen.keys import KeyLayout
from sqlanon.sqlgen.lattice import Asks, node_counts
from sqlanon.sqlgen.names import literal, parameter, relation
from sqlanon.sqlgen.render import to_sql

__all__ = ["CellSource", "Keep", "Rollups"]

# Below this many rows a grouping takes a few milliseconds and a table for its result would cost more.
_KEEP_FROM = 150_000
_BATCH = 4
# One class in so many is looked at first, and a table is kept if it has so many times fewer rows.
_PART = 16
_WORTH = 4


# Makes a temporary table of a query's rows and returns its name.
Keep = Callable[[str, exp.Query], str]


class CellSource(Protocol):
    """The cells, as the encode stage leaves them."""

    @property
    def table(self) -> str: ...
    @property
    def trees(self) -> Sequence[str]: ...
    @property
    def layout(self) -> KeyLayout: ...
    @property
    def rows(self) -> int: ...
    @property
    def values(self) -> Sequence[int]: ...
    @property
    def spread(self) -> Sequence[Sequence[int]]: ...


@dataclass(frozen=True)
class _Rollup:
    table: str
    levels: Node
    rows: int


class Rollups:
    """The tables to group from: the cells, and what was kept on the way."""

    def __init__(self, engine: Engine, cells: CellSource, keep: Keep, *, entity: bool) -> None:
        self._engine = engine
        self._keep = keep
        self._cells = cells
        self._entity = entity
        self._texts: dict[tuple[tuple[str, ...], int | None], str] = {}
        self._classes: dict[Node, int] = {}
        ground = tuple(0 for _ in cells.trees)
        self._tables = [_Rollup(cells.table, ground, self._count(cells.table))]

    @property
    def batch(self) -> int:
        """How many nodes to ask of one statement: one while results are worth keeping."""
        return 1 if self._tables[0].rows >= _KEEP_FROM else _BATCH

    def equivalence_class(self, node: Node) -> exp.Select:
        """The normal relation of a node's classes."""
        masks = [literal(mask) for mask in self._cells.layout.masks(node)]
        return equivalence_class(self._source(node).table, masks, self._entity)

    def suppressed(self, nodes: Sequence[Node], requirements: Sequence[Asks], limit: int) -> list[int]:
        """How many rows each node suppresses: those of its classes that violate a requirement.

        Where it is more than `limit`, any number above `limit` will do: on a large source
        a part of the classes is looked at first, which mostly shows as much.
        """
        if len(nodes) == 1 and (known := self._at_least(nodes[0], requirements)) > limit:
            return [known]
        tables = tuple(self._source(node).table for node in nodes)
        masks = [mask for node in nodes for mask in self._cells.layout.masks(node)]
        text = self._text(tables, requirements)
        return [int(rows) for _, rows in sorted(self._engine.rows(text, masks))]

    def _at_least(self, node: Node, requirements: Sequence[Asks]) -> int:
        """The rows that violate in a part of a node's classes; also learns about how many classes there are."""
        source = self._finest(node)
        if source.rows < _KEEP_FROM:
            return -1
        text = self._text((source.table,), requirements, one_in=_PART)
        _, rows, classes = self._engine.rows(text, self._cells.layout.masks(node))[0]
        self._classes[node] = int(classes) * _PART
        return int(rows)

    def _text(self, tables: tuple[str, ...], requirements: Sequence[Asks], one_in: int | None = None) -> str:
        """The query that counts nodes from these tables. Their masks are its parameters, so it is written once."""
        if (tables, one_in) not in self._texts:
            words = self._cells.layout.words
            classes = [
                equivalence_class(
                    table, [parameter(place * words + word + 1) for word in range(words)], self._entity, one_in
                )
                for place, table in enumerate(tables)
            ]
            self._texts[tables, one_in] = to_sql(node_counts(classes, requirements, sized=one_in is not None))
        return self._texts[tables, one_in]

    def _finest(self, node: Node) -> _Rollup:
        """The smallest table that is fine enough for a node."""
        fine = (t for t in self._tables if all(a <= b for a, b in zip(t.levels, node, strict=True)))
        return min(fine, key=lambda table: table.rows)

    def _source(self, node: Node) -> _Rollup:
        """A table for a node's classes: a new one where it will be much smaller than what it comes from."""
        source = self._finest(node)
        if source.rows < _KEEP_FROM or self._classes.get(node, source.rows) * _WORTH > source.rows:
            return source
        table = self._keep("rollup", rolled_up(source.table, self._cells.layout.masks(node), self._entity))
        kept = _Rollup(table, node, self._count(table))
        self._tables.append(kept)
        return kept

    def _count(self, table: str) -> int:
        return int(self._engine.rows(exp.select(exp.Count(this=exp.Star())).from_(relation(table)))[0][0])
