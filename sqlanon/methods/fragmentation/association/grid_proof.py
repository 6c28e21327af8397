"""Proves the looseness of published tables that are grids; each table is read once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.methods.fragmentation.association.block_grids import Grid
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import digest
from sqlanon.sql.build.names import column
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled, filled_query, query_file

# Checks of a loose association's published tables: the heterogeneities, and the k that they reach.
#
# De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Loose associations to
# increase utility in data publishing (2015). Each statement returns the offending groups.
# NULL is a value, of attributes and of groups.


@dataclass(frozen=True)
class PublishedFragment:
    """A fragment's table: its attributes, and the column with the number of each row's group."""

    relation: exp.Table | exp.Subquery
    attributes: tuple[str, ...]
    group: str


@dataclass(frozen=True)
class PublishedAssociation:
    """The published association: a column of group numbers for each fragment, and the fragments in the same order."""

    relation: exp.Table | exp.Subquery
    groups: tuple[str, ...]
    fragments: tuple[PublishedFragment, ...]


def alike_in_group(fragment: PublishedFragment, attributes: Sequence[str]) -> exp.Query:
    """SELECT of group_id: the groups with two rows of equal values in these attributes (no group heterogeneity)."""
    return _of_fragment("alike_in_group", fragment, attributes)


def repeated_pairs(published: PublishedAssociation, fragment: int, other: int) -> exp.Query:
    """SELECT of group_id, other_id: the pairs that the association repeats (no association heterogeneity)."""
    names = {"group": [published.groups[fragment]], "other": [published.groups[other]]}
    return query_file("association", "repeated_pairs", tables={"association": published.relation}, names=names)


def alike_in_linked(published: PublishedAssociation, fragment: int, other: int, attributes: Sequence[str]) -> exp.Query:
    """SELECT of group_id: the groups of a fragment that are linked to rows of the other fragment with equal values in
    these attributes (no deep heterogeneity).
    """
    tables = {"linked": _linked(published, fragment, other, attributes)}
    return query_file("association", "alike_in_linked", tables=tables)


def linked_values(published: PublishedAssociation, fragment: int, other: int, attributes: Sequence[str]) -> exp.Query:
    """SELECT of group_id, tuples: the number of different tuples of these attributes to which each group of a fragment
    is linked in the other; 0 for a group without links.
    """
    linked, of = _linked(published, fragment, other, attributes), published.fragments[fragment]
    tables = {"linked": linked, "fragment": of.relation}
    return query_file("association", "linked_values", tables=tables, names={"group": [of.group]})


def unmatched(published: PublishedAssociation, number: int) -> exp.Query:
    """SELECT of group_id: the groups whose numbers of rows in the fragment and in the association differ; a group may
    be missing in one.
    """
    fragment = published.fragments[number]
    tables = {"fragment": fragment.relation, "association": published.relation}
    names = {"group": [fragment.group], "number": [published.groups[number]]}
    return query_file("association", "unmatched", tables=tables, names=names)


def smallest_group(fragment: PublishedFragment) -> exp.Query:
    """SELECT of one number: the size of the smallest group; NULL if there are no groups."""
    return _of_fragment("smallest_group", fragment)


def _of_fragment(name: str, fragment: PublishedFragment, attributes: Sequence[str] = (), **values: Any) -> exp.Query:
    """Loads the query of a file that reads a fragment's table."""
    names = {"group": [fragment.group], "attributes": attributes}
    return query_file("association", name, tables={"fragment": fragment.relation}, names=names, **values)


def _linked(published: PublishedAssociation, fragment: int, other: int, attributes: Sequence[str]) -> exp.Query:
    """SELECT of group_id, n: a row for each group of `fragment` and each tuple of the fragment `other` to which it is
    linked.

    The tuples consist of the columns `attributes`; n is the number of linked rows with the tuple.
    """
    linked = published.fragments[other]
    tables = {"association": published.relation, "fragment": linked.relation}
    names = {"pair_group": [published.groups[fragment]], "pair_other": [published.groups[other]]}
    names |= {"group": [linked.group], "attributes": list(attributes)}
    return query_file("association", "linked", tables=tables, names=names)


# Published tables read as the grids that make up a loose association: each table once, and no joins.
#
# A block's groups have numbers that follow each other in each fragment, so a number determines the block. The counts of
# the statements prove the three heterogeneities (De Capitani di Vimercati et al. 2015) for tables that are grids; for
# other tables they prove nothing.
#
# A table is sorted by its groups, and each row is compared with the rows read before it. If no row is wrong, each group
# has the required number of rows and no block has equal rows, whatever the order in which they were read. If an engine
# read them in another order, some rows would count as wrong, and nothing would be proven.


def association_bounds(published: PublishedAssociation) -> exp.Query:
    """SELECT of the number of rows, then for each fragment: the rows with a group, the least and the greatest group."""
    figures = [function(column(name)) for name in published.groups for function in (f.count, f.min, f.max)]
    tables = {"association": published.relation}
    return filled_query("SELECT count(*), $figures FROM association", tables=tables, figures=figures)


