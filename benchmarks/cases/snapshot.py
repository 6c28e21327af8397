"""The snapshot: generalized, in random order, checked and published, against a copy in random order."""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks import databases, plan
from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired
from benchmarks.stages import StageTimes, timed_statement

__all__ = ["run"]

_MARK = 2.0
_SEARCH = ("encode", "solve")


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes:
        context.note(f"snapshot and check, {rows:,} rows")
        with databases.working_copy(ADULT, context.file(ADULT, rows)) as connection:
            yield from _measured(context, connection, rows)


def _measured(context: Context, connection: sqlanon.Connection, rows: int) -> Iterator[Figure]:
    statement = databases.release("table", "snapshot", "0.02")
    last = StageTimes()

    def subject() -> Timings:
        nonlocal last
        last = timed_statement(connection, statement)
        search = sum(last.seconds[stage] for stage in _SEARCH)
        return {"after": last.total - search, **last.seconds, "total": last.total}

    samples = paired(lambda: databases.shuffled(connection, ADULT), subject, context.runs_at(rows))
    stages = [name for name in last.seconds if name not in _SEARCH]
    figure = ratio("snapshot", "snapshot + check", rows, samples["after"], databases.SHUFFLED, _MARK)
    yield figure.with_details(
        stages={name: samples[name] for name in (*last.seconds, "total")},
        queries=last.queries,
        operators=lambda: plan.of_statement(connection, statement, stages),
    )
    yield ratio("snapshot", "whole statement, search included", rows, samples["total"], databases.SHUFFLED)
