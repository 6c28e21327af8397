"""Published tables read as the grids of which a loose association is made: each table once, and no joins.

A block's groups have numbers that follow each other in each fragment, so a number tells the block. What the
statements count proves the three heterogeneities (De Capitani di Vimercati et al. 2015) for tables that are grids;
of other tables it proves nothing.

A table is put in the order of its groups, and each row is then compared with those read before it. If none is wrong,
there are as many rows of each group as there have to be, and no two of a block are alike, in whatever order they
really were read: should an engine ever read them in another order, rows would be wrong, and nothing is proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import Grid, in_order
from sqlanon.methods.fragmentation.association.looseness_sql import PublishedAssociation, PublishedFragment
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import digest, if_, infix, window
from sqlanon.sql.build.names import alias, column


def association_bounds(published: PublishedAssociation) -> exp.Select:
    """How many rows there are, and of each fragment's groups the rows with a number, the least and the greatest."""
    query = exp.select(f.count())
    for name in published.groups:
        query.select(f.count(column(name)), f.min(column(name)), f.max(column(name)), copy=False)
    return query.from_(published.relation.copy(), copy=False)


def broken_groups(
    fragment: PublishedFragment, parts: Sequence[Sequence[str]], size: int, rows_of_block: int
) -> exp.Select:
    """How many rows a fragment has, and how many are wrong: not as in groups of `size` rows, numbered from 1, or like
    another one of their block in one of these parts. Tuples of one digest count as one.
    """
    digests = [alias(digest([column(name) for name in part]), f"digest_{index}") for index, part in enumerate(parts)]
    rows = exp.select(alias(column(fragment.group), "group_0"), *digests).from_(fragment.relation.copy())
    names = [value.alias for value in digests]
    sound = [_numbered(size)]
    sound += [_unlike([name], back, rows_of_block) for name in names for back in range(1, rows_of_block)]
    read = _read(rows, ["group_0"], dict.fromkeys(names, rows_of_block - 1))
    wrong = if_(_wrong(sound), 1)
    return exp.select(f.count(), f.count(wrong)).from_(read.subquery("read"), copy=False)


def broken_grids(published: PublishedAssociation, laid: Grid) -> exp.Select:
    """How many rows of the association are wrong, and for each further fragment how many of its blocks those of the
    first are linked to. Numbers of groups are above 0.

    A grid is whole if its rows are as many as its cells, and in any two fragments all in different pairs of groups.
    """
    names = [f"group_{index}" for index in range(len(published.groups))]
    rows = exp.select(*(alias(column(group), name) for group, name in zip(published.groups, names, strict=True)))
    rows = rows.from_(published.relation.copy(), copy=False)
    sound = [_numbered(laid.size(0))]
    inside = infix(_within(laid.rows), "<", 1)
    for index, name in enumerate(names[1:], start=1):
        block, former = (_block(group, laid.groups(index)) for group in (name, _former(name, 1)))
        sound.append(exp.or_(inside.copy(), infix(block, "=", former)))
    for pair in combinations(range(len(names)), 2):
        # Rows are sorted by the first two, so that equal pairs of these follow each other.
        most = 1 if pair == (0, 1) else laid.rows - 1
        sound += [_unlike([names[index] for index in pair], back, laid.rows) for back in range(1, most + 1)]
    most = 1 if len(names) == 2 else laid.rows - 1
    read = _read(rows, names, dict.fromkeys(names, most))
    starts = infix(_within(laid.rows), "=", 0)
    blocks = [alias(_block(name, laid.groups(index)), f"block_{index}") for index, name in enumerate(names)]
    # Fewer rows than were read: one of each block, unless there are wrong ones.
    checked = exp.select(alias(_wrong(sound), "wrong"), *blocks[1:]).from_(read.subquery("read"), copy=False)
    checked = checked.where(exp.or_(starts, _wrong(sound)), copy=False)
    query = exp.select(f.count(if_(column("wrong"), 1)))
    for named in blocks[1:]:
        query.select(f.count_distinct(column(named.alias)), copy=False)
    return query.from_(checked.subquery("checked"), copy=False)


def _read(rows: exp.Select, by: Sequence[str], compared: dict[str, int]) -> exp.Select:
    """The rows ordered by `by`, with their number, counted from 0, and columns of the rows before them.

    `compared` says of a column how many rows back its values are needed.
    """
    ordered = exp.select(exp.Star()).from_(rows.subquery("published"), copy=False)
    ordered.set("order", in_order([column(name) for name in by]))
    index = window(f.row_number()) - 1
    query = exp.select(exp.Star(), alias(index, "number")).from_(ordered.subquery("ordered"), copy=False)
    for name, most in compared.items():
        for back in range(1, most + 1):
            lag = f.call("lag", column(name), back)
            query.select(alias(window(lag), _former(name, back)), copy=False)
    return query


def _former(name: str, back: int) -> str:
    return f"{name}_{back}_before"


def _numbered(size: int) -> exp.Expr:
    """Whether a row has the group that it must have if `size` rows have the first one, as many the next, and so on."""
    return infix(column("group_0"), "=", infix(column("number") // size, "+", 1))


def _within(rows_of_block: int) -> exp.Expr:
    """The number of a row in its block, counted from 0."""
    return column("number") % rows_of_block


def _unlike(names: Sequence[str], back: int, rows_of_block: int) -> exp.Expr:
    """Whether the row `back` rows before is of another block, or differs in one of the columns `names`."""
    differ = [column(name).neq(column(_former(name, back))) for name in names]
    return exp.or_(infix(_within(rows_of_block), "<", back), *differ)


def _wrong(sound: Sequence[exp.Expr]) -> exp.Expr:
    """Whether any of these conditions is false, or NULL: what cannot be compared is wrong, too."""
    return exp.not_(f.coalesce(exp.and_(*(condition.copy() for condition in sound)), exp.false()))


def _block(group: str, groups: int) -> exp.Expr:
    return (column(group) - 1) // groups
