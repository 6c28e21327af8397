"""Slicing, from buckets to the check of the release, against a copy in random order.

The columns are given; the diagnosis is in one column with the sex. Three statements are measured: buckets by Mondrian,
each of which meets the requirement; buckets by Mondrian with the requirement on each person, over all matching buckets;
and random buckets.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks import databases, plan
from benchmarks.cases.anatomy import declare
from benchmarks.context import Context
from benchmarks.data import DIAGNOSED
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired
from benchmarks.stages import StageTimes, timed_statement

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (1_000_000, 10_000_000), (100_000,)
_MARK = 4.0
_COLUMNS = "COLUMNS (birth, zip, education, native_country, occupation), (sex, diagnosis)"
_ARGUMENTS = {
    "regions": "l => 3",
    "regions, p(t,s)": "l => 3, diversity => 'matching'",
    "drawn, 100 rows": "l => 3, grouping => 'random', bucket_size => 100",
}


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        with databases.working_copy(DIAGNOSED, context.file(DIAGNOSED, rows)) as connection:
            declare(connection)
            for name, arguments in _ARGUMENTS.items():
                context.note(f"slicing, {name}, {rows:,} rows")
                yield _measured(context, connection, rows, name, arguments)


def _measured(context: Context, connection: sqlanon.Connection, rows: int, name: str, arguments: str) -> Figure:
    statement = databases.published("table", "sliced", f"slicing({arguments}) {_COLUMNS}")
    last = StageTimes()

    def subject() -> Timings:
        nonlocal last
        last = timed_statement(connection, statement)
        return {**last.seconds, "total": last.total}

    samples = paired(lambda: databases.shuffled(connection, DIAGNOSED), subject, context.runs_at(rows))
    figure = ratio("slicing", f"the whole statement, {name}", rows, samples["total"], databases.SHUFFLED, _MARK)
    return figure.with_details(
        stages=samples,
        queries=last.queries,
        operators=lambda: plan.of_statement(connection, statement, list(last.seconds)),
    )
