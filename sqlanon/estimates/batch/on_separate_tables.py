"""Counts on a release whose columns are published in separate tables, many conjunctions at once.

Where no links say which rows of the tables belong together, all rows are one bucket, and it is enough to count the
rows of each table that satisfy. The same holds for conditions on one table. Other counts are sums over the links: a
function under `udfs/` adds up over groups and their links.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.udfs import registered
from sqlanon.estimates.batch.by_table_groups import Figures, figures_of, group_column
from sqlanon.estimates.batch.code_layout import LINK_BITS
from sqlanon.estimates.batch.context import BatchContext
from sqlanon.estimates.batch.label_numbers import BUCKETED, Encoded, ReleaseLabels, code_name, in_block
from sqlanon.estimates.batch.on_buckets import counts_of_rows, in_blocks, most_queries, part, sums_over_blocks
from sqlanon.estimates.fixed_sql import Tables, fixed, withheld_rows
from sqlanon.estimates.query.bind import Binding
from sqlanon.estimates.query.conjunctions import ConjunctiveAggregate
from sqlanon.estimates.query.parse import AggregateQuery
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.estimates.single.bucket_values import bucket_of_row, require_linked
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import identical, infix, is_null, paren, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.classes.rows import class_label

if TYPE_CHECKING:
    from sqlanon.estimates.batch.label_masks import Masks


# The most linked tables that one query may have conditions on.
_MOST_LINKED = 2

# The indexes of the tables that have a condition, and of the table whose rows stand for the release's.
_Kind = tuple[tuple[int, ...], int | None]


class SeparateTableCounts:
    """Answers counts on one release as ESTIMATE does. Raises DataError where its tables do not belong together."""

    def __init__(self, context: BatchContext, release: ReleaseModel) -> None:
        self._engine, self._release, self._scratch = context.engine, release, context.scratch
        self._labelled = ReleaseLabels(context, release)
        self._bases: dict[int, int | None] = {}
        self._is_linked = False

    def answers(self, part: ConjunctiveAggregate) -> bool:
        """Whether a count can be answered together with others."""
        most = _MOST_LINKED if self._release.linked else len(self._release.bucketed)
        return part.at_once(self._release) and len(self._table_indexes(part)) <= most

    def figures(
        self, counts: Sequence[tuple[ConjunctiveAggregate, AggregateQuery]]
    ) -> Iterator[tuple[ConjunctiveAggregate, Figures]]:
        """Each of the counts with its figures, in batches of counts on the same tables."""
        alike: dict[_Kind, list[ConjunctiveAggregate]] = {}
        for count, query in counts:
            alike.setdefault((self._table_indexes(count), self._base(query)), []).append(count)
        for (indexes, base), alike_counts in alike.items():
            names = dict.fromkeys(name for count in alike_counts for name in count.condition.conditions)
            size = most_queries(self._engine, [self._labelled.labels_of(name) for name in names])
            for first in range(0, len(alike_counts), size):
                batch = alike_counts[first : first + size]
                for figures in self._batch(batch, indexes, base):
                    yield batch[figures[0]], figures

    def _require_linked(self) -> None:
        if not self._is_linked:
            require_linked(self._engine, self._release)
            self._is_linked = True

    def _table_indexes(self, part: ConjunctiveAggregate) -> tuple[int, ...]:
        positions = self._release.bucketed_positions
        return tuple(sorted({positions[name][0] for name in part.condition.conditions}))

    def _base(self, query: AggregateQuery) -> int | None:
        # Queries of one template share an object, and its base.
        if id(query) not in self._bases:
            self._bases[id(query)] = Binding(query, self._release, ()).base
        return self._bases[id(query)]

    def _batch(
        self, batch: Sequence[ConjunctiveAggregate], indexes: Sequence[int], base: int | None
    ) -> Sequence[Figures]:
        names = dict.fromkeys(name for count in batch for name in count.condition.conditions)
        masks = self._labelled.masks(names, [count.conditions for count in batch])
        names_by_table = {
            index: [name for name in names if name in self._release.bucketed[index].columns] for index in indexes
        }
        if self._release.linked and len(indexes) > 1:
            sides = [
                (index, {name: masks[name] for name in some_names}) for index, some_names in names_by_table.items()
            ]
            return figures_of_links(self._labelled, sides, len(batch))
        # Sums over links check this themselves.
        self._require_linked()
        satisfying: dict[int, str] = {}
        rows = 0
        for index in indexes:
            bucketed = self._release.bucketed[index]
            by = self._labelled.encoded(names_by_table[index], masks, len(batch))
            counts = counts_of_rows(
                self._engine, self._labelled.rows(names_by_table[index], by, bucketed=bucketed), by, self._scratch
            )
            row_count = exp.select(f.count()).from_(bucketed.values.subquery("value"))
            ((rows,),) = self._engine.rows(row_count)
            satisfying[index] = self._scratch.table("satisfying", _satisfying(counts, int(rows)))
        count = exp.select(
            alias(literal(int(rows)), "n"), *(alias(literal(0), group_column(index)) for index in indexes)
        )
        linked = self._scratch.table("linked", count)
        return figures_of(self._engine, self._release, range(len(batch)), linked, satisfying, base, self._scratch)


def _satisfying(counts: str, rows: int) -> exp.Select:
    """query, bucket, satisfying and total of the one bucket that has all rows of a table, where any satisfy."""
    query = exp.select(column("query"), alias(literal(0), "bucket"), alias(column("rows"), "satisfying"))
    query.select(alias(literal(rows), "total"), copy=False)
    return query.from_(relation(counts)).where(column("rows") > 0)


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
