"""Loose associations of rows on Spark, whose summaries are read in DuckDB: the control flow over `drawn_rows_sql`.

If rows have to differ in one key, the closed form of `block_grids` fills as many blocks as possible. With several keys,
rows are assigned by the key that allows the fewest blocks. Blocks with equal rows in another key are then assigned
again, as long as their number halves. The last of them are assigned in DuckDB, together with an equal number of other
blocks. DuckDB lets rows change places until they fit; this would be slow on a distributed engine.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.udfs import registered, registered_for_summaries
from sqlanon.errors import InternalError
from sqlanon.methods.fragmentation.association import block_grids, left_out_sql
from sqlanon.methods.fragmentation.association import drawn_rows_sql as sql
from sqlanon.methods.fragmentation.association.associate import Association, Grouping, keys_of, promised
from sqlanon.methods.fragmentation.association.block_grids import (
    Grid,
    draws,
    grid,
    group_columns,
    row_index,
    sizes,
    value_name,
)
from sqlanon.methods.fragmentation.association.block_search import Dealt, Wanted, deal
from sqlanon.methods.fragmentation.association.left_out import (
    Keys,
    choose,
    limits_of_draws,
    most_alike,
    with_dissolved,
)
from sqlanon.methods.shared.bucket_tables import beginning, draws_alike, numbers_before
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import big, is_not_null, is_null, same, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery

# The groups of a loose association on an engine that keeps the rows in many parts, where no table has an order.
#
# Random numbers order the blocks in each fragment, and the rows of each block.


@dataclass(frozen=True)
class Round:
    """One assignment of rows to blocks: `dealt_rows` is the relation of `drawn_rows_sql.dealt_rows`, with `blocks`
    blocks.

    Their final numbers begin after `offset`. The rows of the blocks in the table `again`, and the rows in no block,
    were assigned again.
    """

    dealt_rows: str
    again: str | None
    blocks: int
    offset: int


def in_no_block(keyed: str) -> exp.Select:
    """SELECT of row, cell, block that returns no rows."""
    query = select(column("row"), column("cell"), alias(big(literal(0)), "block"), of=relation(keyed))
    return extend(query, where=[exp.false()])


def in_blocks(rounds: Sequence[Round]) -> exp.Query:
    """SELECT of row, cell, block: the rows with a block, except those that were assigned again."""
    parts: list[exp.Query] = []
    for each in rounds:
        block = column("block", "dealt") + literal(each.offset)
        query = select(column("row", "dealt"), column("cell", "dealt"), alias(big(block), "block"))
        query = extend(query, of=relation(each.dealt_rows, as_="dealt"), where=[is_not_null(column("block", "dealt"))])
        if each.again is not None:
            on = same("block", "dealt", "again")
            extend(query, joins=[left_join(relation(each.again, as_="again"), on)])
            query = extend(query, where=[is_null(column("block", "again"))])
        parts.append(query)
    return union_all(parts)


def moved_rows(dealt_rows: str, placed: str, offset: int) -> exp.Select:
    """SELECT of row, cell, block: the rows of the table `placed`, whose block numbers are raised by `offset`."""
    block = column("block", "placed") + literal(offset)
    query = select(column("row", "dealt"), column("cell", "dealt"), alias(big(block), "block"))
    extend(query, of=relation(dealt_rows, as_="dealt"))
    return extend(query, joins=[inner_join(relation(placed, as_="placed"), same("row", "dealt", "placed"))])


def drawn_blocks(in_blocks: str, fragments: int, draw: str) -> exp.Select:
    """SELECT of block, draw_0, ...: each block with a random number for each fragment."""
    blocks = select(column("block"), distinct=True, of=relation(in_blocks))
    query = select(column("block"), *(alias(draws(draw), draw_name(index)) for index in range(fragments)))
    return extend(query, of=subquery(blocks, "occurring"))


def block_numbers(drawn_blocks: str, befores: Sequence[str]) -> exp.Select:
    """SELECT of block, number_0, ...: each block's number in each fragment, from 0, in the order of its random numbers.

    `befores` has, for each fragment, the table that `numbers_before` makes of its random numbers.
    """
    counted = select(column("block"))
    query = select(column("block", "counted"), of=subquery(counted, "counted"))
    for index, table in enumerate(befores):
        draw = column(draw_name(index))
        number = row_index([beginning(draw)], [draw])
        extend(counted, alias(beginning(draw.copy()), f"beginning_{index}"), alias(number, f"number_{index}"))
        whole = column("before", table) + column(f"number_{index}", "counted")
        extend(query, alias(big(whole), f"number_{index}"))
        on = column(f"beginning_{index}", "counted").eq(column("beginning", table))
        extend(query, joins=[inner_join(relation(table), on)])
    extend(counted, of=relation(drawn_blocks))
    return query


def grouped_rows(rows: str, in_blocks: str, numbers: str, values: int, laid: Grid) -> exp.Select:
    """SELECT of value_0, ..., group_0, ...: the rows with a block, and their group in each fragment.

    The rows of a block are numbered by random numbers that were used for nothing else. The numbers by which blocks were
    filled would reveal a row's key.
    """
    cell = row_index([column("block")], [column("cell"), column("row")])
    placed = select(column("row"), column("block"), alias(cell, "number"), of=relation(in_blocks))
    query = select(*(column(value_name(index), "drawn") for index in range(values)))
    of_fragments = [column(f"number_{index}", "block") for index in range(len(laid.slopes))]
    extend(query, *group_columns(column("number", "placed"), of_fragments, laid, 0), of=subquery(placed, "placed"))
    extend(query, joins=[inner_join(relation(numbers, as_="block"), same("block", "placed", "block"))])
    return extend(query, joins=[inner_join(relation(rows, as_="drawn"), same("row", "placed", "drawn"))])


def draw_name(fragment: int) -> str:
    """The name of the column that holds the random numbers of blocks for a fragment."""
    return f"draw_{fragment}"


# The exclusive upper bound of a random start.
_TURN_LIMIT = 2**62


def associate_drawn(engine: Engine, rows: str, count: int, grouping: Grouping, temp: TempTables) -> Association:
    """Returns the association of `associate`, whose `groups` also have the columns value_0, ....

    `rows` is the relation of `drawn_rows_sql.drawn_rows`, and `count` its number of rows. Raises InternalError if rows
    are lost between the engines; raises PolicyError as `associate` does.
    """
    promise = promised(grouping.fragments, grouping.constraints, grouping.sizes)
    k = grouping.k if grouping.k is not None and promise is not None else promise
    columns = [name for fragment in grouping.fragments for name in fragment]
    parts: list[tuple[str, ...]] = []
    alike: list[tuple[list[int], str]] = []
    for key in keys_of(grouping.fragments, grouping.constraints):
        indexes = [columns.index(name) for name in key]
        tuples = temp.table("tuples", sql.tuples(rows, indexes))
        if _rows_of(engine, tuples):
            alike.append((indexes, temp.table("repeated", sql.numbered_tuples(tuples))))
            parts.append(key)
    keyed = temp.rows("keyed", sql.keyed(rows, alike))
    # Without a key all rows differ.
    tables = [table for _, table in alike]
    counted = [sql.key_counts(table, count) for table in tables] or [sql.key_counts(None, count)]
    counts = tuple(temp.table("counts", query) for query in counted)
    frequencies = tuple(temp.table("frequencies", left_out_sql.frequencies(table)) for table in counts)
    keys = Keys(engine, keyed, count, counts, frequencies)
    laid = grid(grouping.sizes)
    dealing = _Dealing(keys, Wanted(laid.rows, k, grouping.most), temp)
    blocks = dealing.blocks()
    groups = _grouped(engine, rows, blocks.placed, len(columns), laid, temp)
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
    """The relation of the rows in blocks, and the table of the rows left out; None if there are no blocks."""

    placed: str
    left: str | None
    least: int | None


class _Dealing:
    """Assigns the rows of `keys` to blocks."""

    def __init__(self, keys: Keys, wanted: Wanted, temp: TempTables) -> None:
        self._keys = keys
        self._wanted = wanted
        self._temp = temp
        self._engine = keys.engine
        self._count = len(keys.counts)
        self._key = 0

    def blocks(self) -> _Blocks:
        """Assigns rows to blocks; assigns none if more rows than wanted would be left out."""
        keys, wanted, temp = self._keys, self._wanted, self._temp
        possible = keys.possible(wanted.size)
        blocks = keys.most_blocks(wanted.size, wanted.k, possible)
        least = keys.rows - blocks * wanted.size if blocks else None
        if least is None or (wanted.most is not None and least > wanted.most):
            nothing = in_no_block(keys.keyed)
            return _Blocks(temp.rows("in_blocks", nothing), None, least)
        aside = self._aside(blocks, least)
        self._key = min(range(self._count), key=lambda index: possible[index])
        rounds, fits = self._rounds(aside)
        if fits:
            return _Blocks(temp.rows("in_blocks", in_blocks(rounds)), aside, least)
        last = rounds[-1]
        anew = self._anew(last, aside)
        moved = moved_rows(last.dealt_rows, anew.placed, last.offset + last.blocks)
        placed = temp.rows("in_blocks", union_all([in_blocks(rounds), moved]))
        return _Blocks(placed, anew.left, least)

    def _rounds(self, aside: str) -> tuple[list[Round], bool]:
        """Assigns rows, and then assigns the rows of blocks with equal rows again, as long as these blocks become
        fewer.

        Returns the rounds, and whether all rows fit: if not, the last round's rows are assigned again in DuckDB.
        """
        keys, temp, size = self._keys, self._temp, self._wanted.size
        rounds: list[Round] = []
        rows: exp.Query = sql.remaining(keys.keyed, self._count, aside)
        counts = keys.counts[self._key]
        without: str | None = aside
        count, offset = keys.rows - _rows_of(self._engine, aside), 0
        while True:
            dealt_rows, blocks = self._dealt_rows(rows, counts, without)
            alike = temp.table("alike", sql.all_blocks(self._blocks_with_equal_keys(dealt_rows)))
            broken, in_none = _rows_of(self._engine, alike), count - blocks * size
            if not broken and not in_none:
                return [*rounds, Round(dealt_rows, None, blocks, offset)], True
            if broken * size <= sizes().max_rows_moved or 2 * broken > blocks:
                return [*rounds, Round(dealt_rows, self._with_others(alike, broken, blocks), blocks, offset)], False
            rounds.append(Round(dealt_rows, alike, blocks, offset))
            names = ["row", "cell", *block_grids.all_keys(self._count)]
            rows, without = sql.rows_dealt_again(dealt_rows, names, alike), None
            counts = temp.table("counts", sql.counts_of(rows, self._key))
            count, offset = broken * size + in_none, offset + blocks

    def _blocks_with_equal_keys(self, dealt_rows: str) -> list[str]:
        """The tables of the blocks with equal rows, one for each key by which they were not assigned."""
        others = [index for index in range(self._count) if index != self._key]
        return [self._temp.table("alike", sql.alike_blocks(dealt_rows, index)) for index in others]

    def _with_others(self, alike: str, broken: int, blocks: int) -> str:
        """The table of the blocks in `alike` and of as many other random blocks, or a minimum number of them."""
        step = max(1, blocks // max(broken, sizes().min_blocks_dealt_again, 1))
        first = 1 + secrets.randbelow(min(step, blocks))
        return self._temp.table("again", sql.with_others(alike, blocks, first, step))

    def _aside(self, blocks: int, count: int) -> str:
        """The table of the rows that are left out from the beginning, at most `count`, chosen at random."""
        keys, k, temp, before = self._keys, self._wanted.k, self._temp, 0
        chosen = ""
        for limit in limits_of_draws(max(keys.rows, 1), self._wanted.size, count, sql.DRAW_LIMIT):
            candidates = sql.candidates(keys.keyed, self._count, limit) if count else sql.no_candidates(self._count)
            pool = self._local("candidates", candidates, before)
            chosen = chosen or temp.growing_table("aside", left_out_sql.nothing(pool))
            alike = count if k is None else count // k
            if not count or choose(keys, pool, chosen, blocks, alike, count) == count:
                break
            before += keys.rows
        return chosen

    def _local(self, purpose: str, query: exp.Query, first: int) -> str:
        """Copies rows into a DuckDB table with the columns that DuckDB needs for the assignment.

        Rows that no other row equals get unique numbers below -`first`.
        """
        collected = self._temp.table(purpose, query)
        with registered_for_summaries(self._engine, "random_draw") as draw:
            rows = sql.without_names(collected, self._count, draw, first)
            return self._temp.growing_table(purpose, rows)

    def _dealt_rows(self, rows: exp.Query, counts: str, aside: str | None) -> tuple[str, int]:
        """Assigns rows to blocks by the key `self._key`; returns the relation and the number of blocks.

        `counts` has the rows of each value, including the rows in the table `aside`.
        """
        temp, size, key = self._temp, self._wanted.size, self._key
        turn = secrets.randbelow(_TURN_LIMIT)
        query = sql.starts_of(counts, aside, key, size, turn, sizes().max_rows_numbered)
        starts = temp.table("starts", query)
        divided = _number(self._engine, sql.divided(starts))
        beginnings = temp.table("beginnings", sql.beginnings(rows, starts, key) if divided else sql.no_beginnings())
        parts = temp.table("parts", numbers_before(beginnings, ["value"]))
        dealt_rows = temp.rows("dealt", sql.dealt_rows(rows, starts, parts, self._count, key, size))
        return dealt_rows, _number(self._engine, sql.blocks_of(starts))

    def _anew(self, last: Round, aside: str) -> Dealt:
        """Assigns the rows of the last round's blocks in `again`, and the rows in no block, in DuckDB.

        The rows left out and the rows in `aside` together are a class.
        """
        keys, wanted, temp = self._keys, self._wanted, self._temp
        names = ["row", *block_grids.all_keys(self._count)]
        assert last.again is not None
        pool = self._local("pool", sql.rows_dealt_again(last.dealt_rows, names, last.again), 2 * keys.rows)
        pooled = Keys.of(self._engine, pool, self._count, temp)
        with registered_for_summaries(self._engine, "random_draw") as draw:
            anew = deal(pooled, replace(wanted, most=None), draw, temp)
            columns = list(map(column, block_grids.row_columns(self._count)))
            rows = select(*columns, of=relation(aside))
            left = temp.growing_table("left", select(*columns, of=relation(anew.left)))
            self._engine.run(exp.insert(rows, relation(left), copy=False))
            if wanted.k is not None:
                with_dissolved(pooled, left, anew.placed, wanted.size, wanted.k, draw, temp)
        return replace(anew, left=left)


def _grouped(engine: Engine, rows: str, in_blocks: str, values: int, laid: Grid, temp: TempTables) -> str:
    """The relation of the rows with their groups."""
    fragments = len(laid.slopes)
    with registered(engine, "random_draw") as draw:
        drawn = temp.rows("drawn_blocks", drawn_blocks(in_blocks, fragments, draw))
    counted = [temp.table("beginnings", draws_alike(drawn, draw_name(index))) for index in range(fragments)]
    befores = [temp.table("before", numbers_before(table)) for table in counted]
    numbers = temp.rows("numbers", block_numbers(drawn, befores))
    return temp.rows("groups", grouped_rows(rows, in_blocks, numbers, values, laid))


def _rows_of(engine: Engine, table: str) -> int:
    return _number(engine, select(f.count(), of=relation(table)))


def _number(engine: Engine, query: exp.Query) -> int:
    return int(engine.rows(query)[0][0] or 0)
