"""Queries for a loose association on an engine that keeps rows in many parts, without an order.

Each row has a stored random number that identifies it. Rows of one value, or of one block, are numbered in the order of
these random numbers. If a value has too many rows, those whose random numbers begin alike are numbered together, and a
small table has the number of rows before each beginning. So no step has all rows in one part, and no result depends on
the part in which a row is.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import (
    ALONE,
    all_keys,
    draws,
    key_name,
    starts,
    value_name,
)
from sqlanon.methods.shared.bucket_tables import beginning
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    big,
    identical,
    if_,
    is_null,
    or_zero,
    same,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery
from sqlanon.sql.build.sql_files import Relation, query_file

# A random number is a text of hexadecimal digits; the number of its first eight is below this limit.
_NUMBER_DIGITS = 8
DRAW_LIMIT = 16**_NUMBER_DIGITS

_BEGINNING = beginning(column("row", "keyed"))
# The columns that are read from `block_grids.starts`.
_START = ("value", "first", "spread", "all_spread", "blocks", "turn")


def drawn_rows(values: Sequence[exp.Expr], source: exp.Table, draw: str) -> exp.Select:
    """SELECT of row, cell, value_0, ...: the rows of the source. The random number `row` identifies a row; `cell`
    orders the rows of its block.
    """
    query = select(alias(draws(draw), "row"), alias(draws(draw), "cell"))
    return extend(query, *(alias(value, value_name(index)) for index, value in enumerate(values)), of=source)


def tuples(rows: str, key: Sequence[int]) -> exp.Select:
    """SELECT of (value_0, ..., n): the tuples of values at these indexes that occur in several rows; NULL is a
    value.
    """
    names = [column(value_name(index)) for index in key]
    return select(*names, alias(f.count(), "n"), of=relation(rows), group_by=names, having=f.count() > 1)


def numbered_tuples(tuples: str) -> exp.Select:
    """SELECT of `tuples`, each with a number from 1; runs in DuckDB."""
    return select(exp.Star(), alias(window(f.row_number()), "number"), of=relation(tuples))


def key_counts(numbered: str | None, rows: int) -> exp.Select:
    """SELECT of (chunk, value, n): n rows have this code of the key; rows that no other row equals are counted under
    ALONE.

    `numbered` is the table of `numbered_tuples`; None means that all rows differ.
    """
    alone: exp.Expr = literal(rows)
    parts: list[exp.Query] = []
    if numbered is not None:
        repeated = select(alias(literal(0), "chunk"), alias(column("number"), "value"), column("n"))
        parts.append(extend(repeated, of=relation(numbered)))
        alone = subquery(select(literal(rows) - or_zero(f.sum(column("n"))), of=relation(numbered)))
    counted = subquery(
        select(alias(literal(0), "chunk"), alias(big(literal(ALONE)), "value"), alias(big(alone), "n")), "alone"
    )
    parts.append(select(exp.Star(), of=counted, where=[column("n") > 0]))
    return union_all(parts)  # type: ignore[return-value]


def keyed(rows: str, keys: Sequence[tuple[Sequence[int], str]]) -> exp.Select:
    """SELECT of row, cell, key_0, ...: for each key the number of the row's tuple; ALONE if no other row equals the
    row.

    A key consists of the indexes of its values and the table of its `numbered_tuples`.
    """
    query = select(column("row", "drawn"), column("cell", "drawn"), of=relation(rows, as_="drawn"))
    for index, (key, table) in enumerate(keys):
        name = key_name(index)
        extend(query, alias(big(f.coalesce(column("number", name), literal(ALONE))), name))
        alike = [identical(column(value_name(part), "drawn"), column(value_name(part), name)) for part in key]
        extend(query, joins=[left_join(relation(table, as_=name), and_(*alike))])
    return query if keys else extend(query, alias(big(literal(ALONE)), key_name(0)))


def candidates(keyed: str, keys: int, below: int | None) -> exp.Select:
    """SELECT of row, key_0, ...: all rows, or those whose random number begins with a number less than `below`."""
    query = select(*map(column, ["row", *all_keys(keys)]), of=relation(keyed))
    return query if below is None else extend(query, where=[column("row") < literal(f"{below:0{_NUMBER_DIGITS}x}")])


def no_candidates(keys: int) -> exp.Select:
    """SELECT of the columns of `candidates` that returns no rows."""
    columns = [alias(literal(""), "row"), *(alias(big(literal(0)), name) for name in all_keys(keys))]
    return select(exp.Star(), of=subquery(select(*columns), "nothing"), where=[exp.false()])


def without_names(collected: str, keys: int, draw: str, first: int) -> exp.Select:
    """SELECT of row, draw, position, key_0, ...: the rows of `collected` with the columns that DuckDB needs to assign
    them.

    Each row that no other row equals gets a unique number below -`first`.
    """
    query = select(column("row"), alias(draws(draw), "draw"), alias(literal(0), "position"))
    alone = literal(-1 - first) - window(f.row_number())
    for name in all_keys(keys):
        extend(query, alias(if_(column(name).eq(ALONE), alone, column(name)), name))
    return extend(query, of=relation(collected))


def remaining(keyed: str, keys: int, aside: str) -> exp.Select:
    """SELECT of the rows of `keyed` that are not in the table `aside`."""
    query = select(*(column(name, "keyed") for name in ("row", "cell", *all_keys(keys))))
    extend(query, of=relation(keyed, as_="keyed"))
    extend(query, joins=[left_join(relation(aside, as_="aside"), same("row", "keyed", "aside"))])
    return extend(query, where=[is_null(column("row", "aside"))])


def starts_of(counts: str, aside: str | None, key: int, size: int, turn: int, most: int) -> exp.Query:
    """SELECT of value, first, spread, all_spread, blocks, turn, divided: the row numbers of each value.

    `counts` is the key's table of `key_counts`, from which the rows in `aside` are subtracted. Counting begins at a row
    that the random number `turn` selects. `divided` is true for values with more than `most` rows.
    """
    counted: str | exp.Query = counts
    if aside is not None:
        tables, names = {"counted": counts, "aside": aside}, {"key": [key_name(key)]}
        counted = query_file("association", "without_aside", tables=tables, names=names)
    left = query_file("association", "starts_of", tables={"counted": counted}, turn=turn)
    query = select(*(column(name, "start") for name in _START), alias(column("n", "counted") > most, "divided"))
    extend(query, of=subquery(starts(left, size), "start"))
    return extend(query, joins=[inner_join(relation(counts, as_="counted"), same("value", "start", "counted"))])


def beginnings(rows: exp.Query, starts: str, key: int) -> exp.Query:
    """SELECT of value, beginning, n: n rows of a divided value have random numbers with this beginning."""
    tables: dict[str, Relation] = {"keyed": rows, "starts": starts}
    names = {"key": [key_name(key)]}
    return query_file("association", "beginnings", tables=tables, names=names, beginning=_BEGINNING)


def no_beginnings() -> exp.Select:
    """SELECT of the columns of `beginnings` that returns no rows."""
    columns = (alias(big(literal(0)), "value"), alias(literal(""), "beginning"), alias(big(literal(0)), "n"))
    nothing = subquery(select(*columns), "nothing")
    return select(exp.Star(), of=nothing, where=[exp.false()])


def dealt_rows(rows: exp.Query, starts: str, parts: str, keys: int, key: int, size: int) -> exp.Query:
    """SELECT of row, cell, key_0, ..., block: the rows in the blocks of `size` rows that the closed form fills.

    `block_grids` explains the closed form. `parts` is the table that `numbers_before` makes of `beginnings`. `block` is
    NULL for the other rows.
    """
    tables: dict[str, Relation] = {"keyed": rows, "starts": starts, "part": parts}
    names = {"columns": ["row", "cell", *all_keys(keys)], "key": [key_name(key)]}
    return query_file("association", "dealt_rows", tables=tables, names=names, size=size, beginning=_BEGINNING)


def divided(starts: str) -> exp.Select:
    """SELECT of one number: how many values have rows that are divided by their random numbers."""
    return select(f.count(), of=relation(starts), where=[column("divided")])


def blocks_of(starts: str) -> exp.Select:
    """SELECT of the number of blocks."""
    return select(f.max(column("blocks")), of=relation(starts))


def alike_blocks(dealt_rows: str, key: int) -> exp.Query:
    """SELECT of block: the blocks with equal rows in this key."""
    return query_file("association", "alike_blocks", tables={"dealt": dealt_rows}, names={"key": [key_name(key)]})


def all_blocks(tables: Sequence[str]) -> exp.Query:
    """SELECT of block: the blocks of all these tables of `alike_blocks`, without repetition."""
    nothing = select(alias(big(literal(0)), "block"), where=[exp.false()])
    return union_all([nothing, *(_blocks(table) for table in tables)], distinct=True)


def with_others(alike: str, blocks: int, first: int, step: int) -> exp.Query:
    """SELECT of block: the blocks of the table `alike`, and every `step`-th block number from `first` up to
    `blocks`.
    """
    numbers = f.unnest(exp.GenerateSeries(start=literal(first), end=literal(blocks), step=literal(step)))
    return union_all([_blocks(alike), select(alias(big(numbers), "block"))], distinct=True)


def rows_dealt_again(dealt_rows: str, names: Sequence[str], blocks: str) -> exp.Query:
    """SELECT of the columns `names`: the rows in these blocks, and the rows in no block."""
    tables = {"dealt": dealt_rows, "again": blocks}
    return query_file("association", "rows_dealt_again", tables=tables, names={"columns": names})


def counts_of(rows: exp.Query, key: int) -> exp.Select:
    """SELECT of chunk, value, n: n rows have this code of the key, as in `key_counts`."""
    value = column(key_name(key))
    query = select(alias(literal(0), "chunk"), alias(value, "value"), alias(f.count(), "n"))
    return extend(query, of=subquery(rows, "keyed"), group_by=[value])


def _blocks(table: str) -> exp.Select:
    return select(column("block"), of=relation(table))
