"""Queries, settings and values with which an attacker tries to see what a view withholds."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb

# From 2.0.1 on DuckDB pushes no condition that may fail below a join or a window: views by hand are safer there.
GUARD_FIRST = tuple(int(part) for part in re.findall(r"\d+", duckdb.__version__)[:3]) >= (2, 0, 1)
# The attacks by such conditions.
BY_FAILING = {"cast", "cast of a column", "error", "strptime", "json", "overflow", "semi-join", "correlated", "cte"}
ATTACKS = {
    "cast": "SELECT count(*) FROM {v} WHERE (CASE WHEN age > 200 THEN 'x' || age || disease ELSE '1' END)::INT = 1",
    "cast of a column": "SELECT count(*) FROM {v} WHERE disease::INT > 0",
    "cast of a label": "SELECT * FROM {v} WHERE translate(zip, '*', '0')::INT > 0",
    "error": "SELECT count(*) FROM {v} WHERE CASE WHEN age > 200 THEN error(disease) ELSE true END",
    "strptime": "SELECT count(*) FROM {v} WHERE strptime(disease, '%d') IS NOT NULL",
    "json": "SELECT count(*) FROM {v} WHERE disease::JSON IS NOT NULL",
    "overflow": "SELECT count(*) FROM {v} WHERE (age * 100000)::INT > 0",
    "join": "SELECT count(*) FROM {v} JOIN (VALUES (1), (2)) AS t(x) "
    "ON t.x = (CASE WHEN age > 200 THEN disease ELSE '1' END)::INT",
    "semi-join": "SELECT count(*) FROM {v} WHERE disease::INT IN (SELECT 1)",
    "lateral": "SELECT count(*) FROM {v}, LATERAL (SELECT disease::INT AS y) WHERE y = 1",
    "correlated": "SELECT (SELECT count(*) FROM {v} WHERE disease::INT = o.x) FROM (VALUES (1)) AS o(x)",
    "aggregate": "SELECT sum(disease::INT) FROM {v}",
    "aggregate filter": "SELECT count(*) FILTER (disease::INT > 0) FROM {v}",
    "window": "SELECT row_number() OVER (ORDER BY disease::INT) FROM {v} QUALIFY disease::INT > 0",
    "order": "SELECT age FROM {v} ORDER BY disease::INT LIMIT 1",
    "distinct": "SELECT DISTINCT disease::INT FROM {v}",
    "cte": "WITH x AS (FROM {v}) SELECT * FROM x WHERE disease::INT > 0",
    "union": "SELECT disease::INT FROM {v} UNION ALL SELECT 1",
    "statistics": "SELECT stats(age), stats(zip), stats(disease) FROM {v} LIMIT 1",
    "summary": "SUMMARIZE {v}",
    "extremes": "SELECT min(age), max(age), max(zip), max(disease), max(length(disease)) FROM {v}",
    "sample": "SELECT max(age), max(zip) FROM {v} USING SAMPLE 100%",
    "quantile": "SELECT approx_quantile(age, 1.0), approx_top_k(disease, 10) FROM {v}",
    "plan": "EXPLAIN SELECT * FROM {v} WHERE disease::INT > 0",
    "analyzed plan": "EXPLAIN ANALYZE SELECT * FROM {v} WHERE age > 30",
    "analyzed plan in json": "EXPLAIN (ANALYZE, FORMAT json) SELECT * FROM {v} WHERE age > 30",
    "plan as sql": "EXPLAIN (SQL) SELECT * FROM {v}",
    "serialized plan": "SELECT json_serialize_plan('SELECT * FROM {v} WHERE age > 1')",
    "folded aggregate": "EXPLAIN SELECT max(age), min(zip) FROM {v}",
}
# What a session may set for itself, and what changes how a plan is made or shown.
SETTINGS = [
    "PRAGMA disable_optimizer",
    "SET explain_output = 'all'",
    "PRAGMA disable_optimizer; SET explain_output = 'all'",
    "SET disabled_optimizers = 'statistics_propagation,filter_pullup,expression_rewriter'",
    "SET threads = 1",
]


def answer(connection: Any, query: str) -> str:
    """All that an attacker sees: the rows, or the error."""
    try:
        return repr(connection.execute(query).fetchall())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def plan(connection: Any, view: str, condition: str) -> str:
    text = answer(connection, f"EXPLAIN (FORMAT json) SELECT * FROM {view} WHERE {condition}")
    assert "Error" not in text, text
    constants = re.findall(r"'[^']*'|\d+", condition)
    return re.sub("|".join(re.escape(constant.strip("'%*")) for constant in constants), "?", text)


# One value a row, each alone in its class: whatever the body computes of it, nothing may be raised or shown.
EXTREMES: dict[str, tuple[str, list[Any]]] = {
    "TINYINT": ("INTERVALS (10, 100)", [-128, 127]),
    "SMALLINT": ("INTERVALS (10, 1000)", [-(2**15), 2**15 - 1]),
    "INTEGER": ("INTERVALS (10, 1000)", [-(2**31), 2**31 - 1]),
    "BIGINT": ("INTERVALS (10, 1000)", [-(2**63), 2**63 - 1]),
    "HUGEINT": ("INTERVALS (10, 1000)", [-(2**127), 2**127 - 1]),
    "UBIGINT": ("INTERVALS (10, 1000)", [2**64 - 1]),
    "UHUGEINT": ("INTERVALS (10, 1000)", [2**128 - 1]),
    "DECIMAL(38,10)": ("INTERVALS (0.5, 5)", [Decimal("9" * 28 + "." + "9" * 10), Decimal("-" + "9" * 28)]),
    "DOUBLE": ("INTERVALS (0.5, 5)", [1.7e308, -1.7e308, 5e-324, float("inf"), float("-inf"), float("nan")]),
    "FLOAT": ("INTERVALS (0.5, 5)", [3.4e38, float("inf"), float("nan")]),
    "VARCHAR": (
        "PREFIXES (3, 2)",
        ["", "\0", "a\0b", "'", '"', "\\", "%s", "😀", "👨‍👩‍👧", "x" * 100_000, "שלום", "\u0301", "*"],
    ),
    "DATE": (
        "CALENDAR (MONTH, YEAR)",
        ["infinity", "-infinity", "5881580-07-10", "0001-01-01", "5877642-06-25 (BC)", date(9999, 12, 31)],
    ),
    "TIMESTAMP": (
        "CALENDAR (DAY, YEAR)",
        ["infinity", "-infinity", "294247-01-10 04:00:54", "290309-12-22 (BC) 00:00:00", datetime(1, 1, 1)],
    ),
    "TIMESTAMP_S": ("CALENDAR (DAY, YEAR)", ["infinity", "-infinity"]),
    "TIMESTAMP_NS": ("CALENDAR (DAY, YEAR)", ["1677-09-22 00:12:44", "2262-04-11 23:47:16"]),
}
