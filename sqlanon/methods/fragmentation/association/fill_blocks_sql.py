"""Blocks of rows that differ from each other in every key: rows are dealt out to all blocks at once.

With one key there is a closed form. If its values are put side by side, at most g rows
of each, and row number i goes to block i mod g, then no value meets itself, and the
blocks have equal size. As many blocks of K rows can be filled as there are g with
sum over the values of min(rows with the value, g) >= g K. That sum is the least, over
all j, of j g and the rows without the j most frequent values. So g is the greatest
number with g (K - j) <= (rows without the j most frequent values), j < K.

A key above 0 is the number of a value that several rows have; one below 0 is that of a row with a value of its own.

One sort puts rows of equal values side by side, and rows are numbered in that order. A table keeps the order in which
it was made; should it ever not, rows that are alike would meet in a block, and the check of the release would stop it.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import draws, in_order, key_name, numbered_rows, row_index
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

# The value under which rows that share their value with no other are counted together; they differ all the same.
ALONE = 0


def all_keys(keys: int) -> list[str]:
    return [key_name(index) for index in range(keys)]


def row_columns(keys: int) -> list[str]:
    """What is known of a row that is in no block."""
    return ["row", "draw", "position", *all_keys(keys)]


def possible(rows: str, key: int, size: int, chunk: int | None = None) -> exp.Select:
    """How many blocks of `size` rows that differ in the key can be filled with these rows, chunk by chunk."""
    query = exp.select(big(or_zero(f.sum(column("blocks"))))).from_(relation("block_count"))
    return with_steps(query, [("counts", _counts(_chunked(rows, key, chunk))), *_block_counts(size)])


def counts(rows: str, key: int) -> exp.Select:
    """chunk, value, n: how many rows have each value of the key; there is one chunk."""
    return _counts(_chunked(rows, key, None))


def possible_of(counts: str, size: int) -> exp.Select:
    """How many blocks of `size` rows that differ in a key can be filled, from the `counts` of its values."""
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
    """What `filled_blocks` knows of each value, from chunk, value, n and drawn: a number from which `turn` is made."""
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
    """What is known of the rows of these blocks."""
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
