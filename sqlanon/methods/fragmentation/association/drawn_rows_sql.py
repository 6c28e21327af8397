"""The rows of a loose association on an engine that keeps them in many parts, where no table has an order.

A row is known by a draw that was made once and kept, and so is every number: it is counted among the rows with one
value, or in one block, in the order of their draws. Where there would be too many of these, it is counted among those
whose draws begin alike, and a small table says how many come before. So no step has all rows in one part, and none
depends on where a row lies.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import (
    ALONE,
    all_keys,
    draws,
    key_name,
    row_index,
    starts,
    value_name,
)
from sqlanon.methods.shared.bucket_tables import beginning
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    added,
    big,
    identical,
    if_,
    infix,
    is_not_null,
    is_null,
    or_zero,
    paren,
    same,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation

# A draw is a text of hexadecimal digits, the first eight of which are a number below this.
_NUMBER_DIGITS = 8
DRAW_LIMIT = 16**_NUMBER_DIGITS

# What `fill_blocks_sql.starts` says of the rows with a value.
_START = ("value", "first", "spread", "all_spread", "blocks", "turn")


def drawn_rows(values: Sequence[exp.Expr], source: exp.Table, draw: str) -> exp.Select:
    """row, cell, value_0, ...: the rows of the source. A row is known by the first draw; the second one says where it
    lies in its block.
    """
    query = exp.select(alias(draws(draw), "row"), alias(draws(draw), "cell"))
    query.select(*(alias(value, value_name(index)) for index, value in enumerate(values)), copy=False)
    return query.from_(source, copy=False)


def tuples(rows: str, key: Sequence[int]) -> exp.Select:
    """value_0, ..., n: the tuples of the values at these indexes that several rows have, NULL being a value."""
    names = [column(value_name(index)) for index in key]
    query = exp.select(*names, alias(f.count(), "n")).from_(relation(rows))
    return query.group_by(*(name.copy() for name in names), copy=False).having(f.count() > 1, copy=False)


def numbered_tuples(tuples: str) -> exp.Select:
    """The `tuples` with a number each, from 1. A query of DuckDB's."""
    return exp.select(exp.Star(), alias(window(f.row_number()), "number")).from_(relation(tuples))


def key_counts(numbered: str | None, rows: int) -> exp.Select:
    """chunk, value, n: how many rows have each number of a key, those that are like no other ALONE among them.

    `numbered` is the table of `numbered_tuples`; without one all rows differ.
    """
    alone: exp.Expr = literal(rows)
    parts: list[exp.Query] = []
    if numbered is not None:
        repeated = exp.select(alias(literal(0), "chunk"), alias(column("number"), "value"), column("n"))
        parts.append(repeated.from_(relation(numbered), copy=False))
        alone = exp.select(literal(rows) - or_zero(f.sum(column("n")))).from_(relation(numbered)).subquery()
    counted = exp.select(
        alias(literal(0), "chunk"), alias(big(literal(ALONE)), "value"), alias(big(alone), "n")
    ).subquery("alone")
    parts.append(exp.select(exp.Star()).from_(counted, copy=False).where(column("n") > 0, copy=False))
    return union_all(parts)  # type: ignore[return-value]


def keyed(rows: str, keys: Sequence[tuple[Sequence[int], str]]) -> exp.Select:
    """row, cell, key_0, ...: for each key the number of the row's tuple, ALONE for a row that is like no other.

    Each key comes with its indexes of values and the table of its `numbered_tuples`.
    """
    query = exp.select(column("row", "drawn"), column("cell", "drawn")).from_(relation(rows, as_="drawn"))
    for index, (key, table) in enumerate(keys):
        name = key_name(index)
        query.select(alias(big(f.coalesce(column("number", name), literal(ALONE))), name), copy=False)
        alike = [identical(column(value_name(part), "drawn"), column(value_name(part), name)) for part in key]
        query.join(relation(table, as_=name), on=exp.and_(*alike), join_type="LEFT", copy=False)
    return query if keys else query.select(alias(big(literal(ALONE)), key_name(0)), copy=False)


def candidates(keyed: str, keys: int, below: int | None) -> exp.Select:
    """row, key_0, ...: the rows whose draw begins with a number `below` this one, or all."""
    query = exp.select(*map(column, ["row", *all_keys(keys)])).from_(relation(keyed))
    return query if below is None else query.where(column("row") < literal(f"{below:0{_NUMBER_DIGITS}x}"), copy=False)


