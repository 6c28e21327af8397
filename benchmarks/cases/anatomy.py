"""Anatomy, from assigning rows to buckets to the check of the release, against a copy in random order."""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks import databases, plan
from benchmarks.context import Context
from benchmarks.data import DIAGNOSED
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired
from benchmarks.stages import StageTimes, timed_statement

__all__ = ["SIZES", "STATEMENT", "declare", "run"]

SIZES, _QUICK_SIZES = (1_000_000, 10_000_000), (100_000,)
# The most frequent diagnosis has 22 % of the rows.
_L = 3
_MARK = 2.0
STATEMENT = databases.published("table", "anatomized", f"anatomy(l => {_L})")


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(SIZES, _QUICK_SIZES):
        context.note(f"anatomy, {rows:,} rows")
        with databases.working_copy(DIAGNOSED, context.file(DIAGNOSED, rows)) as connection:
            declare(connection)
            yield _measured(context, connection, rows)


def declare(connection: sqlanon.Connection) -> None:
    """Creates the policy of the measured statement."""
    required = f"l_diversity(l => {_L}, variant => 'probabilistic')"
    sensitive = [str(DIAGNOSED.sensitive)]
    databases.declare(connection, DIAGNOSED, DIAGNOSED.columns, sensitive, required, hierarchies=False)


def _measured(context: Context, connection: sqlanon.Connection, rows: int) -> Figure:
    last = StageTimes()

    def subject() -> Timings:
        nonlocal last
        last = timed_statement(connection, STATEMENT)
        return {**last.seconds, "total": last.total}

    samples = paired(lambda: databases.shuffled(connection, DIAGNOSED), subject, context.runs_at(rows))
    figure = ratio("anatomy", f"the whole statement, l = {_L}", rows, samples["total"], databases.SHUFFLED, _MARK)
    return figure.with_details(
        stages=samples,
        queries=last.queries,
        operators=lambda: plan.of_statement(connection, STATEMENT, list(last.seconds)),
    )
