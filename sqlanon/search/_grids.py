"""The looseness of tables that are grids, proven with one look at each table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sqlgen import gridded as sql
from sqlanon.sqlgen.associations import PublishedAssociation
from sqlanon.sqlgen.loose import Grid
from sqlanon.sqlgen.names import column

__all__ = ["are_grids"]


def are_grids(
    engine: Engine, published: PublishedAssociation, parts: Sequence[Sequence[Sequence[str]]], laid: Grid
) -> bool:
    """Whether the tables are grids of this kind, whose rows differ in each of a fragment's `parts`.

    Then the groups fit together, the three heterogeneities hold, and each group is linked
    to as many different tuples of another fragment as the product of their sizes. False
    only says that nothing is proven.
    """
    every = range(len(published.fragments))
    if any(laid.groups(one) * laid.groups(other) > sql.MOST_PAIRS for one, other in combinations(every, 2)):
        return False
    if not _numbered(engine, published):
        return False
    rows, *bounds = engine.rows(sql.association_bounds(published))[0]
    blocks, rest = divmod(int(rows), laid.rows)
    if rest or not blocks:
        return False
    for place, fragment in enumerate(published.fragments):
        groups, size = blocks * laid.groups(place), laid.size(place)
        if tuple(bounds[3 * place : 3 * place + 3]) != (rows, 1, groups):
            return False
        if engine.rows(sql.group_bounds(fragment))[0] != (groups, groups, 1, groups, size, size):
            return False
    found, broken, *linked = engine.rows(sql.broken_grids(published, laid))[0]
    if broken or {found, *linked} != {blocks}:
        return False
    alike = (
        sql.alike_in_blocks(fragment, part, laid.groups(place))
        for place, fragment in enumerate(published.fragments)
        for part in parts[place]
    )
    return not any(engine.rows(query.limit(1)) for query in alike)


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
