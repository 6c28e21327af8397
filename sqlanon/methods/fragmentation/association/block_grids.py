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
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file
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
    """Returns the smallest grid in which each group of fragment i has at least `sizes[i]` rows.

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


def differing(keys: Sequence[str], partition: str, order: Sequence[str]) -> exp.Expr:
    """Whether, in the order of `order`, a row is the first of its partition with its value in each of the keys."""
    text = "(row_number() OVER (PARTITION BY {part}, {key} ORDER BY {order} ASC NULLS LAST) - 1) = 0"
    return exp.and_(*(filled(text, names={"part": partition, "order": order, "key": key}) for key in keys))


def numbered_rows(table: str) -> exp.Query:
    """The rows of a stored table, each with its `number` in the order of the table, from 0.

    Row numbers are consecutive, but in a table that was made in an open transaction they do not begin with 0.
    """
    text = "SELECT *, rowid - (SELECT min(rowid) FROM numbered) AS number FROM numbered"
    return filled_query(text, tables={"numbered": table})


def located(placed: str, draw: str, *, near: bool) -> exp.Query:
    """SELECT of row, block: rows sorted by block, and within a block in random order or, if `near`, by position.

    The random numbers are new, because the numbers by which blocks were filled would reveal a row's key.
    """
    names = {"keys": ["block", "position"] if near else ["block"]}
    return query_file("association", "located", tables={"placed": placed}, names=names, draw=draws(draw))


def exchanged(cells: str, width: int, draw: str) -> exp.Query:
    """SELECT of row, block: the cells' rows, each `width` in a new random order; see sql/association/exchanged.sql."""
    return query_file("association", "exchanged", tables={"cells": cells}, width=width, draw=draws(draw))


def block_numbers(cells: str, rows: int, draw: str) -> exp.Query:
    """SELECT of block: the blocks of `rows` rows each, in a random order, because then their numbers reveal nothing."""
    return query_file("association", "block_numbers", tables={"cells": cells}, rows=rows, draw=draws(draw))


def renumbered(numbers: str, index: int, draw: str) -> exp.Query:
    """SELECT of the blocks in a new random order, with their former numbers in the column number_`index`."""
    text = """SELECT block, {former}, number AS "{new}" FROM numbered ORDER BY $draw ASC NULLS LAST"""
    names = {"former": [_number_name(former) for former in range(index)], "new": _number_name(index)}
    return filled_query(text, tables={"numbered": numbered_rows(numbers)}, names=names, draw=draws(draw))


def _number_name(index: int) -> str:
    return f"number_{index}"


def grouped(cells: str, numbers: str, laid: Grid, first: int) -> exp.Query:
    """SELECT of row, group_0, ...: each row's group in each fragment. The groups of a block have consecutive numbers.

    In the order of `cells`, rows fill one group of the fragment `first` after the other. Row i of `numbers` is the
    block with number i in the last fragment.
    """
    last = len(laid.slopes) - 1
    names = ["number" if index == last else _number_name(index) for index in range(len(laid.slopes))]
    cell = filled("(cell.number % $rows)", rows=laid.rows)
    return filled_query(
        "SELECT cell.row, $groups FROM cell JOIN numbered ON cell.block = numbered.block",
        tables={"cell": numbered_rows(cells), "numbered": numbered_rows(numbers)},
        groups=group_columns(cell, [column(name, "numbered") for name in names], laid, first),
    )


def group_columns(cell: exp.Expr, numbers: Sequence[exp.Expr], laid: Grid, first: int) -> list[exp.Expr]:
    """The columns group_0, ... of a row whose cell in its block is `cell`, counted from 0.

    Cells fill one group of the fragment `first` after the other. `numbers` has the block's number in each fragment.
    """
    ends = [filled(text, cell=cell, size=laid.size(first)) for text in ("$cell // $size", "$cell % $size")]
    line, across = ends if laid.slopes[first] is None else ends[::-1]
    groups: list[exp.Expr] = []
    for index, (slope, number) in enumerate(zip(laid.slopes, numbers, strict=True)):
        text = "$line" if slope is None else "(($across) + $slope * ($line)) % $columns"
        group = filled(text, line=line, across=across, slope=slope, columns=laid.columns)
        text = """$number * $groups + ($group) + 1 AS "{name}" """
        names = {"name": group_name(index)}
        groups.append(filled(text, names=names, number=number, groups=laid.groups(index), group=group))
    return groups


