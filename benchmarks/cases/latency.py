"""Case `latency`: the fixed cost of a statement on few rows: its queries, and the process's processor time.

Wall-clock time depends on other work on the machine; processor time does so far less.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure
from sqlanon import assets
from sqlanon.syntax.script import split

__all__ = ["run"]

_RUNS, _DATABASES = 25, 9
_WARM_UP = 3
_METHOD = "AS POLICY hospital METHOD generalization(suppression => 0.06)"
_ESTIMATE = (
    "ESTIMATE SELECT count(*) FROM patients WHERE sex = 'F' AND dob < DATE '1950-01-01' FROM RELEASE hospital_release"
)


@dataclass(frozen=True)
class _Case:
    """A statement, and the statements that allow it to run again; `{n}` is the number of the run."""

    what: str
    statement: str
    undo: str = ""
    most_queries: int | None = None
    most_milliseconds: float | None = None


@dataclass(frozen=True)
class _Cost:
    milliseconds: float
    queries: int


def run(context: Context) -> Iterator[Figure]:
    context.note("fixed cost of each statement, 17 rows")
    *before, policy = _setup()
    with tempfile.TemporaryDirectory(prefix="sqlanon-latency-") as folder, sqlanon.connect() as connection:
        connection.sql(";".join((*before, policy, f"CREATE ANONYMIZED TABLE hospital_release {_METHOD}")))
        for case in _cases(policy, Path(folder)):
            yield from _figures(case, [_cost_again(connection, case, n) for n in range(_runs(context) + _WARM_UP)])
    first = _Case("CREATE HIERARCHY, the first statement of a new database", before[1])
    yield from _figures(first, [_cost_of_first(before) for _ in range((context.runs or _DATABASES) + _WARM_UP)])


def _runs(context: Context) -> int:
    return context.runs or _RUNS


def _setup() -> list[str]:
    """Returns the statements of the example that create its table, hierarchies and policy."""
    texts = [piece.text for piece in split(assets.read("sql", "examples", "hospital.sql"))]
    return [text.replace("OR REPLACE ", "") for text in texts[:4]]


def _cases(policy: str, folder: Path) -> tuple[_Case, ...]:
    return (
        _Case(
            "CREATE HIERARCHY",
            "CREATE HIERARCHY h_{n} AS PREFIXES (4, 3, 2)",
            "DROP HIERARCHY h_{n}",
            most_milliseconds=25,
        ),
        _Case(
            "CREATE POLICY",
            policy.replace("POLICY hospital", "POLICY hospital_{n}"),
            "DROP POLICY hospital_{n}",
            most_milliseconds=25,
        ),
        _Case("EXPLAIN ANONYMIZED TABLE", f"EXPLAIN ANONYMIZED TABLE planned {_METHOD}"),
        _Case(
            "CREATE ANONYMIZED TABLE",
            f"CREATE ANONYMIZED TABLE release_{{n}} {_METHOD}",
            "DROP ANONYMIZED TABLE release_{n}",
            most_queries=35,
            most_milliseconds=60,
        ),
        _Case(
            "CREATE ANONYMIZED VIEW",
            f"CREATE ANONYMIZED VIEW view_{{n}} {_METHOD}",
            "DROP ANONYMIZED VIEW view_{n}",
        ),
        _Case("CHECK", "CHECK hospital_release", most_milliseconds=18),
        _Case("ESTIMATE", _ESTIMATE, most_milliseconds=35),
        _Case("EXPORT", f"EXPORT hospital_release TO '{folder}/{{n}}' (FORMAT parquet)"),
    )


def _cost_again(connection: sqlanon.Connection, case: _Case, number: int) -> _Cost:
    """Measures one more run on a connection that has run the statement before, without the statement that undoes it."""
    cost = _cost(connection, case.statement.replace("{n}", str(number)))
    if case.undo:
        connection.sql(case.undo.replace("{n}", str(number)))
    return cost


def _cost_of_first(setup: Sequence[str]) -> _Cost:
    """Measures the first statement of sqlanon in a database with a table and without a catalog."""
    with sqlanon.connect() as connection:
        connection.sql(setup[0])
        return _cost(connection, setup[1])


def _cost(connection: sqlanon.Connection, statement: str) -> _Cost:
    queries = 0

    def observe(stage: str, sql: str | None, *_: object) -> None:
        nonlocal queries
        queries += sql is not None

    connection.observe(observe)
    gc.collect()
    begun = time.process_time()
    connection.sql(statement)
    taken = time.process_time() - begun
    connection.observe(None)
    return _Cost(taken * 1000, queries)


def _figures(case: _Case, costs: Sequence[_Cost]) -> Iterator[Figure]:
    """Yields the queries and the milliseconds of the runs after the warm-up."""
    measured = costs[_WARM_UP:]
    queries = [cost.queries for cost in measured]
    milliseconds = [cost.milliseconds for cost in measured]
    for what, unit, taken, mark in (
        ("queries", "queries", queries, case.most_queries),
        ("processor time", "ms", milliseconds, case.most_milliseconds),
    ):
        yield Figure(
            "latency", f"{case.what}, {what}", median(taken), unit, min(taken), max(taken), runs=len(taken), mark=mark
        )
