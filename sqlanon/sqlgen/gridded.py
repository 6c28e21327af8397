"""Published tables read as the grids of which a loose association is made: each table once, and no joins.

A block's groups have numbers that follow each other in each fragment, so a number tells the block. What the
statements count proves the three heterogeneities (De Capitani di Vimercati et al. 2015) for tables that are grids;
of other tables it proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlglot import exp

from sqlanon.sqlgen.associations import PublishedAssociation, PublishedFragment
from sqlanon.sqlgen.loose import Grid
from sqlanon.sqlgen.loose_rows import digest
from sqlanon.sqlgen.names import alias, column, literal
from sqlanon.sqlgen.terms import big

__all__ = ["MOST_PAIRS", "alike_in_blocks", "association_bounds", "broken_grids", "group_bounds"]

# So many pairs of groups of a block have a bit each.
MOST_PAIRS = 62


def group_bounds(fragment: PublishedFragment) -> exp.Select:
    """The groups, those with a number, the least and the greatest number, and the rows of the smallest and largest."""
    rows = alias(exp.Count(this=exp.Star()), "n")
    groups = exp.select(alias(column(fragment.group), "number"), rows).from_(fragment.relation.copy())
    groups = groups.group_by(column(fragment.group))
    found = [exp.Count(this=exp.Star()), exp.Count(this=column("number"))]
    ends = [end(this=column(of)) for of in ("number", "n") for end in (exp.Min, exp.Max)]
    return exp.select(*found, *ends).from_(groups.subquery("part"))


def association_bounds(published: PublishedAssociation) -> exp.Select:
    """How many rows there are, and of each fragment's groups the rows with a number, the least and the greatest."""
    query = exp.select(exp.Count(this=exp.Star()))
    for name in published.groups:
        query.select(*(end(this=column(name)) for end in (exp.Count, exp.Min, exp.Max)), copy=False)
    return query.from_(published.relation.copy(), copy=False)


def broken_grids(published: PublishedAssociation, laid: Grid) -> exp.Select:
    """How many blocks the first fragment's groups form, how many of them are no whole grid, and for each further
    fragment how many of its blocks they are linked to. Numbers of groups are above 0.

    A grid is whole if its rows are as many as its cells, and in any two fragments all in different pairs of groups.
    """
    places = range(len(published.groups))
    parts = exp.select()
    for place, name in enumerate(published.groups):
        parts.select(alias(_block(name, laid.groups(place)), f"block_{place}"), copy=False)
        parts.select(alias(_of(exp.Mod, name, laid.groups(place)), f"local_{place}"), copy=False)
    parts = parts.from_(published.relation.copy(), copy=False)
    blocks = exp.select(alias(exp.Count(this=exp.Star()), "n"))
    sound: list[exp.Expr] = [exp.EQ(this=column("n"), expression=literal(laid.rows))]
    for place in places[1:]:
        for end, of in (("least", exp.Min), ("most", exp.Max)):
            blocks.select(alias(of(this=column(f"block_{place}")), f"{end}_{place}"), copy=False)
        sound.append(exp.EQ(this=column(f"least_{place}"), expression=column(f"most_{place}")))
    for one, other in combinations(places, 2):
        blocks.select(alias(_different(one, other, laid.groups(other)), f"pairs_{one}_{other}"), copy=False)
        sound.append(exp.EQ(this=column(f"pairs_{one}_{other}"), expression=literal(laid.rows)))
    blocks = blocks.from_(parts.subquery("part"), copy=False).group_by(column("block_0"))
    whole = exp.Sum(this=exp.Case(ifs=[exp.If(this=exp.and_(*sound), true=literal(0))], default=literal(1)))
    query = exp.select(exp.Count(this=exp.Star()), big(whole)).from_(blocks.subquery("block"))
    for place in places[1:]:
        query.select(exp.Count(this=exp.Distinct(expressions=[column(f"least_{place}")])), copy=False)
    return query


def alike_in_blocks(fragment: PublishedFragment, attributes: Sequence[str], groups: int) -> exp.Select:
    """Where there are any, one row for each block and tuple of these attributes that several of its rows have.

    Of each block there are so many `groups`. Tuples of one digest count as one.
    """
    more = exp.GT(this=exp.Count(this=exp.Star()), expression=literal(1))
    query = exp.select(alias(_block(fragment.group, groups), "block"))
    query.select(alias(digest([column(name) for name in attributes]), "digest"), copy=False)
    return query.from_(fragment.relation.copy(), copy=False).group_by(literal(1), literal(2)).having(more)


def _block(group: str, groups: int) -> exp.Expr:
    return _of(exp.IntDiv, group, groups)


def _of(operator: type[exp.Binary], group: str, groups: int) -> exp.Expr:
    before = exp.Paren(this=exp.Sub(this=column(group), expression=literal(1)))
    return operator(this=before, expression=literal(groups))


def _different(one: int, other: int, groups: int) -> exp.Expr:
    """How many different pairs of groups of two fragments the rows of a block have."""
    first = exp.Mul(this=column(f"local_{one}"), expression=literal(groups))
    pair = exp.Paren(this=exp.Add(this=first, expression=column(f"local_{other}")))
    bit = exp.Anonymous(this="bit_or", expressions=[exp.BitwiseLeftShift(this=big(literal(1)), expression=pair)])
    return exp.Anonymous(this="bit_count", expressions=[bit])
