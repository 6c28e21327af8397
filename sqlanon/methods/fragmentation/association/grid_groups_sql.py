"""Published tables read as the grids of which a loose association is made, where no table has an order.

As `grid_proof_sql`: a block's groups have numbers that follow each other in each fragment, so a number tells the block,
and what the statements find proves the three heterogeneities (De Capitani di Vimercati et al. 2015) for tables that are
grids. Here rows are grouped, by their groups, their blocks and their values; NULL is no number of a group.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import Grid
from sqlanon.methods.fragmentation.association.looseness_sql import PublishedAssociation, PublishedFragment
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import if_, total
from sqlanon.sql.build.names import alias, column, literal


def groups_of(fragment: PublishedFragment) -> exp.Select:
    """How many rows of a fragment have a group, and how many there are; the least group and the greatest, and the rows
    of the smallest group and of the largest.
    """
    group = column(fragment.group)
    counted = exp.select(alias(group, "group_id"), alias(f.count(group.copy()), "n"), alias(f.count(), "rows"))
    counted = counted.from_(fragment.relation.copy(), copy=False).group_by(column(fragment.group), copy=False)
    figures = [total(column("n")), total(column("rows"))]
    figures += [function(column(name)) for name in ("group_id", "n") for function in (f.min, f.max)]
    return exp.select(*figures).from_(counted.subquery("counted", copy=False), copy=False)


def alike_in_block(fragment: PublishedFragment, part: Sequence[str], groups: int) -> exp.Select:
    """How many times rows of a block have the same values in this part; a block has `groups` groups."""
    block = alias((column(fragment.group) - 1) // literal(groups), "block")
    values = [alias(column(name), f"part_{index}") for index, name in enumerate(part)]
    rows = exp.select(block, *values).from_(fragment.relation.copy(), copy=False)
    return _count(_repeated_rows(rows, ["block", *(value.alias for value in values)]))


def repeated(published: PublishedAssociation, pair: tuple[int, int]) -> exp.Select:
    """How many pairs of groups of two fragments the association has more than once."""
    named = [alias(column(published.groups[fragment]), f"group_{fragment}") for fragment in pair]
    rows = exp.select(*named).from_(published.relation.copy(), copy=False)
    return _count(_repeated_rows(rows, [f"group_{fragment}" for fragment in pair]))


def linked_blocks(published: PublishedAssociation, laid: Grid) -> exp.Select:
    """How many rows the association has, how many blocks, and the rows of the smallest and of the largest block.

    A block is one of the first fragment's. For each fragment it follows in how many rows there is a group, which is the
    least group and which the greatest, how many blocks are linked to several of this fragment, and to how many
    different ones all are.
    """
    names = [f"group_{index}" for index in range(len(published.groups))]
    rows = exp.select(*(alias(column(group), name) for group, name in zip(published.groups, names, strict=True)))
    for index, group in enumerate(published.groups):
        rows.select(alias((column(group) - 1) // literal(laid.groups(index)), f"block_{index}"), copy=False)
    rows.from_(published.relation.copy(), copy=False)
    by_block = exp.select(column("block_0"), alias(f.count(), "n"))
    query = exp.select(total(column("n")), f.count(), f.min(column("n")), f.max(column("n")))
    for index, name in enumerate(names):
        block = f"block_{index}"
        parts = {"there": f.count(column(name)), "low": f.min(column(name)), "high": f.max(column(name))}
        parts |= {"first": f.min(column(block)), "last": f.max(column(block))}
        by_block.select(*(alias(part, f"{named}_{index}") for named, part in parts.items()), copy=False)
        first, last = column(f"first_{index}"), column(f"last_{index}")
        query.select(
            total(column(f"there_{index}")),
            f.min(column(f"low_{index}")),
            f.max(column(f"high_{index}")),
            total(if_(first.neq(last), 1, 0)),
            f.count_distinct(first.copy()),
            copy=False,
        )
    by_block.from_(rows.subquery("linked", copy=False), copy=False).group_by(column("block_0"), copy=False)
    return query.from_(by_block.subquery("by_block", copy=False), copy=False)


def _repeated_rows(rows: exp.Select, names: Sequence[str]) -> exp.Select:
    """The rows that occur more than once, each once."""
    query = exp.select(*map(column, names)).from_(rows.subquery("part", copy=False), copy=False)
    return query.group_by(*map(column, names), copy=False).having(f.count() > 1, copy=False)


def _count(query: exp.Select) -> exp.Select:
    return exp.select(f.count()).from_(query.subquery("found", copy=False), copy=False)
