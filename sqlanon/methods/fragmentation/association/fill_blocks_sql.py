"""Blocks of rows that differ from each other in every key, dealt out to all blocks at once.

With one key there is a closed form. If its values are put side by side, at most g rows
of each, and row number i goes to block i mod g, then no value meets itself, and the
blocks have equal size. As many blocks of K rows can be filled as there are g with
sum over the values of min(rows with the value, g) >= g K. That sum is the least, over
all j, of j g and the rows without the j most frequent values. So g is the greatest
number with g (K - j) <= (rows without the j most frequent values), j < K.

A key above 0 is the number of a value that several rows have, one below it is that of a row alone.

Values come side by side by one sort, and rows are numbered as they then stand. A table keeps the order in which it was
made; should it ever not, rows that are alike would meet in a block, and the check of the release would stop it.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import draws, in_order, key_name, numbered_rows, place_number
from sqlanon.sqlgen.build.expressions import added, big, or_zero, up_to_here
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.steps import Step, with_steps

__all__ = [
    "ALONE",
    "all_keys",
    "counts",
    "dealt",
    "dissolved",
    "no_blocks",
    "pooled",
    "possible",
    "possible_of",
    "row_columns",
    "rows_of_blocks",
    "some_blocks",
    "standing",
]

# The value that rows alone stand for together: they differ, however many there are.
ALONE = 0


def all_keys(keys: int) -> list[str]:
    return [key_name(place) for place in range(keys)]


def row_columns(keys: int) -> list[str]:
    """What is known of a row that is in no block."""
    return ["row", "draw", "place", *all_keys(keys)]


def possible(rows: str, key: int, size: int, chunk: int | None = None) -> exp.Select:
    """How many blocks of `size` rows that differ in the key can be filled with these rows, chunk by chunk."""
    query = exp.select(big(or_zero(exp.Sum(this=column("blocks"))))).from_(relation("block_count"))
    return with_steps(query, [("counts", _counts(_chunked(rows, key, chunk))), *_block_counts(size)])


def counts(rows: str, key: int) -> exp.Select:
    """chunk, value, n: how many rows have each value of the key; there is one chunk."""
    return _counts(_chunked(rows, key, None))


def possible_of(counts: str, size: int) -> exp.Select:
    """How many blocks of `size` rows that differ in a key can be filled, from the `counts` of its values."""
    query = exp.select(big(or_zero(exp.Sum(this=column("blocks"))))).from_(relation("block_count"))
    every = exp.select(exp.Star()).from_(relation(counts))
    return with_steps(query, [("counts", every), *_block_counts(size)])


def standing(rows: str, keys: int, key: int, chunk: int | None) -> exp.Select:
    """The rows by their value in the key, equal ones in the order of their draws.

    If rows are dealt chunk by chunk, each of so many rows in the order of their place, they have a `chunk` and stand
    by it first.
    """
    own = [] if chunk is None else ["chunk"]
    query = exp.select(*map(column, [*row_columns(keys), *own]))
    query.from_(_chunked(rows, key, chunk).subquery("part"), copy=False)
    query.set("order", in_order([column(name) for name in (*own, "value", "draw")]))
    return query


def dealt(standing: str, keys: int, key: int, size: int, offset: int, *, chunked: bool) -> exp.Select:
    """The rows with `block`: as many blocks as the closed form fills, numbered from `offset` + 1.

    It is NULL for rows that find no place. Blocks are filled within each chunk, if rows are `chunked`, or from all.
    Counting begins at a row that is drawn, so that any row can be one of the last, which fill no block. Values stay
    side by side on the way round.
    """
    part = exp.select(exp.Star(), alias(_value(key), "value")).from_(numbered_rows(standing).subquery("standing"))
    if not chunked:
        part.select(alias(literal(0), "chunk"), copy=False)
    rank = exp.Paren(this=exp.Sub(this=column("number", "part"), expression=column("before", "start")))
    moved = exp.Paren(this=added([column("first", "start"), rank, column("turn", "start")]))
    number = exp.Paren(this=exp.Mod(this=moved, expression=column("all_kept", "start")))
    within = exp.and_(
        exp.LT(this=rank.copy(), expression=column("kept", "start")),
        exp.LT(this=number, expression=exp.Mul(this=column("blocks", "start"), expression=literal(size))),
    )
    turn = exp.Mod(this=exp.Paren(this=number.copy()), expression=column("blocks", "start"))
    block = exp.Add(this=exp.Add(this=column("base", "start"), expression=turn), expression=literal(offset + 1))
    query = exp.select(*(column(name, "part") for name in row_columns(keys)))
    query.select(alias(exp.Case(ifs=[exp.If(this=within, true=big(block))]), "block"), copy=False)
    query.from_(part.subquery("part"), copy=False)
    same = [exp.EQ(this=column(name, "part"), expression=column(name, "start")) for name in ("chunk", "value")]
    query.join(relation("starts", as_="start"), on=exp.and_(*same), join_type="LEFT", copy=False)
    return with_steps(query, [("counts", _drawn_counts(part)), *_block_counts(size), ("starts", _starts())])


def _chunked(rows: str, key: int, chunk: int | None) -> exp.Select:
    """The rows with their chunk and their value."""
    at: exp.Expr = literal(0)
    if chunk is not None:
        along = place_number([], [column("place"), column("draw"), column("row")])
        at = exp.IntDiv(this=exp.Paren(this=along), expression=literal(chunk))
    return exp.select(exp.Star(), alias(at, "chunk"), alias(_value(key), "value")).from_(relation(rows))


def _value(key: int) -> exp.Expr:
    """What stands for a row's value in the key."""
    own = column(key_name(key))
    several = exp.GT(this=own, expression=literal(ALONE))
    return exp.Case(ifs=[exp.If(this=several, true=own.copy())], default=literal(ALONE))


