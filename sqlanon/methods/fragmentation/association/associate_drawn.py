"""Loose associations of rows that lie on another engine than the summaries: the steering of `drawn_rows_sql`.

Where rows have to differ in one key, the closed form of `fill_blocks_sql` fills as many blocks as there can be. Where
they have to in several, the same is done by the key that allows fewest blocks, and once more with the rows of blocks
that have some alike in another key, while these become fewer. The last of them are dealt again in DuckDB, together
with as many others, by the numbers of their keys: rows change places there until they fit, which an engine of many
parts does not do well.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.engines.udfs import registered, registered_for_summaries
from sqlanon.errors import InternalError
from sqlanon.methods.fragmentation.association import drawn_grids_sql, fill_blocks_sql, left_out_sql
from sqlanon.methods.fragmentation.association import drawn_rows_sql as sql
from sqlanon.methods.fragmentation.association.associate import Association, Grouping, keys_of, promised
from sqlanon.methods.fragmentation.association.block_grids import Grid, grid
from sqlanon.methods.fragmentation.association.deal_rows import Dealt, Wanted, deal
from sqlanon.methods.fragmentation.association.drawn_grids_sql import Round
from sqlanon.methods.fragmentation.association.left_out import (
    Keys,
    choose,
    limits_of_draws,
    most_alike,
    with_dissolved,
)
from sqlanon.methods.fragmentation.association.sizes import sizes
from sqlanon.methods.shared.numbered_draws import draws_alike, numbers_before
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.names import column, relation

# Numbers that are drawn here are below this one.
_TURN_LIMIT = 2**62


def associate_drawn(engine: Engine, rows: str, count: int, grouping: Grouping, scratch: Scratch) -> Association:
    """What `associate` returns, its `groups` with the columns value_0, ... besides.

    `rows` is the relation of `drawn_rows_sql.drawn_rows`, which has `count` rows. Raises InternalError where a value is
    another one after it went from one engine to the other, PolicyError as `associate` does.
    """
    promise = promised(grouping.fragments, grouping.constraints, grouping.sizes)
    k = grouping.k if grouping.k is not None and promise is not None else promise
    columns = [name for fragment in grouping.fragments for name in fragment]
    parts: list[tuple[str, ...]] = []
    alike: list[tuple[list[int], str]] = []
    for key in keys_of(grouping.fragments, grouping.constraints):
        indexes = [columns.index(name) for name in key]
        tuples = scratch.table("tuples", sql.tuples(rows, indexes))
        if _rows_of(engine, tuples):
            alike.append((indexes, scratch.table("repeated", sql.numbered_tuples(tuples))))
            parts.append(key)
    keyed = scratch.rows("keyed", sql.keyed(rows, alike))
    # Without a key all rows differ.
    tables = [table for _, table in alike]
    counted = [sql.key_counts(table, count) for table in tables] or [sql.key_counts(None, count)]
    counts = tuple(scratch.table("counts", query) for query in counted)
    frequencies = tuple(scratch.table("frequencies", left_out_sql.frequencies(table)) for table in counts)
    keys = Keys(engine, keyed, count, counts, frequencies)
    laid = grid(grouping.sizes)
    dealing = _Dealing(keys, Wanted(laid.rows, k, grouping.most), scratch)
    blocks = dealing.blocks()
    groups = _grouped(engine, rows, blocks.placed, len(columns), laid, scratch)
    placed = _rows_of(engine, groups)
    if placed % laid.rows or count - placed != (count if blocks.left is None else _rows_of(engine, blocks.left)):
        raise InternalError("rows were lost while they were dealt out; nothing was published")
    return Association(
        groups=groups,
        placed=placed,
        left_out=count - placed,
        alike=0 if blocks.left is None else most_alike(keys, blocks.left),
        k=promise,
        keys=keys,
        parts=tuple(parts),
        size=laid.rows,
        least=blocks.least,
    )


@dataclass(frozen=True)
class _Blocks:
    """The relation of the rows in blocks, and the table of those left out: None where there are no blocks at all."""

    placed: str
    left: str | None
    least: int | None


class _Dealing:
    """Deals the rows of `keys` out to blocks."""

    def __init__(self, keys: Keys, wanted: Wanted, scratch: Scratch) -> None:
        self._keys = keys
        self._wanted = wanted
        self._scratch = scratch
        self._engine = keys.engine
        self._count = len(keys.counts)
        self._key = 0

    def blocks(self) -> _Blocks:
        """The blocks, unless more rows than are wanted have to be left out."""
        keys, wanted, scratch = self._keys, self._wanted, self._scratch
        possible = keys.possible(wanted.size)
        blocks = keys.most_blocks(wanted.size, wanted.k, possible)
        least = keys.rows - blocks * wanted.size if blocks else None
        if least is None or (wanted.most is not None and least > wanted.most):
            nothing = drawn_grids_sql.in_no_block(keys.keyed)
            return _Blocks(scratch.rows("in_blocks", nothing), None, least)
        aside = self._aside(blocks, least)
        self._key = min(range(self._count), key=lambda index: possible[index])
        rounds, fits = self._rounds(aside)
        if fits:
            return _Blocks(scratch.rows("in_blocks", drawn_grids_sql.in_blocks(rounds)), aside, least)
        last = rounds[-1]
        anew = self._anew(last, aside)
        moved = drawn_grids_sql.moved_rows(last.dealt_rows, anew.placed, last.offset + last.blocks)
        placed = scratch.rows("in_blocks", union_all([drawn_grids_sql.in_blocks(rounds), moved]))
        return _Blocks(placed, anew.left, least)

    def _rounds(self, aside: str) -> tuple[list[Round], bool]:
        """Rows dealt out at once, then those of blocks with rows that are alike, while these become few.

        True besides if all rows fit, and none is to be dealt again in DuckDB.
        """
        keys, scratch, size = self._keys, self._scratch, self._wanted.size
        rounds: list[Round] = []
        rows, counts = sql.remaining(keys.keyed, self._count, aside), keys.counts[self._key]
        without: str | None = aside
        count, offset = keys.rows - _rows_of(self._engine, aside), 0
        while True:
            dealt_rows, blocks = self._dealt_rows(rows, counts, without)
            alike = scratch.table("alike", sql.all_blocks(self._alike(dealt_rows)))
            broken, in_none = _rows_of(self._engine, alike), count - blocks * size
            if not broken and not in_none:
                return [*rounds, Round(dealt_rows, None, blocks, offset)], True
            if broken * size <= sizes().max_rows_moved or 2 * broken > blocks:
                return [*rounds, Round(dealt_rows, self._with_others(alike, broken, blocks), blocks, offset)], False
            rounds.append(Round(dealt_rows, alike, blocks, offset))
            names = ["row", "cell", *fill_blocks_sql.all_keys(self._count)]
            rows, without = sql.rows_dealt_again(dealt_rows, names, alike), None
            counts = scratch.table("counts", sql.counts_of(rows, self._key))
            count, offset = broken * size + in_none, offset + blocks

    def _alike(self, dealt_rows: str) -> list[str]:
        """The tables of the blocks with rows that are alike in a key that they were not dealt by."""
        others = [index for index in range(self._count) if index != self._key]
        return [self._scratch.table("alike", sql.alike_blocks(dealt_rows, index)) for index in others]

    def _with_others(self, alike: str, broken: int, blocks: int) -> str:
        """These blocks and as many others, drawn from all."""
        step = max(1, blocks // max(broken, sizes().min_blocks_dealt_again, 1))
        first = 1 + secrets.randbelow(min(step, blocks))
        return self._scratch.table("again", sql.with_others(alike, blocks, first, step))

    def _aside(self, blocks: int, count: int) -> str:
        """The rows that are left out from the beginning, `count` of them or fewer, drawn from all."""
        keys, k, scratch, before = self._keys, self._wanted.k, self._scratch, 0
        chosen = ""
        for limit in limits_of_draws(max(keys.rows, 1), self._wanted.size, count, sql.DRAW_LIMIT):
            candidates = sql.candidates(keys.keyed, self._count, limit) if count else sql.no_candidates(self._count)
            pool = self._local("candidates", candidates, before)
            chosen = chosen or scratch.growing_table("aside", left_out_sql.nothing(pool))
            alike = count if k is None else count // k
            if not count or choose(keys, pool, chosen, blocks, alike, count) == count:
                break
            before += keys.rows
        return chosen

    def _local(self, purpose: str, query: exp.Select, first: int) -> str:
        """These rows as DuckDB deals them."""
        collected = self._scratch.table(purpose, query)
        with registered_for_summaries(self._engine, "random_draw") as draw:
            rows = sql.without_names(collected, self._count, draw, first)
            return self._scratch.growing_table(purpose, rows)

    def _dealt_rows(self, rows: exp.Select, counts: str, aside: str | None) -> tuple[str, int]:
        """The rows with their blocks by one key, and how many blocks there are.

        `counts` says how many rows have each value, those that are set `aside` among them.
        """
        scratch, size, key = self._scratch, self._wanted.size, self._key
        turn = secrets.randbelow(_TURN_LIMIT)
        query = sql.starts_of(counts, aside, key, size, turn, sizes().max_rows_numbered)
        starts = scratch.table("starts", query)
        divided = _number(self._engine, sql.divided(starts))
        beginnings = scratch.table("beginnings", sql.beginnings(rows, starts, key) if divided else sql.no_beginnings())
        parts = scratch.table("parts", numbers_before(beginnings, ["value"]))
        dealt_rows = scratch.rows("dealt", sql.dealt_rows(rows, starts, parts, self._count, key, size))
        return dealt_rows, _number(self._engine, sql.blocks_of(starts))

    def _anew(self, last: Round, aside: str) -> Dealt:
        """The rows of the blocks that are to be dealt again, and those in none, dealt out in DuckDB.

        The rows left out, with those set aside, are a class.
        """
        keys, wanted, scratch = self._keys, self._wanted, self._scratch
        names = ["row", *fill_blocks_sql.all_keys(self._count)]
        assert last.again is not None
        pool = self._local("pool", sql.rows_dealt_again(last.dealt_rows, names, last.again), 2 * keys.rows)
        pooled = Keys.of(self._engine, pool, self._count, scratch)
        with registered_for_summaries(self._engine, "random_draw") as draw:
            anew = deal(pooled, replace(wanted, most=None), draw, scratch)
            columns = list(map(column, fill_blocks_sql.row_columns(self._count)))
            rows = exp.select(*columns).from_(relation(aside))
            left = scratch.growing_table("left", exp.select(*columns).from_(relation(anew.left)))
            self._engine.run(exp.insert(rows, relation(left), copy=False))
            if wanted.k is not None:
                with_dissolved(pooled, left, anew.placed, wanted.size, wanted.k, draw, scratch)
        return replace(anew, left=left)


def _grouped(engine: Engine, rows: str, in_blocks: str, values: int, laid: Grid, scratch: Scratch) -> str:
    """The relation of the rows with their groups."""
    fragments = len(laid.slopes)
    with registered(engine, "random_draw") as draw:
        drawn = scratch.rows("drawn_blocks", drawn_grids_sql.drawn_blocks(in_blocks, fragments, draw))
    counted = [
        scratch.table("beginnings", draws_alike(drawn, drawn_grids_sql.draw_name(index))) for index in range(fragments)
    ]
    befores = [scratch.table("before", numbers_before(table)) for table in counted]
    numbers = scratch.rows("numbers", drawn_grids_sql.block_numbers(drawn, befores))
    return scratch.rows("groups", drawn_grids_sql.grouped_rows(rows, in_blocks, numbers, values, laid))


def _rows_of(engine: Engine, table: str) -> int:
    return _number(engine, exp.select(f.count()).from_(relation(table)))


def _number(engine: Engine, query: exp.Select) -> int:
    return int(engine.rows(query)[0][0] or 0)
