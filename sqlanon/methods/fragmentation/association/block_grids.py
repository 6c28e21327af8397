"""Rows in blocks, blocks as grids, and the groups and tables that a loose association publishes.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose
associations (2010) and Loose associations to increase utility in data publishing (2015).

The rows of a block differ from each other in every key, which are the values of a constraint's attributes in a
fragment. A block is a grid of lines and columns. The groups of one fragment are its lines, the groups of another its
columns, and the groups of any further fragment its diagonals of some slope. Two groups of different fragments then meet
in one row at most, and all rows that a group is linked to lie in one block, where they differ: the three
heterogeneities hold.

Sorts make random orders: rows and blocks are numbered in the order of the sorted table. A table keeps the order in
which it was made. If it did not, its blocks would not be grids, and the check would refuse the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.context import Adjustable
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    added,
    and_,
    ascending,
    big,
    if_,
    infix,
    or_zero,
    order_by,
    paren,
    same,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.build.steps import Step, with_steps

# The column of row numbers that every stored table has.
ROW_NUMBER = "rowid"


@dataclass(frozen=True)
class Grid:
    """A block of `lines` times `columns` rows.

    `slopes` has a number for each fragment: its group in line a and column b is b + slope a, modulo the columns. It is
    None for a fragment whose groups are the lines.
    """

    lines: int
    columns: int
    slopes: tuple[int | None, ...]

    @property
    def rows(self) -> int:
        return self.lines * self.columns

    def groups(self, fragment: int) -> int:
        """Returns how many groups of a fragment a block has."""
        return self.lines if self.slopes[fragment] is None else self.columns

    def size(self, fragment: int) -> int:
        """Returns how many rows a group of this fragment has."""
        return self.columns if self.slopes[fragment] is None else self.lines


def grid(sizes: Sequence[int], first: int = 0) -> Grid:
    """The smallest grid in which each group of a fragment has at least as many rows as `sizes` has for the fragment.

    The groups of the fragment `first` are lines or columns. A grid of two fragments has as many rows as the product of
    their sizes, a grid of three as the product of the two greatest sizes. With more fragments, columns are added until
    all slopes differ.
    """
    wide = first if len(sizes) == 2 else max(range(len(sizes)), key=lambda index: sizes[index])
    lines = max(size for index, size in enumerate(sizes) if index != wide)
    columns = sizes[wide]
    others = sorted((index for index in range(len(sizes)) if index != wide), key=lambda index: index != first)
    # Two slopes that differ by e meet twice in lines that are d apart if e d is a multiple of the columns.
    while any(e * d % columns == 0 for e in range(1, len(others)) for d in range(1, lines)):
        columns += 1
    slopes = dict(zip(others, range(len(others)), strict=True))
    return Grid(lines, columns, tuple(slopes.get(index) for index in range(len(sizes))))


def value_name(index: int) -> str:
    return f"value_{index}"


def key_name(index: int) -> str:
    return f"key_{index}"


def group_name(fragment: int) -> str:
    return f"group_{fragment}"


def draws(draw: str) -> exp.Expr:
    """Random bits from the operating system for each row; `draw` names the function that returns them."""
    return f.call(draw, 0)


def differing(keys: Sequence[str], partition: Sequence[exp.Expr], order: Sequence[exp.Expr]) -> exp.Expr:
    """Whether, in the order of `order`, a row is the first of its partition with its value in each of the keys."""
    firsts = [paren(row_index([*partition, column(key)], order)).eq(0) for key in keys]
    return and_(*firsts)


def row_index(partition: Sequence[exp.Expr], order: Sequence[exp.Expr], function: exp.Expr | None = None) -> exp.Expr:
    """A row's number in its partition, from 0. `function` replaces row_number()."""
    copies = [part.copy() for part in partition]
    return window(function or f.row_number(), partition_by=copies, order=in_order(order)) - 1


def in_order(by: Sequence[exp.Expr]) -> exp.Order:
    """An ORDER BY with an explicit position of NULLs, because engines differ in their default."""
    return order_by(*(ascending(part) for part in by))


