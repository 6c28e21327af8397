"""CHECK of ck_safety with the most implications, k = 8, on UCI Adult."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure
from sqlanon.clients.terminal.demo import load_adult

__all__ = ["run"]

_QUASI = "workclass, education, marital_status, race, sex, salary_class"
_STATEMENT = f"CHECK adult ({_QUASI}) SENSITIVE occupation REQUIRE ck_safety(c => 0.9, k => 8)"
_MARK = 0.2
_RUNS = 9


def run(context: Context) -> Iterator[Figure]:
    """Measures the processor time of the whole statement, over all threads, without the first run."""
    context.note("knowledge, UCI Adult")
    with sqlanon.connect() as connection:
        rows = load_adult(connection)
        connection.sql(_STATEMENT).fetchall()
        taken = [_processor_seconds(connection) for _ in range(context.runs or _RUNS)]
    yield Figure(
        case="knowledge",
        what="CHECK of ck_safety, k = 8, processor time",
        value=median(taken),
        unit="s",
        low=min(taken),
        high=max(taken),
        rows=rows,
        runs=len(taken),
        seconds=median(taken),
        mark=_MARK,
    )


def _processor_seconds(connection: sqlanon.Connection) -> float:
    begun = time.process_time()
    connection.sql(_STATEMENT).fetchall()
    return time.process_time() - begun
