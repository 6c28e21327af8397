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
        self._texts: dict[tuple[str, ...], str] = {}
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

    def suppressed(self, nodes: Sequence[Node], requirements: Sequence[Asks]) -> list[int]:
        """How many rows each node suppresses: those of its classes that violate a requirement.

        The text of the query is the same for all nodes but for their masks, which are
        its parameters, so it is written once.
        """
        tables = tuple(self._source(node).table for node in nodes)
        if tables not in self._texts:
            words = self._cells.layout.words
            classes = [
                equivalence_class(table, [parameter(place * words + word + 1) for word in range(words)], self._entity)
                for place, table in enumerate(tables)
            ]
            self._texts[tables] = to_sql(node_counts(classes, requirements))
        masks = [mask for node in nodes for mask in self._cells.layout.masks(node)]
        return [int(rows) for _, rows in sorted(self._engine.rows(self._texts[tables], masks))]

    def _source(self, node: Node) -> _Rollup:
        fine = [t for t in self._tables if all(a <= b for a, b in zip(t.levels, node, strict=True))]
        source = min(fine, key=lambda table: table.rows)
        if source.rows < _KEEP_FROM or source.levels == node:
            return source
        table = self._keep("rollup", rolled_up(source.table, self._cells.layout.masks(node), self._entity))
        kept = _Rollup(table, node, self._count(table))
        self._tables.append(kept)
        return kept

    def _count(self, table: str) -> int:
        return int(self._engine.rows(exp.select(exp.Count(this=exp.Star())).from_(relation(table)))[0][0])