def numbered_rows(table: str) -> exp.Select:
    """The rows of a stored table, each with its `number` in the order of the table, from 0.

    Row numbers are consecutive, but in a table that was made in an open transaction they do not begin with 0.
    """
    first = subquery(select(f.min(column(ROW_NUMBER)), of=relation(table)))
    number = column(ROW_NUMBER) - first
    return select(exp.Star(), alias(number, "number"), of=relation(table))


def located(placed: str, draw: str, *, near: bool) -> exp.Query:
    """SELECT of row, block: rows sorted by block, and within a block in random order or, if `near`, by position.

    The random numbers are new, because the numbers by which blocks were filled would reveal a row's key.
    """
    names = {"keys": ["block", "position"] if near else ["block"]}
    return query_file("association", "located", tables={"placed": placed}, names=names, draw=draws(draw))


def exchanged(cells: str, width: int, draw: str) -> exp.Query:
    """SELECT of row, block: the rows of the cells, with each run of `width` rows in a new random order.

    A run is the rows of a group. So near rows of a block stay in one group, but their order in the other direction is
    random, and the groups of a fragment reveal nothing about the groups of another fragment.
    """
    return query_file("association", "exchanged", tables={"cells": cells}, width=width, draw=draws(draw))


def block_numbers(cells: str, rows: int, draw: str) -> exp.Query:
    """SELECT of block: the blocks of `rows` rows each, in a random order, because then their numbers reveal nothing."""
    return query_file("association", "block_numbers", tables={"cells": cells}, rows=rows, draw=draws(draw))


def renumbered(numbers: str, index: int, draw: str) -> exp.Select:
    """SELECT of the blocks in a new random order, with their former numbers in the column number_`index`."""
    columns = [column("block"), *(column(_number_name(former)) for former in range(index))]
    query = select(*columns, alias(column("number"), _number_name(index)))
    extend(query, of=subquery(numbered_rows(numbers), "numbered"))
    query.set("order", in_order([draws(draw)]))
    return query


def _number_name(index: int) -> str:
    return f"number_{index}"


def grouped(cells: str, numbers: str, laid: Grid, first: int) -> exp.Select:
    """SELECT of row, group_0, ...: each row's group in each fragment. The groups of a block have consecutive numbers.

    In the order of `cells`, rows fill one group of the fragment `first` after the other. Row i of `numbers` is the
    block with number i in the last fragment.
    """
    cell = paren(column("number", "cell") % literal(laid.rows))
    last = len(laid.slopes) - 1
    names = ["number" if index == last else _number_name(index) for index in range(len(laid.slopes))]
    query = select(column("row", "cell"), of=subquery(numbered_rows(cells), "cell"))
    extend(query, *group_columns(cell, [column(name, "numbered") for name in names], laid, first))
    on = same("block", "cell", "numbered")
    return extend(query, joins=[inner_join(subquery(numbered_rows(numbers), "numbered"), on)])


