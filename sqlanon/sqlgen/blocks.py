"""Blocks of rows that differ from each other in every key, dealt out to all blocks at once.

With one key there is a closed form. If its values are put side by side, at most g rows
of each, and row number i goes to block i mod g, then no value meets itself, and the
blocks have equal size. As many blocks of K rows can be filled as there are g with
sum over the values of min(rows with the value, g) >= g K.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.sqlgen.guard import with_steps
from sqlanon.sqlgen.loose import differing, draws, in_order, key_name, place_number
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.rows import Step

__all__ = [
    "dealt",
    "dissolved",
    "emptiest",
    "filled",
    "full",
    "lacking",
    "most_alike",
    "open_blocks",
    "possible",
    "proposed",
    "some_blocks",
]

_KEY = "key"


def most_alike(keyed: str, key: int) -> exp.Select:
    """How many rows have the key's most frequent value."""
    counted = exp.select(alias(exp.Count(this=exp.Star()), "n")).from_(relation(keyed)).group_by(column(key_name(key)))
    return exp.select(exp.Max(this=column("n"))).from_(counted.subquery("counted"))


def possible(rows: exp.Select, key: int, size: int) -> exp.Select:
    """How many blocks of `size` rows that differ in the key can be filled with these rows."""
    query = exp.select(exp.Coalesce(this=exp.Max(this=column("blocks")), expressions=[literal(0)]))
    return with_steps(query.from_(relation("block_count")), _counted(rows, key, size, None))


def dealt(rows: exp.Select, keys: int, key: int, size: int, chunk: int | None, offset: int) -> exp.Select:
    """row, block and the keys: as many blocks as the closed form fills, numbered from `offset`.

    `rows` are those without a block yet, with place, draw and the keys. Blocks are filled
    within each chunk of so many rows in the order of their place, or from all of them.
    Rows that are alike in another key than the one that is dealt by are left out, except
    one of them, so a block may lack rows.
    """
    chunks = [column("chunk")]
    kept = exp.select(exp.Star()).from_(relation("turns"))
    kept.join(relation("block_count"), using=["chunk"], copy=False)
    number = place_number(chunks, [column("turn"), column("draw"), column("row")])
    kept.select(alias(number, "kept"), copy=False)
    kept.where(exp.LTE(this=column("turn"), expression=column("blocks")), copy=False)
    full_blocks = exp.Mul(this=column("blocks"), expression=literal(size))
    along = place_number(chunks, [column(_KEY), column("turn")])
    at = exp.Mod(this=exp.Paren(this=along), expression=column("blocks"))
    names = [key_name(place) for place in range(keys)]
    chosen = exp.select(column("row"), column("draw"), column("chunk"), alias(at, "at"), *map(column, names))
    chosen.from_(kept.subquery("kept"), copy=False)
    chosen.where(exp.LT(this=column("kept"), expression=full_blocks), copy=False)
    block = exp.Window(this=exp.DenseRank(), order=in_order([column("chunk"), column("at")]))
    numbered = exp.Add(this=block, expression=literal(offset))
    placed = exp.select(column("row"), column("draw"), alias(numbered, "block"), *map(column, names))
    placed.from_(chosen.subquery("chosen"), copy=False)
    others = [name for name in names if name != key_name(key)]
    query = exp.select(column("row"), column("block"), *map(column, names)).from_(placed.subquery("placed"))
    if others:
        query = query.qualify(differing(others, [column("block")], [column("draw"), column("row")]), copy=False)
    return with_steps(query, _counted(rows, key, size, chunk))


