"""MEASURE with a thousand counts on the source and on a release, against full scans that answer one of them each."""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks import databases
from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds

__all__ = ["run"]

_QUERIES, _DIMENSIONS = 1000, 4
# What does not depend on the rows takes longer than many scans of a small table.
_MARK, _MARKED_FROM = 30.0, 10_000_000
_BASELINE = "SELECT count(*) FROM t WHERE <the predicates of one query>"
# A single scan is short, and queries differ: the median of some of them counts.
_SCANNED = 9


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes:
        context.note(f"measure, {rows:,} rows")
        with databases.working_copy(ADULT, context.file(ADULT, rows)) as connection:
            connection.sql(databases.release("table", "measured", "0.02"))
            connection.sql(
                f"CREATE OR REPLACE WORKLOAD asked ON POLICY benchmark "
                f"(queries => {_QUERIES}, dimensions => {_DIMENSIONS})"
            )
            yield _measured(context, connection, rows)


def _measured(context: Context, connection: sqlanon.Connection, rows: int) -> Figure:
    texts = connection.duckdb.execute(
        "SELECT sql FROM anon.workload WHERE workload = 'asked' ORDER BY query_id LIMIT ?", [_SCANNED]
    ).fetchall()

    def scan(text: str) -> float:
        return seconds(lambda: connection.duckdb.execute(text).fetchall())

    def baseline() -> float:
        scans = [scan(text) for (text,) in texts]
        return sorted(scans)[len(scans) // 2]

    def subject() -> Timings:
        return {"total": seconds(lambda: connection.sql("MEASURE measured WITH WORKLOAD asked"))}

    samples = paired(baseline, subject, context.runs_at(rows))
    what = f"{_QUERIES:,} counts on source and release"
    return ratio("measure", what, rows, samples["total"], _BASELINE, _MARK, marked_from=_MARKED_FROM)
