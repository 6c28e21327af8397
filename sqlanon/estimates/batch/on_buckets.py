"""Answers many counts at once on a release of exact and bucketed columns.

Rows and values are read as codes that name the bitmasks of their labels, which have a bit for each query. Functions
under udfs/ AND these masks and add up, over buckets, the terms of estimates and bounds. So no table ever has a row for
each query and bucket.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.udfs import registered
from sqlanon.errors import DataError
from sqlanon.estimates.batch.bitmasks import BUCKETED, Encoded, ReleaseLabels, code_name, listed_codes
from sqlanon.estimates.batch.distinct_rows import BatchContext, listed
from sqlanon.estimates.fixed_sql import Tables, fixed, sizes, withheld_rows
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.query.conjunctions import ConjunctiveAggregate
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.estimates.single.combination import AGAIN
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import big, union_all
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.build.sql_files import filled, filled_query

if TYPE_CHECKING:
    from sqlanon.estimates.batch.label_masks import AskedSides

# The most bytes that the masks of a column's labels have.
MOST_BYTES = 1 << 28
# The number of blocks that rows without buckets are divided into.
_BLOCKS = 64


def most_queries(engine: Engine, tables: Sequence[str]) -> int:
    """Returns the largest number of queries, in whole words of 64, whose masks of these labels fit the limits."""
    count = 1
    for table in tables:
        ((labels,),) = engine.rows(filled_query("SELECT count(*) FROM label", tables={"label": table}))
        count = max(count, int(labels))
    return max(64, min(sizes().max_queries_on_buckets, MOST_BYTES // count * 8) // 64 * 64)


def counts_of_rows(engine: Engine, rows: exp.Select, by: Encoded, temp: TempTables) -> str:
    """Creates a table of query and rows: the number of rows, by their codes, that satisfy each query."""
    codes = [code_name(index) for index in range(by.codes.count)]
    encoded_rows = filled_query(
        "SELECT {codes}, hash({codes}) % $blocks AS block FROM encoded",
        tables={"encoded": rows},
        names={"codes": codes},
        blocks=_BLOCKS,
    )
    with registered(engine, "satisfying_rows", codes=by.codes) as function:
        counts = filled_query(
            "SELECT query, CAST(sum(rows) AS BIGINT) AS rows "
            "FROM (SELECT unnest(counts) AS rows, unnest(range(len(counts))) AS query "
            "FROM (SELECT $counts AS counts FROM encoded_rows GROUP BY block) AS block) AS long GROUP BY query",
            tables={"encoded_rows": encoded_rows},
            counts=f.call(function, listed_codes(len(codes))),
        )
        return temp.table("counts", counts)


class BucketCounts:
    """Estimates counts on one release, as ESTIMATE does. Raises DataError if its tables do not match each other."""

    def __init__(
        self,
        context: BatchContext,
        release: ReleaseModel,
        aggregates: Sequence[ConjunctiveAggregate],
    ) -> None:
        self._engine, self._release, self._temp = context.engine, release, context.temp
        self._aggregates = aggregates
        self._labelled = ReleaseLabels(context, release)
        self._repeated: dict[int, bool] = {}

    def figures(self) -> Iterator[tuple[int, exp.Query]]:
        """Yields for each batch the number of its queries, and a SELECT of their figures."""
        sides: dict[tuple[int, ...], list[ConjunctiveAggregate]] = {}
        for aggregate in self._aggregates:
            sides.setdefault(self._sides(aggregate), []).append(aggregate)
        of_rows = ((), (0,))
        on_rows = [aggregate for numbers, alike in sides.items() if numbers in of_rows for aggregate in alike]
        on_buckets = [aggregate for numbers, alike in sides.items() if numbers not in of_rows for aggregate in alike]
        for aggregates in filter(None, (on_rows, on_buckets)):
            names = dict.fromkeys(name for aggregate in aggregates for name in aggregate.condition.conditions)
            size = most_queries(self._engine, [self._labelled.labels_of(name) for name in names])
            for first in range(0, len(aggregates), size):
                batch = aggregates[first : first + size]
                yield len(batch), self._figures(batch)

    def _sides(self, aggregate: ConjunctiveAggregate) -> tuple[int, ...]:
        """Returns what a count has conditions on: 0 are exact columns, and i + 1 is set i of the bucketed columns."""
        positions = self._release.bucketed_positions
        names = aggregate.condition.conditions
        return tuple(sorted({positions[name][0] + 1 if name in positions else 0 for name in names}))

    def _summed(self, batch: Sequence[ConjunctiveAggregate]) -> str:
        """Creates a table of query, hits, variance, low and high; a query may have several rows, which add up.

        Counts with conditions on the same sides are next to each other. No condition is on buckets in the whole batch,
        or each count has one.
        """
        names = dict.fromkeys(name for aggregate in batch for name in aggregate.condition.conditions)
        masks = self._labelled.masks(names, [aggregate.conditions for aggregate in batch])
        rows = [name for name in names if name in self._release.exact]
        of_rows = self._labelled.encoded(rows, masks, len(batch))
        of_queries = list(map(self._sides, batch))
        sets = sorted({side - 1 for sides in of_queries for side in sides if side})
        if not sets:
            counts = counts_of_rows(self._engine, self._labelled.rows(rows, of_rows), of_rows, self._temp)
            text = "SELECT query, rows AS hits, 0.0::DOUBLE AS variance, rows AS low, rows AS high FROM counts"
            return self._temp.table("summed", filled_query(text, tables={"counts": counts}))
        encoded_rows = self._labelled.rows(rows, of_rows, bucket=column(str(self._release.bucket), ROW))
        blocks, codes = [in_blocks(encoded_rows, "codes", of_rows.codes.count)], [of_rows.codes]
        for index in sets:
            bucketed = self._release.bucketed[index]
            values = [name for name in names if name in bucketed.columns]
            by = self._labelled.encoded(values, masks, len(batch))
            encoded_values = self._labelled.rows(values, by, self._copies(index), bucketed, column("bucket", BUCKETED))
            blocks.append(in_blocks(encoded_values, "codes", by.codes.count))
            codes.append(by.codes)
        numbers = {0: 0, **{index + 1: number for number, index in enumerate(sets, start=1)}}
        sides = asked_sides([tuple(numbers[side] for side in sides) for sides in of_queries])
        message = f"buckets of {self._release.name} do not have as many values as rows"
        with registered(self._engine, "bucket_sums", codes=codes, asked=sides) as function:
            sums = sums_over_blocks(self._engine, function, _blocks(blocks), self._temp, message)
        summed = filled_query(
            "SELECT unnest(range($queries)) AS query, {sums} FROM of_blocks",
            tables={"of_blocks": sums},
            names={"sums": [alias(f.unnest(part(name)), name) for name in ("hits", "variance", "low", "high")]},
            queries=len(batch),
        )
        return self._temp.table("summed", summed)

    def _copies(self, index: int) -> list[exp.Alias]:
        """Returns a column that counts the copies of a value in its bucket; no column if no value is repeated."""
        if index not in self._repeated:
            text = "SELECT count(*) FROM value WHERE weight <> 1"
            count = self._engine.rows(filled_query(text, tables={"value": self._release.bucketed[index].values}))
            self._repeated[index] = bool(count[0][0])
        copies = f.unnest(f.call("range", big(column("weight", BUCKETED))))
        return [alias(copies, "copy")] if self._repeated[index] else []

    def _figures(self, batch: Sequence[ConjunctiveAggregate]) -> exp.Query:
        kinds = {"query": "INTEGER", "query_id": "BIGINT", "result": "VARCHAR", "alone": "BOOLEAN"}
        numbers = [
            (query, aggregate.number, aggregate.result, aggregate.alone) for query, aggregate in enumerate(batch)
        ]
        queries = self._temp.table("asked", listed(kinds), [list(part) for part in zip(*numbers, strict=True)])
        tables: Tables = {
            "asked": queries,
            "summed": self._summed(batch),
            "withheld": withheld_rows(self._release.withheld),
        }
        return fixed("by_buckets", tables)


def asked_sides(of_queries: Sequence[tuple[int, ...]]) -> list[AskedSides]:
    """Returns the runs of queries with conditions on the same sides; `of_queries` has the sides of each query."""
    from sqlanon.estimates.batch.label_masks import AskedSides

    runs: list[AskedSides] = []
    for sides, queries in groupby(enumerate(of_queries), key=itemgetter(1)):
        numbers = [number for number, _ in queries]
        runs.append(AskedSides(sides, numbers[0], numbers[-1] + 1))
    return runs


def _blocks(sides: Sequence[exp.Query]) -> exp.Query:
    """Returns one row for each block of buckets, with a list of the codes of each side: the argument of the UDF
    `bucket_sums`.
    """
    numbered = [
        filled_query("SELECT block, $number AS side, codes FROM side", tables={"side": side}, number=number)
        for number, side in enumerate(sides)
    ]
    codes = [
        filled("any_value(CASE WHEN side = $number THEN codes END)", number=number) for number in range(len(sides))
    ]
    return filled_query(
        "SELECT [{codes}] AS block FROM sides GROUP BY block",
        tables={"sides": union_all(numbered)},
        names={"codes": codes},
    )


def part(name: str) -> exp.Expr:
    """Returns the SQL that reads the field `name` of the structs that `sums_over_blocks` returns."""
    return f.call("struct_extract", column("sums"), literal(name))


def sums_over_blocks(engine: Engine, function: str, blocks: exp.Query, temp: TempTables, message: str) -> str:
    """Creates a table of the structs that a function under udfs/ returns for blocks, in the column sums.

    Raises DataError with the message if the field `wrong` of a struct is not 0.
    """
    sums = filled_query(
        "SELECT unnest(sums) AS sums FROM (SELECT $sums AS sums FROM blocks) AS sums",
        tables={"blocks": blocks},
        sums=f.call(function, column("block")),
    )
    table = temp.table("sums", sums)
    wrong_rows = filled_query("SELECT sum($wrong) FROM sums", tables={"sums": table}, wrong=part("wrong"))
    ((wrong,),) = engine.rows(wrong_rows)
    if wrong:
        raise DataError(message, hint=AGAIN)
    return table


def in_blocks(rows: exp.Query, name: str, codes: int, others: Sequence[str] = ()) -> exp.Query:
    """Returns one row for each block: its number, the codes of its rows as the list `name`, and a list for each other
    column.
    """
    lists = [alias(f.call("list", column(other)), other) for other in others]
    return filled_query(
        "SELECT block, {lists} FROM encoded GROUP BY block",
        tables={"encoded": rows},
        names={"lists": [alias(listed_codes(codes), name), *lists]},
    )
