"""A table that is published every month, in a series, against a first release of the same rows by Anatomy."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from itertools import count
from unittest.mock import patch

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (100_000, 1_000_000), (5_000,)
_MONTHS, _MARK = 12, 3.0
_KEY = "SERIES_KEY"
_ROW = "hash({0}, 1) % 60 AS age, hash({0}, 2) % 50 AS region, 'd' || hash({0}, 3) % 20 AS disease"
_POLICIES = f"""
CREATE HIERARCHY ages AS INTERVALS (5, 10, 20);
CREATE HIERARCHY regions AS INTERVALS (5, 10);
CREATE POLICY monthly ON people (person ENTITY, age QUASI IDENTIFIER USING ages, region QUASI IDENTIFIER USING regions,
    disease SENSITIVE) REQUIRE k_anonymity(k => 20);
CREATE POLICY buckets ON people (person IDENTIFIER, age QUASI IDENTIFIER, region QUASI IDENTIFIER, disease SENSITIVE)
    REQUIRE k_anonymity(k => 2);
CREATE SERIES months ON POLICY monthly KEY '{_KEY}' """
# Whether all releases are measured together each month, or only remembered.
_REQUIRED = {"remembered": "", "composition": "REQUIRE composition(max => 1, changed => 'ignored')"}


def run(context: Context) -> Iterator[Figure]:
    """5 % of the people leave each month and as many come, for a year."""
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        for name, required in _REQUIRED.items():
            context.note(f"series, {name}, {rows:,} rows")
            with patch.dict(os.environ, {_KEY: secrets.token_hex(16)}), sqlanon.connect() as connection:
                yield _year(connection, rows, name, required)


def _year(connection: sqlanon.Connection, rows: int, name: str, required: str) -> Figure:
    people = f"SELECT i AS person, {_ROW.format('i')} FROM range({rows}) AS t(i)"
    connection.duckdb.execute(f"CREATE TABLE people AS {people}")
    connection.execute(f"{_POLICIES} {required}")
    connection.execute("CREATE ANONYMIZED TABLE released AS POLICY monthly IN SERIES months")
    months = count(1)

    def refreshed() -> Timings:
        _churn(connection, rows, next(months))
        return {"total": seconds(lambda: connection.execute("REFRESH ANONYMIZED TABLE released").fetchall())}

    samples = paired(lambda: _anatomy(connection), refreshed, _MONTHS)
    mark = None if required else _MARK
    return ratio("series", name, rows, samples["total"], "METHOD anatomy(l => 2) of the same rows", mark)


def _churn(connection: sqlanon.Connection, rows: int, month: int) -> None:
    connection.duckdb.execute(f"DELETE FROM people WHERE hash(person, {month}, 4) % 20 = 0")
    number = f"({rows} * {month} + i)"
    connection.duckdb.execute(
        f"INSERT INTO people SELECT {number}, {_ROW.format(number)} FROM range({rows // 20}) AS t(i)"
    )


def _anatomy(connection: sqlanon.Connection) -> float:
    statement = "CREATE OR REPLACE ANONYMIZED TABLE apart AS POLICY buckets METHOD anatomy(l => 2)"
    return seconds(lambda: connection.execute(statement).fetchall())
