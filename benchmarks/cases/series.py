"""A table that is published every month in a series, against a first release of the same rows by Anatomy."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds

__all__ = ["KEY", "run", "second_release"]

_SIZES, _QUICK_SIZES = (100_000, 1_000_000), (5_000,)
_MONTHS, _MARK = 12, 3.0
KEY = "SERIESKEY"
_ROW = "hash({0}, 1) % 60 AS age, hash({0}, 2) % 50 AS region, 'd' || hash({0}, 3) % {1} AS disease"
_POLICIES = """
CREATE HIERARCHY ages AS INTERVALS (5, 10, 20);
CREATE HIERARCHY regions AS INTERVALS (5, 10);
CREATE POLICY monthly ON people (person ENTITY, age QUASI IDENTIFIER USING ages, region QUASI IDENTIFIER USING regions,
    disease SENSITIVE) REQUIRE {};
CREATE POLICY buckets ON people (person IDENTIFIER, age QUASI IDENTIFIER, region QUASI IDENTIFIER, disease SENSITIVE)
    REQUIRE k_anonymity(k => 2);
CREATE SERIES months ON POLICY monthly KEY '{}' {};
CREATE ANONYMIZED TABLE released AS POLICY monthly METHOD {} IN SERIES months
"""


@dataclass(frozen=True)
class _Kind:
    """A method with the requirements of its policy and series, and the number of distinct sensitive values."""

    name: str
    method: str
    each: str
    together: str
    values: int
    mark: float | None


_KINDS = (
    _Kind("remembered", "generalization", "k_anonymity(k => 20)", "", 20, _MARK),
    _Kind(
        "composition",
        "generalization",
        "k_anonymity(k => 20)",
        "REQUIRE composition(max => 1, changed => 'ignored')",
        20,
        None,
    ),
    _Kind(
        "m_invariance",
        "m_invariance(m => 4)",
        "l_diversity(l => 4, variant => 'probabilistic')",
        "REQUIRE m_invariance(m => 4)",
        50,
        _MARK,
    ),
)
_LEDGER = """
SELECT m.position, v.n - m.members
FROM anon.series_release AS m
JOIN (
  SELECT c.position, sum(v.n) AS n
  FROM anon.series_class AS c
  JOIN anon.series_value AS v USING (series_id, attribute, value_set)
  GROUP BY c.position
) AS v ON v.position = m.position
ORDER BY m.position
"""
_BLOCKS = "SELECT count(DISTINCT block_id) FROM pragma_storage_info('anon.{}') WHERE persistent"
_BLOCK_MB = 0.262144


def run(context: Context) -> Iterator[Figure]:
    """Measures a year of monthly releases; each month 5 % of the people leave and as many join."""
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        for kind in _KINDS:
            context.note(f"series, {kind.name}, {rows:,} rows")
            with (
                patch.dict(os.environ, {KEY: secrets.token_hex(16)}),
                TemporaryDirectory(dir=context.folder) as folder,
                # In a file, like a table that is published every month.
                sqlanon.connect(str(Path(folder) / "series.duckdb")) as connection,
            ):
                yield _year(context, connection, rows, kind)


def second_release(connection: sqlanon.Connection, rows: int) -> None:
    """Publishes people by m_invariance, and replaces 5 % of them: the next statement makes the second release."""
    kind = next(kind for kind in _KINDS if kind.name == "m_invariance")
    _begin(connection, rows, kind)
    _churn(connection, rows, 1, kind.values)


def _begin(connection: sqlanon.Connection, rows: int, kind: _Kind) -> None:
    people = f"SELECT i AS person, {_ROW.format('i', kind.values)} FROM range({rows}) AS t(i)"
    connection.duckdb.execute(f"CREATE TABLE people AS {people}")
    connection.execute(_POLICIES.format(kind.each, KEY, kind.together, kind.method))


def _year(context: Context, connection: sqlanon.Connection, rows: int, kind: _Kind) -> Figure:
    _begin(connection, rows, kind)
    months = count(1)

    def refreshed() -> Timings:
        _churn(connection, rows, next(months), kind.values)
        begun = time.process_time()
        total = seconds(lambda: connection.execute("REFRESH ANONYMIZED TABLE released").fetchall())
        return {"total": total, "processor": time.process_time() - begun}

    baseline_processor: list[float] = []

    def anatomy() -> float:
        begun = time.process_time()
        total = _anatomy(connection)
        baseline_processor.append(time.process_time() - begun)
        return total

    samples = paired(anatomy, refreshed, _MONTHS)
    processor = zip(samples["processor"].measured, baseline_processor[1:], strict=True)
    context.note("processor's seconds: " + ", ".join(f"{own:.2f} ({own / base:.1f} times)" for own, base in processor))
    _note_ledger(context, connection)
    return ratio("series", kind.name, rows, samples["total"], "METHOD anatomy(l => 2) of the same rows", kind.mark)


def _note_ledger(context: Context, connection: sqlanon.Connection) -> None:
    """Notes the number of counterfeits in each release, and the size of the ledger in the file."""
    releases = connection.duckdb.execute(_LEDGER).fetchall()
    context.note("counterfeits: " + ", ".join(str(counterfeits) for _, counterfeits in releases))
    connection.duckdb.execute("CHECKPOINT")
    for table in ("series_member", "series_class", "series_value"):
        [(blocks,)] = connection.duckdb.execute(_BLOCKS.format(table)).fetchall()
        context.note(f"{table}: {blocks * _BLOCK_MB / len(releases):.1f} MB a release")


def _churn(connection: sqlanon.Connection, rows: int, month: int, values: int) -> None:
    connection.duckdb.execute(f"DELETE FROM people WHERE hash(person, {month}, 4) % 20 = 0")
    number = f"({rows} * {month} + i)"
    connection.duckdb.execute(
        f"INSERT INTO people SELECT {number}, {_ROW.format(number, values)} FROM range({rows // 20}) AS t(i)"
    )


def _anatomy(connection: sqlanon.Connection) -> float:
    statement = "CREATE OR REPLACE ANONYMIZED TABLE apart AS POLICY buckets METHOD anatomy(l => 2)"
    return seconds(lambda: connection.execute(statement).fetchall())
