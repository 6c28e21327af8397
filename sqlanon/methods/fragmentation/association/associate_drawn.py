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
    sizes,
    value_name,
)
from sqlanon.methods.fragmentation.association.block_search import Dealt, Wanted, deal
from sqlanon.methods.fragmentation.association.left_out import Keys, choose, limits_of_draws, most_alike, with_dissolved
from sqlanon.methods.shared.bucket_tables import beginning, draws_alike, numbers_before
from sqlanon.sql.build.expressions import big, is_null, same, union_all
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join
from sqlanon.sql.build.sql_files import Relation, filled_query, filled_select, query_file

# The groups of a loose association on an engine that keeps the rows in many parts, where no table has an order.
#
# Random numbers order the blocks in each fragment, and the rows of each block.


@dataclass(frozen=True)
class Round:
    """One round of assigning rows to blocks: the relation `dealt_rows` has the rows of `blocks` blocks.

    The final numbers of its blocks begin after `offset`. The table `again` has the blocks that the next round
    dissolves: their rows, and the rows without a block, are assigned in that round. `again` is None in the last round
    if all rows fit.
    """

    dealt_rows: str
    again: str | None
    blocks: int
    offset: int


def in_blocks(rounds: Sequence[Round]) -> exp.Query:
    """SELECT of row, cell, block: the rows of all rounds with their block, without the rows that a later round assigned
    again.
    """
    text = """
        SELECT dealt.row, dealt.cell, CAST(dealt.block + $offset AS BIGINT) AS block
        FROM dealt
        WHERE dealt.block IS NOT NULL
    """
    parts: list[exp.Query] = []
    for each in rounds:
        query = filled_select(text, tables={"dealt": each.dealt_rows}, offset=each.offset)
        if each.again is not None:
            on = same("block", "dealt", "again")
            extend(query, joins=[left_join(relation(each.again, as_="again"), on)])
            extend(query, where=[is_null(column("block", "again"))])
        parts.append(query)
    return union_all(parts)


def moved_rows(dealt_rows: str, placed: str, offset: int) -> exp.Query:
    """SELECT of row, cell, block: the rows of the table `placed`, with block numbers that are greater by `offset`."""
    text = """
        SELECT dealt.row, dealt.cell, CAST(placed.block + $offset AS BIGINT) AS block
        FROM dealt JOIN placed ON dealt.row = placed.row
    """
    return filled_query(text, tables={"dealt": dealt_rows, "placed": placed}, offset=offset)


