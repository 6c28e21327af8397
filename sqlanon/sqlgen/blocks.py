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

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sqlgen.guard import with_steps
from sqlanon.sqlgen.loose import differing, draws, in_order, key_name, numbered_rows, place_number
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.rows import Step
from sqlanon.sqlgen.terms import big, or_zero, up_to_here

__all__ = [
    "all_keys",
    "clashing",
    "dealt",
    "dissolved",
    "emptiest",
    "filled",
    "full",
    "open_blocks",
    "pooled",
    "possible",
    "proposed",
    "row_columns",
    "some_blocks",
    "standing",
]

# The value that rows alone stand for together: they differ, however many there are.
_ALONE = 0


def all_keys(keys: int) -> list[str]:
    return [key_name(place) for place in range(keys)]


def row_columns(keys: int) -> list[str]:
    """What is known of a row that is in no block."""
    return ["row", "draw", "place", *all_keys(keys)]


def possible(rows: str, key: int, size: int, chunk: int | None = None) -> exp.Select:
    """How many blocks of `size` rows that differ in the key can be filled with these rows, chunk by chunk."""
    query = exp.select(big(or_zero(exp.Sum(this=column("blocks"))))).from_(relation("block_count"))
    return with_steps(query, [("counts", _counts(_chunked(rows, key, chunk))), *_block_counts(size)])


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
    """
    part = exp.select(exp.Star(), alias(_value(key), "value")).from_(numbered_rows(standing).subquery("standing"))
    if not chunked:
        part.select(alias(literal(0), "chunk"), copy=False)
    rank = exp.Paren(this=exp.Sub(this=column("number", "part"), expression=column("before", "start")))
    number = exp.Add(this=column("first", "start"), expression=rank)
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
    return with_steps(query, [("counts", _counts(part)), *_block_counts(size), ("starts", _starts())])


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
    several = exp.GT(this=own, expression=literal(_ALONE))
    return exp.Case(ifs=[exp.If(this=several, true=own.copy())], default=literal(_ALONE))


def _counts(part: exp.Select) -> exp.Select:
    """chunk, value, n: how many rows of each chunk have each value."""
    names = [column("chunk"), column("value")]
    query = exp.select(*names, alias(exp.Count(this=exp.Star()), "n")).from_(part.subquery("part"))
    return query.group_by(*(name.copy() for name in names))


def _block_counts(size: int) -> list[Step]:
    """`block_count`: each chunk that fills any block, how many it fills and how many are filled before it."""
    own = [column("chunk")]
    order = exp.Order(
        expressions=[
            exp.Ordered(this=column("n"), desc=True, nulls_first=False),
            exp.Ordered(this=column("value"), nulls_first=False),
        ]
    )
    several = exp.GT(this=column("value"), expression=literal(_ALONE))
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
    """chunk, value, before, kept, first, blocks, base: `before` is how many rows stand before the first with a value.

    Of each value as many rows are `kept` as there are blocks, numbered from `first`, value after value; of rows alone
    all are.
    """
    alone = exp.EQ(this=column("value"), expression=literal(_ALONE))
    fewer = exp.Least(this=column("n"), expressions=[column("blocks")])
    kept = exp.Case(ifs=[exp.If(this=alone, true=column("n"))], default=fewer)
    order = in_order([column("chunk"), column("value")])
    upto = exp.Window(this=exp.Sum(this=column("n")), order=order, spec=up_to_here())
    before = exp.Sub(this=big(upto), expression=column("n"))
    counted = exp.select(exp.Star(), alias(before, "before")).from_(relation("counts"))
    names = [column(name) for name in ("chunk", "value", "before", "blocks", "base")]
    joined = exp.select(*names, alias(kept, "kept")).from_(counted.subquery("counted"), copy=False)
    joined.join(relation("block_count"), using=["chunk"], copy=False)
    first = exp.Sub(this=_sum(column("kept"), in_order([column("value")])), expression=column("kept"))
    return exp.select(exp.Star(), alias(first, "first")).from_(joined.subquery("joined"), copy=False)


def _sum(part: exp.Expr, order: exp.Order) -> exp.Expr:
    """What has come together in a chunk so far."""
    window = exp.Window(this=exp.Sum(this=part), partition_by=[column("chunk")], order=order.copy(), spec=up_to_here())
    return big(window)


def clashing(dealt: str, others: Sequence[str]) -> exp.Select:
    """row, block: the rows of blocks that are like another one in one of these keys; one of those that are stays."""
    several = exp.or_(*(exp.GT(this=column(name), expression=literal(_ALONE)) for name in others))
    within = exp.Not(this=exp.Is(this=column("block"), expression=exp.Null()))
    query = exp.select(column("row"), column("block")).from_(relation(dealt)).where(within, several)
    apart = differing(others, [column("block")], [column("draw"), column("row")])
    return query.qualify(exp.Not(this=exp.Paren(this=apart)), copy=False)


def full(table: str, size: int) -> exp.Select:
    """The rows of the blocks that have all of theirs."""
    held = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[column("block")])
    complete = exp.EQ(this=held, expression=literal(size))
    return exp.select(exp.Star()).from_(relation(table)).qualify(complete)


def open_blocks(placed: str, size: int) -> exp.Select:
    """block and held: the blocks that lack rows."""
    held = exp.Count(this=exp.Star())
    query = exp.select(column("block"), alias(held, "held")).from_(relation(placed)).group_by(column("block"))
    return query.having(exp.LT(this=held.copy(), expression=literal(size)), copy=False)


def proposed(rows: exp.Select, placed: str, keys: int, size: int, blocks: int, tries: int, draw: str) -> exp.Select:
    """The rows with block, number and held: each row in no block with one that lacks rows, where it is like no row.

    There are so many `blocks` that lack rows; each row is held against `tries` of them. It has to be kept as a
    table, since both sides are put in a drawn order.
    """
    names, known = all_keys(keys), row_columns(keys)
    free = exp.select(exp.Star(), alias(place_number([], [column("drawn")]), "number"))
    free.from_(_drawn(rows, draw).subquery("unplaced"), copy=False)
    some = exp.select(exp.Star(), alias(place_number([], [column("drawn")]), "at"))
    some.from_(_drawn(open_blocks(placed, size), draw).subquery("part"), copy=False)
    unnest = exp.Unnest(expressions=[exp.Anonymous(this="range", expressions=[literal(tries)])])
    turns = exp.select(alias(unnest, "turn"))
    moved = exp.Add(this=column("number", "free"), expression=column("turn", "turns"))
    at = exp.Mod(this=exp.Paren(this=moved), expression=literal(blocks))
    pairs = exp.select(*(column(name, "free") for name in (*known, "number")))
    pairs.select(column("turn", "turns"), column("block", "some"), column("held", "some"), copy=False)
    pairs.from_(free.subquery("free"), copy=False).join(turns.subquery("turns"), join_type="CROSS", copy=False)
    pairs.join(some.subquery("some"), on=exp.EQ(this=column("at", "some"), expression=at), copy=False)
    query = exp.select(exp.Star()).from_(pairs.subquery("pair"))
    # A join for each key, by equality alone, which the engine need not try pair by pair.
    for name in names:
        alike = [exp.EQ(this=column(part, "pair"), expression=column(part, name)) for part in ("block", name)]
        query.join(relation(placed, as_=name), on=exp.and_(*alike), join_type="ANTI", copy=False)
    first = exp.Paren(this=place_number([column("row", "pair")], [column("turn", "pair")]))
    return query.qualify(exp.EQ(this=first, expression=literal(0)), copy=False)


def filled(proposals: str, keys: int, size: int) -> exp.Select:
    """The rows with their block, for the proposals that can all be followed at once."""
    names = all_keys(keys)
    block, number = column("block"), column("number")
    apart = exp.select(exp.Star()).from_(relation(proposals)).qualify(differing(names, [block], [number]), copy=False)
    gaps = exp.Sub(this=literal(size), expression=column("held"))
    fits = exp.LT(this=exp.Paren(this=place_number([block], [number])), expression=exp.Paren(this=gaps))
    query = exp.select(*map(column, row_columns(keys)), column("block")).from_(apart.subquery("apart"))
    return query.qualify(fits, copy=False)


def emptiest(placed: str, size: int, draw: str) -> exp.Select:
    """The half of the blocks that lack rows which have fewest."""
    drawn = _drawn(open_blocks(placed, size), draw)
    number = place_number([], [column("held"), column("drawn")])
    count = exp.Window(this=exp.Count(this=exp.Star()))
    half = exp.LT(this=exp.Mul(this=literal(2), expression=exp.Paren(this=number)), expression=count)
    return exp.select(column("block")).from_(drawn.subquery("part")).qualify(half, copy=False)


def _drawn(query: exp.Select, draw: str) -> exp.Select:
    """The rows with a draw each, by which they can be put in order."""
    return exp.select(exp.Star(), alias(draws(draw), "drawn")).from_(query.subquery("part"))


def dissolved(placed: str, blocks: exp.Query) -> exp.Delete:
    """Takes their rows from these blocks."""
    chosen = exp.In(this=column("block"), query=blocks.subquery())
    return exp.Delete(this=relation(placed), where=exp.Where(this=chosen))


def some_blocks(placed: str, count: int, draw: str) -> exp.Select:
    """So many of the blocks, drawn."""
    every = exp.select(column("block")).distinct(copy=False).from_(relation(placed))
    return exp.select(column("block")).from_(every.subquery("part")).order_by(draws(draw)).limit(count)


def pooled(free: str, freed: exp.Select, keys: int, draw: str) -> exp.Select:
    """The rows in no block and those of `freed`, drawn anew."""
    names = row_columns(keys)
    every = exp.union(exp.select(*map(column, names)).from_(relation(free)), freed, distinct=False)
    drawn = [alias(draws(draw), name) if name == "draw" else column(name) for name in names]
    return exp.select(*drawn).from_(every.subquery("pool"))
