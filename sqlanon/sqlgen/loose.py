"""Rows in blocks, blocks as grids, and the groups and tables that a loose association publishes.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose
associations (2010) and Loose associations to increase utility in data publishing (2015).

The rows of a block differ from each other in every key: in the values that a constraint
has in a fragment. A block is a grid of lines and columns. The groups of one fragment are
its lines, those of another its columns, those of any further one its diagonals of some
slope. Two groups of different fragments then meet in one row at most, and all rows that
a group is linked to lie in one block, where they differ: the three heterogeneities hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.terms import added, same

__all__ = [
    "Grid",
    "association_rows",
    "block_numbers",
    "differing",
    "draws",
    "fragment_rows",
    "grid",
    "group_name",
    "grouped",
    "in_order",
    "key_name",
    "located",
    "place_number",
    "value_name",
]


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
    """The grid in which the groups of each fragment have at least so many rows.

    `first` is a fragment whose groups are lines or columns. Of two fragments it has
    exactly the product of the two sizes, of three that of the two greatest ones. Of
    more, the columns become as many as it takes for all slopes to differ.
    """
    wide = first if len(sizes) == 2 else max(range(len(sizes)), key=lambda place: sizes[place])
    lines = max(size for place, size in enumerate(sizes) if place != wide)
    columns = sizes[wide]
    others = sorted((place for place in range(len(sizes)) if place != wide), key=lambda place: place != first)
    # Two slopes that differ by e meet twice in lines that are d apart if e d is a multiple of the columns.
    while any(e * d % columns == 0 for e in range(1, len(others)) for d in range(1, lines)):
        columns += 1
    slopes = dict(zip(others, range(len(others)), strict=True))
    return Grid(lines, columns, tuple(slopes.get(place) for place in range(len(sizes))))


def value_name(place: int) -> str:
    return f"value_{place}"


def key_name(place: int) -> str:
    return f"key_{place}"


def group_name(fragment: int) -> str:
    return f"group_{fragment}"


def draws(draw: str) -> exp.Expr:
    """Random bits of the operating system's for each row; `draw` names the function that gives them."""
    return exp.Anonymous(this=draw, expressions=[literal(0)])


def differing(keys: Sequence[str], partition: Sequence[exp.Expr], order: Sequence[exp.Expr]) -> exp.Expr:
    """Whether a row is the first of those of its partition that are like it, in each of these keys."""
    firsts = [
        exp.EQ(this=exp.Paren(this=place_number([*partition, column(key)], order)), expression=literal(0))
        for key in keys
    ]
    return exp.and_(*firsts)


def place_number(
    partition: Sequence[exp.Expr], order: Sequence[exp.Expr], function: exp.Expr | None = None
) -> exp.Expr:
    """A row's number in its partition, counted from 0; or its rank, if that is the function."""
    window = exp.Window(
        this=function or exp.RowNumber(), partition_by=[part.copy() for part in partition], order=in_order(order)
    )
    return exp.Sub(this=window, expression=literal(1))


def in_order(by: Sequence[exp.Expr]) -> exp.Order:
    """An ORDER BY that says where NULLs stand, as every engine needs to be told."""
    return exp.Order(expressions=[exp.Ordered(this=part.copy(), nulls_first=False) for part in by])


def located(placed: str, keyed: str, laid: Grid, draw: str, first: int | None) -> exp.Select:
    """row, block, line and column: the rows' places in the grids of their blocks.

    They are drawn, unless a `first` fragment is given: along its groups the rows of a block stand in the order of
    their place in `keyed`, so that its groups hold rows that are alike, and which row of a group goes where in the
    other direction is drawn. So a fragment's groups do not tell those of another. The draws are new ones: that by
    which blocks were filled would tell of a row's key.
    """
    if first is not None:
        return _located_near(placed, keyed, laid, draw, first)
    drawn = exp.select(column("row"), column("block"), alias(draws(draw), "drawn")).from_(relation(placed))
    cell = place_number([column("block")], [column("drawn"), column("row")])
    numbered = exp.select(column("row"), column("block"), alias(cell, "cell")).from_(drawn.subquery("drawn_row"))
    ends = [
        alias(of(this=column("cell"), expression=literal(laid.columns)), name)
        for of, name in ((exp.IntDiv, "line"), (exp.Mod, "column"))
    ]
    return exp.select(column("row"), column("block"), *ends).from_(numbered.subquery("numbered"), copy=False)


