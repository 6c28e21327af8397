"""Anatomy, dealt out, written in random order and checked, against a copy in random order."""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks import databases, plan
from benchmarks.context import Context
from benchmarks.data import DIAGNOSED
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds
from benchmarks.stages import StageTimes, timed_statement

__all__ = ["SIZES", "run"]

SIZES, _QUICK_SIZES = (1_000_000, 10_000_000), (100_000,)
# The most frequent diagnosis has 22 % of the rows.
_L = 3
_MARK = 2.0
_BASELINE = "CREATE TABLE AS ... ORDER BY random()"
_STATEMENT = databases.published("table", "anatomized", f"anatomy(l => {_L})")


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(SIZES, _QUICK_SIZES):
        context.note(f"anatomy, {rows:,} rows")
        with databases.working_copy(DIAGNOSED, context.file(DIAGNOSED, rows)) as connection:
            sensitive = [str(DIAGNOSED.sensitive)]
            required = f"l_diversity(l => {_L}, variant => 'probabilistic')"
            databases.declare(connection, DIAGNOSED, DIAGNOSED.columns, sensitive, required, hierarchies=False)
            yield _measured(context, connection, rows)


def _measured(context: Context, connection: sqlanon.Connection, rows: int) -> Figure:
    columns = ", ".join((*DIAGNOSED.columns, str(DIAGNOSED.sensitive)))
    naive = f"CREATE OR REPLACE TABLE naive AS SELECT {columns} FROM {DIAGNOSED.name} ORDER BY random()"
    last = StageTimes()

    def baseline() -> float:
        return seconds(lambda: connection.duckdb.execute(naive).fetchall())

    def subject() -> Timings:
        nonlocal last
        last = timed_statement(connection, _STATEMENT)
        return {**last.seconds, "total": last.total}

    samples = paired(baseline, subject, context.runs_at(rows))
    figure = ratio("anatomy", f"the whole statement, l = {_L}", rows, samples["total"], _BASELINE, _MARK)
    return figure.with_details(
        stages=samples,
        queries=last.queries,
        operators=lambda: plan.of_statement(connection, _STATEMENT, list(last.seconds)),
    )
