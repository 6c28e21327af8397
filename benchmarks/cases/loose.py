"""Loose associations, from grouping to the check of the release, against a copy in random order."""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks import databases, plan
from benchmarks.context import Context
from benchmarks.data import DIAGNOSED
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired
from benchmarks.stages import StageTimes, timed_statement

__all__ = ["SIZES", "STATEMENT", "run"]

SIZES, _QUICK_SIZES = (1_000_000, 10_000_000), (100_000,)
_K = 4
_MARK = 4.0
_METHOD = f"loose(k => {_K})"
STATEMENT = databases.published("table", "loose", _METHOD)
# Without a mark: groups of similar rows.
_VARIANTS: dict[str, tuple[str, float | None]] = {
    f"the whole statement, k = {_K}": (_METHOD, _MARK),
    f"the same of near rows, k = {_K}": (f"loose(k => {_K}, near => true)", None),
}


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(SIZES, _QUICK_SIZES):
        for what, (method, mark) in _VARIANTS.items():
            context.note(f"loose associations, {what}, {rows:,} rows")
            with databases.working_copy(DIAGNOSED, context.file(DIAGNOSED, rows)) as connection:
                databases.keep_apart(connection, DIAGNOSED)
                yield _measured(context, connection, rows, what, databases.published("table", "loose", method), mark)


def _measured(
    context: Context, connection: sqlanon.Connection, rows: int, what: str, statement: str, mark: float | None
) -> Figure:
    last = StageTimes()

    def subject() -> Timings:
        nonlocal last
        last = timed_statement(connection, statement)
        return {**last.seconds, "total": last.total}

    samples = paired(lambda: databases.shuffled(connection, DIAGNOSED), subject, context.runs_at(rows))
    return ratio("loose", what, rows, samples["total"], databases.SHUFFLED, mark).with_details(
        stages=samples,
        queries=last.queries,
        operators=lambda: plan.of_statement(connection, statement, list(last.seconds)),
    )