def broken_groups(
    fragment: PublishedFragment, parts: Sequence[Sequence[str]], size: int, rows_of_block: int
) -> exp.Query:
    """SELECT of two numbers: a fragment's rows and its wrong rows. A row is wrong if it is not in groups of `size` rows
    that are numbered from 1, or if it equals another row of its block in one of `parts`.

    Tuples with the same digest count as equal.
    """
    names = [f"digest_{index}" for index in range(len(parts))]
    digests = [digest([column(name) for name in part]) for part in parts]
    text = """SELECT {group} AS group_0, $digests AS "{names}" FROM fragment"""
    tables = {"fragment": fragment.relation}
    rows = filled_query(text, tables=tables, names={"group": fragment.group, "names": names}, digests=digests)
    sound = [_has_right_group(size)]
    sound += [_unlike([name], back, rows_of_block) for name in names for back in range(1, rows_of_block)]
    text = "SELECT count(*), count(CASE WHEN NOT coalesce($sound, FALSE) THEN 1 END) FROM read"
    read = _read(rows, ["group_0"], dict.fromkeys(names, rows_of_block - 1))
    return filled_query(text, tables={"read": read}, sound=exp.and_(*sound))


def broken_grids(published: PublishedAssociation, laid: Grid) -> exp.Query:
    """SELECT of the number of wrong rows of the association and, for each further fragment, the number of its blocks
    that are linked to blocks of the first fragment.

    Group numbers are above 0. A grid is complete if it has as many rows as cells, and different pairs of groups in any
    two fragments.
    """
    names = [f"group_{index}" for index in range(len(published.groups))]
    sizes = [laid.groups(index) for index in range(len(names))]
    text = """SELECT {groups} AS "{names}" FROM association"""
    tables = {"association": published.relation}
    rows = filled_query(text, tables=tables, names={"groups": published.groups, "names": names})
    sound = [_has_right_group(laid.size(0))]
    for name, size in zip(names[1:], sizes[1:], strict=True):
        text = "number % $rows < 1 OR ({group} - 1) // $size = ({former} - 1) // $size"
        sound.append(filled(text, names={"group": name, "former": _former(name, 1)}, rows=laid.rows, size=size))
    for pair in combinations(range(len(names)), 2):
        # Rows are sorted by the first two columns, so equal pairs of these follow each other.
        most = 1 if pair == (0, 1) else laid.rows - 1
        sound += [_unlike([names[index] for index in pair], back, laid.rows) for back in range(1, most + 1)]
    most = 1 if len(names) == 2 else laid.rows - 1
    return query_file(
        "association",
        "broken_grids",
        tables={"read": _read(rows, names, dict.fromkeys(names, most))},
        names={"groups": names[1:], "further": [f"block_{index}" for index in range(1, len(names))]},
        sound=exp.and_(*sound),
        sizes=sizes[1:],
        rows=laid.rows,
    )


def _read(rows: exp.Query, by: Sequence[str], compared: dict[str, int]) -> exp.Query:
    """SELECT of the rows ordered by `by`, with their `number` from 0 and, for comparison, values of the rows before
    them.

    `compared` maps a column to the number of preceding rows whose values are added as columns.
    """
    text = """
        SELECT *, row_number() OVER () - 1 AS number, lag({compared}, $back) OVER () AS "{former}"
        FROM (SELECT * FROM published ORDER BY {by} ASC NULLS LAST) AS ordered
    """
    pairs = [(name, back) for name, most in compared.items() for back in range(1, most + 1)]
    names = {"compared": [name for name, _ in pairs], "former": [_former(*pair) for pair in pairs], "by": by}
    return filled_query(text, tables={"published": rows}, names=names, back=[back for _, back in pairs])


def _former(name: str, back: int) -> str:
    return f"{name}_{back}_before"


def _has_right_group(size: int) -> exp.Expr:
    """The SQL condition that a row has the right group: the first `size` rows have group 1, the next `size` group 2,
    and so on.
    """
    return filled("group_0 = number // $size + 1", size=size)


def _unlike(names: Sequence[str], back: int, rows_of_block: int) -> exp.Expr:
    """The SQL condition that the row `back` rows earlier is in another block, or differs in one of the columns `names`.

    Blocks have `rows_of_block` rows.
    """
    text = "number % $rows < $back OR {names} <> {former}"
    former = [_former(name, back) for name in names]
    return filled(text, names={"names": names, "former": former}, rows=rows_of_block, back=back)


# Published tables read as grids on an engine whose tables have no order.
#
# As above, a block's groups have consecutive numbers in each fragment, so a number determines the block, and the
# results of the statements prove the three heterogeneities (De Capitani di Vimercati et al. 2015) for tables that are
# grids. Here rows are grouped by their groups, their blocks and their values; NULL is not the number of a group.


def groups_of(fragment: PublishedFragment) -> exp.Query:
    """SELECT of six numbers of a fragment: its rows with a group and all rows, the least and the greatest group, and
    the rows of the smallest and of the largest group.
    """
    return _of_fragment("groups_of", fragment)


