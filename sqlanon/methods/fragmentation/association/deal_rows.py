"""Rows dealt out to blocks, such that the rows left out are a class."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.fragmentation.association import fill_blocks_sql as sql
from sqlanon.methods.fragmentation.association.block_search import Blocks
from sqlanon.methods.fragmentation.association.left_out import Keys, set_aside, with_dissolved
from sqlanon.methods.fragmentation.association.sizes import sizes
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import alias, column, literal, relation

# Dealing again ends once at most one row in a thousand is left out beyond those that must be.
_ROWS_PER_LEFT_ROW = 1_000
# More rows than these are not dealt again.
_MAX_ROWS_DEALT_AGAIN = 10_000


@dataclass(frozen=True)
class Wanted:
    """Blocks of `size` rows. At most `most` rows are left out, of which not more than one in `k` has the same values.

    Where k is None any of them may be alike, and where `most` is None any number may be left out.
    """

    size: int
    k: int | None
    most: int | None = None


@dataclass(frozen=True)
class Dealt:
    """The tables of the rows in blocks (row, block, position) and of those left out, with the columns of `keyed`.

    As far as each key by itself tells, `least` rows are left out; None if a key allows no block. No row is in a block
    then, nor where that is more than may be left out.
    """

    placed: str
    left: str
    least: int | None


def deal(keys: Keys, wanted: Wanted, draw: str, scratch: Scratch, *, near: bool = False) -> Dealt:
    """Rows dealt to as many blocks as can be found; `near` asks for rows in a block whose positions are near."""
    blocks = _once(keys, wanted, draw, scratch, near=near)
    return blocks if len(keys.counts) == 1 else _again(keys, wanted, blocks, draw, scratch)


def _once(keys: Keys, wanted: Wanted, draw: str, scratch: Scratch, *, near: bool) -> Dealt:
    engine, size = keys.engine, wanted.size
    possible = keys.possible(size)
    blocks = keys.most_blocks(size, wanted.k, possible)
    least = keys.rows - blocks * size if blocks else None
    if least is None or (wanted.most is not None and least > wanted.most):
        return Dealt(scratch.table("placed", sql.no_blocks(keys.keyed)), keys.keyed, least)
    left = set_aside(keys, size, wanted.k, blocks, scratch)
    filled = Blocks(engine, keys.keyed, len(keys.counts), size, draw, scratch, possible)
    placed = filled.near() if near else filled.all()
    columns = list(map(column, sql.row_columns(len(keys.counts))))
    engine.run(exp.insert(exp.select(*columns).from_(relation(left)), relation(keys.keyed), copy=False))
    engine.run(exp.insert(exp.select(*columns).from_(relation(filled.free)), relation(left), copy=False))
    if wanted.k is not None:
        with_dissolved(keys, left, placed, size, wanted.k, draw, scratch)
    return Dealt(placed, left, least)


def _again(keys: Keys, wanted: Wanted, blocks: Dealt, draw: str, scratch: Scratch) -> Dealt:
    """Deals the rows left out once more, among those of drawn blocks, as long as that places more of them."""
    engine, count = keys.engine, len(keys.counts)
    vain, blocks_dissolved, left = 0, 1, _rows_of(engine, blocks.left)
    while (
        blocks.least is not None
        and vain < sizes().max_deals_without_gain
        and blocks.least + keys.rows // _ROWS_PER_LEFT_ROW < left <= _MAX_ROWS_DEALT_AGAIN
    ):
        chosen = scratch.table("chosen", sql.some_blocks(blocks.placed, blocks_dissolved, draw))
        freed = sql.rows_of_blocks(keys.keyed, blocks.placed, chosen, count)
        pool = Keys.of(engine, scratch.table("pool", sql.pooled(blocks.left, freed, count, draw)), count, scratch)
        again = _once(pool, replace(wanted, most=left - 1), draw, scratch, near=False)
        rows = _rows_of(engine, again.left)
        if rows < left:
            engine.run(sql.dissolved(blocks.placed, exp.select(column("block")).from_(relation(chosen))))
            offset = literal(_number(engine, exp.select(f.max(column("block"))).from_(relation(blocks.placed))))
            moved = column("block") + offset
            moved_rows = exp.select(column("row"), alias(moved, "block"), column("position")).from_(
                relation(again.placed)
            )
            engine.run(exp.insert(moved_rows, relation(blocks.placed), copy=False))
            blocks, left, vain = replace(blocks, left=again.left), rows, 0
        else:
            vain += 1
        blocks_dissolved *= 2
    return blocks


def _rows_of(engine: Engine, table: str) -> int:
    return _number(engine, exp.select(f.count()).from_(relation(table)))


def _number(engine: Engine, query: exp.Select) -> int:
    return int(engine.rows(query)[0][0] or 0)
