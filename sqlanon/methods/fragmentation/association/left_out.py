"""Chooses the rows that a loose association leaves out: their number, the rows, and the values that they share.

The rows left out are a class, too: see `left_out_sql`. They are chosen at random before blocks are filled, by their
values alone. So being left out reveals no more about a respondent than the numbers of rows with each value do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.fragmentation.association import block_grids, left_out_sql
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select

# Values that too many of the rows left out have, and the blocks whose rows would compensate for them.


@dataclass(frozen=True)
class Lacking:
    """The values that more than one in k rows have: their table, their number, and the greatest number of rows that one
    of them lacks to be one in k.
    """

    table: str
    values: int
    most: int


def lacking(engine: Engine, rows: str, indexes: Sequence[int], k: int, temp: TempTables) -> Lacking:
    """Makes the table of the values of these keys that more than one in k of the rows have."""
    table = temp.table("lacking", left_out_sql.excess(rows, indexes, k, _count_lacking_values(engine, rows)))
    values, most = engine.rows(select(f.count(), f.max(column("lack")), of=relation(table)))[0]
    return Lacking(table, int(values), int(most or 0))


def preferred(
    keyed: str, lack: Lacking, placed: str, indexes: Sequence[int], draw: str, temp: TempTables
) -> tuple[str, str]:
    """Makes two tables: (block, number), which numbers the blocks of `placed` in the order in which they may be
    dissolved, and the values of `lack` that each block holds.
    """
    holding = temp.table("holding", left_out_sql.holding(placed, keyed, lack.table, indexes))
    return temp.table("preferred", left_out_sql.preferred(placed, holding, draw)), holding


def _count_lacking_values(engine: Engine, table: str) -> int:
    return int(engine.rows(select(f.count(), of=relation(table)))[0][0])


# The first statement tries this many numbers of blocks,
_FIRST_TRIED = 256
# and each further one this many times more.
_TRIED_GROWTH = 8

# The spare rows among which rows to leave out are chosen; if a random sample has too few, all rows are used.
_SPARE_ROWS = 4096
# The exclusive upper bound of a row's random number.
_DRAW_LIMIT = 2**64


@dataclass(frozen=True)
class Keys:
    """The rows of `keyed`, their number, and for each key two tables: the rows of each value, and their frequencies."""

    engine: Engine
    keyed: str
    rows: int
    counts: tuple[str, ...]
    frequencies: tuple[str, ...]

    @classmethod
    def of(cls, engine: Engine, keyed: str, keys: int, temp: TempTables) -> Keys:
        counts = tuple(temp.table("counts", block_grids.counts(keyed, key)) for key in range(keys))
        frequencies = tuple(temp.table("frequencies", left_out_sql.frequencies(table)) for table in counts)
        return cls(engine, keyed, _count(engine, keyed), counts, frequencies)

    def most_alike(self, key: int) -> tuple[int, int]:
        """Returns the rows of the most frequent value of a key, and the number of its values."""
        most, values = self.engine.rows(left_out_sql.most_alike(self.frequencies[key]))[0]
        return int(most or 0), int(values or 0)

    def possible(self, size: int) -> list[int]:
        """Returns the number of blocks of `size` rows that each key by itself allows."""
        return [int(self.engine.rows(block_grids.possible_of(table, size))[0][0] or 0) for table in self.counts]

    def most_blocks(self, size: int, k: int | None, possible: Sequence[int]) -> int:
        """Returns the greatest number of blocks for which the rows left out are a class in each key by itself; 0 if
        there is none.

        If there is one key, this many blocks can be filled; if there are several, perhaps fewer. `possible` is the
        number of blocks that each key allows without regard to the rows left out. If `k` is None, the rows left out
        need not be a class.
        """
        most = min(possible)
        if k is None or not most:
            return most
        # The first condition of `left_out_sql` bounds the number of blocks: g (K - k) <= n - k n_v.
        spare = self.rows - k * max(self.most_alike(key)[0] for key in range(len(self.counts)))
        if spare < 0:
            return 0
        if size > k:
            most = min(most, spare // (size - k) + 1)
        tried = _FIRST_TRIED
        while most > 0:
            low = max(1, most - tried + 1)
            query = left_out_sql.allowed(self.frequencies, self.rows, size, k, low, most)
            if blocks := self.engine.rows(query)[0][0]:
                return int(blocks)
            most, tried = low - 1, tried * _TRIED_GROWTH
        return 0


def set_aside(keys: Keys, size: int, k: int | None, most: int, temp: TempTables) -> str:
    """Moves the rows that must be left out to fill `most` blocks from `keyed` to a new table, and returns its name.

    The moved rows are a class in each key: at most one in k of them has the same value. With several keys, filling the
    blocks may leave out further rows.
    """
    engine, wanted = keys.engine, keys.rows - most * size
    chosen = temp.growing_table("aside", left_out_sql.nothing(keys.keyed))
    if not wanted:
        return chosen
    for limit in limits_of_draws(keys.rows, size, wanted, _DRAW_LIMIT):
        pool = temp.table("candidates", left_out_sql.candidates(keys.keyed, len(keys.counts), limit))
        if choose(keys, pool, chosen, most, wanted if k is None else wanted // k, wanted) == wanted:
            break
    engine.run(_without(keys.keyed, chosen))
    return chosen


def limits_of_draws(rows: int, size: int, wanted: int, limit: int) -> list[int | None]:
    """Returns the upper bounds of random numbers to try in turn when `wanted` rows are chosen; None stands for all
    rows.

    Rows whose random number is below the bound are candidates. Random numbers are below `limit`.
    """
    below = (4 * size * wanted + _SPARE_ROWS) * limit // rows
    return [below, None] if below < limit else [None]


def choose(keys: Keys, pool: str, chosen: str, most: int, alike: int, wanted: int) -> int:
    """Adds rows of `pool` to `chosen`, at most `alike` rows of a value, until there are `wanted` rows or no further row
    fits; returns their number.
    """
    engine, names = keys.engine, block_grids.all_keys(len(keys.counts))
    before, count = -1, _count(engine, chosen)
    while before < count < wanted:
        engine.run(_without(pool, chosen))
        for index, name in enumerate(names):
            full = left_out_sql.full_values(chosen, index, alike)
            engine.run(exp.delete(relation(pool), where=column(name).isin(query=full)))
        rows = left_out_sql.picked(pool, chosen, keys.counts, most, alike, wanted - count)
        engine.run(exp.insert(rows, relation(chosen), copy=False))
        before, count = count, _count(engine, chosen)
    return count


def with_dissolved(keys: Keys, rows: str, placed: str, size: int, k: int, draw: str, temp: TempTables) -> None:
    """Dissolves as few blocks as necessary, and adds their rows to `rows`, until these are a class in each key.

    If dissolving all blocks is not enough, all are dissolved.
    """
    engine, indexes = keys.engine, range(len(keys.counts))
    lack = lacking(engine, rows, indexes, k, temp)
    if not lack.values:
        return
    numbered, holding = preferred(keys.keyed, lack, placed, indexes, draw, temp)
    number, met = engine.rows(left_out_sql.enough(numbered, holding, lack.table, size, k))[0]
    taken = left_out_sql.first_blocks(numbered, int(number) if int(met) == lack.values else None)
    freed = select(column("row"), of=relation(placed), where=[column("block").isin(query=taken)])
    added = left_out_sql.candidates(keys.keyed, len(indexes), None)
    added = added.where(column("row").isin(query=freed))
    engine.run(exp.insert(added, relation(rows), copy=False))
    engine.run(block_grids.dissolved(placed, taken))


def most_alike(keys: Keys, rows: str) -> int:
    """Returns the largest number of rows in the table `rows` that share a value of a key."""
    return int(keys.engine.rows(left_out_sql.alike(rows, len(keys.counts)))[0][0] or 0)


def _without(table: str, rows: str) -> exp.Delete:
    """DELETE of these rows from the table."""
    known = select(column("row"), of=relation(rows))
    return exp.delete(relation(table), where=column("row").isin(query=known))


def _count(engine: Engine, table: str) -> int:
    return int(engine.rows(select(f.count(), of=relation(table)))[0][0])