def fragment_rows(
    rows: exp.Query, groups: str, named: Sequence[tuple[int, str]], fragment: int, group: str
) -> exp.Select:
    """SELECT of the rows of a fragment: its attributes, each given by index and name, and the column `group`."""
    text = """
        SELECT {row.values} AS "{names}", {grouped.number} AS "{group}" FROM row
        JOIN groups AS grouped ON row.row = grouped.row
    """
    return filled_select(text, tables={"row": rows, "groups": groups}, names=_fragment_names(named, fragment, group))


def _fragment_names(named: Sequence[tuple[int, str]], fragment: int, group: str) -> dict[str, str | list[str]]:
    """Names the columns of a fragment, for the holes of a SQL file: its attributes in the source (values) and as
    published (names), and the number of its group.
    """
    values, names = [value_name(index) for index, _ in named], [name for _, name in named]
    return {"values": values, "names": names, "number": group_name(fragment), "group": group}


def own_rows(groups: str, named: Sequence[tuple[int, str]], fragment: int, group: str) -> exp.Select:
    """SELECT of the rows of a fragment as in `fragment_rows`, from a table that has the values and the groups."""
    text = """SELECT {values} AS "{names}", {number} AS "{group}" FROM groups"""
    return filled_select(text, tables={"groups": groups}, names=_fragment_names(named, fragment, group))


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
    """SELECT of one number: how many blocks of `size` rows, all different in the key, the rows can fill.

    If `chunk` is given, blocks are filled within chunks of that many rows.
    """
    return possible_of(_counts(_chunked(rows, key, chunk)), size)


def counts(rows: str, key: int) -> exp.Query:
    """SELECT of (chunk, value, n): n rows have this value of the key; the only chunk is 0."""
    return _counts(_chunked(rows, key, None))


def possible_of(counts: exp.Query | str, size: int) -> exp.Query:
    """SELECT of one number: how many blocks of `size` rows, different in a key, can be filled. `counts` is the table of
    `counts` for this key.
    """
    query = filled_query("SELECT CAST(coalesce(sum(blocks), 0) AS BIGINT) FROM block_count")
    rows = filled_query("SELECT * FROM counts", tables={"counts": counts}) if isinstance(counts, str) else counts
    return with_steps(query, [("counts", rows), _block_count(size)])


def sorted_rows(rows: str, keys: int, key: int, chunk: int | None) -> exp.Query:
    """SELECT of the rows sorted by their value in the key; rows with equal values are in random order.

    If `chunk` is a number of rows, each run of that many rows by position is a chunk: rows get the column `chunk` and
    are sorted by it first.
    """
    names = {"columns": row_columns(keys), "chunk": [] if chunk is None else ["chunk"]}
    text = """
        SELECT {columns}, {chunk} FROM part ORDER BY {chunk} ASC NULLS LAST, value ASC NULLS LAST, draw ASC NULLS LAST
    """
    return filled_query(text, tables={"part": _chunked(rows, key, chunk)}, names=names)


def filled_blocks(sorted_rows: str, keys: int, key: int, size: int, offset: int, *, chunked: bool) -> exp.Query:
    """SELECT of the rows with `block`, numbered from `offset` + 1: as many blocks as the closed form fills.

    `block` is NULL for the other rows. If `chunked` is true, blocks are filled within each chunk. Counting begins at a
    random row, so any row can be among the last, which fill no block; equal values stay next to each other.
    """
    text = """SELECT *, $value AS value, $chunk AS "{chunk}" FROM sorted_rows"""
    tables, chunk = {"sorted_rows": numbered_rows(sorted_rows)}, [] if chunked else [0]
    value = _value(key)
    part = filled_query(text, tables=tables, names={"chunk": ["chunk"] * len(chunk)}, value=value, chunk=chunk)
    names = {"columns": row_columns(keys)}
    query = query_file("association", "filled_blocks", tables={"part": part}, names=names, size=size, offset=offset)
    drawn_counts = _counts(part, [filled("bit_xor(draw) AS drawn")])
    return with_steps(
        query, [("counts", drawn_counts), _block_count(size), ("starts", query_file("association", "starts"))]
    )


