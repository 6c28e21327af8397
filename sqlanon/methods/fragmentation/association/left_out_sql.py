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

from sqlanon.methods.fragmentation.association.block_grids import all_keys, draws, key_name, row_columns
from sqlanon.sql.build.expressions import and_, ascending, if_, or_, union_all
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import extend, left_join
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file, reading
from sqlanon.sql.build.steps import Step, with_steps


def frequencies(counts: str) -> exp.Query:
    """SELECT of n, values: the number of values of a key that have n rows; each row that no other row equals is a
    separate value.
    """
    return query_file("association", "frequencies", tables={"counts": counts})


def most_alike(frequencies: str) -> exp.Query:
    """SELECT of two numbers: the rows of a key's most frequent value, and the number of its values."""
    text = "SELECT max(n), CAST(sum(values) AS BIGINT) FROM frequencies"
    return filled_query(text, tables={"frequencies": frequencies})


def allowed(frequencies: Sequence[str], rows: int, size: int, k: int, low: int, high: int) -> exp.Query:
    """SELECT of the greatest number of blocks from `low` to `high` whose left-out rows are a class in each key, or
    NULL.

    `frequencies` has a table for each key.
    """
    steps: list[Step] = [("tried", query_file("association", "tried", rows=rows, size=size, k=k, low=low, high=high))]
    for index, table in enumerate(frequencies):
        fitting = query_file("association", "fitting", tables={"frequency": table}, size=size)
        steps.append((f"fitting_{index}", fitting))
    text = "blocks IN (SELECT blocks FROM fitting)"
    within = [reading(filled(text), {"fitting": name}) for name, _ in steps[1:]]
    return with_steps(filled_query("SELECT max(blocks) FROM tried WHERE $within", within=within), steps)


def candidates(keyed: str, keys: int, below: int | None) -> exp.Select:
    """SELECT of the rows whose random number is less than `below`, or of all rows."""
    text = "SELECT {columns} FROM keyed WHERE draw < $below"
    limit = [] if below is None else [below]
    return filled_select(text, tables={"keyed": keyed}, names={"columns": row_columns(keys)}, below=limit)


def nothing(rows: str) -> exp.Query:
    """SELECT of the columns of the table `rows` that returns no rows."""
    return filled_query("SELECT * FROM rows WHERE FALSE", tables={"rows": rows})


def picked(pool: str, chosen: str, counts: Sequence[str], blocks: int, most: int, wanted: int) -> exp.Query:
    """SELECT of `wanted` rows of the pool: first the rows of values with more rows than blocks, then in random order.

    At most `most` rows of a value are chosen, including the rows in `chosen`. `counts` has for each key the rows of its
    values. All rows of a value have the same chance, and rows of two values nearly the same.
    """
    keys = all_keys(len(counts))
    ranks = [f"rank_{name}" for name in keys]
    names = {"columns": row_columns(len(counts)), "keys": keys, "ranks": ranks}
    ranked = query_file("association", "ranked", tables={"pool": pool, "chosen": chosen}, names=names)
    text = """
        SELECT {ranked.columns} FROM ranked WHERE {ranked.ranks} < $most AND ranked.taken = 0 LIMIT $wanted
    """
    query = filled_select(text, tables={"ranked": ranked}, names=names, most=most, wanted=wanted)
    forced: list[exp.Expr] = []
    for name, rank, table in zip(keys, ranks, counts, strict=True):
        on = and_(column(name, "ranked").eq(column("value", name)), column("n", name) > blocks)
        extend(query, joins=[left_join(relation(table, as_=name), on)])
        text = "coalesce({ranked.rank} < $n - $blocks, FALSE)"
        forced.append(filled(text, names={"rank": rank}, n=column("n", name), blocks=blocks))
    first = ascending(if_(or_(*forced), 0, 1))
    return extend(query, order_by=[first, ascending(column("draw", "ranked"))])


def full_values(chosen: str, index: int, most: int) -> exp.Query:
    """SELECT of the values of the key with this index that `most` rows of `chosen` already have; no further row with
    them may be chosen.
    """
    text = "SELECT {key} FROM chosen GROUP BY {key} HAVING count(*) >= $most"
    return filled_query(text, tables={"chosen": chosen}, names={"key": key_name(index)}, most=most)


def alike(rows: str, keys: int) -> exp.Query:
    """SELECT of the largest number of rows that share a value of a key."""
    text = "SELECT count(*) AS n FROM rows GROUP BY {key}"
    counts = [filled_query(text, tables={"rows": rows}, names={"key": name}) for name in all_keys(keys)]
    return filled_query("SELECT max(n) FROM counted", tables={"counted": union_all(counts)})


def excess(rows: str, indexes: Sequence[int], k: int, count: int) -> exp.Query:
    """SELECT of key, value, lack: the values of keys that more than one in k of the `count` rows have.

    `lack` is the number of rows with other values that must be added for the value to have at most one in k.
    """
    return _by_key("excess", {"rows": rows}, indexes, k=k, count=count)


def holding(placed: str, keyed: str, excess: str, indexes: Sequence[int]) -> exp.Query:
    """SELECT of block, key, value: the blocks with a row that has one of the values in the table `excess`."""
    return _by_key("holding", {"placed": placed, "keyed": keyed, "excess": excess}, indexes)


def _by_key(name: str, tables: Mapping[str, str], indexes: Sequence[int], **values: Any) -> exp.Query:
    """Returns the union of the queries that the SQL file `name` gives for each key in `indexes`."""
    by_key = (
        query_file("association", name, tables=tables, names={"key": key_name(index)}, index=index, **values)
        for index in indexes
    )
    return filled_query("SELECT * FROM by_key", tables={"by_key": union_all(list(by_key))})


def preferred(placed: str, holding: str, draw: str) -> exp.Query:
    """SELECT of block, number: all blocks, numbered from 1 in the order in which they may be dissolved.

    Blocks with the fewest values in `holding` come first; blocks with equally many are in random order.
    """
    tables = {"placed": placed, "holding": holding}
    return query_file("association", "preferred", tables=tables, draw=draws(draw))


def first_blocks(preferred: str, count: int | None) -> exp.Query:
    """SELECT of the first `count` blocks in the table `preferred`, or of all."""
    text = "SELECT block FROM preferred WHERE number <= $count"
    return filled_query(text, tables={"preferred": preferred}, count=[] if count is None else [count])


def enough(preferred: str, holding: str, excess: str, size: int, k: int) -> exp.Query:
    """SELECT of two numbers: how many blocks to dissolve in the order of preference, and for how many values in excess
    these blocks suffice; see sql/association/enough.sql.
    """
    tables = {"preferred": preferred, "holding": holding, "excess": excess}
    return query_file("association", "enough", tables=tables, size=size, rest=size - k)
