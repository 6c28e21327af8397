"""Encode and solve if cells do not collapse: nearly every combination of quasi-identifiers is distinct."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import databases
from benchmarks.cases.solve import measured
from benchmarks.context import Context
from benchmarks.data import DISTINCT
from benchmarks.figure import Figure

__all__ = ["run"]

_MARK = 6.0
_MARKED_FROM = 10_000_000


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes:
        context.note(f"encode and solve of distinct combinations, {rows:,} rows")
        with databases.working_copy(DISTINCT, context.file(DISTINCT, rows)) as connection:
            for what, suppression in (("2 % suppressed", "0.02"), ("none suppressed", "0")):
                yield from measured(
                    "distinct", f"k = 5, {what}", context, connection, DISTINCT, rows, suppression, _MARK, _MARKED_FROM
                )
