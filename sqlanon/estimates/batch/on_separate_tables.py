"""Counts on a release whose columns are published in separate tables, many conjunctions at once.

Where no links say which rows of the tables belong together, all rows are one bucket, and it is enough to count the
rows of each table that satisfy. The same holds for conditions on one table. Other counts are sums over the links
(`on_linked_tables.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.estimates.batch.by_table_groups import Figures, figures_of, group_column
from sqlanon.estimates.batch.context import BatchContext
from sqlanon.estimates.batch.label_numbers import ReleaseLabels
from sqlanon.estimates.batch.on_buckets import counts_of_rows, most_queries
from sqlanon.estimates.batch.on_linked_tables import figures_of_links
from sqlanon.estimates.query.bind import Binding
from sqlanon.estimates.query.conjunctions import ConjunctiveAggregate
from sqlanon.estimates.query.parse import AggregateQuery
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.estimates.single.bucket_values import require_linked
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["SeparateTableCounts"]

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
        for part, query in counts:
            alike.setdefault((self._table_indexes(part), self._base(query)), []).append(part)
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
