"""Rows that a loose association leaves out, and how alike they may be.

They are a class, too. A reader who does not find somebody knows that they are among these rows, and may know
how many rows of the source have each value. So no value of a key may occur in more than one in k of them.

Of n rows in g blocks of K, s = n - g K are left out, and of a value c = floor(s / k) at most. A block has a value once
at most, so of n_v rows n_v - g or more are left out. This requires of each key that n_v - g <= c for all
values, and that the lesser of n_v and c, added up, comes to s. With K = k the first says n_v <= n / k, which is the
eligibility of Anatomy (Xiao and Tao 2006).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import (
    ALONE,
    all_keys,
    draws,
    key_name,
    row_columns,
    row_index,
)
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    ascending,
    big,
    if_,
    infix,
    is_null,
    order_by,
    paren,
    same,
    total,
    union_all,
    up_to_here,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.steps import Step, with_steps


def frequencies(counts: str) -> exp.Select:
    """n, values: how many values of a key have n rows, from the rows of each; rows alone have a value each."""
    alone = column("value").eq(ALONE)
    rows = if_(alone, 1, column("n"))
    values = if_(alone.copy(), column("n"), 1)
    query = exp.select(alias(rows, "n"), alias(total(values), "values")).from_(relation(counts))
    return query.group_by(literal(1))


def most_alike(frequencies: str) -> exp.Select:
    """Counts the rows of the most frequent value of a key, and its values."""
    return exp.select(f.max(column("n")), total(column("values"))).from_(relation(frequencies))


def allowed(frequencies: Sequence[str], rows: int, size: int, k: int, low: int, high: int) -> exp.Select:
    """The greatest number of blocks from `low` to `high` that leaves out rows which are a class in each key, or NULL.

    `frequencies` has a table for each key.
    """
    each = f.unnest(exp.GenerateSeries(start=literal(low), end=literal(high), step=literal(1)))
    numbered = exp.select(alias(each, "blocks"))
    left = paren(infix(literal(rows), "-", column("blocks") * size))
    tried = exp.select(column("blocks"), alias(left, "left_out"), alias(left // k, "alike"))
    steps: list[Step] = [("tried", tried.from_(numbered.subquery("numbered")))]
    query = exp.select(f.max(column("blocks"))).from_(relation("tried"))
    for index, table in enumerate(frequencies):
        name = f"fitting_{index}"
        steps.append((name, _fitting(table, size)))
        within = exp.select(column("blocks")).from_(relation(name))
        query = query.where(column("blocks").isin(query=within))
    return with_steps(query, steps)


def _fitting(frequencies: str, size: int) -> exp.Select:
    """The numbers of blocks in `tried` that one key allows."""
    names = [column(name, "tried") for name in ("blocks", "left_out", "alike")]
    blocks, left, most = names
    query = exp.select(column("blocks", "tried")).from_(relation("tried"))
    query.join(relation(frequencies, as_="frequency"), join_type="CROSS", copy=False)
    query = query.group_by(*(name.copy() for name in names))
    filled = infix(_least_of(blocks), ">=", blocks * size)
    few = infix(f.max(column("n", "frequency")), "<=", blocks + most)
    various = _least_of(most) >= left
    return query.having(exp.and_(filled, exp.or_(left.eq(0), exp.and_(few, various))), copy=False)


def _least_of(most: exp.Expr) -> exp.Expr:
    """The number of rows, counting at most `most` of each value."""
    return total(f.least(column("n", "frequency"), most.copy()) * column("values", "frequency"))


def candidates(keyed: str, keys: int, below: int | None) -> exp.Select:
    """The rows whose draw is `below` a number, or all."""
    query = exp.select(*map(column, row_columns(keys))).from_(relation(keyed))
    return query if below is None else query.where(column("draw") < below)


def nothing(rows: str) -> exp.Select:
    """No row of the table."""
    return exp.select(exp.Star()).from_(relation(rows)).where(exp.false())


def picked(pool: str, chosen: str, counts: Sequence[str], blocks: int, most: int, wanted: int) -> exp.Select:
    """`wanted` rows of the pool: first those that no choice of the blocks can hold, then by their draws.

    At most `most` rows of a value are chosen, counting those that were `chosen` before. `counts` has for each key the
    rows of its values. Every row of a value has the same chance, and rows of two values have nearly the same.
    """
    names = all_keys(len(counts))
    columns = [column(name) for name in row_columns(len(counts))]
    taken = exp.select(*(part.copy() for part in columns), alias(literal(1), "taken")).from_(relation(chosen))
    free = exp.select(*columns, alias(literal(0), "taken")).from_(relation(pool))
    order = [-column("taken"), column("draw"), column("row")]
    ranked = exp.select(exp.Star()).from_(union_all([free, taken]).subquery("row"))
    for name in names:
        ranked.select(alias(row_index([column(name)], order), f"rank_{name}"), copy=False)
    query = exp.select(*(column(name, "ranked") for name in row_columns(len(counts))))
    query.from_(ranked.subquery("ranked"), copy=False)
    forced: list[exp.Expr] = []
    for name, table in zip(names, counts, strict=True):
        on = exp.and_(column(name, "ranked").eq(column("value", name)), column("n", name) > blocks)
        query.join(relation(table, as_=name), on=on, join_type="LEFT", copy=False)
        too_many = infix(column(f"rank_{name}", "ranked"), "<", column("n", name) - literal(blocks))
        forced.append(f.coalesce(paren(too_many), exp.false()))
        query = query.where(column(f"rank_{name}", "ranked") < most)
    query = query.where(column("taken", "ranked").eq(0))
    first = if_(exp.or_(*forced), 0, 1)
    by = [ascending(part) for part in (first, column("draw", "ranked"))]
    return query.order_by(*by, copy=False).limit(wanted)


def full_values(chosen: str, index: int, most: int) -> exp.Select:
    """The values of a key of which no more may be chosen."""
    name = column(key_name(index))
    return exp.select(name).from_(relation(chosen)).group_by(name.copy()).having(f.count() >= most)


def alike(rows: str, keys: int) -> exp.Select:
    """Counts the rows that share a value of a key, for the key and the value with most."""
    counts: list[exp.Query] = [
        exp.select(alias(f.count(), "n")).from_(relation(rows)).group_by(column(name)) for name in all_keys(keys)
    ]
    return exp.select(f.max(column("n"))).from_(union_all(counts).subquery("counted"))


def excess(rows: str, indexes: Sequence[int], k: int, count: int) -> exp.Select:
    """key, value, lack: the values that more than one in k of the `count` rows have.

    `lack` is how many rows of other values, at least, would make the value one in k of all.
    """
    by_key: list[exp.Query] = []
    for index in indexes:
        value = column(key_name(index))
        lack = infix(f.count() * k, "-", count)
        query = exp.select(alias(literal(index), "key"), alias(value, "value"), alias(lack, "lack"))
        query = query.from_(relation(rows)).group_by(value.copy())
        by_key.append(query.having(lack > 0))
    return exp.select(exp.Star()).from_(union_all(by_key).subquery("lacking"))


def holding(placed: str, keyed: str, excess: str, indexes: Sequence[int]) -> exp.Select:
    """block, key, value: which blocks hold a row with which of these values."""
    by_key: list[exp.Query] = []
    for index in indexes:
        on = exp.and_(column(key_name(index), "keyed").eq(column("value", "excess")), column("key", "excess").eq(index))
        query = exp.select(column("block", "placed"), column("key", "excess"), column("value", "excess"))
        query.from_(relation(placed, as_="placed"), copy=False)
        query.join(relation(keyed, as_="keyed"), on=same("row", "placed", "keyed"), copy=False)
        by_key.append(query.join(relation(excess, as_="excess"), on=on, copy=False))
    return exp.select(exp.Star()).from_(union_all(by_key).subquery("holding"))


def preferred(placed: str, holding: str, draw: str) -> exp.Select:
    """block, number: all blocks from 1, those first that hold the fewest of these values, else in a drawn order."""
    blocks = exp.select(column("block")).distinct(copy=False).from_(relation(placed))
    counts = exp.select(column("block", "placed"), alias(f.count(column("value", "holding")), "values"))
    counts.from_(blocks.subquery("placed"), copy=False)
    counts.join(relation(holding, as_="holding"), on=same("block", "placed", "holding"), join_type="LEFT", copy=False)
    counts = counts.group_by(column("block", "placed"))
    drawn = exp.select(exp.Star(), alias(draws(draw), "drawn")).from_(counts.subquery("counted"))
    number = infix(row_index([], [column("values"), column("drawn")]), "+", 1)
    return exp.select(column("block"), alias(number, "number")).from_(drawn.subquery("drawn"))


def first_blocks(preferred: str, count: int | None) -> exp.Select:
    """The first `count` of the preferred blocks, or all."""
    query = exp.select(column("block")).from_(relation(preferred))
    return query if count is None else query.where(column("number") <= count)


def enough(preferred: str, holding: str, excess: str, size: int, k: int) -> exp.Select:
    """Counts the blocks that have to be dissolved, the preferred ones first, and the values for which they suffice.

    A block adds its rows to those that are left out, at most one of which has the value. So what a value lacks becomes
    less by the block's rows, or by k fewer if the block holds the value. Other values never come to lack any.
    """
    gains = exp.select(
        column("key", "excess"), column("value", "excess"), column("lack", "excess"), column("number", "block")
    )
    gain = if_(is_null(column("block", "holding")), size, size - k)
    gains.select(alias(gain, "gain"), copy=False)
    gains.from_(relation(excess, as_="excess"), copy=False)
    gains.join(relation(preferred, as_="block"), join_type="CROSS", copy=False)
    on = exp.and_(same("block", "block", "holding"), *(same(name, "excess", "holding") for name in ("key", "value")))
    gains.join(relation(holding, as_="holding"), on=on, join_type="LEFT", copy=False)
    order = order_by(ascending(column("number")))
    gained = window(
        f.sum(column("gain")), partition_by=[column("key"), column("value")], order=order, frame=up_to_here()
    )
    reached = exp.select(exp.Star(), alias(big(gained), "gained")).from_(gains.subquery("gains"))
    first = exp.select(alias(f.min(column("number")), "number")).from_(reached.subquery("reached"))
    first = first.where(column("gained") >= column("lack")).group_by(column("key"), column("value"))
    return exp.select(f.max(column("number")), f.count()).from_(first.subquery("first"))
