"""METHOD m_invariance with ranges: counterfeits and loss of a series, by m and by the share of people replaced.

A release has the people's ages and regions, and one of 20 diagnoses, the most frequent of which has 22 % of the people.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from unittest.mock import patch

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (10_000, 100_000), (2_000,)
_RELEASES = 10
_M, _REPLACED = (2, 3, 4), (5, 20, 50)
_KEY = "SERIES_KEY"
_VALUES, _SKEW = 20, 2.0
_ROW = (
    "hash({0}, 1) % 60 AS age, hash({0}, 2) % 50 AS region, "
    f"'d' || floor(pow(hash({{0}} || ':d') / pow(2.0, 64), {_SKEW}) * {_VALUES})::INTEGER AS disease"
)
_SCRIPT = """
CREATE POLICY yearly ON people (person ENTITY, age QUASI IDENTIFIER, region QUASI IDENTIFIER, disease SENSITIVE)
    REQUIRE l_diversity(l => {m}, variant => 'probabilistic');
CREATE SERIES years ON POLICY yearly KEY '{key}' REQUIRE m_invariance(m => {m});
CREATE ANONYMIZED TABLE released AS POLICY yearly METHOD m_invariance(m => {m}, publish => 'ranges') IN SERIES years
"""


def run(context: Context) -> Iterator[Figure]:
    """Yields the counterfeits of all releases as a share of their people, and the loss of the last release."""
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        for m in _M:
            for replaced in _REPLACED:
                context.note(f"counterfeits, m = {m}, {replaced} % replaced, {rows:,} people")
                with patch.dict(os.environ, {_KEY: secrets.token_hex(16)}), sqlanon.connect() as connection:
                    yield from _measured(connection, rows, m, replaced)


def _measured(connection: sqlanon.Connection, rows: int, m: int, replaced: int) -> Iterator[Figure]:
    connection.duckdb.execute(
        f"CREATE TABLE people AS SELECT i AS person, {_ROW.format('i')} FROM range({rows}) AS t(i)"
    )
    connection.execute(_SCRIPT.format(m=m, key=_KEY))
    counterfeits = [_counterfeits(connection)]
    for release in range(1, _RELEASES):
        connection.duckdb.execute(f"DELETE FROM people WHERE hash(person, {release}, 4) % 100 < {replaced}")
        number = f"({rows} * {release} + i)"
        connection.duckdb.execute(
            f"INSERT INTO people SELECT {number}, {_ROW.format(number)} "
            f"FROM range({rows} - (SELECT count(*) FROM people)) AS t(i)"
        )
        connection.execute("REFRESH ANONYMIZED TABLE released")
        counterfeits.append(_counterfeits(connection))
    what = f"m = {m}, {replaced} % replaced"
    shares = [100 * number / rows for number in counterfeits]
    mean = sum(shares) / len(shares)
    note = f"{sum(counterfeits):,} counterfeits in {_RELEASES} releases, {max(counterfeits):,} in one"
    yield Figure("counterfeits", f"{what}: counterfeits", mean, "%", min(shares), max(shares), rows, note=note)
    ((loss,),) = connection.duckdb.execute(
        "SELECT loss FROM anon.release ORDER BY created_at DESC NULLS LAST LIMIT 1"
    ).fetchall()
    share = 100 * float(loss)
    yield Figure("counterfeits", f"{what}: loss of the last release", share, "%", share, share, rows)


def _counterfeits(connection: sqlanon.Connection) -> int:
    """Returns the number of counterfeits in the release."""
    ((number,),) = connection.duckdb.execute("SELECT sum(counterfeits) FROM released_counterfeits").fetchall()
    return int(number or 0)
