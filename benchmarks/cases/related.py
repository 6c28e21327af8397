"""A policy on people with their visits and drugs, and its CHECK, against one grouping of people by all columns.

A script generates the people: each has 5 visits, most of them near home, and 3 drugs, some of them usual.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds

__all__ = ["patients", "run", "statement"]

_SIZES, _QUICK_SIZES = (10_000, 100_000), (5_000,)
_KNOWN = ("values", "history", "one_row")
_BASELINE = """
WITH visited AS (SELECT id, list_sort(list(DISTINCT clinic)) AS known FROM visits GROUP BY id),
    taken AS (SELECT id, list_sort(list(DISTINCT drug)) AS known FROM drugs GROUP BY id)
SELECT min(n) FROM (
    SELECT count(*) AS n FROM persons LEFT JOIN visited USING (id) LEFT JOIN taken USING (id)
    GROUP BY born, sex, visited.known, taken.known
)
"""
_MAKE = (
    "CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY patients_{known} METHOD multirelational(suppression => {})"
)
_SCRIPT = """
SELECT setseed(0.42);
CREATE TABLE persons AS
SELECT id, 1930 + CAST(floor(80 * random()) AS INTEGER) AS born, CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex,
    CAST(floor(20 * pow(random(), 2)) AS INTEGER) AS home
FROM range({rows}) AS person(id);
CREATE TABLE visits AS
SELECT id, CASE WHEN random() < 0.9 THEN home ELSE CAST(floor(20 * random()) AS INTEGER) END * 10
    + CAST(floor(10 * random()) AS INTEGER) AS clinic, 'd' || CAST(floor(50 * pow(random(), 2)) AS INTEGER) AS diagnosis
FROM persons, range(5) AS visit(number);
CREATE TABLE drugs AS
SELECT id, CAST(floor(100 * pow(random(), 3)) AS INTEGER) AS drug FROM persons, range(3) AS prescription(number);
"""
_DECLARE = """
CREATE HIERARCHY years AS INTERVALS (5, 10, 20, 40);
CREATE HIERARCHY clinics AS INTERVALS (10, 50, 100);
CREATE HIERARCHY substances AS INTERVALS (10, 50);
"""


def patients(connection: sqlanon.Connection, rows: int) -> None:
    """Generates people, visits and drugs, and declares a policy for each kind of knowledge."""
    for text in _SCRIPT.format(rows=rows).split(";"):
        if text.strip():
            connection.duckdb.execute(text).fetchall()
    connection.execute(_DECLARE)
    for known in _KNOWN:
        connection.execute(
            f"CREATE POLICY patients_{known} ON persons "
            "(id ENTITY, born QUASI IDENTIFIER USING years, sex QUASI IDENTIFIER) "
            "WITH TABLE visits ON (id) (clinic QUASI IDENTIFIER USING clinics, diagnosis SENSITIVE) "
            "WITH TABLE drugs ON (id) (drug QUASI IDENTIFIER USING substances) "
            f"REQUIRE k_anonymity(k => 5, knows => '{known}')"
        )


def statement(known: str) -> str:
    """Returns the statement that makes a release of the people under the policy for a kind of knowledge."""
    return _MAKE.format("0" if known == "one_row" else "0.02", known=known)


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        with sqlanon.connect() as connection:
            patients(connection, rows)
            for known in _KNOWN:
                context.note(f"related tables, knows => '{known}', {rows:,} people")
                yield from _measured(context, connection, rows, known)


def _measured(context: Context, connection: sqlanon.Connection, rows: int, known: str) -> Iterator[Figure]:
    make = statement(known)

    def subject() -> Timings:
        made = seconds(lambda: connection.execute(make))
        return {"total": made, "check": seconds(lambda: connection.sql("CHECK released").fetchall())}

    runs = 1 if context.quick else min(context.runs_at(rows), 3)
    samples = paired(lambda: seconds(lambda: connection.duckdb.execute(_BASELINE).fetchall()), subject, runs)
    yield ratio("related", f"the whole statement, knows => '{known}'", rows, samples["total"], _BASELINE, None)
    yield ratio("related", f"CHECK, knows => '{known}'", rows, samples["check"], _BASELINE, None)
