"""Blocks that lack rows, because some of theirs are alike in another key, and the rows in no block that fill them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import differing, draws, place_number
from sqlanon.methods.fragmentation.association.fill_blocks_sql import ALONE, all_keys, row_columns
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import infix, is_not_null, paren, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["clashing", "emptiest", "filled", "full", "open_blocks", "proposed"]


def clashing(dealt: str, others: Sequence[str]) -> exp.Select:
    """row, block: the rows of blocks that are like another one in one of these keys; one of those that are stays."""
    several = exp.or_(*((column(name) > literal(ALONE)) for name in others))
    within = is_not_null(column("block"))
    query = exp.select(column("row"), column("block")).from_(relation(dealt)).where(within, several)
    apart = differing(others, [column("block")], [column("draw"), column("row")])
    return query.qualify(exp.not_(paren(apart)), copy=False)


def full(table: str, size: int) -> exp.Select:
    """The rows of the blocks that have all of theirs."""
    held = window(f.count(), partition_by=[column("block")])
    complete = held.eq(literal(size))
    return exp.select(exp.Star()).from_(relation(table)).qualify(complete)


def open_blocks(placed: str, size: int) -> exp.Select:
    """block and held: the blocks that lack rows."""
    held = f.count()
    query = exp.select(column("block"), alias(held, "held")).from_(relation(placed)).group_by(column("block"))
    return query.having(held < literal(size), copy=False)


def proposed(rows: exp.Select, placed: str, keys: int, size: int, blocks: int, tries: int, draw: str) -> exp.Select:
    """The rows with block, number and held: each row in no block with one that lacks rows, where it is like no row.

    `blocks` is the number of blocks that lack rows; each row is compared with `tries` of them. It has to be kept as a
    table, since both sides are put in a drawn order.
    """
    names, known = all_keys(keys), row_columns(keys)
    free = exp.select(exp.Star(), alias(place_number([], [column("drawn")]), "number"))
    free.from_(_drawn(rows, draw).subquery("unplaced"), copy=False)
    some = exp.select(exp.Star(), alias(place_number([], [column("drawn")]), "at"))
    some.from_(_drawn(open_blocks(placed, size), draw).subquery("part"), copy=False)
    unnest = exp.Unnest(expressions=[f.call("range", literal(tries))])
    turns = exp.select(alias(unnest, "turn"))
    moved = column("number", "free") + column("turn", "turns")
    at = paren(moved) % literal(blocks)
    pairs = exp.select(*(column(name, "free") for name in (*known, "number")))
    pairs.select(column("turn", "turns"), column("block", "some"), column("held", "some"), copy=False)
    pairs.from_(free.subquery("free"), copy=False).join(turns.subquery("turns"), join_type="CROSS", copy=False)
    pairs.join(some.subquery("some"), on=infix(column("at", "some"), "=", at), copy=False)
    query = exp.select(exp.Star()).from_(pairs.subquery("pair"))
    # A join for each key, by equality alone, which the engine need not try pair by pair.
    for name in names:
        alike = [column(part, "pair").eq(column(part, name)) for part in ("block", name)]
        query.join(relation(placed, as_=name), on=exp.and_(*alike), join_type="ANTI", copy=False)
    first = paren(place_number([column("row", "pair")], [column("turn", "pair")]))
    return query.qualify(first.eq(0), copy=False)


def filled(proposals: str, keys: int, size: int) -> exp.Select:
    """The rows with their block, for the proposals that can all be followed at once."""
    names = all_keys(keys)
    block, number = column("block"), column("number")
    apart = exp.select(exp.Star()).from_(relation(proposals)).qualify(differing(names, [block], [number]), copy=False)
    gaps = literal(size) - column("held")
    fits = paren(place_number([block], [number])) < paren(gaps)
    query = exp.select(*map(column, row_columns(keys)), column("block")).from_(apart.subquery("apart"))
    return query.qualify(fits, copy=False)


def emptiest(placed: str, size: int, draw: str) -> exp.Select:
    """The half of the blocks that lack rows which have fewest."""
    drawn = _drawn(open_blocks(placed, size), draw)
    number = place_number([], [column("held"), column("drawn")])
    count = window(f.count())
    half = infix(literal(2) * paren(number), "<", count)
    return exp.select(column("block")).from_(drawn.subquery("part")).qualify(half, copy=False)


def _drawn(query: exp.Select, draw: str) -> exp.Select:
    """The rows with a draw each, by which they can be put in order."""
    return exp.select(exp.Star(), alias(draws(draw), "drawn")).from_(query.subquery("part"))
