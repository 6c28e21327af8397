"""Counts about two fragments whose groups are linked: a function under udfs/ adds up over groups and their links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.rows import class_label
from sqlanon.sqlgen.terms import big
from sqlanon.udfs import registered
from sqlanon.workload.by_buckets import in_blocks, local_bucket
from sqlanon.workload.by_fragments import Figures
from sqlanon.workload.dealt import own_bucket
from sqlanon.workload.labelled import DEALT, Labelled, called, number_name
from sqlanon.workload.spans import fixed

if TYPE_CHECKING:
    from sqlanon.workload.answering import Masks

__all__ = ["figures_of_links"]

# A fragment, and the masks of its columns that are asked of.
Side = tuple[int, Mapping[str, "Masks"]]

_OF_LINKS = ("hits", "squares")
_OF_GROUPS = ("possible", "open", "satisfying", "failing", "apart")


def figures_of_links(labelled: Labelled, sides: Sequence[Side], queries: int) -> Sequence[Figures]:
    """The figures of some queries, numbered from 0, about two fragments."""
    first, second = sides
    tables = [_summed(labelled, first, second, queries, links=True)]
    tables.append(_summed(labelled, second, first, queries, links=False))
    summed = exp.union(*(exp.select(exp.Star()).from_(relation(table)) for table in tables), distinct=False)
    listed = exp.Explode(this=called("range", literal(queries)))
    tables_of = {
        "asked": exp.select(alias(listed, "query")).subquery("asked"),
        "summed": summed.subquery("summed"),
        "withheld": exp.select(alias(big(literal(labelled.release.withheld)), "rows")).subquery("withheld"),
    }
    query = fixed("by_links")
    for table in list(query.find_all(exp.Table)):
        if table.name in tables_of:
            table.replace(tables_of[table.name].copy())
    found = labelled.engine.rows(query)
    return [(number, value, stderr, low, high) for number, value, stderr, low, high in found]


def _summed(labelled: Labelled, own: Side, other: Side, queries: int, *, links: bool) -> str:
    """The table of place, total, query and sums over the groups of a fragment, and over all links if asked for."""
    masks = {"own_masks": list(own[1].values()), "other_masks": list(other[1].values())}
    blocks = _blocks(labelled, own, other)
    with registered(labelled.engine, "link_sums", **masks, queries=queries, links=links) as function:
        sums = exp.select(alias(called(function, column("block")), "found")).from_(blocks.subquery("blocks"))
        table = labelled.keep(
            "sums", exp.select(alias(exp.Explode(this=column("found")), "found")).from_(sums.subquery("sums"))
        )
    one = called("struct_extract", column("found"), literal("total"))
    query = exp.select(alias(literal(own[0]), "place"), alias(one, "total"))
    query.select(alias(exp.Explode(this=called("range", literal(queries))), "query"), copy=False)
    for name in (*_OF_LINKS, *_OF_GROUPS):
        part = called("struct_extract", column("found"), literal(name))
        query.select(alias(exp.Explode(this=part), name), copy=False)
    return labelled.keep("summed", query.from_(relation(table)))


def _blocks(labelled: Labelled, own: Side, other: Side) -> exp.Select:
    """block: the rows of some groups and of their links, as the function gets them."""
    release = labelled.release
    place, further = own[0], other[0]
    rows = labelled.numbered(list(own[1]), local_bucket(column("bucket", DEALT)), release.dealt[place])
    held = labelled.numbered(list(other[1]), [alias(column("bucket", DEALT), "bucket")], release.dealt[further])
    link = exp.select(alias(exp.Window(this=exp.RowNumber()), "link"), *local_bucket(own_bucket(release.dealt[place])))
    link.select(alias(own_bucket(release.dealt[further]), "bucket"), copy=False)
    link = link.from_(release.rows.copy().subquery("released"))
    numbers = [column(number_name(number), "held") for number in range(len(other[1]))]
    led = exp.select(*(column(name, "linked") for name in ("link", "block", "local")), *numbers)
    on: exp.Expr = exp.NullSafeEQ(this=column("bucket", "linked"), expression=column("bucket", "held"))
    led = led.from_(link.subquery("linked")).join(held.subquery("held"), on=on, copy=False)
    owned = in_blocks(rows, "own", len(own[1]), {"own_group": "local"})
    linked = in_blocks(led, "other", len(other[1]), {"link_group": "local", "link": "link"})
    names = {"own": "owned", "own_group": "owned", "other": "linked", "link_group": "linked", "link": "linked"}
    block = class_label({name: column(name, table) for name, table in names.items()})
    query = exp.select(alias(block, "block")).from_(owned.subquery("owned"))
    on = exp.EQ(this=column("block", "owned"), expression=column("block", "linked"))
    return query.join(linked.subquery("linked"), on=on, copy=False)
