"""Masks under a key: processor time of a release with one million distinct values, against one without the column."""

from __future__ import annotations

import os
from collections.abc import Iterator
from statistics import median
from time import process_time

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import MARKED_FROM, Figure

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (1_000_000,), (20_000,)
_MOST_SECONDS = 12.0
_KEY = "SQLANON_BENCHMARK_KEY"
# A form with at least 67,600,000 values, for which FF1 takes two steps for each value.
_ROWS = "SELECT 'AB-' || 1000000 + i AS client, i % 4 AS age, i % 3 AS ill FROM range({rows}) AS t(i)"
_POLICY = "(client IDENTIFIER{clause}, age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 5)"


def run(context: Context) -> Iterator[Figure]:
    """The seconds that `MASK alphanumeric` adds to a release."""
    os.environ.setdefault(_KEY, "a key of at least 16 bytes")
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        context.note(f"masks, {rows:,} different values")
        with sqlanon.connect() as connection:
            connection.sql(f"CREATE TABLE clients AS {_ROWS.format(rows=rows)}")
            for name, clause in (("withheld", ""), ("masked", f" MASK alphanumeric KEY '{_KEY}'")):
                connection.sql(f"CREATE POLICY {name} ON clients {_POLICY.format(clause=clause)}")
            added = [
                _processor_seconds(connection, "masked") - _processor_seconds(connection, "withheld")
                for _ in range(context.runs_at(rows))
            ]
        yield Figure(
            "masks",
            "MASK alphanumeric, processor time",
            median(added),
            "s",
            min(added),
            max(added),
            rows=rows,
            runs=len(added),
            mark=_MOST_SECONDS if rows >= MARKED_FROM else None,
        )


def _processor_seconds(connection: sqlanon.Connection, policy: str) -> float:
    begun = process_time()
    connection.sql(f"CREATE OR REPLACE ANONYMIZED TABLE release AS POLICY {policy}")
    return process_time() - begun
