"""METHOD microaggregation on six columns of numbers, against a copy of the table in random order.

MDAV compares each row with all rows left, and its slope is near 2; in blocks, and on one column, it is near 1. Two
columns are normal, two uniform, one is skewed and one has few values. Times are processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure, ratio
from benchmarks.measure import paired

__all__ = ["numbers", "run", "statement"]

_SIZES, _QUICK_SIZES = (12_500, 25_000, 50_000, 100_000), (2_000, 4_000)
_MARKED, _MARK = 100_000, 30.0
_NORMAL = "round(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()), 3)"
_SCRIPT = f"""
SELECT setseed(0.42);
CREATE TABLE numbers AS SELECT {_NORMAL} AS a, round(1000 * random()) AS b, {_NORMAL} AS c, round(100 * random()) AS d,
    round(exp(3 * random()), 2) AS e, CAST(90 * random() AS INTEGER) AS f FROM range({{rows}});
"""
_DECLARE = """
CREATE POLICY six ON numbers (a QUASI IDENTIFIER, b QUASI IDENTIFIER, c QUASI IDENTIFIER, d QUASI IDENTIFIER,
    e QUASI IDENTIFIER, f QUASI IDENTIFIER) REQUIRE k_anonymity(k => 3);
CREATE POLICY one ON numbers (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 3);
"""
_MAKE = "CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY {policy} METHOD microaggregation({arguments})"
_BASELINE = "CREATE OR REPLACE TABLE copied AS SELECT a, b, c, d, e, f FROM numbers ORDER BY random()"
# The measured calls: the policy and the arguments.
_CALLS = {
    "mdav, k = 3": ("six", "k => 3"),
    "mdav, k = 5": ("six", "k => 5"),
    "mdav, k = 10": ("six", "k => 10"),
    "mdav in blocks, k = 5": ("six", "k => 5, block => 5000"),
    "one column, k = 5": ("one", "k => 5"),
}


# The calls with a mark.
_MARKS = ("mdav, k = 3", "mdav, k = 5")


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        with sqlanon.connect() as connection:
            numbers(connection, rows)
            for what, (policy, arguments) in _CALLS.items():
                context.note(f"microaggregation, {what}, {rows:,} rows")
                yield from _measured(connection, rows, what, statement(policy, arguments))


def numbers(connection: sqlanon.Connection, rows: int) -> None:
    """Generates the table of numbers and declares a policy on six of its columns, and one on a single column."""
    for text in _SCRIPT.format(rows=rows).split(";"):
        if text.strip():
            connection.duckdb.execute(text).fetchall()
    connection.execute(_DECLARE)


def statement(policy: str, arguments: str) -> str:
    """Returns the statement that makes a release of the table of numbers."""
    return _MAKE.format(policy=policy, arguments=arguments)


def _measured(connection: sqlanon.Connection, rows: int, what: str, made: str) -> Iterator[Figure]:
    def subject() -> dict[str, float]:
        return {"total": _processor(lambda: connection.execute(made))}

    # One run each: a warm-up would save little.
    samples = paired(
        lambda: _processor(lambda: connection.duckdb.execute(_BASELINE).fetchall()), subject, runs=1, warm=True
    )
    (seconds,) = samples["total"].measured
    yield ratio("microaggregation", what, rows, samples["total"], _BASELINE, None)
    if what in _MARKS and rows == _MARKED:
        yield Figure("microaggregation", f"{what}, processor time", seconds, "s", seconds, seconds, rows, mark=_MARK)


def _processor(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
