"""Rows in blocks, blocks as grids, and the groups and tables that a loose association publishes.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose
associations (2010) and Loose associations to increase utility in data publishing (2015).

The rows of a block differ from each other in every key: in the values that a constraint
has in a fragment. A block is a grid of lines and columns. The groups of one fragment are
its lines, those of another its columns, those of any further one its diagonals of some
slope. Two groups of different fragments then meet in one row at most, and all rows that
a group is linked to lie in one block, where they differ: the three heterogeneities hold.

Random orders are drawn by sorts: rows and blocks are numbered in the order of the sorted table. A table keeps the order
in which it was made; should it ever not, its blocks would be no grids, and the check of the release would stop it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.context import Adjustable
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    added,
    ascending,
    big,
    descending,
    if_,
    infix,
    or_zero,
    order_by,
    paren,
    same,
    total,
    up_to_here,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.steps import Step, with_steps

# The column that every stored table has, with the number of the row.
ROW_NUMBER = "rowid"


@dataclass(frozen=True)
class Grid:
    """A block of `lines` times `columns` rows.

    `slopes` has a number for each fragment: its group in line a and column b is
    b + slope a, modulo the columns; None where its groups are the lines.
    """

    lines: int
    columns: int
    slopes: tuple[int | None, ...]

    @property
    def rows(self) -> int:
        return self.lines * self.columns

    def groups(self, fragment: int) -> int:
        """Returns the number of groups of a fragment in a block."""
        return self.lines if self.slopes[fragment] is None else self.columns

    def size(self, fragment: int) -> int:
        """Returns the number of rows of a group of a fragment."""
        return self.columns if self.slopes[fragment] is None else self.lines


def grid(sizes: Sequence[int], first: int = 0) -> Grid:
    """The grid in which the groups of each fragment have at least `sizes` rows, the size that belongs to the fragment.

    `first` is a fragment whose groups are lines or columns. Of two fragments it has
    exactly the product of the two sizes, of three that of the two greatest ones. Of
    more, the columns become as many as it takes for all slopes to differ.
    """
    wide = first if len(sizes) == 2 else max(range(len(sizes)), key=lambda index: sizes[index])
    lines = max(size for index, size in enumerate(sizes) if index != wide)
    columns = sizes[wide]
    others = sorted((index for index in range(len(sizes)) if index != wide), key=lambda index: index != first)
    # Two slopes that differ by e meet twice in lines that are d apart if e d is a multiple of the columns.
    while any(e * d % columns == 0 for e in range(1, len(others)) for d in range(1, lines)):
        columns += 1
    slopes = dict(zip(others, range(len(others)), strict=True))
    return Grid(lines, columns, tuple(slopes.get(index) for index in range(len(sizes))))


def value_name(index: int) -> str:
    return f"value_{index}"


def key_name(index: int) -> str:
    return f"key_{index}"


def group_name(fragment: int) -> str:
    return f"group_{fragment}"


def draws(draw: str) -> exp.Expr:
    """Random bits of the operating system's for each row; `draw` names the function that gives them."""
    return f.call(draw, 0)


def differing(keys: Sequence[str], partition: Sequence[exp.Expr], order: Sequence[exp.Expr]) -> exp.Expr:
    """Whether a row is the first of those of its partition that are like it, in each of these keys."""
    firsts = [paren(row_index([*partition, column(key)], order)).eq(0) for key in keys]
    return exp.and_(*firsts)


def row_index(partition: Sequence[exp.Expr], order: Sequence[exp.Expr], function: exp.Expr | None = None) -> exp.Expr:
    """A row's number in its partition, counted from 0; or its rank, if that is the function."""
    copies = [part.copy() for part in partition]
    return window(function or f.row_number(), partition_by=copies, order=in_order(order)) - 1


def in_order(by: Sequence[exp.Expr]) -> exp.Order:
    """An ORDER BY that says where NULLs are sorted, because engines differ in that."""
    return order_by(*(ascending(part.copy()) for part in by))


def numbered_rows(table: str) -> exp.Select:
    """The rows of a stored table, each with its `number` in the order of the table, from 0.

    Row numbers follow each other; those of a table that was made in a transaction still open do not begin with 0.
    """
    first = exp.select(f.min(column(ROW_NUMBER))).from_(relation(table)).subquery()
    number = column(ROW_NUMBER) - first
    return exp.select(exp.Star(), alias(number, "number")).from_(relation(table))


