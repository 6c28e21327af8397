"""EXPLAIN against the search that it explains: what the reasons and the advice add to the stages encode and solve."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import sqlanon
from benchmarks import databases
from benchmarks.context import Context
from benchmarks.data import ADULT, CENSUS, Dataset
from benchmarks.figure import Figure
from benchmarks.stages import timed_statement

__all__ = ["run"]

# Above 200,000 rows and 20,000 combinations of levels EXPLAIN tries no other methods.
_TABLES: tuple[tuple[Dataset, int, tuple[str, ...]], ...] = (
    (CENSUS, 30_000, CENSUS.columns),
    (ADULT, 100_000, ADULT.columns[:6]),
    (ADULT, 1_000_000, ADULT.columns),
)
_QUICK_TABLES = ((CENSUS, 2_000, CENSUS.columns),)
_SEARCH = ("encode", "solve")
_MARK = 2.0


def run(context: Context) -> Iterator[Figure]:
    """Yields the seconds of the whole statement over those of its search, both of the same run."""
    for dataset, rows, quasi in _QUICK_TABLES if context.quick else _TABLES:
        context.note(f"EXPLAIN, {len(quasi)} columns, {rows:,} rows")
        with databases.working_copy(dataset, context.file(dataset, rows)) as connection:
            databases.declare(connection, dataset, quasi, (), "k_anonymity(k => 5)")
            yield _figure(context, connection, rows, len(quasi))


def _figure(context: Context, connection: sqlanon.Connection, rows: int, columns: int) -> Figure:
    statement = databases.explain("0.02")
    timed_statement(connection, statement)
    runs = [timed_statement(connection, statement) for _ in range(context.runs_at(rows))]
    searches = [sum(times.seconds[stage] for stage in _SEARCH) for times in runs]
    ratios = [times.total / search for times, search in zip(runs, searches, strict=True)]
    return Figure(
        "explain",
        f"EXPLAIN, {columns} columns, k = 5, 2 % suppressed",
        median(ratios),
        "x",
        min(ratios),
        max(ratios),
        rows=rows,
        runs=len(runs),
        seconds=median(times.total for times in runs),
        baseline="its search",
        baseline_seconds=median(searches),
        mark=_MARK,
        stages={stage: median(times.seconds[stage] for times in runs) for stage in runs[0].seconds},
        queries=runs[-1].queries,
    )
