"""Fills blocks of rows that differ in every key: the control flow over the queries of `block_grids`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.fragmentation.association import block_grids as sql
from sqlanon.methods.fragmentation.association.block_grids import (
    ALONE,
    all_keys,
    differing,
    draws,
    row_columns,
    sizes,
)
from sqlanon.methods.fragmentation.association.left_out import Keys, lacking, preferred, set_aside, with_dissolved
from sqlanon.methods.fragmentation.association.left_out_sql import first_blocks
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, is_not_null, is_null, or_, paren, same
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import anti_join, extend, select, subquery
from sqlanon.sql.build.render import drop
from sqlanon.sql.build.sql_files import Relation, filled_query, filled_select, query_file

# Queries for blocks that lack rows, because rows equal in another key were removed, and the free rows that fill them.


def clashing(filled_blocks: str, others: Sequence[str]) -> exp.Query:
    """SELECT of row, block: the rows that equal an earlier row of their block in one of the keys `others`."""
    text = """
        SELECT row, block FROM filled_blocks
        WHERE block IS NOT NULL AND greatest({others}) > $alone QUALIFY NOT $apart
    """
    apart = paren(differing(others, "block", ["draw", "row"]))
    return filled_query(
        text, tables={"filled_blocks": filled_blocks}, names={"others": others}, alone=ALONE, apart=apart
    )


def full(table: str, size: int) -> exp.Query:
    """SELECT of the rows of a table of blocks whose block has all `size` rows."""
    text = "SELECT * FROM placed QUALIFY count(*) OVER (PARTITION BY block) = $size"
    return filled_query(text, tables={"placed": table}, size=size)


def open_blocks(placed: str, size: int) -> exp.Query:
    """SELECT of block, rows: the blocks that lack rows, and their numbers of rows."""
    text = "SELECT block, count(*) AS rows FROM placed GROUP BY block HAVING count(*) < $size"
    return filled_query(text, tables={"placed": placed}, size=size)


def proposed(rows: str, placed: str, keys: int, size: int, blocks: int, tries: int, draw: str) -> exp.Select:
    """SELECT of rows in no block, each with an incomplete block whose rows all differ from it.

    The columns are the row's columns, its `number`, the `block` and the block's `rows`. `blocks` is the number of
    incomplete blocks; each row is compared with `tries` of them. The result must be stored as a table, because both
    sides are in random order.
    """
    tables: dict[str, Relation] = {
        "unplaced": _drawn(rows, draw),
        "open_block": _drawn(open_blocks(placed, size), draw),
    }
    names = {"columns": row_columns(keys)}
    pairs = query_file("association", "proposed", tables=tables, names=names, tries=tries, blocks=blocks)
    text = """
        SELECT * FROM pair QUALIFY (row_number() OVER (PARTITION BY pair.row ORDER BY pair.turn ASC NULLS LAST) - 1) = 0
    """
    query = filled_select(text, tables={"pair": pairs})
    # One join for each key, by equality alone, so that the engine need not compare all pairs.
    for name in all_keys(keys):
        on = and_(*(same(part, "pair", name) for part in ("block", name)))
        extend(query, joins=[anti_join(relation(placed, as_=name), on)])
    return query


def fitting(proposals: str, keys: int, size: int) -> exp.Query:
    """SELECT of rows with their block: proposals to put a row into a block that can all be carried out together."""
    text = """
        SELECT {columns}, block FROM (SELECT * FROM proposals QUALIFY $differing) AS apart
        QUALIFY (row_number() OVER (PARTITION BY block ORDER BY number ASC NULLS LAST) - 1) < ($size - rows)
    """
    apart = differing(all_keys(keys), "block", ["number"])
    names = {"columns": row_columns(keys)}
    return filled_query(text, tables={"proposals": proposals}, names=names, differing=apart, size=size)


def emptiest(placed: str, size: int, draw: str) -> exp.Query:
    """SELECT of block: the half of the incomplete blocks with the fewest rows."""
    return query_file("association", "emptiest", tables={"open_block": _drawn(open_blocks(placed, size), draw)})


def _drawn(rows: Relation, draw: str) -> exp.Query:
    """SELECT of the rows with the column `drawn`, a random number to order them."""
    return filled_query("SELECT *, $drawn AS drawn FROM part", tables={"part": rows}, drawn=draws(draw))


# Near rows are searched in a chunk: at first the rows of this many blocks, after each failure more by this factor.
_FIRST_CHUNK_BLOCKS = 4
_CHUNK_GROWTH = 4

# Blocks of near rows may leave out one row in a hundred more than necessary.
_ROWS_PER_SPARED_ROW = 100

# The number of pairs of a row and a block that one statement examines.
_MAX_PAIRS = 200_000

# Blocks that lack rows are given up after this many statements that placed none, though pairs remain unseen.
_MAX_STALE_STATEMENTS = 4

# The columns of the rows that have a block.
_PLACED = ("row", "block", "position")


class Blocks:
    """Puts the rows of `keyed` into as many blocks of `size` rows as can be filled.

    With one key the closed form fills the maximum. With several, rows are assigned by the key that allows the fewest
    blocks. If rows of a block are equal in another key, one stays and the others fill gaps; blocks that cannot be
    filled give their rows to other blocks.

    The rows left out are random, except as far as the numbers of rows with each value determine them. `possible` is the
    number of blocks that each key allows, if known.
    """

    def __init__(
        self,
        engine: Engine,
        keyed: str,
        keys: int,
        size: int,
        draw: str,
        temp: TempTables,
        possible: Sequence[int] | None = None,
    ) -> None:
        self._engine = engine
        self._keyed = keyed
        self._keys = keys
        self._size = size
        self._draw = draw
        self._temp = temp
        # The table of the rows in no block; each assignment of rows makes a new one.
        self._free = keyed
        self._placed: str | None = None
        self._total = self._rows_of(keyed)
        self._in_blocks = 0
        most = possible or [self._number(sql.possible(keyed, key, size)) for key in range(keys)]
        self._key = min(range(keys), key=lambda key: most[key])
        self._possible = min(most[self._key], self._total // size)

    @property
    def free(self) -> str:
        """The table of the rows that are in no block."""
        return self._free

    def all(self) -> str:
        """Assigns rows with equal chances for each; returns the table row, block, position."""
        self._deal_all()
        return self._result

    def near(self) -> str:
        """Assigns rows so that positions within a block are near if possible; returns the table row, block,
        position.
        """
        fewest = self._total - self._possible * self._size
        chunk = self._first_chunk(fewest + self._total // _ROWS_PER_SPARED_ROW)
        while chunk < self._total:
            self._deal(chunk)
            chunk *= _CHUNK_GROWTH
        self._deal_all()
        self._mend(fewest)
        return self._result

    def _first_chunk(self, most: int) -> int:
        """Returns the rows of the smallest chunk with which blocks of near rows leave out at most `most` rows.

        A value can be too frequent in a small chunk, though not in the whole table. Then too few other rows remain to
        fill the blocks that have rows with this value.
        """
        chunk = _FIRST_CHUNK_BLOCKS * self._size
        while chunk < self._total:
            blocks = self._number(sql.possible(self._keyed, self._key, self._size, chunk))
            if self._total - blocks * self._size <= most:
                return chunk
            chunk *= _CHUNK_GROWTH
        return chunk

    def _mend(self, fewest: int) -> None:
        """Dissolves more and more blocks and assigns their rows again, until as few rows are left out as possible.

        A value that is frequent in one region may be rare in the table, so blocks of near rows can leave out too many
        of its rows; blocks with few of these rows are dissolved first. If there are several keys, another 1 in 100 rows
        may be left out.
        """
        placed, spared = self._result, 0 if self._keys == 1 else self._total // _ROWS_PER_SPARED_ROW
        blocks_dissolved = 1 if self._keys == 1 else max(1, self._in_blocks // self._size // _ROWS_PER_SPARED_ROW)
        while self._in_blocks and self._total - self._in_blocks > fewest + spared:
            lack = lacking(self._engine, self._free, [self._key], self._size, self._temp)
            blocks_dissolved = max(blocks_dissolved, -(-lack.most // self._size))
            numbered, _ = preferred(self._keyed, lack, placed, [self._key], self._draw, self._temp)
            chosen = self._temp.table("chosen", first_blocks(numbered, blocks_dissolved))
            self._insert(self._free, sql.rows_of_blocks(self._keyed, placed, chosen, self._keys))
            self._engine.run(sql.dissolved(placed, _blocks_of(chosen)))
            whole = blocks_dissolved * self._size >= self._in_blocks
            self._in_blocks = self._rows_of(placed)
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
        """Assigns rows until no further row gets a block; with one key the first assignment is optimal."""
        before = -1
        while self._in_blocks > before and (self._in_blocks < self._total or self._placed is None):
            before = self._in_blocks
            self._deal(None)
            if self._keys == 1:
                return

    def _deal(self, chunk: int | None) -> None:
        """Assigns the free rows to blocks. Incomplete blocks are filled only if `chunk` is None, otherwise
        dissolved.
        """
        sorted_rows = self._temp.table("sorted_rows", sql.sorted_rows(self._free, self._keys, self._key, chunk))
        chunked = chunk is not None
        query = sql.filled_blocks(sorted_rows, self._keys, self._key, self._size, self._blocks(), chunked=chunked)
        filled_blocks = self._temp.table("filled_blocks", query)
        self._engine.run(drop("TABLE", relation(sorted_rows)))
        clashing = self._clashing(filled_blocks)
        if clashing is None:
            self._keep_rows(_within(filled_blocks))
            self._free = self._temp.growing_table("free", self._rows(filled_blocks).where(is_null(column("block"))))
            return
        rows = select(column("row"), of=relation(clashing))
        short = column("block").isin(query=_blocks_of(clashing))
        self._keep_rows(_within(filled_blocks).where(exp.not_(short)))
        taken = column("row").isin(query=rows)
        nowhere = is_null(column("block"))
        if chunk is not None:
            self._free = self._temp.growing_table("free", self._rows(filled_blocks).where(or_(nowhere, short)))
            return
        self._free = self._temp.growing_table("free", self._rows(filled_blocks).where(or_(nowhere, taken)))
        lacking = select(*map(column, self._columns), column("block"), of=relation(filled_blocks))
        self._fill(self._temp.growing_table("lacking", extend(lacking, where=[short, exp.not_(taken)])))

    def _clashing(self, filled_blocks: str) -> str | None:
        """Makes the table of the rows that equal an earlier row of their block in a key; returns its name, or None if
        it is empty.

        The key by which rows were assigned is not checked: rows of a block always differ in it.
        """
        others = [name for index, name in enumerate(sql.all_keys(self._keys)) if index != self._key]
        if not others:
            return None
        rows = self._temp.table("clashing", clashing(filled_blocks, others))
        return rows if self._rows_of(rows) else None

    def _blocks(self) -> int:
        """The greatest number of a block so far, 0 if there are no blocks."""
        if self._placed is None:
            return 0
        return self._number(select(f.max(column("block")), of=relation(self._placed)))

    def _keep_rows(self, rows: exp.Query) -> None:
        if self._placed is None:
            self._placed = self._temp.growing_table("placed", rows)
        else:
            self._insert(self._placed, rows)
        self._in_blocks = self._rows_of(self._placed)

    def _rows(self, table: str) -> exp.Select:
        return select(*map(column, self._columns), of=relation(table))

    def _fill(self, lacking: str) -> None:
        """Fills incomplete blocks; blocks that cannot be filled give their rows to the others."""
        while self._rows_of(lacking):
            self._fill_gaps(lacking, self._free)
            whole = full(lacking, self._size)
            self._keep_rows(select(*map(column, _PLACED), of=subquery(whole, "part")))
            done = select(column("block"), of=subquery(whole, "part"))
            self._engine.run(sql.dissolved(lacking, done))
            given_up = self._temp.table("given_up", emptiest(lacking, self._size, self._draw))
            freed = column("block").isin(query=_blocks_of(given_up))
            self._insert(self._free, self._rows(lacking).where(freed))
            self._engine.run(sql.dissolved(lacking, _blocks_of(given_up)))

    def _fill_gaps(self, lacking: str, free: str) -> None:
        """Puts free rows into the blocks until no gap is left, or no row fits."""
        stale = 0
        while stale < _MAX_STALE_STATEMENTS:
            rows = self._rows_of(free)
            blocks = self._number(_count(subquery(open_blocks(lacking, self._size), "part")))
            if not rows or not blocks:
                return
            tries = min(blocks, max(1, _MAX_PAIRS // rows))
            pairs = proposed(free, lacking, self._keys, self._size, blocks, tries, self._draw)
            query = fitting(self._temp.table("proposed", pairs), self._keys, self._size)
            placed = self._temp.table("fitting", query)
            self._insert(lacking, select(exp.Star(), of=relation(placed)))
            rows_filled = select(column("row"), of=relation(placed))
            self._engine.run(exp.delete(relation(free), where=column("row").isin(query=rows_filled)))
            if self._rows_of(placed):
                stale = 0
            elif tries == blocks:
                return
            else:
                stale += 1

    def _insert(self, table: str, rows: exp.Query) -> None:
        self._engine.run(exp.insert(rows, relation(table), copy=False))

    def _rows_of(self, table: str) -> int:
        return self._number(_count(relation(table)))

    def _number(self, query: exp.Query) -> int:
        return int(self._engine.rows(query)[0][0] or 0)


def _within(filled_blocks: str) -> exp.Select:
    """SELECT of row, block, position: the rows of `filled_blocks` that have a block."""
    return select(*map(column, _PLACED), of=relation(filled_blocks), where=[is_not_null(column("block"))])


def _blocks_of(table: str) -> exp.Select:
    return select(column("block"), of=relation(table))


def _count(source: exp.Table | exp.Subquery) -> exp.Select:
    return select(f.count(), of=source)


# Assignment of rows to blocks that makes the rows left out a class, too.


# Rows are no longer assigned again once at most one in a thousand is left out beyond the minimum.
_ROWS_PER_LEFT_ROW = 1_000
# Rows are not assigned again if there are more of them than this.
_MAX_ROWS_DEALT_AGAIN = 10_000


@dataclass(frozen=True)
class Wanted:
    """A request for blocks of `size` rows that leaves out at most `most` rows, of which at most one in `k` may have
    equal values.

    If `k` is None, any of the rows left out may be equal; if `most` is None, any number of rows may be left out.
    """

    size: int
    k: int | None
    most: int | None = None


@dataclass(frozen=True)
class Dealt:
    """The tables of the rows in blocks (row, block, position) and of the rows left out, with the columns of `keyed`.

    `least` is the lower bound of the rows left out that follows from each key by itself, None if a key allows no block.
    No row is in a block if `least` is None or exceeds the number of rows that may be left out.
    """

    placed: str
    left: str
    least: int | None


def deal(keys: Keys, wanted: Wanted, draw: str, temp: TempTables, *, near: bool = False) -> Dealt:
    """Assigns rows to as many blocks as can be found; with `near`, blocks of rows with near positions."""
    blocks = _once(keys, wanted, draw, temp, near=near)
    return blocks if len(keys.counts) == 1 else _again(keys, wanted, blocks, draw, temp)


def _once(keys: Keys, wanted: Wanted, draw: str, temp: TempTables, *, near: bool) -> Dealt:
    engine, size = keys.engine, wanted.size
    possible = keys.possible(size)
    blocks = keys.most_blocks(size, wanted.k, possible)
    least = keys.rows - blocks * size if blocks else None
    if least is None or (wanted.most is not None and least > wanted.most):
        return Dealt(temp.table("placed", sql.no_blocks(keys.keyed)), keys.keyed, least)
    left = set_aside(keys, size, wanted.k, blocks, temp)
    filled = Blocks(engine, keys.keyed, len(keys.counts), size, draw, temp, possible)
    placed = filled.near() if near else filled.all()
    columns = list(map(column, sql.row_columns(len(keys.counts))))
    engine.run(exp.insert(select(*columns, of=relation(left)), relation(keys.keyed), copy=False))
    engine.run(exp.insert(select(*columns, of=relation(filled.free)), relation(left), copy=False))
    if wanted.k is not None:
        with_dissolved(keys, left, placed, size, wanted.k, draw, temp)
    return Dealt(placed, left, least)


def _again(keys: Keys, wanted: Wanted, blocks: Dealt, draw: str, temp: TempTables) -> Dealt:
    """Repeats the assignment of the rows left out, together with the rows of random blocks, while more rows get a
    block.
    """
    engine, count = keys.engine, len(keys.counts)
    vain, blocks_dissolved, left = 0, 1, _rows_of(engine, blocks.left)
    while (
        blocks.least is not None
        and vain < sizes().max_deals_without_gain
        and blocks.least + keys.rows // _ROWS_PER_LEFT_ROW < left <= _MAX_ROWS_DEALT_AGAIN
    ):
        chosen = temp.table("chosen", sql.some_blocks(blocks.placed, blocks_dissolved, draw))
        freed = sql.rows_of_blocks(keys.keyed, blocks.placed, chosen, count)
        pool = Keys.of(engine, temp.table("pool", sql.pooled(blocks.left, freed, count, draw)), count, temp)
        again = _once(pool, replace(wanted, most=left - 1), draw, temp, near=False)
        rows = _rows_of(engine, again.left)
        if rows < left:
            engine.run(sql.dissolved(blocks.placed, select(column("block"), of=relation(chosen))))
            offset = literal(_number(engine, select(f.max(column("block")), of=relation(blocks.placed))))
            moved = column("block") + offset
            moved_rows = select(column("row"), alias(moved, "block"), column("position"), of=relation(again.placed))
            engine.run(exp.insert(moved_rows, relation(blocks.placed), copy=False))
            blocks, left, vain = replace(blocks, left=again.left), rows, 0
        else:
            vain += 1
        blocks_dissolved *= 2
    return blocks


def _rows_of(engine: Engine, table: str) -> int:
    return _number(engine, select(f.count(), of=relation(table)))


def _number(engine: Engine, query: exp.Query) -> int:
    return int(engine.rows(query)[0][0] or 0)