def block_numbers(drawn_blocks: str, befores: Sequence[str]) -> exp.Select:
    """SELECT of block, number_0, ...: each block's number in each fragment, from 0, in the order of its random numbers.

    `befores` has, for each fragment, the table that `numbers_before` makes of its random numbers.
    """
    draws_of = [*map(draw_name, range(len(befores)))]
    names = {f"{name}s": [f"{name}_{index}" for index in range(len(befores))] for name in ("number", "beginning")}
    counted = query_file(
        "association",
        "block_numbers_of_draws",
        tables={"drawn_blocks": drawn_blocks},
        names={**names, "draws": draws_of},
        beginnings=[beginning(column(name)) for name in draws_of],
    )
    query = filled_select("SELECT counted.block FROM counted", tables={"counted": counted})
    for number, name, table in zip(names["numbers"], names["beginnings"], befores, strict=True):
        extend(query, alias(big(column("before", table) + column(number, "counted")), number))
        extend(query, joins=[inner_join(relation(table), column(name, "counted").eq(column("beginning", table)))])
    return query


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
            numbered = filled_query("SELECT *, row_number() OVER () AS number FROM tuples", tables={"tuples": tuples})
            alike.append((indexes, temp.table("repeated", numbered)))
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
            text = "SELECT row, cell, CAST(0 AS BIGINT) AS block FROM keyed WHERE FALSE"
            nothing = filled_query(text, tables={"keyed": keys.keyed})
            return _Blocks(temp.rows("in_blocks", nothing), None, least)
        aside = self._aside(blocks, least)
        self._key = min(range(self._count), key=lambda index: possible[index])
        rounds, fits = self._rounds(aside)
        if fits:
            return _Blocks(temp.rows("in_blocks", in_blocks(rounds)), aside, least)
        last = rounds[-1]
        reassigned = self._reassigned(last, aside)
        moved = moved_rows(last.dealt_rows, reassigned.placed, last.offset + last.blocks)
        placed = temp.rows("in_blocks", union_all([in_blocks(rounds), moved]))
        return _Blocks(placed, reassigned.left, least)

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
            rows, without = self._rows_dealt_again(dealt_rows, ["row", "cell"], alike), None
            text = "SELECT 0 AS chunk, {key} AS value, count(*) AS n FROM keyed GROUP BY {key}"
            query = filled_query(text, tables={"keyed": rows}, names={"key": block_grids.key_name(self._key)})
            counts = temp.table("counts", query)
            count, offset = broken * size + in_none, offset + blocks

    def _blocks_with_equal_keys(self, dealt_rows: str) -> list[str]:
        """Makes a table for each key other than `self._key`, with the blocks in which two rows are equal in this key.

        Rows are assigned to blocks by `self._key`, so no block has two rows that are equal in that key.
        """
        tables = {"dealt": dealt_rows}
        others = [block_grids.key_name(index) for index in range(self._count) if index != self._key]
        blocks = [query_file("association", "alike_blocks", tables=tables, names={"key": key}) for key in others]
        return [self._temp.table("alike", query) for query in blocks]

    def _with_others(self, alike: str, broken: int, blocks: int) -> str:
        """Makes a table of the blocks in `alike` and of other random blocks; returns its name.

        The number of other blocks is `broken`, or the minimum `min_blocks_dealt_again` if that is greater.
        """
        step = max(1, blocks // max(broken, sizes().min_blocks_dealt_again, 1))
        first = 1 + secrets.randbelow(min(step, blocks))
        return self._temp.table("again", sql.with_others(alike, blocks, first, step))

    def _aside(self, blocks: int, count: int) -> str:
        """Makes a table of the rows that are left out before `blocks` blocks are filled; returns its name.

        At most `count` rows are chosen at random, at most one in k of them with the same value of a key.
        """
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
        """Copies the rows of a query into a DuckDB table with the columns that assigning them needs; returns its name.

        A row without an equal row in a key gets a unique key number below -`first`.
        """
        collected = self._temp.table(purpose, query)
        with registered_for_summaries(self._engine, "random_draw") as draw:
            rows = sql.without_names(collected, self._count, draw, first)
            return self._temp.growing_table(purpose, rows)

    def _dealt_rows(self, rows: exp.Query, counts: str, aside: str | None) -> tuple[str, int]:
        """Assigns rows to blocks by the key `self._key`; returns the relation of the rows in blocks, and the number of
        blocks.

        `counts` has the number of rows of each value, including the rows in the table `aside`, which get no block.
        """
        temp, size, key = self._temp, self._wanted.size, self._key
        turn = secrets.randbelow(_TURN_LIMIT)
        query = sql.starts_of(counts, aside, key, size, turn, sizes().max_rows_numbered)
        starts = temp.table("starts", query)
        figures = "SELECT max(blocks), count(*) FILTER (WHERE divided) FROM starts"
        ((blocks, divided),) = self._engine.rows(filled_query(figures, tables={"starts": starts}))
        tables: dict[str, Relation] = {"keyed": rows, "starts": starts}
        names = {"key": block_grids.key_name(key), "columns": ["row", "cell", *block_grids.all_keys(self._count)]}
        begins = beginning(column("row", "keyed"))
        query = query_file("association", "beginnings", tables=tables, names=names, beginning=begins)
        beginnings = temp.table("beginnings", query if int(divided) else sql.no_beginnings())
        tables["part"] = temp.table("parts", numbers_before(beginnings, ["value"]))
        query = query_file("association", "dealt_rows", tables=tables, names=names, size=size, beginning=begins)
        return temp.rows("dealt", query), int(blocks or 0)

    def _rows_dealt_again(self, dealt_rows: str, columns: Sequence[str], blocks: str) -> exp.Query:
        """SELECT of `columns` and the keys, from the rows of the blocks in the table `blocks` and the rows without a
        block.
        """
        tables, names = {"dealt": dealt_rows, "again": blocks}, [*columns, *block_grids.all_keys(self._count)]
        return query_file("association", "rows_dealt_again", tables=tables, names={"columns": names})

    def _reassigned(self, last: Round, aside: str) -> Dealt:
        """Assigns, in DuckDB, the rows of the last round's blocks in `again` and the rows without a block.

        The rows left out and the rows in `aside` together are a class.
        """
        keys, wanted, temp = self._keys, self._wanted, self._temp
        assert last.again is not None
        pool = self._local("pool", self._rows_dealt_again(last.dealt_rows, ["row"], last.again), 2 * keys.rows)
        pooled = Keys.of(self._engine, pool, self._count, temp)
        with registered_for_summaries(self._engine, "random_draw") as draw:
            reassigned = deal(pooled, replace(wanted, most=None), draw, temp)
            names = {"columns": block_grids.row_columns(self._count)}
            rows, anew_left = (
                filled_query("SELECT {columns} FROM rows", tables={"rows": table}, names=names)
                for table in (aside, reassigned.left)
            )
            left = temp.growing_table("left", anew_left)
            self._engine.run(exp.insert(rows, relation(left), copy=False))
            if wanted.k is not None:
                with_dissolved(pooled, left, reassigned.placed, wanted.size, wanted.k, draw, temp)
        return replace(reassigned, left=left)


def _grouped(engine: Engine, rows: str, in_blocks: str, values: int, laid: Grid, temp: TempTables) -> str:
    """Makes the relation of the rows with their group in each fragment; returns its name.

    `rows` has the rows, `in_blocks` their blocks, `laid` the grid of a block, and `values` the number of their value
    columns.
    """
    fragments = range(len(laid.slopes))
    text = """SELECT block, $draws AS "{draws}" FROM (SELECT DISTINCT block FROM in_blocks) AS occurring"""
    names = {"draws": [*map(draw_name, fragments)], "values": [*map(value_name, range(values))]}
    with registered(engine, "random_draw") as draw:
        draws_of = [draws(draw)] * len(fragments)
        query = filled_query(text, tables={"in_blocks": in_blocks}, names=names, draws=draws_of)
        drawn = temp.rows("drawn_blocks", query)
    counted = [temp.table("beginnings", draws_alike(drawn, draw_name(index))) for index in fragments]
    befores = [temp.table("before", numbers_before(table)) for table in counted]
    numbers = temp.rows("numbers", block_numbers(drawn, befores))
    # The rows of a block are numbered by random numbers that were used for nothing else. The numbers by which blocks
    # were filled would reveal a row's key.
    groups = group_columns(
        column("number", "placed"), [column(f"number_{index}", "block") for index in fragments], laid, 0
    )
    tables = {"in_blocks": in_blocks, "numbers": numbers, "drawn": rows}
    return temp.rows("groups", query_file("association", "grouped_rows", tables=tables, names=names, groups=groups))


def _rows_of(engine: Engine, table: str) -> int:
    return _number(engine, filled_query("SELECT count(*) FROM rows", tables={"rows": table}))


def _number(engine: Engine, query: exp.Query) -> int:
    return int(engine.rows(query)[0][0] or 0)
