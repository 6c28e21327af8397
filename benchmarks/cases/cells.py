"""METHOD generalization(cells => 'suppress') on eight columns of UCI Adult: processor time, and the share of NULL.

Columns without hierarchies have one level, and all time is spent on the cells; with hierarchies levels are searched
for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure
from sqlanon import assets
from sqlanon.clients.terminal.demo import load_adult

__all__ = ["run"]

_TRAINING, _QUICK = 32_561, 2_000
_MARK = 2.0
_COLUMNS = tuple("age workclass education marital_status occupation race sex native_country".split())
_MAKE = "CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY {policy} METHOD generalization(cells => 'suppress')"


def run(context: Context) -> Iterator[Figure]:
    with sqlanon.connect() as connection:
        load_adult(connection)
        connection.execute(assets.read("sql", "examples", "adult_hierarchies.sql"))
        connection.duckdb.execute(
            f"CREATE TABLE people AS SELECT {', '.join(_COLUMNS)} "
            f"FROM (FROM adult LIMIT {_QUICK if context.quick else _TRAINING}) WHERE COLUMNS(*) IS NOT NULL"
        )
        for what, clause in (("as they are", "MAX LEVEL 0"), ("with hierarchies", "USING adult_{name}")):
            quasi = ", ".join(f"{name} QUASI IDENTIFIER {clause.format(name=name)}" for name in _COLUMNS)
            for k in (2, 5):
                context.note(f"cells, {what}, k = {k}")
                connection.execute(f"CREATE OR REPLACE POLICY made ON people ({quasi}) REQUIRE k_anonymity(k => {k})")
                yield from _measured(connection, f"{what}, k = {k}", _MARK if "MAX" in clause else None)


def _measured(connection: sqlanon.Connection, what: str, mark: float | None) -> Iterator[Figure]:
    begun = time.process_time()
    connection.execute(_MAKE.format(policy="made"))
    seconds = time.process_time() - begun
    missing = " + ".join(f"CAST({name} IS NULL AS INTEGER)" for name in _COLUMNS)
    ((cells, released),) = connection.duckdb.execute(f"SELECT sum({missing}), count(*) FROM released").fetchall()
    ((rows,),) = connection.duckdb.execute("SELECT count(*) FROM people").fetchall()
    yield Figure("cells", f"{what}, processor time", seconds, "s", seconds, seconds, rows, mark=mark)
    share = 100 * float(cells) / (len(_COLUMNS) * released)
    yield Figure("cells", f"{what}, cells that are NULL", share, "%", share, share, rows)
    yield Figure("cells", f"{what}, rows left out", rows - released, "rows", rows - released, rows - released, rows)