def _counts(part: exp.Select) -> exp.Select:
    """chunk, value, n: how many rows of each chunk have each value."""
    names = [column("chunk"), column("value")]
    query = exp.select(*names, alias(exp.Count(this=exp.Star()), "n")).from_(part.subquery("part"))
    return query.group_by(*(name.copy() for name in names))


def _drawn_counts(part: exp.Select) -> exp.Select:
    """chunk, value, n and drawn: random bits that the draws of all n rows make, in whatever order they come."""
    return _counts(part).select(alias(exp.BitwiseXorAgg(this=column("draw")), "drawn"), copy=False)


def _block_counts(size: int) -> list[Step]:
    """`block_count`: each chunk that fills any block, how many it fills and how many are filled before it."""
    own = [column("chunk")]
    order = exp.Order(
        expressions=[
            exp.Ordered(this=column("n"), desc=True, nulls_first=False),
            exp.Ordered(this=column("value"), nulls_first=False),
        ]
    )
    several = exp.GT(this=column("value"), expression=literal(ALONE))
    place = exp.Window(this=exp.RowNumber(), partition_by=own, order=order)
    top = _sum(column("n"), order)
    ranked = exp.select(column("chunk"), alias(place, "place"), alias(top, "top"))
    ranked = ranked.from_(relation("counts")).where(several)
    # A row alone has a value of its own.
    values = exp.Sum(this=exp.Case(ifs=[exp.If(this=several.copy(), true=literal(1))], default=column("n")))
    totals = exp.select(column("chunk"), alias(big(exp.Sum(this=column("n"))), "rows"))
    totals.select(alias(big(values), "different"), copy=False)
    totals = totals.from_(relation("counts")).group_by(column("chunk"))
    rest = exp.Paren(this=exp.Sub(this=column("rows", "total"), expression=column("top", "ranked")))
    still = exp.Paren(this=exp.Sub(this=literal(size), expression=column("place", "ranked")))
    before = exp.LT(this=column("place", "ranked"), expression=literal(size))
    each = exp.Min(this=exp.Case(ifs=[exp.If(this=before, true=exp.IntDiv(this=rest, expression=still))]))
    every = exp.IntDiv(this=exp.Max(this=column("rows", "total")), expression=literal(size))
    fewest = exp.Coalesce(this=each, expressions=[every.copy()])
    enough = exp.GTE(this=exp.Max(this=column("different", "total")), expression=literal(size))
    most = exp.Case(ifs=[exp.If(this=enough, true=exp.Least(this=every, expressions=[fewest]))], default=literal(0))
    blocks = exp.select(column("chunk", "total"), alias(big(most), "blocks")).from_(totals.subquery("total"))
    same = exp.EQ(this=column("chunk", "total"), expression=column("chunk", "ranked"))
    blocks.join(ranked.subquery("ranked"), on=same, join_type="LEFT", copy=False)
    blocks = blocks.group_by(column("chunk", "total"))
    reached = exp.Window(this=exp.Sum(this=column("blocks")), order=in_order([column("chunk")]), spec=up_to_here())
    base = exp.Sub(this=big(reached), expression=column("blocks"))
    query = exp.select(exp.Star(), alias(base, "base")).from_(blocks.subquery("filled"))
    return [("block_count", query.where(exp.GT(this=column("blocks"), expression=literal(0))))]


