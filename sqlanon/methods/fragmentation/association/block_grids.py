"""Rows in blocks, blocks as grids, and the groups and tables that a loose association publishes.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose
associations (2010) and Loose associations to increase utility in data publishing (2015).

The rows of a block differ from each other in every key: in the values that a constraint
has in a fragment. A block is a grid of lines and columns. The groups of one fragment are
its lines, those of another its columns, those of any further one its diagonals of some
slope. Two groups of different fragments then meet in one row at most, and all rows that
a group is linked to lie in one block, where they differ: the three heterogeneities hold.

Random orders are drawn by sorts: rows and blocks are numbered in the order of the sorted table. A table keeps the order
in which it was made; should it ever not, its blocks would be no grids, and the check of the release would stop it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import added, ascending, infix, order_by, paren, same, window
from sqlanon.sql.build.names import alias, column, literal, relation

# The column that every stored table has, with the number of the row.
ROW_NUMBER = "rowid"


@dataclass(frozen=True)
class Grid:
    """A block of `lines` times `columns` rows.

    `slopes` has a number for each fragment: its group in line a and column b is
    b + slope a, modulo the columns; None where its groups are the lines.
    """

    lines: int
    columns: int
    slopes: tuple[int | None, ...]

    @property
    def rows(self) -> int:
        return self.lines * self.columns

    def groups(self, fragment: int) -> int:
        """How many groups of a fragment a block has."""
        return self.lines if self.slopes[fragment] is None else self.columns

    def size(self, fragment: int) -> int:
        """How many rows a group of a fragment has."""
        return self.columns if self.slopes[fragment] is None else self.lines


def grid(sizes: Sequence[int], first: int = 0) -> Grid:
    """The grid in which the groups of each fragment have at least `sizes` rows, the size that belongs to the fragment.

    `first` is a fragment whose groups are lines or columns. Of two fragments it has
    exactly the product of the two sizes, of three that of the two greatest ones. Of
    more, the columns become as many as it takes for all slopes to differ.
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
    """Random bits of the operating system's for each row; `draw` names the function that gives them."""
    return f.call(draw, 0)


def differing(keys: Sequence[str], partition: Sequence[exp.Expr], order: Sequence[exp.Expr]) -> exp.Expr:
    """Whether a row is the first of those of its partition that are like it, in each of these keys."""
    firsts = [paren(row_index([*partition, column(key)], order)).eq(0) for key in keys]
    return exp.and_(*firsts)


def row_index(partition: Sequence[exp.Expr], order: Sequence[exp.Expr], function: exp.Expr | None = None) -> exp.Expr:
    """A row's number in its partition, counted from 0; or its rank, if that is the function."""
    copies = [part.copy() for part in partition]
    return window(function or f.row_number(), partition_by=copies, order=in_order(order)) - 1


def in_order(by: Sequence[exp.Expr]) -> exp.Order:
    """An ORDER BY that says where NULLs are sorted, because engines differ in that."""
    return order_by(*(ascending(part.copy()) for part in by))


def numbered_rows(table: str) -> exp.Select:
    """The rows of a stored table, each with its `number` in the order of the table, from 0.

    Row numbers follow each other; those of a table that was made in a transaction still open do not begin with 0.
    """
    first = exp.select(f.min(column(ROW_NUMBER))).from_(relation(table)).subquery()
    number = column(ROW_NUMBER) - first
    return exp.select(exp.Star(), alias(number, "number")).from_(relation(table))


def located(placed: str, draw: str, *, near: bool) -> exp.Select:
    """row, block: block after block, the rows of each in a drawn order, or, if `near`, in that of their positions.

    The draws are new ones: that by which blocks were filled would tell of a row's key.
    """
    keys = [column(name) for name in (["block", "position"] if near else ["block"])]
    query = exp.select(column("row"), column("block")).from_(relation(placed))
    query.set("order", in_order([*keys, draws(draw)]))
    return query


