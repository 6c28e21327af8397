"""Fills blocks of rows that differ in every key: the steering of `fill_blocks_sql`."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Keep
from sqlanon.methods.fragmentation.association import fill_blocks_sql as sql
from sqlanon.methods.fragmentation.association import fill_gaps_sql
from sqlanon.methods.fragmentation.association.lacking_values import lacking, preferred
from sqlanon.methods.fragmentation.association.left_out_sql import first_blocks
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import is_not_null, is_null
from sqlanon.sqlgen.build.names import column, relation

__all__ = ["Blocks"]

# Near rows are looked for in a chunk: the rows of a few blocks at first, of several times more each time that fails.
_FIRST_CHUNK_BLOCKS = 4
_CHUNK_GROWTH = 4

# Near blocks may leave out one row in a hundred beyond those that must be left out.
_ROWS_PER_SPARED_ROW = 100

# The pairs of a row and a block that one statement looks at.
_MAX_PAIRS = 200_000

# Blocks that lack rows are given up after this many statements that placed none, though pairs remain unseen.
_MAX_STALE_STATEMENTS = 4

# What is known of the rows that have a block.
_PLACED = ("row", "block", "place")


class Blocks:
    """Puts the rows of `keyed` into blocks of `size`, as many as can be filled.

    With one key that is decided by the closed form. With several, rows are dealt by the
    key that allows fewest blocks; of rows that are alike in another key one stays; the
    others fill the gaps; and blocks that cannot be filled give their rows to those that can.
    Which rows find no place is drawn, as far as it is not decided by how many there are of a value.

    `possible` says how many blocks each key allows, if that is known.
    """

    def __init__(
        self,
        engine: Engine,
        keyed: str,
        keys: int,
        size: int,
        draw: str,
        keep: Keep,
        possible: Sequence[int] | None = None,
    ) -> None:
        self._engine = engine
        self._keyed = keyed
        self._keys = keys
        self._size = size
        self._draw = draw
        self._keep = keep
        # The rows in no block; after each time that rows are dealt this is another table.
        self._free = keyed
        self._placed: str | None = None
        self._total = self._rows_of(keyed)
        self._held = 0
        most = possible or [self._number(sql.possible(keyed, key, size)) for key in range(keys)]
        self._key = min(range(keys), key=lambda key: most[key])
        self._possible = min(most[self._key], self._total // size)

    @property
    def free(self) -> str:
        """The table of the rows that found no place."""
        return self._free

    def all(self) -> str:
        """The table row, block, place, with equal chances for every row."""
        self._deal_all()
        return self._result

    def near(self) -> str:
        """The table row, block, place, with blocks of rows whose places are near each other, where that can be."""
        fewest = self._total - self._possible * self._size
        chunk = self._first_chunk(fewest + self._total // _ROWS_PER_SPARED_ROW)
        while chunk < self._total:
            self._deal(chunk)
            chunk *= _CHUNK_GROWTH
        self._deal_all()
        self._mend(fewest)
        return self._result

    def _first_chunk(self, most: int) -> int:
        """Among how many rows those of a block are looked for first: the fewest that leave out no more than `most`.

        In a small chunk a value can be too frequent that is not in all. Its rows would find no others left.
        """
        chunk = _FIRST_CHUNK_BLOCKS * self._size
        while chunk < self._total:
            blocks = self._number(sql.possible(self._keyed, self._key, self._size, chunk))
            if self._total - blocks * self._size <= most:
                return chunk
            chunk *= _CHUNK_GROWTH
        return chunk

    def _mend(self, fewest: int) -> None:
        """Deals the rows of blocks again, ever more of them, up to all, until no more rows are left out than must be.

        What is frequent in one place may be rare in all: near blocks can leave too much of it. So those blocks come
        first that hold little of it, else they are drawn. With several keys a few rows may be left out more.
        """
        placed, spared = self._result, 0 if self._keys == 1 else self._total // _ROWS_PER_SPARED_ROW
        blocks_dissolved = 1 if self._keys == 1 else max(1, self._held // self._size // _ROWS_PER_SPARED_ROW)
        while self._held and self._total - self._held > fewest + spared:
            found = lacking(self._engine, self._free, [self._key], self._size, self._keep)
            blocks_dissolved = max(blocks_dissolved, -(-found.most // self._size))
            numbered, _ = preferred(self._keyed, found, placed, [self._key], self._draw, self._keep)
            chosen = self._keep("chosen", first_blocks(numbered, blocks_dissolved))
            self._insert(self._free, sql.rows_of_blocks(self._keyed, placed, chosen, self._keys))
            self._engine.run(sql.dissolved(placed, _blocks_of(chosen)))
            whole = blocks_dissolved * self._size >= self._held
            self._held = self._rows_of(placed)
            blocks_dissolved *= 2
            self._deal_all()
            if whole:
                return

    @property
    def _result(self) -> str:
        assert self._placed is not None
        return self._placed

    @property
    def _columns(self) -> list[str]:
        return sql.row_columns(self._keys)

    def _deal_all(self) -> None:
        """Deals until no more rows come into blocks; with one key the first time is the best already."""
        before = -1
        while self._held > before and (self._held < self._total or self._placed is None):
            before = self._held
            self._deal(None)
            if self._keys == 1:
                return

    def _deal(self, chunk: int | None) -> None:
        """Deals out the rows that are in no block yet; of blocks that lack rows only those of all rows are filled."""
        sorted_rows = self._keep("standing", sql.standing(self._free, self._keys, self._key, chunk))
        chunked = chunk is not None
        query = sql.dealt(sorted_rows, self._keys, self._key, self._size, self._blocks(), chunked=chunked)
        dealt = self._keep("dealt", query)
        self._engine.run(exp.Drop(kind="TABLE", tables=[relation(sorted_rows)]))
        clashing = self._clashing(dealt)
        if clashing is None:
            self._place(_within(dealt))
            self._free = self._keep("free", self._rows(dealt).where(is_null(column("block"))))
            return
        rows = exp.select(column("row")).from_(relation(clashing))
        short = column("block").isin(query=_blocks_of(clashing))
        self._place(_within(dealt).where(exp.not_(short)))
        taken = column("row").isin(query=rows)
        nowhere = is_null(column("block"))
        if chunk is not None:
            self._free = self._keep("free", self._rows(dealt).where(exp.or_(nowhere, short.copy())))
            return
        self._free = self._keep("free", self._rows(dealt).where(exp.or_(nowhere, taken)))
        lacking = exp.select(*map(column, self._columns), column("block")).from_(relation(dealt))
        self._fill(self._keep("lacking", lacking.where(short.copy(), exp.not_(taken))))

    def _clashing(self, dealt: str) -> str | None:
        """The rows of blocks that are like another one in a key that they were not dealt by, if there are any."""
        others = [name for index, name in enumerate(sql.all_keys(self._keys)) if index != self._key]
        if not others:
            return None
        clashing = self._keep("clashing", fill_gaps_sql.clashing(dealt, others))
        return clashing if self._rows_of(clashing) else None

    def _blocks(self) -> int:
        """The greatest number of a block so far."""
        if self._placed is None:
            return 0
        return self._number(exp.select(f.max(column("block"))).from_(relation(self._placed)))

    def _place(self, rows: exp.Select) -> None:
        if self._placed is None:
            self._placed = self._keep("placed", rows)
        else:
            self._insert(self._placed, rows)
        self._held = self._rows_of(self._placed)

    def _rows(self, table: str) -> exp.Select:
        return exp.select(*map(column, self._columns)).from_(relation(table))

    def _fill(self, lacking: str) -> None:
        """Fills the blocks that lack rows; those that cannot be filled give their rows to the others."""
        while self._rows_of(lacking):
            self._fill_gaps(lacking, self._free)
            full = fill_gaps_sql.full(lacking, self._size)
            self._place(exp.select(*map(column, _PLACED)).from_(full.subquery("part")))
            done = exp.select(column("block")).from_(full.subquery("part"))
            self._engine.run(sql.dissolved(lacking, done))
            given_up = self._keep("given_up", fill_gaps_sql.emptiest(lacking, self._size, self._draw))
            freed = column("block").isin(query=_blocks_of(given_up))
            self._insert(self._free, self._rows(lacking).where(freed))
            self._engine.run(sql.dissolved(lacking, _blocks_of(given_up)))

    def _fill_gaps(self, lacking: str, free: str) -> None:
        """Puts free rows into the blocks until no gap is left, or no row fits into any."""
        stale = 0
        while stale < _MAX_STALE_STATEMENTS:
            rows, blocks = (
                self._rows_of(free),
                self._number(_count(fill_gaps_sql.open_blocks(lacking, self._size).subquery("part"))),
            )
            if not rows or not blocks:
                return
            tries = min(blocks, max(1, _MAX_PAIRS // rows))
            every = exp.select(exp.Star()).from_(relation(free))
            proposed = fill_gaps_sql.proposed(every, lacking, self._keys, self._size, blocks, tries, self._draw)
            fitting = self._keep(
                "fitting", fill_gaps_sql.filled(self._keep("proposed", proposed), self._keys, self._size)
            )
            self._insert(lacking, exp.select(exp.Star()).from_(relation(fitting)))
            found = exp.select(column("row")).from_(relation(fitting))
            taken = column("row").isin(query=found)
            self._engine.run(exp.delete(relation(free), where=taken))
            if self._rows_of(fitting):
                stale = 0
            elif tries == blocks:
                return
            else:
                stale += 1

    def _insert(self, table: str, rows: exp.Select) -> None:
        self._engine.run(exp.insert(rows, relation(table), copy=False))

    def _rows_of(self, table: str) -> int:
        return self._number(_count(relation(table)))

    def _number(self, query: exp.Select) -> int:
        return int(self._engine.rows(query)[0][0] or 0)


def _within(dealt: str) -> exp.Select:
    """row, block, place: the rows that have a block."""
    placed = is_not_null(column("block"))
    return exp.select(*map(column, _PLACED)).from_(relation(dealt)).where(placed)


def _blocks_of(table: str) -> exp.Select:
    return exp.select(column("block")).from_(relation(table))


def _count(source: exp.Table | exp.Subquery) -> exp.Select:
    return exp.select(f.count()).from_(source)