def alike_in_block(fragment: PublishedFragment, part: Sequence[str], groups: int) -> exp.Query:
    """SELECT of one number: how many combinations of a block and its values in this part occur in several rows; a block
    has `groups` groups.
    """
    return _of_fragment("alike_in_block", fragment, part, groups=groups)


def repeated(published: PublishedAssociation, pair: tuple[int, int]) -> exp.Query:
    """SELECT of one number: how many pairs of groups, one of each fragment, the association repeats."""
    return filled_query("SELECT count(*) FROM pair", tables={"pair": repeated_pairs(published, *pair)})


def linked_blocks(published: PublishedAssociation, laid: Grid) -> exp.Query:
    """SELECT of the figures of an association's blocks; see sql/association/linked_blocks.sql."""
    fragments = range(len(published.groups))
    kinds = {"numbers": "group", "blocks": "block"} | {each: each for each in ("there", "low", "high", "first", "last")}
    of_fragment = """
        SELECT CAST(sum({there}) AS BIGINT), min({low}), max({high}),
          CAST(sum(CASE WHEN {first} <> {last} THEN 1 ELSE 0 END) AS BIGINT), count(DISTINCT {first})
    """
    figures = [
        figure
        for index in fragments
        for figure in filled_query(of_fragment, names={each: f"{kind}_{index}" for each, kind in kinds.items()}).selects
    ]
    names = {each: [f"{kind}_{index}" for index in fragments] for each, kind in kinds.items()}
    return query_file(
        "association",
        "linked_blocks",
        tables={"association": published.relation},
        names={"groups": published.groups, **names},
        sizes=[laid.groups(index) for index in fragments],
        figures=figures,
    )


# Blocks with more rows are not compared row by row.
_MOST_ROWS = 62

GridProof = Callable[[Engine, PublishedAssociation, Sequence[Sequence[Sequence[str]]], Grid], bool]


def are_grids(
    engine: Engine, published: PublishedAssociation, parts: Sequence[Sequence[Sequence[str]]], laid: Grid
) -> bool:
    """Whether the tables are proven to be grids like `laid`, whose rows differ in each of a fragment's `parts`.

    Then the groups fit together, the three heterogeneities hold, and each group is linked to as many different tuples
    of another fragment as the product of their sizes. False means that nothing is proven.
    """
    if laid.rows > _MOST_ROWS or not _numbered(engine, published):
        return False
    rows, *bounds = engine.rows(association_bounds(published))[0]
    blocks, rest = divmod(int(rows), laid.rows)
    if rest or not blocks:
        return False
    for index in range(len(published.fragments)):
        if tuple(bounds[3 * index : 3 * index + 3]) != (rows, 1, blocks * laid.groups(index)):
            return False
    for index, fragment in enumerate(published.fragments):
        query = broken_groups(fragment, parts[index], laid.size(index), laid.rows)
        if engine.rows(query)[0] != (rows, 0):
            return False
    wrong, *linked = engine.rows(broken_grids(published, laid))[0]
    return not wrong and all(count == blocks for count in linked)


def are_grids_by_groups(
    engine: Engine, published: PublishedAssociation, parts: Sequence[Sequence[Sequence[str]]], laid: Grid
) -> bool:
    """Whether the tables are proven to be grids, on an engine whose tables have no order; see `are_grids`."""
    if not _numbered(engine, published):
        return False
    rows, blocks, *figures = map(_whole, engine.rows(linked_blocks(published, laid))[0])
    if not blocks or rows != blocks * laid.rows or figures[:2] != [laid.rows, laid.rows]:
        return False
    for index in range(len(published.fragments)):
        # Each row has a group, the groups have the numbers up to the greatest, and blocks are linked one to one.
        if figures[5 * index + 2 : 5 * index + 7] != [rows, 1, blocks * laid.groups(index), 0, blocks]:
            return False
    for index, fragment in enumerate(published.fragments):
        size, groups = laid.size(index), laid.groups(index)
        counted = list(map(_whole, engine.rows(groups_of(fragment))[0]))
        if counted != [rows, rows, 1, blocks * groups, size, size]:
            return False
        if any(_whole(engine.rows(alike_in_block(fragment, p, groups))[0][0]) for p in parts[index]):
            return False
    pairs = combinations(range(len(published.fragments)), 2)
    return not any(_whole(engine.rows(repeated(published, pair))[0][0]) for pair in pairs)


def _whole(figure: object) -> int | None:
    return None if figure is None else int(str(figure))


def _numbered(engine: Engine, published: PublishedAssociation) -> bool:
    """Whether all columns of group numbers have the type BIGINT."""
    tables = [(published.relation, published.groups)]
    tables += [(fragment.relation, (fragment.group,)) for fragment in published.fragments]
    kinds = {kind for table, names in tables for _, kind in engine.columns(select(*map(column, names), of=table))}
    return kinds == {"BIGINT"}
