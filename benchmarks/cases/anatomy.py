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

__all__ = ["BASELINE", "SIZES", "STATEMENT", "copied", "declare", "run"]

SIZES, _QUICK_SIZES = (1_000_000, 10_000_000), (100_000,)
# The most frequent diagnosis has 22 % of the rows.
_L = 3
_MARK = 2.0
BASELINE = "CREATE TABLE AS ... ORDER BY random()"
STATEMENT = databases.published("table", "anatomized", f"anatomy(l => {_L})")


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(SIZES, _QUICK_SIZES):
        context.note(f"anatomy, {rows:,} rows")
        with databases.working_copy(DIAGNOSED, context.file(DIAGNOSED, rows)) as connection:
            declare(connection)
            yield _measured(context, connection, rows)


def declare(connection: sqlanon.Connection) -> None:
    """Creates the policy that the statement goes by."""
    required = f"l_diversity(l => {_L}, variant => 'probabilistic')"
    sensitive = [str(DIAGNOSED.sensitive)]
    databases.declare(connection, DIAGNOSED, DIAGNOSED.columns, sensitive, required, hierarchies=False)


def copied(connection: sqlanon.Connection) -> float:
    """The seconds of the baseline, a copy of all columns in random order; its table `naive` stays."""
    columns = ", ".join((*DIAGNOSED.columns, str(DIAGNOSED.sensitive)))
    naive = f"CREATE OR REPLACE TABLE naive AS SELECT {columns} FROM {DIAGNOSED.name} ORDER BY random()"
    return seconds(lambda: connection.duckdb.execute(naive).fetchall())


def _measured(context: Context, connection: sqlanon.Connection, rows: int) -> Figure:
    last = StageTimes()

    def subject() -> Timings:
        nonlocal last
        last = timed_statement(connection, STATEMENT)
        return {**last.seconds, "total": last.total}

    samples = paired(lambda: copied(connection), subject, context.runs_at(rows))
    figure = ratio("anatomy", f"the whole statement, l = {_L}", rows, samples["total"], BASELINE, _MARK)
    return figure.with_details(
        stages=samples,
        queries=last.queries,
        operators=lambda: plan.of_statement(connection, STATEMENT, list(last.seconds)),
    )
