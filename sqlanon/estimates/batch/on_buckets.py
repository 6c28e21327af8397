"""Answers many counts at once on a release of exact and bucketed columns.

Rows and values are read as codes that name the bitmasks of their labels, which have a bit for each query. Functions
under udfs/ AND these masks and add up, over buckets, the terms of estimates and bounds. So no table ever has a row for
each query and bucket.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from sqlanon.estimates.release_model import BucketedColumns, ReleaseModel
from sqlanon.estimates.single.combination import AGAIN
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import big
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.build.sql_files import filled_query

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

    def figures(self) -> Iterator[tuple[int, exp.Query]]:
        """Yields, for each batch, the number of its queries and a SELECT of their figures."""
        positions = self._release.bucketed_positions
        kinds: dict[int | None, list[ConjunctiveAggregate]] = {}
        for aggregate in self._aggregates:
            bucketed = next((positions[name][0] for name in aggregate.condition.conditions if name in positions), None)
            kinds.setdefault(bucketed, []).append(aggregate)
        for index, alike in kinds.items():
            names = list(dict.fromkeys(name for aggregate in alike for name in aggregate.condition.conditions))
            size = most_queries(self._engine, [self._labelled.labels_of(name) for name in names])
            for first in range(0, len(alike), size):
                batch = alike[first : first + size]
                yield len(batch), self._batch(batch, None if index is None else self._release.bucketed[index])

    def _batch(self, batch: Sequence[ConjunctiveAggregate], bucketed: BucketedColumns | None) -> exp.Query:
        names = dict.fromkeys(name for aggregate in batch for name in aggregate.condition.conditions)
        rows = [name for name in names if name in self._release.exact]
        values = [name for name in names if name not in self._release.exact]
        masks = self._labelled.masks(names, [aggregate.conditions for aggregate in batch])
        of_rows = self._labelled.encoded(rows, masks, len(batch))
        if bucketed is None:
            counts = counts_of_rows(self._engine, self._labelled.rows(rows, of_rows), of_rows, self._temp)
            return self._figures(_certain(counts), batch)
        of_values = self._labelled.encoded(values, masks, len(batch))
        encoded_rows = self._labelled.rows(rows, of_rows, bucket=column(str(bucketed.bucket), ROW))
        of_buckets = self._labelled.rows(
            values, of_values, self._copies(bucketed), bucketed, column("bucket", BUCKETED)
        )
        blocks = _blocks(
            in_blocks(encoded_rows, "rows", of_rows.codes.count), in_blocks(of_buckets, "value", of_values.codes.count)
        )
        codes = {"row_codes": of_rows.codes, "value_codes": of_values.codes}
        message = f"buckets of {self._release.name} do not have as many values as rows"
        with registered(self._engine, "bucket_sums", **codes) as function:
            table = sums_over_blocks(self._engine, function, blocks, self._temp, message)
        return self._figures(self._summed(table, len(batch)), batch)

    def _copies(self, bucketed: BucketedColumns) -> list[exp.Alias]:
        """Returns a column that counts the copies of a value in its bucket, in a list; the list is empty if no value is
        repeated.
        """
        repeated = "SELECT count(*) FROM value WHERE weight <> 1"
        ((several,),) = self._engine.rows(filled_query(repeated, tables={"value": bucketed.values}))
        return [alias(f.unnest(f.call("range", big(column("weight", BUCKETED)))), "copy")] if several else []

    def _summed(self, table: str, queries: int) -> str:
        """Creates the table query, n, hits, squares, low and high: for each query, sums over the buckets that have n
        rows.
        """
        sums = [alias(f.unnest(part(name)), name) for name in ("hits", "squares", "low", "high")]
        summed = filled_query(
            "SELECT $n AS n, unnest(range($queries)) AS query, {sums} FROM of_block WHERE $n IS NOT NULL",
            tables={"of_block": table},
            names={"sums": sums},
            n=part("n"),
            queries=queries,
        )
        return self._temp.table("summed", summed)

    def _figures(self, summed: str | exp.Query, batch: Sequence[ConjunctiveAggregate]) -> exp.Query:
        kinds = {"query": "INTEGER", "query_id": "BIGINT", "result": "VARCHAR", "alone": "BOOLEAN"}
        numbers = [
            (query, aggregate.number, aggregate.result, aggregate.alone) for query, aggregate in enumerate(batch)
        ]
        queries = self._temp.table("asked", listed(kinds), [list(part) for part in zip(*numbers, strict=True)])
        tables: Tables = {"asked": queries, "summed": summed, "withheld": withheld_rows(self._release.withheld)}
        return fixed("by_buckets", tables)


def _blocks(rows: exp.Query, values: exp.Query) -> exp.Query:
    """Returns one row for each block of buckets, with the arguments of the UDF `bucket_sums`: lists of the block's rows
    and values.
    """
    return filled_query(
        "SELECT struct_pack(rows := block_rows.rows, value := block_values.value) AS block FROM block_rows "
        "FULL JOIN block_values ON block_rows.block IS NOT DISTINCT FROM block_values.block",
        tables={"block_rows": rows, "block_values": values},
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


def _certain(counts: str) -> exp.Query:
    """Returns query, n and sums for buckets of one row each, in which a row satisfies for certain or not at all."""
    text = "SELECT query, 1 AS n, rows AS hits, rows AS squares, rows AS low, rows AS high FROM counts"
    return filled_query(text, tables={"counts": counts})
