"""Fills blocks of rows that differ in every key: the steering of `sqlgen.blocks`."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.search.rollup import Keep
from sqlanon.sqlgen import blocks as sql
from sqlanon.sqlgen.loose import key_name
from sqlanon.sqlgen.names import alias, column, literal, relation

__all__ = ["Blocks"]

# Near rows are looked for among those of so many blocks, then among those of as many times more, and so on.
_NEAR_BLOCKS = 4
_MORE = 8

# Near blocks may leave out so many rows more than must be left out: one in a hundred.
_SPARED = 100

# So many pairs of a row and a block are looked at in one statement.
_PAIRS = 200_000

# After so many statements that placed no row, though not every pair was looked at, blocks that lack rows are given up.
_STALE = 4


class Blocks:
    """Puts the rows of `keyed` into blocks of `size`, as many as can be filled.

    With one key that is decided by the closed form. With several, rows are dealt by the
    key that allows fewest blocks; of rows that are alike in another key one stays; the
    others fill the gaps; and blocks that cannot be filled give their rows to those that can.
    """

    def __init__(self, engine: Engine, keyed: str, keys: int, size: int, draw: str, keep: Keep) -> None:
        self._engine = engine
        self._size = size
        self._draw = draw
        self._keep = keep
        most = [self._number(sql.most_alike(keyed, key)) for key in range(keys)]
        # A key in which no two rows are alike asks for nothing; if there is no other, rows are dealt by their number.
        asking = [key for key, count in enumerate(most) if count > 1]
        self._keys = max(len(asking), 1)
        own = [column(key_name(key)) for key in asking] or [column("row")]
        named = [alias(part, key_name(place)) for place, part in enumerate(own)]
        rows = exp.select(column("row"), column("draw"), column("place"), *named).from_(relation(keyed))
        self._rows = keep("blocked", rows)
        nothing = exp.select(column("row"), alias(exp.cast(literal(0), "BIGINT"), "block"))
        nothing.select(*map(column, self._names), copy=False)
        self._placed = keep("placed", nothing.from_(relation(self._rows)).where(exp.false()))
        self._total = self._rows_of(self._rows)
        self._key = min(range(self._keys), key=self._possible)

    def all(self) -> str:
        """The table row, block, with equal chances for every row."""
        self._deal_all()
        return self._placed

    def near(self) -> str:
        """The table row, block, with blocks of rows whose places are near each other, where that can be."""
        fewest = self._total - self._possible(self._key) * self._size
        chunk = _NEAR_BLOCKS * self._size
        while chunk < self._total:
            self._deal(chunk)
            chunk *= _MORE
        self._deal_all()
        if self._keys == 1:
            self._mend(fewest)
        return self._placed

    def _mend(self, fewest: int) -> None:
        """Deals drawn blocks anew, ever more of them, until few more rows are left out than must be.

        What is frequent in one place may be rare in all: near blocks can leave too much of it.
        """
        some = 1
        while self._total - self._held() > fewest + self._total // _SPARED:
            self._engine.run(sql.dissolved(self._placed, sql.some_blocks(self._placed, some, self._draw)))
            some *= 2
            self._deal_all()

    @property
    def _names(self) -> list[str]:
        return [key_name(place) for place in range(self._keys)]

    def _possible(self, key: int) -> int:
        every = exp.select(exp.Star()).from_(relation(self._rows))
        return self._number(sql.possible(every, key, self._size))

    def _deal_all(self) -> None:
        """Deals until no more rows come into blocks; with one key the first time is the best already."""
        before = -1
        while self._held() > before:
            before = self._held()
            self._deal(None)
            if self._keys == 1:
                return

    def _deal(self, chunk: int | None) -> None:
        """Deals out the rows that are in no block yet; of blocks that lack rows only those of all rows are filled."""
        made = exp.select(exp.Coalesce(this=exp.Max(this=column("block")), expressions=[literal(0)]))
        offset = self._number(made.from_(relation(self._placed)))
        dealt = sql.dealt(self._unplaced(), self._keys, self._key, self._size, chunk, offset)
        table = self._keep("dealt", dealt)
        self._insert(self._placed, sql.full(table, self._size))
        if chunk is None and self._keys > 1:
            self._fill(self._keep("lacking", sql.lacking(table, self._size)))

    def _fill(self, lacking: str) -> None:
        """Fills the blocks that lack rows; those that cannot be filled give their rows to the others."""
        free = self._keep("free", self._unplaced(lacking))
        while self._rows_of(lacking):
            self._fill_gaps(lacking, free)
            self._insert(self._placed, sql.full(lacking, self._size))
            done = exp.select(column("block")).from_(sql.full(lacking, self._size).subquery("part"))
            self._engine.run(sql.dissolved(lacking, done))
            given_up = self._keep("given_up", sql.emptiest(lacking, self._size, self._draw))
            blocks = exp.select(column("block")).from_(relation(given_up))
            freed = exp.select(column("row"), *map(column, self._names)).from_(relation(lacking))
            self._insert(free, freed.where(exp.In(this=column("block"), query=blocks.subquery())))
            self._engine.run(sql.dissolved(lacking, blocks.copy()))

    def _fill_gaps(self, lacking: str, free: str) -> None:
        """Puts free rows into the blocks until no gap is left, or no row fits into any."""
        stale = 0
        while stale < _STALE:
            rows, blocks = (
                self._rows_of(free),
                self._number(_count(sql.open_blocks(lacking, self._size).subquery("part"))),
            )
            if not rows or not blocks:
                return
            tries = min(blocks, max(1, _PAIRS // rows))
            every = exp.select(exp.Star()).from_(relation(free))
            proposed = sql.proposed(every, lacking, self._keys, self._size, blocks, tries, self._draw)
            fitting = self._keep("fitting", sql.filled(self._keep("proposed", proposed), self._keys, self._size))
            self._insert(lacking, exp.select(exp.Star()).from_(relation(fitting)))
            found = exp.select(column("row")).from_(relation(fitting))
            taken = exp.In(this=column("row"), query=found.subquery())
            self._engine.run(exp.Delete(this=relation(free), where=exp.Where(this=taken)))
            if self._rows_of(fitting):
                stale = 0
            elif tries == blocks:
                return
            else:
                stale += 1

    def _unplaced(self, besides: str | None = None) -> exp.Select:
        """The rows in no block; with `besides`, row and the keys of those that are not in that table either."""
        columns = [exp.Star()] if besides is None else [column("row"), *map(column, self._names)]
        query = exp.select(*columns).from_(relation(self._rows, as_="every"))
        for table in [self._placed, *([besides] if besides else [])]:
            held = exp.select(column("row")).from_(relation(table))
            query.where(exp.Not(this=exp.In(this=column("row"), query=held.subquery())), copy=False)
        return query

    def _insert(self, table: str, rows: exp.Select) -> None:
        self._engine.run(exp.Insert(this=relation(table), expression=rows))

    def _held(self) -> int:
        return self._rows_of(self._placed)

    def _rows_of(self, table: str) -> int:
        return self._number(_count(relation(table)))

    def _number(self, query: exp.Select) -> int:
        return int(self._engine.rows(query)[0][0] or 0)


def _count(source: exp.Table | exp.Subquery) -> exp.Select:
    return exp.select(exp.Count(this=exp.Star())).from_(source)
