"""Counts with conditions on two linked tables: a function under udfs/ adds up over groups and their links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.estimates.batch.by_table_groups import Figures
from sqlanon.estimates.batch.code_layout import LINK_BITS
from sqlanon.estimates.batch.label_numbers import BUCKETED, Encoded, ReleaseLabels, code_name, in_block
from sqlanon.estimates.batch.on_buckets import in_blocks, part, sums_over_blocks
from sqlanon.estimates.fixed_sql import Tables, fixed, withheld_rows
from sqlanon.estimates.single.bucket_values import bucket_of_row
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import identical, infix, is_null, paren, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.classes.rows import class_label
from sqlanon.udfs import registered

if TYPE_CHECKING:
    from sqlanon.estimates.batch.label_masks import Masks

__all__ = ["figures_of_links"]

# The index of a table, and the masks of its columns that have conditions.
Side = tuple[int, Mapping[str, "Masks"]]

_OF_LINKS = ("hits", "squares")
_OF_GROUPS = ("possible", "open", "satisfying", "failing", "apart")


def figures_of_links(labelled: ReleaseLabels, sides: Sequence[Side], queries: int) -> Sequence[Figures]:
    """The figures of queries, numbered from 0, that have conditions on both tables."""
    first, second = sides
    tables = [_summed(labelled, first, second, queries, links=True)]
    tables.append(_summed(labelled, second, first, queries, links=False))
    summed = exp.union(*(exp.select(exp.Star()).from_(relation(table)) for table in tables), distinct=False)
    listed = f.unnest(f.call("range", literal(queries)))
    relations: Tables = {
        "asked": exp.select(alias(listed, "query")),
        "summed": summed,
        "withheld": withheld_rows(labelled.release.withheld),
    }
    rows = labelled.engine.rows(fixed("by_links", relations))
    return [(number, value, spread, low, high) for number, value, spread, low, high in rows]


def _summed(labelled: ReleaseLabels, side: Side, other: Side, queries: int, *, links: bool) -> str:
    """The table of place, total, query and sums over the groups of one table and, with `links`, over all links.

    Raises DataError where a group does not have as many rows as links, or a link leads to a group without rows.
    """
    of_own, of_other = (labelled.encoded(list(masks), masks, queries) for _, masks in (side, other))
    blocks = _blocks(labelled, (*side, of_own), (*other, of_other))
    codes = {"own_codes": of_own.codes, "other_codes": of_other.codes}
    message = f"the tables of {labelled.release.name} do not have the same rows"
    with registered(labelled.engine, "link_sums", **codes, links=links) as function:
        table = sums_over_blocks(labelled.engine, function, blocks, labelled.scratch, message)
    query = exp.select(alias(literal(side[0]), "place"), alias(part("total"), "total"))
    query.select(alias(f.unnest(f.call("range", literal(queries))), "query"), copy=False)
    for name in (*_OF_LINKS, *_OF_GROUPS):
        query.select(alias(f.unnest(part(name)), name), copy=False)
    of_sums = is_null(part("wrong"))
    return labelled.scratch.table("summed", query.from_(relation(table)).where(of_sums))


def _blocks(
    labelled: ReleaseLabels, side: tuple[int, Iterable[str], Encoded], other: tuple[int, Iterable[str], Encoded]
) -> exp.Select:
    """block: the rows of the groups in a block and of their links, as `link_sums` reads them."""
    release = labelled.release
    own_index, names, by = side
    other_index, other_names, other_by = other
    rows = labelled.rows(list(names), by, bucketed=release.bucketed[own_index], bucket=column("bucket", BUCKETED))
    bucket = [alias(column("bucket", BUCKETED), "bucket")]
    linked_rows = labelled.rows(list(other_names), other_by, bucket, release.bucketed[other_index])
    block, local = in_block(bucket_of_row(release.bucketed[own_index]))
    # One number for a group and its link is sorted several times as fast as two.
    high = infix(local, "<<", literal(LINK_BITS))
    number = paren(high) + window(f.row_number())
    link = exp.select(alias(block, "block"), alias(number, "link"))
    link.select(alias(bucket_of_row(release.bucketed[other_index]), "bucket"), copy=False)
    link = link.from_(release.rows.copy().subquery("released"))
    led = exp.select(column("block", "linked"), column("link", "linked"))
    for index in range(other_by.codes.count):
        # No row has this code: the link leads to no row.
        missing = f.coalesce(column(code_name(index), "linked_row"), literal(-1))
        led.select(alias(missing, code_name(index)), copy=False)
    on: exp.Expr = identical(column("bucket", "linked"), column("bucket", "linked_row"))
    led = led.from_(link.subquery("linked")).join(
        linked_rows.subquery("linked_row"), on=on, join_type="LEFT", copy=False
    )
    group_rows = in_blocks(rows, "own", by.codes.count)
    linked = in_blocks(led, "other", other_by.codes.count, ["link"])
    parts = {"own": "grouped", "other": "linked", "link": "linked"}
    lists = class_label({name: column(name, table) for name, table in parts.items()})
    query = exp.select(alias(lists, "block")).from_(group_rows.subquery("grouped"))
    on = identical(column("block", "grouped"), column("block", "linked"))
    return query.join(linked.subquery("linked"), on=on, join_type="FULL", copy=False)
