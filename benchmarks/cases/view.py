"""Aggregates over the live view, which recodes and withholds at read time, against one grouping of its source.

One aggregate also runs on a view without the conditions on its reader and without the collation of its texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import sqlglot
from sqlglot import exp

import sqlanon
from benchmarks import databases, plan
from benchmarks.cases.solve import BASELINE
from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds
from sqlanon.domain.values import QualifiedName
from sqlanon.sql.build.render import secure_view

__all__ = ["run"]

_MARK = 2.0
_WITHOUT = "by one column, without conditions"
_QUERIES = {
    "count(*)": "SELECT count(*) FROM live",
    "by one column": "SELECT age, count(*) FROM live GROUP BY age",
    "by two columns": "SELECT education, sex, count(*) FROM live GROUP BY education, sex",
    _WITHOUT: "SELECT age, count(*) FROM bare GROUP BY age",
}


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes:
        context.note(f"live view, {rows:,} rows")
        with databases.working_copy(ADULT, context.file(ADULT, rows)) as connection:
            connection.sql(databases.release("view", "live", "0.02"))
            _strip(connection, "live", "bare")
            yield from _measured(context, connection, rows)


def _measured(context: Context, connection: sqlanon.Connection, rows: int) -> Iterator[Figure]:
    def subject() -> Timings:
        return {name: seconds(partial(_read, connection, query)) for name, query in _QUERIES.items()}

    samples = paired(lambda: databases.grouped(connection, ADULT), subject, context.runs_at(rows))
    for name, query in _QUERIES.items():
        view = "bare" if name == _WITHOUT else "live"
        figure = ratio("view", name, rows, samples[name], BASELINE, None if name == _WITHOUT else _MARK)
        yield figure.with_details(operators=partial(plan.of_view, connection, view, query))


def _strip(connection: sqlanon.Connection, view: str, name: str) -> None:
    """Creates a copy of a view without conditions on its reader and without collations."""
    text = connection.duckdb.execute("SELECT sql FROM duckdb_views() WHERE view_name = ?", [view]).fetchall()[0][0]
    tree = sqlglot.parse_one(text, dialect="duckdb")
    for asked in list(tree.find_all(exp.Where)):
        if "current_setting" in asked.sql(dialect="duckdb").lower():
            asked.pop()
    for shown in list(tree.find_all(exp.StructExtract)):
        shown.replace(shown.this.this.expressions[0])
    for text_of in list(tree.find_all(exp.Collate)):
        text_of.replace(text_of.this)
    body = tree.expression
    text = body.sql(dialect="duckdb")
    connection.duckdb.execute(secure_view(QualifiedName(("main", name)), body.named_selects, text))


def _read(connection: sqlanon.Connection, query: str) -> object:
    return connection.duckdb.execute(query).fetchall()
