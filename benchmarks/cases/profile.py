"""PROFILE of a table, against one grouping of all its columns."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import process_time

import sqlanon
from benchmarks import databases
from benchmarks.context import Context
from benchmarks.data import DIAGNOSED
from benchmarks.figure import Figure, ratio
from benchmarks.measure import paired, seconds

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (100_000, 1_000_000), (20_000,)
# A survey: 20 columns, most of them with few values. The processor time of PROFILE has a mark.
_ROWS, _COLUMNS, _MOST_SECONDS = 32_000, 20, 1.0
_HEIGHTS = (2, 2, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 36, 50, 60, 80, 99, 120)
_BASELINE = "SELECT <all columns>, count(*) FROM source GROUP BY ALL"


def run(context: Context) -> Iterator[Figure]:
    """Measures the first PROFILE of a new user: identifiers, quasi-identifiers and a policy to edit."""
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        context.note(f"profile, {rows:,} rows")
        with databases.working_copy(DIAGNOSED, context.file(DIAGNOSED, rows)) as connection:
            samples = paired(
                lambda: _grouped(connection),
                lambda: {"total": seconds(lambda: connection.sql(f"PROFILE {DIAGNOSED.name}").fetchall())},
                context.runs_at(rows),
            )
        yield ratio("profile", DIAGNOSED.name, rows, samples["total"], _BASELINE, None)
    context.note(f"profile, {_ROWS:,} rows of {_COLUMNS} columns")
    with sqlanon.connect() as connection:
        columns = (f"(hash(i, {n}) % {height})::INTEGER AS c{n}" for n, height in enumerate(_HEIGHTS))
        connection.duckdb.execute(f"CREATE TABLE survey AS SELECT {', '.join(columns)} FROM range({_ROWS}) AS t(i)")
        times: list[float] = []
        samples = paired(
            lambda: _grouped(connection, "survey"),
            lambda: {"total": seconds(lambda: times.append(_processor_seconds(connection)))},
            context.runs_at(_ROWS),
        )
        yield ratio("profile", "survey", _ROWS, samples["total"], _BASELINE)
        yield Figure(
            "profile",
            f"survey of {_COLUMNS} columns, processor time",
            median(times),
            "s",
            min(times),
            max(times),
            rows=_ROWS,
            runs=len(times),
            mark=_MOST_SECONDS,
        )


def _processor_seconds(connection: sqlanon.Connection) -> float:
    """Returns the processor time of one PROFILE, over all threads."""
    before = process_time()
    connection.sql("PROFILE survey").fetchall()
    return process_time() - before


def _grouped(connection: sqlanon.Connection, table: str = DIAGNOSED.name) -> float:
    query = f"SELECT count(*) FROM (SELECT *, count(*) FROM {table} GROUP BY ALL)"
    return seconds(lambda: connection.duckdb.execute(query).fetchall())
