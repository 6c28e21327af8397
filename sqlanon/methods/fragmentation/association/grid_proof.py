"""The looseness of tables that are grids, proven with one look at each table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.methods.fragmentation.association import grid_groups_sql
from sqlanon.methods.fragmentation.association import grid_proof_sql as sql
from sqlanon.methods.fragmentation.association.block_grids import Grid
from sqlanon.methods.fragmentation.association.looseness_sql import PublishedAssociation
from sqlanon.sql.build.names import column

# Rows of larger blocks are not compared one by one.
_MOST_ROWS = 62

GridProof = Callable[[Engine, PublishedAssociation, Sequence[Sequence[Sequence[str]]], Grid], bool]


def are_grids(
    engine: Engine, published: PublishedAssociation, parts: Sequence[Sequence[Sequence[str]]], laid: Grid
) -> bool:
    """Whether the tables are grids of this kind, whose rows differ in each of a fragment's `parts`.

    Then the groups fit together, the three heterogeneities hold, and each group is linked
    to as many different tuples of another fragment as the product of their sizes. False
    only says that nothing is proven.
    """
    if laid.rows > _MOST_ROWS or not _numbered(engine, published):
        return False
    rows, *bounds = engine.rows(sql.association_bounds(published))[0]
    blocks, rest = divmod(int(rows), laid.rows)
    if rest or not blocks:
        return False
    for index in range(len(published.fragments)):
        if tuple(bounds[3 * index : 3 * index + 3]) != (rows, 1, blocks * laid.groups(index)):
            return False
    for index, fragment in enumerate(published.fragments):
        query = sql.broken_groups(fragment, parts[index], laid.size(index), laid.rows)
        if engine.rows(query)[0] != (rows, 0):
            return False
    wrong, *linked = engine.rows(sql.broken_grids(published, laid))[0]
    return not wrong and all(count == blocks for count in linked)


def are_grids_by_groups(
    engine: Engine, published: PublishedAssociation, parts: Sequence[Sequence[Sequence[str]]], laid: Grid
) -> bool:
    """As `are_grids`, on an engine whose tables have no order."""
    if not _numbered(engine, published):
        return False
    rows, blocks, *figures = map(_whole, engine.rows(grid_groups_sql.linked_blocks(published, laid))[0])
    if not blocks or rows != blocks * laid.rows or figures[:2] != [laid.rows, laid.rows]:
        return False
    for index in range(len(published.fragments)):
        # Each row has a group, the groups have the numbers up to the greatest, and blocks are linked one to one.
        if figures[5 * index + 2 : 5 * index + 7] != [rows, 1, blocks * laid.groups(index), 0, blocks]:
            return False
    for index, fragment in enumerate(published.fragments):
        size, groups = laid.size(index), laid.groups(index)
        counted = list(map(_whole, engine.rows(grid_groups_sql.groups_of(fragment))[0]))
        if counted != [rows, rows, 1, blocks * groups, size, size]:
            return False
        if any(_whole(engine.rows(grid_groups_sql.alike_in_block(fragment, p, groups))[0][0]) for p in parts[index]):
            return False
    pairs = combinations(range(len(published.fragments)), 2)
    return not any(_whole(engine.rows(grid_groups_sql.repeated(published, pair))[0][0]) for pair in pairs)


def _whole(figure: object) -> int | None:
    return None if figure is None else int(str(figure))


def _numbered(engine: Engine, published: PublishedAssociation) -> bool:
    """Whether the groups have whole numbers."""
    tables = [(published.relation, published.groups)]
    tables += [(fragment.relation, (fragment.group,)) for fragment in published.fragments]
    kinds = {
        kind
        for table, names in tables
        for _, kind in engine.columns(exp.select(*map(column, names)).from_(table.copy()))
    }
    return kinds == {"BIGINT"}