def no_candidates(keys: int) -> exp.Select:
    """No rows with the columns of `candidates`."""
    columns = [alias(literal(""), "row"), *(alias(big(literal(0)), name) for name in all_keys(keys))]
    return exp.select(exp.Star()).from_(exp.select(*columns).subquery("nothing")).where(exp.false(), copy=False)


def without_names(collected: str, keys: int, draw: str, first: int) -> exp.Select:
    """row, draw, position, key_0, ...: rows as DuckDB deals them, from their row and keys.

    Rows that are like no other get numbers below 0, each its own; `first` is a number above those that were given.
    """
    query = exp.select(column("row"), alias(draws(draw), "draw"), alias(literal(0), "position"))
    alone = literal(-1 - first) - window(f.row_number())
    for name in all_keys(keys):
        query.select(alias(if_(column(name).eq(ALONE), alone.copy(), column(name)), name), copy=False)
    return query.from_(relation(collected), copy=False)


def remaining(keyed: str, keys: int, aside: str) -> exp.Select:
    """The rows of `keyed` that are not set `aside`."""
    query = exp.select(*(column(name, "keyed") for name in ("row", "cell", *all_keys(keys))))
    query.from_(relation(keyed, as_="keyed"), copy=False)
    query.join(relation(aside, as_="aside"), on=same("row", "keyed", "aside"), join_type="LEFT", copy=False)
    return query.where(is_null(column("row", "aside")), copy=False)


def starts_of(counts: str, aside: str | None, key: int, size: int, turn: int, most: int) -> exp.Select:
    """value, first, spread, all_spread, blocks, turn, divided: the numbers of the rows that have a value.

    `counts` is the table of `key_counts` of the key, and the rows that were set `aside` do not count. Counting begins
    at a row that `turn` says, a number drawn. The rows of a value are `divided` by their draws where there are more
    than `most`.
    """
    left = exp.select(column("chunk", "counted"), column("value", "counted")).from_(relation(counts, as_="counted"))
    number: exp.Expr = column("n", "counted")
    if aside is not None:
        named = f.greatest(column(key_name(key)), literal(ALONE))
        gone = exp.select(alias(named, "value"), alias(f.count(), "n")).from_(relation(aside)).group_by(named.copy())
        left.join(gone.subquery("gone"), on=same("value", "counted", "gone"), join_type="LEFT", copy=False)
        number = number - f.coalesce(column("n", "gone"), literal(0))
    left.select(alias(big(number), "n"), copy=False)
    drawn = if_(paren(row_index([], [column("value")])).eq(0), literal(turn), 0)
    some = exp.select(exp.Star(), alias(big(drawn), "drawn")).from_(left.subquery("left_over")).where(column("n") > 0)
    query = exp.select(*(column(name, "start") for name in _START))
    query.select(alias(column("n", "counted") > most, "divided"), copy=False)
    query.from_(starts(some, size).subquery("start"), copy=False)
    return query.join(relation(counts, as_="counted"), on=same("value", "start", "counted"), copy=False)


def beginnings(rows: exp.Select, starts: str, key: int) -> exp.Select:
    """value, beginning, n: how many rows of each value that is divided have draws that begin alike."""
    query = exp.select(
        column("value", "start"), alias(beginning(column("row", "keyed")), "beginning"), alias(f.count(), "n")
    )
    query.from_(rows.subquery("keyed"), copy=False)
    of_value = exp.and_(column("value", "start").eq(column(key_name(key), "keyed")), column("divided", "start"))
    query.join(relation(starts, as_="start"), on=of_value, copy=False)
    return query.group_by(column("value", "start"), beginning(column("row", "keyed")), copy=False)


def no_beginnings() -> exp.Select:
    """No rows with the columns of `beginnings`."""
    columns = (alias(big(literal(0)), "value"), alias(literal(""), "beginning"), alias(big(literal(0)), "n"))
    nothing = exp.select(*columns).subquery("nothing", copy=False)
    return exp.select(exp.Star()).from_(nothing, copy=False).where(exp.false(), copy=False)


