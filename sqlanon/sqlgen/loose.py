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
from sqlanon.sqlgen.terms import big

__all__ = [
    "Grid",
    "association_rows",
    "differing",
    "draws",
    "fragment_rows",
    "grid",
    "group_name",
    "grouped",
    "in_order",
    "key_name",
    "keyed",
    "labels",
    "located",
    "numbered",
    "place_number",
    "value_name",
]

# Along a curve through several columns, each has so many steps at most.
_MOST_BITS = 20
_ALL_BITS = 62


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


def numbered(source: exp.Query, columns: Sequence[str], near: Sequence[str], draw: str) -> exp.Select:
    """The source's rows: row, draw, value_0, ... for these columns and near_0, ... for those.

    It has to be kept as a table: a source need not give its rows twice in one order.
    """
    query = exp.select(alias(exp.Window(this=exp.RowNumber()), "row"), alias(draws(draw), "draw"))
    for place, name in enumerate(columns):
        query.select(alias(column(name, "source"), value_name(place)), copy=False)
    for place, name in enumerate(near):
        query.select(alias(column(name, "source"), f"near_{place}"), copy=False)
    return query.from_(source.subquery("source"), copy=False)


def keyed(rows: str, keys: Sequence[Sequence[int]], near: int) -> exp.Select:
    """row, draw, place and key_0, ...: for each key the number of the row's tuple of these values, NULL being a value.

    `place` orders the rows along a curve through the `near` columns, so that rows beside
    each other are alike in all of them; without such columns it is 0.
    """
    bits = min(_MOST_BITS, _ALL_BITS // max(near, 1)) or 1
    used = min(near, _ALL_BITS)
    steps = [alias(_step(place, bits), f"step_{place}") for place in range(used)]
    ranked = exp.select(exp.Star(), *steps).from_(relation(rows))
    query = exp.select(column("row"), column("draw")).from_(ranked.subquery("ranked"), copy=False)
    query.select(alias(_interleaved(used, bits) if used else literal(0), "place"), copy=False)
    for number, key in enumerate(keys):
        order = in_order([column(value_name(place)) for place in key])
        query.select(alias(exp.Window(this=exp.DenseRank(), order=order), key_name(number)), copy=False)
    return query


def _step(place: int, bits: int) -> exp.Expr:
    """A row's rank in a column, scaled to so many bits."""
    # As BIGINT: on Spark a rank is an INT, and overflows.
    rank = big(place_number([], [column(f"near_{place}")], exp.Rank()))
    scaled = exp.Paren(this=exp.Mul(this=rank, expression=literal(2**bits)))
    return exp.IntDiv(this=scaled, expression=exp.Window(this=exp.Count(this=exp.Star())))


def _interleaved(used: int, bits: int) -> exp.Expr:
    """The bits of the steps, interleaved: the row's place on the Z-order curve (Morton 1966)."""
    parts: list[exp.Expr] = []
    for place in range(used):
        for bit in range(bits):
            whole = exp.Paren(this=exp.IntDiv(this=column(f"step_{place}"), expression=literal(2**bit)))
            one = exp.Paren(this=exp.Mod(this=whole, expression=literal(2)))
            parts.append(exp.Mul(this=one, expression=literal(2 ** (bit * used + place))))
    found = parts[0]
    for part in parts[1:]:
        found = exp.Add(this=found, expression=part)
    return found


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


def located(placed: str, keys: str, laid: Grid, draw: str, first: int) -> exp.Select:
    """row, block, and the row's group in each fragment, local_0, ..., counted within its block.

    Along the `first` fragment's groups the rows of a block stand in the order of their
    place, so that its groups hold rows that are alike; which row of a group goes where
    in the other direction is drawn. So a fragment's groups do not tell those of another.
    Both draws are new ones: that by which blocks were filled would tell of a row's key.
    """
    by_line = laid.slopes[first] is None
    width = laid.columns if by_line else laid.lines
    block = column("block")
    inside = (
        exp.select(column("row", "placed"), column("block", "placed"), column("place"), alias(draws(draw), "drawn"))
        .from_(relation(placed, as_="placed"))
        .join(relation(keys, as_="keyed"), on=_same("row", "placed", "keyed"), copy=False)
    )
    major = exp.IntDiv(
        this=exp.Paren(this=place_number([block], [column("place"), column("drawn"), column("row")])),
        expression=literal(width),
    )
    split = exp.select(column("row"), column("block"), alias(major, "major"), alias(draws(draw), "drawn"))
    split = split.from_(inside.subquery("inside"), copy=False)
    minor = place_number([block, column("major")], [column("drawn"), column("row")])
    ends = ("line", "column") if by_line else ("column", "line")
    cells = exp.select(column("row"), column("block"), alias(column("major"), ends[0]), alias(minor, ends[1]))
    cells = cells.from_(split.subquery("split"), copy=False)
    query = exp.select(column("row"), column("block")).from_(cells.subquery("cell"), copy=False)
    for fragment, slope in enumerate(laid.slopes):
        query.select(alias(_local(slope, laid.columns), f"local_{fragment}"), copy=False)
    return query


def _local(slope: int | None, columns: int) -> exp.Expr:
    if slope is None:
        return column("line")
    moved = exp.Add(this=column("column"), expression=exp.Mul(this=literal(slope), expression=column("line")))
    return exp.Mod(this=exp.Paren(this=moved), expression=literal(columns))


def labels(table: str, fragment: int, draw: str) -> exp.Select:
    """block, local and label: a fragment's groups numbered in a drawn order, so that numbers tell nothing."""
    local = alias(column(f"local_{fragment}"), "local")
    groups = exp.select(column("block"), local).distinct(copy=False).from_(relation(table))
    drawn = exp.select(exp.Star(), alias(draws(draw), "drawn")).from_(groups.subquery("part"), copy=False)
    number = exp.Add(this=place_number([], [column("drawn"), column("block"), column("local")]), expression=literal(1))
    return exp.select(column("block"), column("local"), alias(number, "label")).from_(drawn.subquery("part"))


def grouped(table: str, named: Sequence[str]) -> exp.Select:
    """row, group_0, ...: each row's group in each fragment; `named` are the tables of `labels`."""
    query = exp.select(column("row", "cell")).from_(relation(table, as_="cell"))
    for fragment, names in enumerate(named):
        of = f"label_{fragment}"
        query.select(alias(column("label", of), group_name(fragment)), copy=False)
        local = exp.EQ(this=column(f"local_{fragment}", "cell"), expression=column("local", of))
        query.join(relation(names, as_=of), on=exp.and_(_same("block", "cell", of), local), copy=False)
    return query


def fragment_rows(rows: str, groups: str, named: Sequence[tuple[int, str]], fragment: int, group: str) -> exp.Select:
    """What a fragment publishes: its attributes, by the place of their value, and the column `group`."""
    query = exp.select().from_(relation(rows, as_="row"))
    for place, name in named:
        query.select(alias(column(value_name(place), "row"), name), copy=False)
    query.select(alias(column(group_name(fragment), "grouped"), group), copy=False)
    return query.join(relation(groups, as_="grouped"), on=_same("row", "row", "grouped"), copy=False)


def association_rows(groups: str, named: Sequence[str]) -> exp.Select:
    """The association: for each row the numbers of its groups, a column of this name a fragment."""
    columns = [alias(column(group_name(fragment)), name) for fragment, name in enumerate(named)]
    return exp.select(*columns).from_(relation(groups))


def _same(name: str, one: str, other: str) -> exp.Expr:
    return exp.EQ(this=column(name, one), expression=column(name, other))