def group_columns(cell: exp.Expr, numbers: Sequence[exp.Expr], laid: Grid, first: int) -> list[exp.Expr]:
    """The columns group_0, ... of a row whose cell in its block is `cell`, counted from 0.

    Cells fill one group of the fragment `first` after the other. `numbers` has the block's number in each fragment.
    """
    size = literal(laid.size(first))
    ends = (cell // size), (cell % size)
    line, across = ends if laid.slopes[first] is None else ends[::-1]
    groups: list[exp.Expr] = []
    for index, (slope, number) in enumerate(zip(laid.slopes, numbers, strict=True)):
        before = number * literal(laid.groups(index))
        group = added([before, paren(_local(slope, laid.columns, line, across)), literal(1)])
        groups.append(alias(group, group_name(index)))
    return groups


def _local(slope: int | None, columns: int, line: exp.Expr, across: exp.Expr) -> exp.Expr:
    if slope is None:
        return line.copy()
    moved = infix(paren(across), "+", literal(slope) * paren(line))
    return paren(moved) % literal(columns)


def fragment_rows(
    rows: exp.Select, groups: str, named: Sequence[tuple[int, str]], fragment: int, group: str
) -> exp.Select:
    """SELECT of the rows of a fragment: its attributes, each given by index and name, and the column `group`."""
    query = select(of=subquery(rows, "row"))
    for index, name in named:
        extend(query, alias(column(value_name(index), "row"), name))
    extend(query, alias(column(group_name(fragment), "grouped"), group))
    return extend(query, joins=[inner_join(relation(groups, as_="grouped"), same("row", "row", "grouped"))])


def own_rows(groups: str, named: Sequence[tuple[int, str]], fragment: int, group: str) -> exp.Select:
    """SELECT of the rows of a fragment as in `fragment_rows`, from a table that has the values and the groups."""
    columns = [alias(column(value_name(index)), name) for index, name in named]
    return select(*columns, alias(column(group_name(fragment)), group), of=relation(groups))


def association_rows(groups: str, named: Sequence[str]) -> exp.Select:
    """SELECT of the association: each row's group numbers, with the names `named`, one for each fragment."""
    columns = [alias(column(group_name(fragment)), name) for fragment, name in enumerate(named)]
    return select(*columns, of=relation(groups))


# Blocks of rows that differ from each other in every key: rows are assigned to all blocks at once.
#
# If there is one key, there is a closed form. If rows are sorted by value, with at most g rows of each, and row number
# i goes to block i mod g, then no value meets itself, and the blocks have equal size. g blocks of K rows can be filled
# iff the sum over the values of min(rows with the value, g) is at least g K. That sum is the minimum, over all j, of j
# g plus the number of rows without the j most frequent values. So g is the greatest number with g (K - j) <= (rows
# without the j most frequent values), j < K.
#
# A key above 0 is the number of a value that several rows have; a row whose value is unique has a key below 0.
#
# One sort puts rows of equal values next to each other, and rows are numbered in that order. A table keeps the order in
# which it was made. If it did not, equal rows would meet in a block, and the check of the release would stop it.


# The value under which rows with unique values are counted together.
ALONE = 0


def all_keys(keys: int) -> list[str]:
    return [key_name(index) for index in range(keys)]


def row_columns(keys: int) -> list[str]:
    """Returns the names of the columns of a row that is in no block."""
    return ["row", "draw", "position", *all_keys(keys)]


def possible(rows: str, key: int, size: int, chunk: int | None = None) -> exp.Query:
    """SELECT of one number: how many blocks of `size` rows, different in the key, these rows can fill, summed over
    chunks.
    """
    return _possible(_counts(_chunked(rows, key, chunk)), size)


def counts(rows: str, key: int) -> exp.Select:
    """SELECT of (chunk, value, n): n rows have this value of the key; the only chunk is 0."""
    return _counts(_chunked(rows, key, None))


def possible_of(counts: str, size: int) -> exp.Query:
    """SELECT of one number: how many blocks of `size` rows, different in a key, can be filled. `counts` is the table of
    `counts` for this key.
    """
    return _possible(select(exp.Star(), of=relation(counts)), size)


def _possible(counts: exp.Query, size: int) -> exp.Query:
    query = select(big(or_zero(f.sum(column("blocks")))), of=relation("block_count"))
    return with_steps(query, [("counts", counts), _block_count(size)])


def sorted_rows(rows: str, keys: int, key: int, chunk: int | None) -> exp.Select:
    """SELECT of the rows sorted by their value in the key; rows with equal values are in random order.

    If `chunk` is a number of rows, each run of that many rows by position is a chunk: rows get the column `chunk` and
    are sorted by it first.
    """
    chunks = [] if chunk is None else ["chunk"]
    query = select(*map(column, [*row_columns(keys), *chunks]), of=subquery(_chunked(rows, key, chunk), "part"))
    query.set("order", in_order([column(name) for name in (*chunks, "value", "draw")]))
    return query


def filled_blocks(sorted_rows: str, keys: int, key: int, size: int, offset: int, *, chunked: bool) -> exp.Query:
    """SELECT of the rows with `block`, numbered from `offset` + 1: as many blocks as the closed form fills.

    `block` is NULL for the other rows. If `chunked` is true, blocks are filled within each chunk. Counting begins at a
    random row, so any row can be among the last, which fill no block; equal values stay next to each other.
    """
    part = select(exp.Star(), alias(_value(key), "value"), of=subquery(numbered_rows(sorted_rows), "sorted_rows"))
    if not chunked:
        extend(part, alias(literal(0), "chunk"))
    names = {"columns": row_columns(keys)}
    query = query_file("association", "filled_blocks", tables={"part": part}, names=names, size=size, offset=offset)
    drawn_counts = extend(_counts(part), alias(exp.BitwiseXorAgg(this=column("draw")), "drawn"))
    return with_steps(
        query, [("counts", drawn_counts), _block_count(size), ("starts", query_file("association", "starts"))]
    )


def _chunked(rows: str, key: int, chunk: int | None) -> exp.Select:
    """SELECT of the rows with the columns chunk and value."""
    number: exp.Expr = literal(0)
    if chunk is not None:
        along = row_index([], [column("position"), column("draw"), column("row")])
        number = paren(along) // chunk
    return select(exp.Star(), alias(number, "chunk"), alias(_value(key), "value"), of=relation(rows))


def _value(key: int) -> exp.Expr:
    """The code of a row's value in the key; ALONE if no other row has the value."""
    value = column(key_name(key))
    return if_(value > ALONE, value, ALONE)


def _counts(part: exp.Select) -> exp.Select:
    """SELECT of (chunk, value, n): n rows of the chunk have this value."""
    names = [column("chunk"), column("value")]
    return select(*names, alias(f.count(), "n"), of=subquery(part, "part"), group_by=names)


def _block_count(size: int) -> Step:
    return "block_count", query_file("association", "block_count", size=size)


def starts(counts: exp.Query, size: int) -> exp.Query:
    """SELECT of starts.sql for each value, from `counts` (chunk, value, n, drawn) and the size of a block."""
    return with_steps(query_file("association", "starts"), [("counts", counts), _block_count(size)])


def no_blocks(rows: str) -> exp.Select:
    """SELECT of row, block, position that returns no rows."""
    query = select(column("row"), alias(big(literal(0)), "block"), column("position"))
    return extend(query, of=relation(rows), where=[exp.false()])


def dissolved(placed: str, blocks: exp.Query) -> exp.Delete:
    """DELETE of the rows of these blocks from the table `placed`."""
    return exp.delete(relation(placed), where=column("block").isin(query=blocks))


def some_blocks(placed: str, count: int, draw: str) -> exp.Select:
    """SELECT of `count` blocks at random."""
    blocks = select(column("block"), distinct=True, of=relation(placed))
    return select(column("block"), of=subquery(blocks, "part"), order_by=[draws(draw)], limit=count)


def rows_of_blocks(keyed: str, placed: str, blocks: str, keys: int) -> exp.Select:
    """SELECT of the rows in these blocks, with the columns `row_columns`."""
    chosen = select(column("block"), of=relation(blocks))
    rows = select(column("row"), of=relation(placed), where=[column("block").isin(query=chosen)])
    return select(*map(column, row_columns(keys)), of=relation(keyed), where=[column("row").isin(query=rows)])


def pooled(free: str, freed: exp.Select, keys: int, draw: str) -> exp.Select:
    """SELECT of the rows in no block and the rows of `freed`, with new random numbers."""
    names = row_columns(keys)
    pool = exp.union(select(*map(column, names), of=relation(free)), freed, distinct=False)
    columns = [alias(draws(draw), name) if name == "draw" else column(name) for name in names]
    return select(*columns, of=subquery(pool, "pool"))


# The limits of assigning rows again.


@dataclass(frozen=True)
class Sizes:
    """The limits of assigning rows to blocks.

    With several keys, the rows left out are assigned again, together with the rows of random blocks, until
    `max_deals_without_gain` attempts in a row have placed none of them.

    The number of rows that are set aside at random varies. If it is too large, the whole assignment is repeated, up to
    `max_draws` times in total, for tables of at most `max_rows_drawn_again` rows; in larger tables the number hardly
    varies.

    On Spark one task numbers at most `max_rows_numbered` rows of a value; larger numbers of rows are divided by the
    beginnings of their random numbers. Blocks with equal rows are assigned again on Spark while they have more than
    `max_rows_moved` rows and their number halves. The rest are assigned in DuckDB with an equal number of other blocks,
    at least `min_blocks_dealt_again`.
    """

    max_deals_without_gain: int = 3
    max_draws: int = 8
    max_rows_drawn_again: int = 100_000
    max_rows_numbered: int = 1_000_000
    max_rows_moved: int = 100_000
    min_blocks_dealt_again: int = 1_000


sizes = Adjustable(Sizes())