def _counted(rows: exp.Select, key: int, size: int, chunk: int | None) -> list[Step]:
    """`turns`: the rows with their chunk, their key and their turn, a row's number among those of its value.
    `block_count`: each chunk and how many blocks it fills, one at least.
    """
    at: exp.Expr = literal(0)
    if chunk is not None:
        along = place_number([], [column("place"), column("draw"), column("row")])
        at = exp.IntDiv(this=exp.Paren(this=along), expression=literal(chunk))
    chunked = exp.select(exp.Star(), alias(at, "chunk")).from_(rows.subquery("unplaced"))
    partition = [column("chunk"), column(key_name(key))]
    turn = exp.Add(this=place_number(partition, [column("draw"), column("row")]), expression=literal(1))
    turns = exp.select(exp.Star(), alias(column(key_name(key)), _KEY), alias(turn, "turn"))
    turns.from_(chunked.subquery("chunked"), copy=False)
    # The rows whose turn is g or less are the sum over the values of min(rows with the value, g).
    order = in_order([column("turn")])
    held = exp.Window(this=exp.Sum(this=exp.Count(this=exp.Star())), partition_by=[column("chunk")], order=order)
    last = exp.Window(this=exp.Max(this=column("turn")), partition_by=[column("chunk")])
    counts = exp.select(column("chunk"), column("turn"), alias(held, "held"), alias(last, "last"))
    counts = counts.from_(relation("turns")).group_by(column("chunk"), column("turn"))
    enough = exp.GTE(this=column("held"), expression=exp.Mul(this=column("turn"), expression=literal(size)))
    # From the last turn on the sum has all rows, however many blocks there are.
    is_last = exp.EQ(this=column("turn"), expression=column("last"))
    whole = exp.Cast(this=exp.IntDiv(this=column("held"), expression=literal(size)), to=exp.DataType.build("BIGINT"))
    most = exp.Case(ifs=[exp.If(this=is_last, true=whole)], default=column("turn"))
    blocks = exp.select(column("chunk"), alias(exp.Max(this=most), "blocks"))
    blocks = blocks.from_(counts.subquery("counts")).where(enough).group_by(column("chunk"))
    return [("turns", turns), ("block_count", blocks)]


def full(table: str, size: int) -> exp.Select:
    """The rows of the blocks that have all of theirs."""
    return _of_size(table, exp.EQ, size)


def lacking(table: str, size: int) -> exp.Select:
    """The rows of the blocks that lack some."""
    return _of_size(table, exp.LT, size)


def _of_size(table: str, compared: type[exp.Binary], size: int) -> exp.Select:
    held = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[column("block")])
    return exp.select(exp.Star()).from_(relation(table)).qualify(compared(this=held, expression=literal(size)))


def open_blocks(placed: str, size: int) -> exp.Select:
    """block and held: the blocks that lack rows."""
    held = exp.Count(this=exp.Star())
    query = exp.select(column("block"), alias(held, "held")).from_(relation(placed)).group_by(column("block"))
    return query.having(exp.LT(this=held.copy(), expression=literal(size)), copy=False)


def proposed(rows: exp.Select, placed: str, keys: int, size: int, blocks: int, tries: int, draw: str) -> exp.Select:
    """row, block, number and the keys: each row without a block with one that lacks rows, and where it is like no row.

    There are so many `blocks` that lack rows; each row is held against `tries` of them. It has to be kept as a
    table, since both sides are put in a drawn order.
    """
    names = [key_name(place) for place in range(keys)]
    free = exp.select(exp.Star(), alias(place_number([], [column("drawn")]), "number"))
    free.from_(_drawn(rows, draw).subquery("unplaced"), copy=False)
    some = exp.select(exp.Star(), alias(place_number([], [column("drawn")]), "at"))
    some.from_(_drawn(open_blocks(placed, size), draw).subquery("part"), copy=False)
    unnest = exp.Unnest(expressions=[exp.Anonymous(this="range", expressions=[literal(tries)])])
    turns = exp.select(alias(unnest, "turn"))
    moved = exp.Add(this=column("number", "free"), expression=column("turn", "turns"))
    at = exp.Mod(this=exp.Paren(this=moved), expression=literal(blocks))
    pairs = exp.select(
        column("row", "free"), column("number", "free"), column("turn", "turns"), column("block", "some")
    )
    pairs.select(column("held", "some"), *(column(name, "free") for name in names), copy=False)
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
    """row, block and the keys of the proposals that can all be followed at once."""
    names = [key_name(place) for place in range(keys)]
    block, number = column("block"), column("number")
    apart = exp.select(exp.Star()).from_(relation(proposals)).qualify(differing(names, [block], [number]), copy=False)
    gaps = exp.Sub(this=literal(size), expression=column("held"))
    fits = exp.LT(this=exp.Paren(this=place_number([block], [number])), expression=exp.Paren(this=gaps))
    query = exp.select(column("row"), column("block"), *map(column, names)).from_(apart.subquery("apart"))
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