def exchanged(cells: str, width: int, draw: str) -> exp.Select:
    """The rows of the cells; each `width` that follow one another are put in a new random order.

    These are the rows of a group. So rows of a block that are near each other stay in one group, but their order in the
    other direction is drawn, so that a fragment's groups do not tell those of another.
    """
    query = exp.select(column("row"), column("block")).from_(numbered_rows(cells).subquery("cell"))
    group = column("number") // literal(width)
    query.set("order", in_order([group, draws(draw)]))
    return query


def block_numbers(cells: str, rows: int, draw: str) -> exp.Select:
    """block: the blocks of `rows` rows each, in a random order, so that their numbers reveal nothing."""
    first = infix(column("number") % literal(rows), "=", 0)
    query = exp.select(column("block")).from_(numbered_rows(cells).subquery("cell")).where(first)
    query.set("order", in_order([draws(draw)]))
    return query


def renumbered(numbers: str, index: int, draw: str) -> exp.Select:
    """The blocks in another order, which is drawn, with the numbers that they had as number_`index`."""
    columns = [column("block"), *(column(_number_name(former)) for former in range(index))]
    query = exp.select(*columns, alias(column("number"), _number_name(index)))
    query.from_(numbered_rows(numbers).subquery("numbered"), copy=False)
    query.set("order", in_order([draws(draw)]))
    return query


def _number_name(index: int) -> str:
    return f"number_{index}"


def grouped(cells: str, numbers: str, laid: Grid, first: int) -> exp.Select:
    """row, group_0, ...: each row's group in each fragment. Those of a block have numbers that follow each other.

    In the order of `cells`, one row after the other fills a group of the fragment `first`. Number i of `numbers` is
    that of a block in the last fragment.
    """
    cell = paren(column("number", "cell") % literal(laid.rows))
    last = len(laid.slopes) - 1
    names = ["number" if index == last else _number_name(index) for index in range(len(laid.slopes))]
    query = exp.select(column("row", "cell")).from_(numbered_rows(cells).subquery("cell"))
    query.select(*group_columns(cell, [column(name, "numbered") for name in names], laid, first), copy=False)
    on = same("block", "cell", "numbered")
    return query.join(numbered_rows(numbers).subquery("numbered"), on=on, copy=False)


def group_columns(cell: exp.Expr, numbers: Sequence[exp.Expr], laid: Grid, first: int) -> list[exp.Expr]:
    """group_0, ...: the groups of a row, which has this cell of its block, counted from 0.

    One cell after the other fills a group of the fragment `first`. The block has one of `numbers` in each fragment.
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
    moved = infix(paren(across.copy()), "+", literal(slope) * paren(line.copy()))
    return paren(moved) % literal(columns)


def fragment_rows(
    rows: exp.Select, groups: str, named: Sequence[tuple[int, str]], fragment: int, group: str
) -> exp.Select:
    """What a fragment publishes: its attributes, by the index of their value, and the column `group`."""
    query = exp.select().from_(rows.subquery("row"), copy=False)
    for index, name in named:
        query.select(alias(column(value_name(index), "row"), name), copy=False)
    query.select(alias(column(group_name(fragment), "grouped"), group), copy=False)
    return query.join(relation(groups, as_="grouped"), on=same("row", "row", "grouped"), copy=False)


def own_rows(groups: str, named: Sequence[tuple[int, str]], fragment: int, group: str) -> exp.Select:
    """As `fragment_rows`, from rows that have their values beside their groups."""
    columns = [alias(column(value_name(index)), name) for index, name in named]
    return exp.select(*columns, alias(column(group_name(fragment)), group)).from_(relation(groups))


def association_rows(groups: str, named: Sequence[str]) -> exp.Select:
    """The association: for each row the numbers of its groups, a column of this name a fragment."""
    columns = [alias(column(group_name(fragment)), name) for fragment, name in enumerate(named)]
    return exp.select(*columns).from_(relation(groups))