def _located_near(placed: str, keyed: str, laid: Grid, draw: str, first: int) -> exp.Select:
    by_line = laid.slopes[first] is None
    width = laid.columns if by_line else laid.lines
    block = column("block")
    inside = (
        exp.select(column("row", "placed"), column("block", "placed"), column("place"), alias(draws(draw), "drawn"))
        .from_(relation(placed, as_="placed"))
        .join(relation(keyed, as_="keyed"), on=same("row", "placed", "keyed"), copy=False)
    )
    major = exp.IntDiv(
        this=exp.Paren(this=place_number([block], [column("place"), column("drawn"), column("row")])),
        expression=literal(width),
    )
    split = exp.select(column("row"), column("block"), alias(major, "major"), alias(draws(draw), "drawn"))
    split = split.from_(inside.subquery("inside"), copy=False)
    minor = place_number([block, column("major")], [column("drawn"), column("row")])
    ends = ("line", "column") if by_line else ("column", "line")
    query = exp.select(column("row"), column("block"), alias(column("major"), ends[0]), alias(minor, ends[1]))
    return query.from_(split.subquery("split"), copy=False)


def _local(slope: int | None, columns: int) -> exp.Expr:
    if slope is None:
        return column("line")
    moved = exp.Add(this=column("column"), expression=exp.Mul(this=literal(slope), expression=column("line")))
    return exp.Mod(this=exp.Paren(this=moved), expression=literal(columns))


def block_numbers(cells: str, fragments: int, draw: str) -> exp.Select:
    """block, number_0, ...: for each fragment the blocks numbered in a drawn order, so that numbers tell nothing."""
    drawn = exp.select(column("block"), *(alias(draws(draw), f"drawn_{place}") for place in range(fragments)))
    # One row of each block.
    corner = [exp.EQ(this=column(end), expression=literal(0)) for end in ("line", "column")]
    drawn = drawn.from_(relation(cells)).where(*corner)
    query = exp.select(column("block")).from_(drawn.subquery("drawn_block"))
    for place in range(fragments):
        number = place_number([], [column(f"drawn_{place}"), column("block")])
        query.select(alias(number, f"number_{place}"), copy=False)
    return query


def grouped(cells: str, numbers: str, laid: Grid) -> exp.Select:
    """row, group_0, ...: each row's group in each fragment. Those of a block have numbers that follow each other."""
    query = exp.select(column("row")).from_(relation(cells, as_="cell"))
    for place, slope in enumerate(laid.slopes):
        before = exp.Mul(this=column(f"number_{place}"), expression=literal(laid.groups(place)))
        number = added([before, _local(slope, laid.columns), literal(1)])
        query.select(alias(number, group_name(place)), copy=False)
    return query.join(relation(numbers, as_="numbered"), on=same("block", "cell", "numbered"), copy=False)


def fragment_rows(
    rows: exp.Select, groups: str, named: Sequence[tuple[int, str]], fragment: int, group: str
) -> exp.Select:
    """What a fragment publishes: its attributes, by the place of their value, and the column `group`."""
    query = exp.select().from_(rows.subquery("row"), copy=False)
    for place, name in named:
        query.select(alias(column(value_name(place), "row"), name), copy=False)
    query.select(alias(column(group_name(fragment), "grouped"), group), copy=False)
    return query.join(relation(groups, as_="grouped"), on=same("row", "row", "grouped"), copy=False)


def association_rows(groups: str, named: Sequence[str]) -> exp.Select:
    """The association: for each row the numbers of its groups, a column of this name a fragment."""
    columns = [alias(column(group_name(fragment)), name) for fragment, name in enumerate(named)]
    return exp.select(*columns).from_(relation(groups))
