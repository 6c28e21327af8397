"""Encode and solve: from the stored table to the optimal levels, against one grouping of the table."""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks import databases, plan
from benchmarks.context import Context
from benchmarks.data import ADULT, Dataset
from benchmarks.figure import MARKED_FROM, Figure, ratio
from benchmarks.measure import Timings, paired
from benchmarks.stages import StageTimes, timed_statement

__all__ = ["measured", "run"]

# The fixed cost of a search is a greater share of the time below ten million rows.
_MARK, _LARGE_MARK, _LARGE = 3.0, 1.5, 10_000_000
_STAGES = ("encode", "solve")
BASELINE = "GROUP BY of all columns"


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes:
        context.note(f"encode and solve, {rows:,} rows")
        with databases.working_copy(ADULT, context.file(ADULT, rows)) as connection:
            mark = _LARGE_MARK if rows >= _LARGE else _MARK
            yield from _figures(context, connection, rows, "k = 5, 2 % suppressed", "0.02", mark)
            yield from _figures(context, connection, rows, "k = 5, none suppressed", "0", mark)
            # Rows drawn with replacement repeat: with enough of them every combination has k rows, and
            # there is nothing to search. In this one the search stays as hard at every size.
            databases.require(connection, ADULT, max(2, rows // 20_000))
            yield from _figures(context, connection, rows, "k = rows / 20,000, 2 % suppressed", "0.02", None)
        with databases.working_copy(ADULT, context.file(ADULT, rows), memory=True) as connection:
            yield from _figures(context, connection, rows, "k = 5, 2 % suppressed, table in memory", "0.02", None)


def _figures(
    context: Context, connection: sqlanon.Connection, rows: int, what: str, suppression: str, mark: float | None
) -> Iterator[Figure]:
    return measured("solve", what, context, connection, ADULT, rows, suppression, mark, MARKED_FROM)


def measured(
    case: str,
    what: str,
    context: Context,
    connection: sqlanon.Connection,
    dataset: Dataset,
    rows: int,
    suppression: str,
    mark: float | None,
    marked_from: int,
) -> Iterator[Figure]:
    """Measures the two stages together, in the dry run of a release."""
    statement = databases.explain(suppression)
    last = StageTimes()

    def subject() -> Timings:
        nonlocal last
        last = timed_statement(connection, statement)
        return {"both": sum(last.seconds[stage] for stage in _STAGES), **last.seconds, "total": last.total}

    samples = paired(lambda: databases.grouped(connection, dataset), subject, context.runs_at(rows))
    both = ratio(case, f"encode + solve, {what}", rows, samples["both"], BASELINE, mark, marked_from=marked_from)
    yield both.with_details(
        stages={name: samples[name] for name in (*last.seconds, "total")},
        queries=last.queries,
        operators=lambda: plan.of_statement(connection, statement, _STAGES),
        note=_found(connection, statement),
    )


def _found(connection: sqlanon.Connection, statement: str) -> str:
    """Describes the result of the search, without which a ratio means little."""
    verbose = statement.replace("EXPLAIN", "EXPLAIN VERBOSE", 1)
    answers = {item: detail for stage, item, detail in connection.sql(verbose).fetchall() if stage == "solve"}
    return f"{answers['nodes checked'].partition(',')[0]} nodes checked; {answers['suppressed rows']} rows suppressed"
