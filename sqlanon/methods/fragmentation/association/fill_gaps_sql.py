"""Blocks that lack rows, because some of theirs are alike in another key, and the rows in no block that fill them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import differing, draws, row_index
from sqlanon.methods.fragmentation.association.fill_blocks_sql import ALONE, all_keys, row_columns
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import infix, is_not_null, paren, same, window
from sqlanon.sql.build.names import alias, column, literal, relation


def clashing(filled_blocks: str, others: Sequence[str]) -> exp.Select:
    """row, block: the rows of blocks that are like another one in one of these keys; one of each such set stays."""
    several = exp.or_(*(column(name) > ALONE for name in others))
    within = is_not_null(column("block"))
    query = exp.select(column("row"), column("block")).from_(relation(filled_blocks)).where(within, several)
    apart = differing(others, [column("block")], [column("draw"), column("row")])
    return query.qualify(exp.not_(paren(apart)), copy=False)


def full(table: str, size: int) -> exp.Select:
    """The rows of the blocks that have all of theirs."""
    rows = window(f.count(), partition_by=[column("block")])
    return exp.select(exp.Star()).from_(relation(table)).qualify(rows.eq(size))


def open_blocks(placed: str, size: int) -> exp.Select:
    """block and rows: the blocks that lack rows, and how many they have."""
    query = exp.select(column("block"), alias(f.count(), "rows")).from_(relation(placed)).group_by(column("block"))
    return query.having(f.count() < size, copy=False)


def proposed(rows: exp.Select, placed: str, keys: int, size: int, blocks: int, tries: int, draw: str) -> exp.Select:
    """The rows in no block, each with the block, number and rows of one that lacks rows, where it is like no row.

    `blocks` is the number of blocks that lack rows; each row is compared with `tries` of them. The result has to be
    kept as a table, since both sides are put in a drawn order.
    """
    names, known = all_keys(keys), row_columns(keys)
    free = exp.select(exp.Star(), alias(row_index([], [column("drawn")]), "number"))
    free.from_(_drawn(rows, draw).subquery("unplaced"), copy=False)
    lacking = exp.select(exp.Star(), alias(row_index([], [column("drawn")]), "at"))
    lacking.from_(_drawn(open_blocks(placed, size), draw).subquery("part"), copy=False)
    unnest = exp.Unnest(expressions=[f.call("range", literal(tries))])
    turns = exp.select(alias(unnest, "turn"))
    moved = column("number", "free") + column("turn", "turns")
    at = paren(moved) % blocks
    pairs = exp.select(*(column(name, "free") for name in (*known, "number")))
    pairs.select(column("turn", "turns"), column("block", "lacking"), column("rows", "lacking"), copy=False)
    pairs.from_(free.subquery("free"), copy=False).join(turns.subquery("turns"), join_type="CROSS", copy=False)
    pairs.join(lacking.subquery("lacking"), on=infix(column("at", "lacking"), "=", at), copy=False)
    query = exp.select(exp.Star()).from_(pairs.subquery("pair"))
    # A join for each key, by equality alone, which the engine need not try pair by pair.
    for name in names:
        on = exp.and_(*(same(part, "pair", name) for part in ("block", name)))
        query.join(relation(placed, as_=name), on=on, join_type="ANTI", copy=False)
    first = paren(row_index([column("row", "pair")], [column("turn", "pair")]))
    return query.qualify(first.eq(0), copy=False)


def filled(proposals: str, keys: int, size: int) -> exp.Select:
    """The rows with their block, of the proposals that can all be followed at once."""
    names = all_keys(keys)
    block, number = column("block"), column("number")
    apart = exp.select(exp.Star()).from_(relation(proposals)).qualify(differing(names, [block], [number]), copy=False)
    gaps = literal(size) - column("rows")
    fits = paren(row_index([block], [number])) < paren(gaps)
    query = exp.select(*map(column, row_columns(keys)), column("block")).from_(apart.subquery("apart"))
    return query.qualify(fits, copy=False)


def emptiest(placed: str, size: int, draw: str) -> exp.Select:
    """Of the blocks that lack rows the half with the fewest."""
    drawn = _drawn(open_blocks(placed, size), draw)
    number = row_index([], [column("rows"), column("drawn")])
    count = window(f.count())
    half = infix(literal(2) * paren(number), "<", count)
    return exp.select(column("block")).from_(drawn.subquery("part")).qualify(half, copy=False)


def _drawn(query: exp.Select, draw: str) -> exp.Select:
    """The rows with a draw each, by which they can be put in order."""
    return exp.select(exp.Star(), alias(draws(draw), "drawn")).from_(query.subquery("part"))