def located(placed: str, draw: str, *, near: bool) -> exp.Select:
    """row, block: block after block, the rows of each in a drawn order, or, if `near`, in that of their positions.

    The draws are new ones: that by which blocks were filled would tell of a row's key.
    """
    keys = [column(name) for name in (["block", "position"] if near else ["block"])]
    query = exp.select(column("row"), column("block")).from_(relation(placed))
    query.set("order", in_order([*keys, draws(draw)]))
    return query


def exchanged(cells: str, width: int, draw: str) -> exp.Select:
    """The rows of the cells; each `width` that follow one another are put in a new random order.

    These are the rows of a group. So rows of a block that are near each other stay in one group, but their order in the
    other direction is drawn, so that a fragment's groups do not tell those of another.
    """
    query = exp.select(column("row"), column("block")).from_(numbered_rows(cells).subquery("cell"))
    group = column("number") // literal(width)
    query.set("order", in_order([group, draws(draw)]))
    return query


def block_numbers(cells: str, rows: int, draw: str) -> exp.Select:
    """block: the blocks of `rows` rows each, in a random order, so that their numbers reveal nothing."""
    first = infix(column("number") % literal(rows), "=", 0)
    query = exp.select(column("block")).from_(numbered_rows(cells).subquery("cell")).where(first)
    query.set("order", in_order([draws(draw)]))
    return query


def renumbered(numbers: str, index: int, draw: str) -> exp.Select:
    """The blocks in another order, which is drawn, with the numbers that they had as number_`index`."""
    columns = [column("block"), *(column(_number_name(former)) for former in range(index))]
    query = exp.select(*columns, alias(column("number"), _number_name(index)))
    query.from_(numbered_rows(numbers).subquery("numbered"), copy=False)
    query.set("order", in_order([draws(draw)]))
    return query


def _number_name(index: int) -> str:
    return f"number_{index}"


def grouped(cells: str, numbers: str, laid: Grid, first: int) -> exp.Select:
    """row, group_0, ...: each row's group in each fragment. Those of a block have numbers that follow each other.

    In the order of `cells`, one row after the other fills a group of the fragment `first`. Number i of `numbers` is
    that of a block in the last fragment.
    """
    cell = paren(column("number", "cell") % literal(laid.rows))
    last = len(laid.slopes) - 1
    names = ["number" if index == last else _number_name(index) for index in range(len(laid.slopes))]
    query = exp.select(column("row", "cell")).from_(numbered_rows(cells).subquery("cell"))
    query.select(*group_columns(cell, [column(name, "numbered") for name in names], laid, first), copy=False)
    on = same("block", "cell", "numbered")
    return query.join(numbered_rows(numbers).subquery("numbered"), on=on, copy=False)