def _chunked(rows: str, key: int, chunk: int | None) -> exp.Query:
    """SELECT of the rows with two more columns: the value of the key, and the chunk of the row by its position."""
    along = """
        (row_number() OVER (ORDER BY position ASC NULLS LAST, draw ASC NULLS LAST, row ASC NULLS LAST) - 1) // $chunk
    """
    number = literal(0) if chunk is None else filled(along, chunk=chunk)
    text = "SELECT *, $number AS chunk, $value AS value FROM rows"
    return filled_query(text, tables={"rows": rows}, number=number, value=_value(key))


def _value(key: int) -> exp.Expr:
    """The code of a row's value in the key; ALONE if no other row has the value."""
    return filled("CASE WHEN {key} > $alone THEN {key} ELSE $alone END", names={"key": key_name(key)}, alone=ALONE)


def _counts(part: exp.Query, figures: Sequence[exp.Expr] = ()) -> exp.Query:
    """SELECT of chunk, value, n and further figures: the number of rows of each chunk with each value."""
    text = "SELECT chunk, value, count(*) AS n, $figures FROM part GROUP BY chunk, value"
    return filled_query(text, tables={"part": part}, figures=figures)


def _block_count(size: int) -> Step:
    return "block_count", query_file("association", "block_count", size=size)


def starts(counts: exp.Query, size: int) -> exp.Query:
    """SELECT of the positions at which the rows of each value begin in a numbering of all rows; see
    sql/association/starts.sql.

    `counts` is a query of (chunk, value, n, drawn), with the rows of each value and a random number; `size` is the
    number of rows of a block.
    """
    return with_steps(query_file("association", "starts"), [("counts", counts), _block_count(size)])


def no_blocks(rows: str) -> exp.Query:
    """SELECT of row, block, position that returns no rows, with the types of the table `rows`."""
    text = "SELECT row, CAST(0 AS BIGINT) AS block, position FROM rows WHERE FALSE"
    return filled_query(text, tables={"rows": rows})


def dissolved(placed: str, blocks: exp.Query) -> exp.Delete:
    """DELETE of the rows of these blocks from the table `placed`."""
    return exp.delete(relation(placed), where=column("block").isin(query=blocks))


def some_blocks(placed: str, count: int, draw: str) -> exp.Query:
    """SELECT of block: `count` blocks of the table `placed`, chosen at random."""
    text = "SELECT block FROM (SELECT DISTINCT block FROM placed) AS part ORDER BY $draw LIMIT $count"
    return filled_query(text, tables={"placed": placed}, draw=draws(draw), count=count)


def rows_of_blocks(keyed: str, placed: str, blocks: str, keys: int) -> exp.Query:
    """SELECT of the rows in the blocks that the table `blocks` lists, with the columns `row_columns`."""
    text = """
        SELECT {columns} FROM keyed
        WHERE row IN (SELECT row FROM placed WHERE block IN (SELECT block FROM blocks))
    """
    tables = {"keyed": keyed, "placed": placed, "blocks": blocks}
    return filled_query(text, tables=tables, names={"columns": row_columns(keys)})


def pooled(free: str, freed: exp.Query, keys: int, draw: str) -> exp.Query:
    """SELECT of the rows without a block in `free`, and of the rows that the query `freed` returns, with new random
    numbers.
    """
    text = """
        SELECT $columns FROM (SELECT {names} FROM free UNION ALL SELECT {names} FROM freed) AS pool
    """
    names = row_columns(keys)
    columns = [alias(draws(draw), name) if name == "draw" else column(name) for name in names]
    return filled_query(text, tables={"free": free, "freed": freed}, names={"names": names}, columns=columns)


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