def dealt_rows(rows: exp.Select, starts: str, parts: str, keys: int, key: int, size: int) -> exp.Select:
    """row, cell, key_0, ..., block: the rows in the blocks of `size` rows that the closed form fills.

    It is that of `fill_blocks_sql`. `parts` is the table that `numbers_before` makes of `beginnings`. `block`
    is NULL for the other rows.
    """
    known = ["row", "cell", *all_keys(keys)]
    part = if_(column("divided", "start"), beginning(column("row", "keyed")), literal(""))
    parted = exp.select(*(column(name, "keyed") for name in known), *(column(name, "start") for name in _START))
    parted.select(alias(part, "beginning"), copy=False).from_(rows.subquery("keyed"), copy=False)
    has_value = column("value", "start").eq(column(key_name(key), "keyed"))
    parted.join(relation(starts, as_="start"), on=has_value, copy=False)
    index = row_index([column("value"), column("beginning")], [column("row")])
    numbered = exp.select(*map(column, [*known, *_START, "beginning"]), alias(index, "number"))
    numbered.from_(parted.subquery("parted"), copy=False)
    ranked = exp.select(*(column(name, "numbered") for name in [*known, *_START]))
    rank = column("number", "numbered") + f.coalesce(column("before", "part"), literal(0))
    ranked.select(alias(rank, "rank"), copy=False).from_(numbered.subquery("numbered"), copy=False)
    of_part = exp.and_(*(same(name, "numbered", "part") for name in ("value", "beginning")))
    ranked.join(relation(parts, as_="part"), on=of_part, join_type="LEFT", copy=False)
    moved = paren(added([column("first"), column("rank"), column("turn")])) % column("all_spread")
    turned = exp.select(exp.Star(), alias(moved, "moved")).from_(ranked.subquery("ranked"), copy=False)
    within = exp.and_(column("rank") < column("spread"), infix(column("moved"), "<", column("blocks") * size))
    query = exp.select(*map(column, known))
    block = infix(column("moved") % column("blocks"), "+", 1)
    query.select(alias(if_(within, big(block)), "block"), copy=False)
    return query.from_(turned.subquery("turned"), copy=False)


def divided(starts: str) -> exp.Select:
    """Counts the values whose rows are divided by their random numbers."""
    return exp.select(f.count()).from_(relation(starts)).where(column("divided"), copy=False)


def blocks_of(starts: str) -> exp.Select:
    """Counts the blocks."""
    return exp.select(f.max(column("blocks"))).from_(relation(starts))


def alike_blocks(dealt_rows: str, key: int) -> exp.Select:
    """block: the blocks with rows that are alike in this key."""
    names = [column("block"), column(key_name(key))]
    alike = exp.select(*names).from_(relation(dealt_rows))
    alike = alike.where(is_not_null(column("block")), column(key_name(key)) > ALONE, copy=False)
    alike.group_by(*(name.copy() for name in names), copy=False).having(f.count() > 1, copy=False)
    return exp.select(column("block")).distinct(copy=False).from_(alike.subquery("alike"), copy=False)


def all_blocks(tables: Sequence[str]) -> exp.Query:
    """block: those of all these tables of `alike_blocks`, each once."""
    nothing = exp.select(alias(big(literal(0)), "block")).where(exp.false(), copy=False)
    return union_all([nothing, *(_blocks(table) for table in tables)], distinct=True)


def with_others(alike: str, blocks: int, first: int, step: int) -> exp.Query:
    """block: those of the table, and each `step`th of the numbers from `first` up to `blocks`."""
    numbers = f.unnest(exp.GenerateSeries(start=literal(first), end=literal(blocks), step=literal(step)))
    return union_all([_blocks(alike), exp.select(alias(big(numbers), "block"))], distinct=True)


def rows_dealt_again(dealt_rows: str, names: Sequence[str], blocks: str) -> exp.Select:
    """These columns of the rows that are in these blocks, and of those in none."""
    query = exp.select(*(column(name, "dealt") for name in names)).from_(relation(dealt_rows, as_="dealt"))
    query.join(relation(blocks, as_="again"), on=same("block", "dealt", "again"), join_type="LEFT", copy=False)
    anew = exp.or_(is_null(column("block", "dealt")), is_not_null(column("block", "again")))
    return query.where(anew, copy=False)


def counts_of(rows: exp.Select, key: int) -> exp.Select:
    """chunk, value, n: how many of these rows have each number of a key, as `key_counts`."""
    value = column(key_name(key))
    query = exp.select(alias(literal(0), "chunk"), alias(value, "value"), alias(f.count(), "n"))
    return query.from_(rows.subquery("keyed"), copy=False).group_by(value.copy(), copy=False)


def _blocks(table: str) -> exp.Select:
    return exp.select(column("block")).from_(relation(table))
