"""Queries for the rows that a loose association leaves out, which must not be too similar.

The rows left out are a class, too. A reader who does not find a respondent knows that they are among these rows, and
may know how many rows of the source have each value. So no value of a key may occur in more than one in k of them.

With g blocks of K rows, s = n - g K of n rows are left out, at most c = floor(s / k) of each value. A block has a value
at most once, so at least n_v - g of the n_v rows with value v are left out. This requires of each key that n_v - g <= c
for all values, and that the sum of min(n_v, c) is at least s. With K = k the first condition is n_v <= n / k, the
eligibility of Anatomy (Xiao and Tao 2006).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import (
    all_keys,
    draws,
    key_name,
    row_columns,
    row_index,
)
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    ascending,
    if_,
    infix,
    or_,
    paren,
    total,
    union_all,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, left_join, select, subquery
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.build.steps import Step, with_steps


def frequencies(counts: str) -> exp.Query:
    """SELECT of n, values: the number of values of a key that have n rows; each row that no other row equals is a
    separate value.
    """
    return query_file("association", "frequencies", tables={"counts": counts})


def most_alike(frequencies: str) -> exp.Select:
    """SELECT of two numbers: the rows of a key's most frequent value, and the number of its values."""
    return select(f.max(column("n")), total(column("values")), of=relation(frequencies))


def allowed(frequencies: Sequence[str], rows: int, size: int, k: int, low: int, high: int) -> exp.Query:
    """SELECT of the greatest number of blocks from `low` to `high` whose left-out rows are a class in each key, or
    NULL.

    `frequencies` has a table for each key.
    """
    steps: list[Step] = [("tried", query_file("association", "tried", rows=rows, size=size, k=k, low=low, high=high))]
    query = select(f.max(column("blocks")), of=relation("tried"))
    for index, table in enumerate(frequencies):
        name = f"fitting_{index}"
        steps.append((name, query_file("association", "fitting", tables={"frequency": table}, size=size)))
        within = select(column("blocks"), of=relation(name))
        query = extend(query, where=[column("blocks").isin(query=within)])
    return with_steps(query, steps)


def candidates(keyed: str, keys: int, below: int | None) -> exp.Select:
    """SELECT of the rows whose random number is less than `below`, or of all rows."""
    query = select(*map(column, row_columns(keys)), of=relation(keyed))
    return query if below is None else query.where(column("draw") < below)


def nothing(rows: str) -> exp.Select:
    """SELECT of the table's columns that returns no rows."""
    return select(exp.Star(), of=relation(rows), where=[exp.false()])


def picked(pool: str, chosen: str, counts: Sequence[str], blocks: int, most: int, wanted: int) -> exp.Select:
    """SELECT of `wanted` rows of the pool: first the rows of values with more rows than blocks, then in random order.

    At most `most` rows of a value are chosen, including the rows in `chosen`. `counts` has for each key the rows of its
    values. All rows of a value have the same chance, and rows of two values nearly the same.
    """
    names = all_keys(len(counts))
    columns = [column(name) for name in row_columns(len(counts))]
    taken = select(*columns, alias(literal(1), "taken"), of=relation(chosen))
    free = select(*columns, alias(literal(0), "taken"), of=relation(pool))
    order = [-column("taken"), column("draw"), column("row")]
    ranked = select(exp.Star(), of=subquery(union_all([free, taken]), "row"))
    for name in names:
        extend(ranked, alias(row_index([column(name)], order), f"rank_{name}"))
    query = select(*(column(name, "ranked") for name in row_columns(len(counts))), of=subquery(ranked, "ranked"))
    forced: list[exp.Expr] = []
    for name, table in zip(names, counts, strict=True):
        on = and_(column(name, "ranked").eq(column("value", name)), column("n", name) > blocks)
        extend(query, joins=[left_join(relation(table, as_=name), on)])
        too_many = infix(column(f"rank_{name}", "ranked"), "<", column("n", name) - literal(blocks))
        forced.append(f.coalesce(paren(too_many), exp.false()))
        query = extend(query, where=[column(f"rank_{name}", "ranked") < most])
    query = extend(query, where=[column("taken", "ranked").eq(0)])
    first = if_(or_(*forced), 0, 1)
    by = [ascending(part) for part in (first, column("draw", "ranked"))]
    return extend(query, order_by=by, limit=wanted)


def full_values(chosen: str, index: int, most: int) -> exp.Select:
    """SELECT of a key's values of which no further rows may be chosen."""
    name = column(key_name(index))
    return select(name, of=relation(chosen), group_by=[name], having=f.count() >= most)


def alike(rows: str, keys: int) -> exp.Select:
    """SELECT of the largest number of rows that share a value of a key."""
    counts: list[exp.Query] = [
        select(alias(f.count(), "n"), of=relation(rows), group_by=[column(name)]) for name in all_keys(keys)
    ]
    return select(f.max(column("n")), of=subquery(union_all(counts), "counted"))


def excess(rows: str, indexes: Sequence[int], k: int, count: int) -> exp.Query:
    """SELECT of key, value, lack: the values that more than one in k of the `count` rows have.

    `lack` is the number of rows with other values that must be added for the value to have at most one in k.
    """
    return _by_key("excess", {"rows": rows}, indexes, k=k, count=count)


def holding(placed: str, keyed: str, excess: str, indexes: Sequence[int]) -> exp.Query:
    """SELECT of block, key, value: the blocks that have a row with one of these values."""
    return _by_key("holding", {"placed": placed, "keyed": keyed, "excess": excess}, indexes)


def _by_key(name: str, tables: Mapping[str, str], indexes: Sequence[int], **values: Any) -> exp.Query:
    """The union of a file's query for each key."""
    by_key = (
        query_file("association", name, tables=tables, names={"key": [key_name(index)]}, index=index, **values)
        for index in indexes
    )
    return select(exp.Star(), of=subquery(union_all(list(by_key)), name))


def preferred(placed: str, holding: str, draw: str) -> exp.Query:
    """SELECT of block, number: all blocks, numbered from 1; blocks with the fewest of these values come first, equal
    blocks in random order.
    """
    tables = {"placed": placed, "holding": holding}
    return query_file("association", "preferred", tables=tables, draw=draws(draw))


def first_blocks(preferred: str, count: int | None) -> exp.Select:
    """SELECT of the first `count` of the preferred blocks, or of all."""
    query = select(column("block"), of=relation(preferred))
    return query if count is None else query.where(column("number") <= count)


def enough(preferred: str, holding: str, excess: str, size: int, k: int) -> exp.Query:
    """SELECT of two numbers: the number of blocks to dissolve, in the order of preference, and the number of values for
    which they suffice.

    A block adds its rows to the rows left out; at most one of its rows has the value. So the lack of a value decreases
    by the number of the block's rows, or by k less if the block has the value. No other value begins to lack rows.
    """
    tables = {"preferred": preferred, "holding": holding, "excess": excess}
    return query_file("association", "enough", tables=tables, size=size, rest=size - k)