def group_columns(cell: exp.Expr, numbers: Sequence[exp.Expr], laid: Grid, first: int) -> list[exp.Expr]:
    """group_0, ...: the groups of a row, which has this cell of its block, counted from 0.

    One cell after the other fills a group of the fragment `first`. The block has one of `numbers` in each fragment.
    """
    size = literal(laid.size(first))
    ends = (cell // size), (cell % size)
    line, across = ends if laid.slopes[first] is None else ends[::-1]
    groups: list[exp.Expr] = []
    for index, (slope, number) in enumerate(zip(laid.slopes, numbers, strict=True)):
        before = number * literal(laid.groups(index))
        group = added([before, paren(_local(slope, laid.columns, line, across)), literal(1)])
        groups.append(alias(group, group_name(index)))
    return groups


def _local(slope: int | None, columns: int, line: exp.Expr, across: exp.Expr) -> exp.Expr:
    if slope is None:
        return line.copy()
    moved = infix(paren(across.copy()), "+", literal(slope) * paren(line.copy()))
    return paren(moved) % literal(columns)


def fragment_rows(
    rows: exp.Select, groups: str, named: Sequence[tuple[int, str]], fragment: int, group: str
) -> exp.Select:
    """Returns the rows of a fragment: its attributes, by the index of their value, and the column `group`."""
    query = exp.select().from_(rows.subquery("row"), copy=False)
    for index, name in named:
        query.select(alias(column(value_name(index), "row"), name), copy=False)
    query.select(alias(column(group_name(fragment), "grouped"), group), copy=False)
    return query.join(relation(groups, as_="grouped"), on=same("row", "row", "grouped"), copy=False)


def own_rows(groups: str, named: Sequence[tuple[int, str]], fragment: int, group: str) -> exp.Select:
    """Returns the rows of a fragment as `fragment_rows`, from rows that have their values beside their groups."""
    columns = [alias(column(value_name(index)), name) for index, name in named]
    return exp.select(*columns, alias(column(group_name(fragment)), group)).from_(relation(groups))


def association_rows(groups: str, named: Sequence[str]) -> exp.Select:
    """The association: for each row the numbers of its groups, a column of this name a fragment."""
    columns = [alias(column(group_name(fragment)), name) for fragment, name in enumerate(named)]
    return exp.select(*columns).from_(relation(groups))


# Blocks of rows that differ from each other in every key: rows are dealt out to all blocks at once.
#
# With one key there is a closed form. If its values are put side by side, at most g rows
# of each, and row number i goes to block i mod g, then no value meets itself, and the
# blocks have equal size. As many blocks of K rows can be filled as there are g with
# sum over the values of min(rows with the value, g) >= g K. That sum is the least, over
# all j, of j g and the rows without the j most frequent values. So g is the greatest
# number with g (K - j) <= (rows without the j most frequent values), j < K.
#
# A key above 0 is the number of a value that several rows have; one below 0 is that of a row with a value of its own.
#
# One sort puts rows of equal values side by side, and rows are numbered in that order. A table keeps the order in
# which
# it was made; should it ever not, rows that are alike would meet in a block, and the check of the release would stop
# it.


# The value under which rows that share their value with no other are counted together; they differ all the same.
ALONE = 0


def all_keys(keys: int) -> list[str]:
    return [key_name(index) for index in range(keys)]


def row_columns(keys: int) -> list[str]:
    """Returns the columns of a row that is in no block."""
    return ["row", "draw", "position", *all_keys(keys)]


def possible(rows: str, key: int, size: int, chunk: int | None = None) -> exp.Select:
    """Counts the blocks of `size` rows that differ in the key that can be filled with these rows, chunk by chunk."""
    query = exp.select(big(or_zero(f.sum(column("blocks"))))).from_(relation("block_count"))
    return with_steps(query, [("counts", _counts(_chunked(rows, key, chunk))), *_block_counts(size)])


def counts(rows: str, key: int) -> exp.Select:
    """chunk, value, n: how many rows have each value of the key; there is one chunk."""
    return _counts(_chunked(rows, key, None))


def possible_of(counts: str, size: int) -> exp.Select:
    """Counts the blocks of `size` rows that differ in a key that can be filled, from the `counts` of its values."""
    query = exp.select(big(or_zero(f.sum(column("blocks"))))).from_(relation("block_count"))
    return with_steps(query, [("counts", exp.select(exp.Star()).from_(relation(counts))), *_block_counts(size)])


def sorted_rows(rows: str, keys: int, key: int, chunk: int | None) -> exp.Select:
    """The rows by their value in the key, equal ones in the order of their draws.

    If rows are dealt in chunks of `chunk` rows, in the order of their position, they have a column `chunk` and are
    sorted by it first.
    """
    chunks = [] if chunk is None else ["chunk"]
    query = exp.select(*map(column, [*row_columns(keys), *chunks]))
    query.from_(_chunked(rows, key, chunk).subquery("part"), copy=False)
    query.set("order", in_order([column(name) for name in (*chunks, "value", "draw")]))
    return query


def filled_blocks(sorted_rows: str, keys: int, key: int, size: int, offset: int, *, chunked: bool) -> exp.Select:
    """The rows with `block`: as many blocks as the closed form fills, numbered from `offset` + 1.

    `block` is NULL for the other rows. Blocks are filled within each chunk, if rows are `chunked`, or from all.
    Counting begins at a row that is drawn, so that any row can be one of the last, which fill no block. Values stay
    side by side on the way round.
    """
    part = exp.select(exp.Star(), alias(_value(key), "value")).from_(numbered_rows(sorted_rows).subquery("sorted_rows"))
    if not chunked:
        part.select(alias(literal(0), "chunk"), copy=False)
    rank = paren(column("number", "part") - column("before", "start"))
    moved = paren(added([column("first", "start"), rank, column("turn", "start")]))
    number = paren(moved % column("all_spread", "start"))
    within = exp.and_(
        rank < column("spread", "start"),
        infix(number, "<", column("blocks", "start") * size),
    )
    turn = paren(number.copy()) % column("blocks", "start")
    block = infix(column("base", "start"), "+", turn) + (offset + 1)
    query = exp.select(*(column(name, "part") for name in row_columns(keys)))
    query.select(alias(if_(within, big(block)), "block"), copy=False)
    query.from_(part.subquery("part"), copy=False)
    on = exp.and_(*(same(name, "part", "start") for name in ("chunk", "value")))
    query.join(relation("starts", as_="start"), on=on, join_type="LEFT", copy=False)
    return with_steps(query, [("counts", _drawn_counts(part)), *_block_counts(size), ("starts", _starts())])


def _chunked(rows: str, key: int, chunk: int | None) -> exp.Select:
    """The rows with their chunk and their value."""
    number: exp.Expr = literal(0)
    if chunk is not None:
        along = row_index([], [column("position"), column("draw"), column("row")])
        number = paren(along) // chunk
    return exp.select(exp.Star(), alias(number, "chunk"), alias(_value(key), "value")).from_(relation(rows))


def _value(key: int) -> exp.Expr:
    """The number of a row's value in the key, or ALONE for a value of its own."""
    value = column(key_name(key))
    return if_(value > ALONE, value, ALONE)


def _counts(part: exp.Select) -> exp.Select:
    """chunk, value, n: how many rows of each chunk have each value."""
    names = [column("chunk"), column("value")]
    query = exp.select(*names, alias(f.count(), "n")).from_(part.subquery("part"))
    return query.group_by(*(name.copy() for name in names))


def _drawn_counts(part: exp.Select) -> exp.Select:
    """chunk, value, n and drawn: random bits that the draws of all n rows make, in whatever order they come."""
    return _counts(part).select(alias(exp.BitwiseXorAgg(this=column("draw")), "drawn"), copy=False)


def _block_counts(size: int) -> list[Step]:
    """`block_count`: each chunk that fills any block, how many it fills and how many are filled before it."""
    order = order_by(descending(column("n")), ascending(column("value")))
    several = column("value") > ALONE
    index = window(f.row_number(), partition_by=[column("chunk")], order=order)
    top = _sum(column("n"), order)
    ranked = exp.select(column("chunk"), alias(index, "rank"), alias(top, "top"))
    ranked = ranked.from_(relation("counts")).where(several)
    # A row alone has a value of its own.
    values = f.sum(if_(several.copy(), 1, column("n")))
    totals = exp.select(column("chunk"), alias(total(column("n")), "rows"))
    totals.select(alias(big(values), "different"), copy=False)
    totals = totals.from_(relation("counts")).group_by(column("chunk"))
    rest = column("rows", "total") - column("top", "ranked")
    quotient = rest // (literal(size) - column("rank", "ranked"))
    by_rank = f.min(if_(column("rank", "ranked") < size, quotient))
    by_rows = f.max(column("rows", "total")) // size
    fewest = f.coalesce(by_rank, by_rows.copy())
    enough = f.max(column("different", "total")) >= size
    most = if_(enough, f.least(by_rows, fewest), 0)
    blocks = exp.select(column("chunk", "total"), alias(big(most), "blocks")).from_(totals.subquery("total"))
    blocks.join(ranked.subquery("ranked"), on=same("chunk", "total", "ranked"), join_type="LEFT", copy=False)
    blocks = blocks.group_by(column("chunk", "total"))
    reached = window(f.sum(column("blocks")), order=in_order([column("chunk")]), frame=up_to_here())
    base = big(reached) - column("blocks")
    query = exp.select(exp.Star(), alias(base, "base")).from_(blocks.subquery("filled"))
    return [("block_count", query.where(column("blocks") > 0))]


def _starts() -> exp.Select:
    """chunk, value, before, kept, first, blocks, base, all_kept, turn: the numbers of the rows with a value.

    There are `before` rows before the first of them. Of each value `spread` rows, as many as there are blocks, are
    numbered from `first`, value after value; all of the rows that have a value of their own are. Of the chunk's
    `all_spread` rows the one with the number `turn` is drawn.
    """
    spread = if_(column("value").eq(ALONE), column("n"), f.least(column("n"), column("blocks")))
    order = in_order([column("chunk"), column("value")])
    upto = window(f.sum(column("n")), order=order, frame=up_to_here())
    before = big(upto) - column("n")
    counted = exp.select(exp.Star(), alias(before, "before")).from_(relation("counts"))
    names = [column(name) for name in ("chunk", "value", "before", "blocks", "base")]
    names.append(column("drawn"))
    joined = exp.select(*names, alias(spread, "spread")).from_(counted.subquery("counted"), copy=False)
    joined.join(relation("block_count"), using=["chunk"], copy=False)
    first = _sum(column("spread"), in_order([column("value")])) - column("spread")
    all_spread = big(window(f.sum(column("spread")), partition_by=[column("chunk")]))
    drawn = window(exp.BitwiseXorAgg(this=column("drawn")), partition_by=[column("chunk")])
    # Engines without unsigned numbers have draws below 0.
    turn = big((drawn % all_spread + all_spread) % all_spread)
    query = exp.select(exp.Star(), alias(first, "first"), alias(all_spread, "all_spread"), alias(turn, "turn"))
    return query.from_(joined.subquery("joined"), copy=False)


def starts(counts: exp.Select, size: int) -> exp.Select:
    """Returns for each value, from chunk, value, n and drawn, the number from which `filled_blocks` makes `turn`."""
    steps = [("counts", counts), *_block_counts(size), ("starts", _starts())]
    return with_steps(exp.select(exp.Star()).from_(relation("starts")), steps)


def _sum(part: exp.Expr, order: exp.Order) -> exp.Expr:
    """The running sum within a chunk."""
    return big(window(f.sum(part), partition_by=[column("chunk")], order=order.copy(), frame=up_to_here()))


def no_blocks(rows: str) -> exp.Select:
    """row, block, position: no row is in a block."""
    query = exp.select(column("row"), alias(big(literal(0)), "block"), column("position"))
    return query.from_(relation(rows)).where(exp.false())


def dissolved(placed: str, blocks: exp.Query) -> exp.Delete:
    """Takes the rows of these blocks out of them."""
    return exp.delete(relation(placed), where=column("block").isin(query=blocks))


def some_blocks(placed: str, count: int, draw: str) -> exp.Select:
    """`count` of the blocks, drawn at random."""
    blocks = exp.select(column("block")).distinct(copy=False).from_(relation(placed))
    return exp.select(column("block")).from_(blocks.subquery("part")).order_by(draws(draw)).limit(count)


def rows_of_blocks(keyed: str, placed: str, blocks: str, keys: int) -> exp.Select:
    """Returns the columns of the rows of these blocks."""
    chosen = exp.select(column("block")).from_(relation(blocks))
    rows = exp.select(column("row")).from_(relation(placed)).where(column("block").isin(query=chosen))
    query = exp.select(*map(column, row_columns(keys))).from_(relation(keyed))
    return query.where(column("row").isin(query=rows))


def pooled(free: str, freed: exp.Select, keys: int, draw: str) -> exp.Select:
    """The rows in no block and those of `freed`, with new random draws."""
    names = row_columns(keys)
    pool = exp.union(exp.select(*map(column, names)).from_(relation(free)), freed, distinct=False)
    columns = [alias(draws(draw), name) if name == "draw" else column(name) for name in names]
    return exp.select(*columns).from_(pool.subquery("pool"))


# How often rows are dealt and drawn again.


@dataclass(frozen=True)
class Sizes:
    """The limits of dealing. Where there are several keys, rows left out are dealt again, together with those of random
    blocks.

    That ends after `max_deals_without_gain` deals in a row that placed none of them.

    How many rows one draw leaves out is chance. Where it leaves out too many, all is drawn again, `max_draws` times in
    all: for tables of at most `max_rows_drawn_again` rows, since in larger ones draws hardly differ.

    On Spark at most `max_rows_numbered` rows with one value are numbered by one task; of more, those whose draws begin
    alike are. Blocks with rows that are alike are dealt again there while they have more than `max_rows_moved` rows and
    are at most half as many each time, else in DuckDB, with as many others, `min_blocks_dealt_again` of them at least.
    """

    max_deals_without_gain: int = 3
    max_draws: int = 8
    max_rows_drawn_again: int = 100_000
    max_rows_numbered: int = 1_000_000
    max_rows_moved: int = 100_000
    min_blocks_dealt_again: int = 1_000


sizes = Adjustable(Sizes())