def _starts() -> exp.Select:
    """chunk, value, before, kept, first, blocks, base, all_kept, turn: where the rows with a value stand.

    There are `before` rows before the first of them. As many of each value are `kept` as there are blocks, numbered
    from `first`, value after value; of rows alone all are. Of the chunk's `all_kept` rows that number `turn` is drawn.
    """
    alone = exp.EQ(this=column("value"), expression=literal(ALONE))
    fewer = exp.Least(this=column("n"), expressions=[column("blocks")])
    kept = exp.Case(ifs=[exp.If(this=alone, true=column("n"))], default=fewer)
    order = in_order([column("chunk"), column("value")])
    upto = exp.Window(this=exp.Sum(this=column("n")), order=order, spec=up_to_here())
    before = exp.Sub(this=big(upto), expression=column("n"))
    counted = exp.select(exp.Star(), alias(before, "before")).from_(relation("counts"))
    names = [column(name) for name in ("chunk", "value", "before", "blocks", "base")]
    names.append(column("drawn"))
    joined = exp.select(*names, alias(kept, "kept")).from_(counted.subquery("counted"), copy=False)
    joined.join(relation("block_count"), using=["chunk"], copy=False)
    first = exp.Sub(this=_sum(column("kept"), in_order([column("value")])), expression=column("kept"))
    every = big(exp.Window(this=exp.Sum(this=column("kept")), partition_by=[column("chunk")]))
    drawn = exp.Window(this=exp.BitwiseXorAgg(this=column("drawn")), partition_by=[column("chunk")])
    # Engines without unsigned numbers have draws below 0.
    within = exp.Paren(this=exp.Mod(this=drawn, expression=every.copy()))
    turn = big(exp.Mod(this=exp.Paren(this=exp.Add(this=within, expression=every.copy())), expression=every.copy()))
    query = exp.select(exp.Star(), alias(first, "first"), alias(every, "all_kept"), alias(turn, "turn"))
    return query.from_(joined.subquery("joined"), copy=False)


def _sum(part: exp.Expr, order: exp.Order) -> exp.Expr:
    """What has come together in a chunk so far."""
    window = exp.Window(this=exp.Sum(this=part), partition_by=[column("chunk")], order=order.copy(), spec=up_to_here())
    return big(window)


def no_blocks(rows: str) -> exp.Select:
    """row, block, place: no row is in a block."""
    query = exp.select(column("row"), alias(big(literal(0)), "block"), column("place"))
    return query.from_(relation(rows)).where(exp.false())


def dissolved(placed: str, blocks: exp.Query) -> exp.Delete:
    """Takes their rows from these blocks."""
    chosen = exp.In(this=column("block"), query=blocks.subquery())
    return exp.Delete(this=relation(placed), where=exp.Where(this=chosen))


def some_blocks(placed: str, count: int, draw: str) -> exp.Select:
    """So many of the blocks, drawn."""
    every = exp.select(column("block")).distinct(copy=False).from_(relation(placed))
    return exp.select(column("block")).from_(every.subquery("part")).order_by(draws(draw)).limit(count)


def rows_of_blocks(keyed: str, placed: str, blocks: str, keys: int) -> exp.Select:
    """What is known of the rows of these blocks."""
    chosen = exp.select(column("block")).from_(relation(blocks)).subquery()
    held = exp.select(column("row")).from_(relation(placed)).where(exp.In(this=column("block"), query=chosen))
    query = exp.select(*map(column, row_columns(keys))).from_(relation(keyed))
    return query.where(exp.In(this=column("row"), query=held.subquery()))


def pooled(free: str, freed: exp.Select, keys: int, draw: str) -> exp.Select:
    """The rows in no block and those of `freed`, drawn anew."""
    names = row_columns(keys)
    every = exp.union(exp.select(*map(column, names)).from_(relation(free)), freed, distinct=False)
    drawn = [alias(draws(draw), name) if name == "draw" else column(name) for name in names]
    return exp.select(*drawn).from_(every.subquery("pool"))
