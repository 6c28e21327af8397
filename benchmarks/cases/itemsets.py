"""METHOD itemsets and its CHECK on baskets, against counting how often each item occurs.

A script generates the baskets: up to 20 of 1,000 items, in most baskets only a few. The item of rank r has a chance of
1/r, as in baskets of real shops, and half of a basket is from the customer's favorite department. A third of the
customers have one of 20 diagnoses, for coherence.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds

__all__ = ["baskets", "run", "statement"]

_SIZES, _QUICK_SIZES = (10_000, 100_000, 300_000), (5_000,)
_ITEMS, _LONGEST, _MOST = 1_000, 20, (2, 3)
_BASELINE = "SELECT item, count(*) FROM (SELECT unnest(items) AS item FROM baskets) GROUP BY item"
_MAKE = "CREATE OR REPLACE ANONYMIZED TABLE released AS POLICY {policy} METHOD itemsets"
# The policies, each with its arguments of the method.
_POLICIES = {"baskets": "", "coherent": "(search => 'suppress')"}
# Ranks are spread over the departments: each has some popular items and more unpopular ones.
_SCRIPT = f"""
SELECT setseed(0.42);
CREATE TABLE baskets AS
SELECT customer, list_distinct(list_transform(range(length), lambda n:
    'i' || CASE WHEN random() + 0 * n < 0.5 THEN department * 50 + CAST(floor(exp(random() * ln(51)) - 1) AS INTEGER)
    ELSE CAST(floor(exp(random() * ln({_ITEMS + 1})) - 1) AS INTEGER) * 617 % {_ITEMS} END)) AS items,
    if(customer % 3 = 0, ['d' || customer // 3 % 20], []) AS diagnoses
FROM (
    SELECT customer, 1 + CAST(floor({_LONGEST} * pow(random(), 2)) AS INTEGER) AS length,
        CAST(floor({_ITEMS} / 50 * pow(random(), 2)) AS INTEGER) AS department
    FROM range({{rows}}) AS person(customer)
);
"""
_DECLARE = f"""
CREATE HIERARCHY products AS LEVELS (
    SELECT 'i' || i, 'kind ' || i // 5, 'shelf ' || i // 10, 'department ' || i // 50 FROM range({_ITEMS}) AS item(i)
);
"""


def baskets(connection: sqlanon.Connection, rows: int) -> None:
    """Generates the baskets, equal in each run, and declares two policies for each maximum of known items."""
    for text in _SCRIPT.format(rows=rows).split(";"):
        if text.strip():
            connection.duckdb.execute(text).fetchall()
    connection.execute(_DECLARE)
    for items in _MOST:
        connection.execute(
            f"CREATE POLICY baskets_{items} ON baskets (customer ENTITY, items QUASI IDENTIFIER USING products) "
            f"REQUIRE km_anonymity(k => 5, m => {items})"
        )
        connection.execute(
            f"CREATE POLICY coherent_{items} ON baskets (customer ENTITY, items QUASI IDENTIFIER, diagnoses SENSITIVE) "
            f"REQUIRE coherence(h => 0.5, k => 5, p => {items})"
        )


def statement(policy: str, arguments: str = "") -> str:
    """Returns the statement that makes a release of the baskets."""
    return _MAKE.format(policy=policy) + arguments


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        with sqlanon.connect() as connection:
            baskets(connection, rows)
            for items in _MOST:
                for policy in _POLICIES:
                    context.note(f"itemsets, {policy}, m = {items}, {rows:,} baskets")
                    yield from _measured(context, connection, rows, items, policy)


def _measured(context: Context, connection: sqlanon.Connection, rows: int, items: int, policy: str) -> Iterator[Figure]:
    make = statement(f"{policy}_{items}", _POLICIES[policy])

    def subject() -> Timings:
        made = seconds(lambda: connection.execute(make))
        return {"total": made, "check": seconds(lambda: connection.sql("CHECK released").fetchall())}

    runs = 1 if context.quick else min(context.runs_at(rows), 3)
    samples = paired(lambda: seconds(lambda: connection.duckdb.execute(_BASELINE).fetchall()), subject, runs)
    what = f"m = {items}" if policy == "baskets" else f"coherence, p = {items}"
    yield ratio("itemsets", f"the whole statement, {what}", rows, samples["total"], _BASELINE, None)
    yield ratio("itemsets", f"CHECK, {what}", rows, samples["check"], _BASELINE, None)
