"""Aggregates over the live view, which recodes and withholds as it is read, against one grouping of its source."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import sqlanon
from benchmarks import databases, plan
from benchmarks.cases.solve import BASELINE
from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds

__all__ = ["run"]

_MARK = 3.0
_QUERIES = {
    "count(*)": "SELECT count(*) FROM live",
    "by one column": "SELECT age, count(*) FROM live GROUP BY age",
    "by two columns": "SELECT education, sex, count(*) FROM live GROUP BY education, sex",
}


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes:
        context.note(f"live view, {rows:,} rows")
        with databases.working_copy(ADULT, context.file(ADULT, rows)) as connection:
            connection.sql(databases.release("view", "live", "0.02"))
            yield from _measured(context, connection, rows)


def _measured(context: Context, connection: sqlanon.Connection, rows: int) -> Iterator[Figure]:
    def subject() -> Timings:
        return {name: seconds(partial(_read, connection, query)) for name, query in _QUERIES.items()}

    samples = paired(lambda: databases.grouped(connection, ADULT), subject, context.runs_at(rows))
    for name, query in _QUERIES.items():
        figure = ratio("view", name, rows, samples[name], BASELINE, _MARK)
        yield figure.with_details(operators=partial(plan.of_view, connection, "live", query))


def _read(connection: sqlanon.Connection, query: str) -> object:
    return connection.duckdb.execute(query).fetchall()
