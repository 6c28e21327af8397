"""PROFILE of a table, against one grouping of all its columns."""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks import databases
from benchmarks.context import Context
from benchmarks.data import DIAGNOSED
from benchmarks.figure import Figure, ratio
from benchmarks.measure import paired, seconds

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (100_000, 1_000_000), (20_000,)
_BASELINE = "SELECT <all columns>, count(*) FROM source GROUP BY ALL"


def run(context: Context) -> Iterator[Figure]:
    """What a stranger waits for: identifiers, quasi-identifiers and a policy to edit, by what the rows say."""
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        context.note(f"profile, {rows:,} rows")
        with databases.working_copy(DIAGNOSED, context.file(DIAGNOSED, rows)) as connection:
            samples = paired(
                lambda: _grouped(connection),
                lambda: {"total": seconds(lambda: connection.sql(f"PROFILE {DIAGNOSED.name}").fetchall())},
                context.runs_at(rows),
            )
        yield ratio("profile", DIAGNOSED.name, rows, samples["total"], _BASELINE, None)


def _grouped(connection: sqlanon.Connection) -> float:
    query = f"SELECT count(*) FROM (SELECT *, count(*) FROM {DIAGNOSED.name} GROUP BY ALL)"
    return seconds(lambda: connection.duckdb.execute(query).fetchall())
