"""CHECK of one model over a stored table, against one grouping of the columns that the model reads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from duckdb import DuckDBPyConnection

import sqlanon
from benchmarks import databases, plan
from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds

__all__ = ["run"]

_STAGES = ("",)
_QUASI = ("workclass", "education", "marital_status", "race", "sex", "salary_class")
_SENSITIVE = "occupation"
_BASELINE = "GROUP BY of the columns that the model reads"
# The requirement, whether it reads the sensitive column, and the mark of its CHECK.
_MODELS = {
    "k-anonymity": ("k_anonymity(k => 5)", False, 1.5),
    "distinct l-diversity": ("l_diversity(l => 3, variant => 'distinct')", True, 2.0),
    "t-closeness": ("t_closeness(t => 0.2)", True, 2.5),
}


def run(context: Context) -> Iterator[Figure]:
    """Measures the whole statement, once for each model."""
    quasi = ", ".join(_QUASI)
    for rows in context.sizes:
        context.note(f"check, {rows:,} rows")
        with databases.working_copy(ADULT, context.file(ADULT, rows)) as connection:
            for name, (model, reads_sensitive, mark) in _MODELS.items():
                columns = f"{quasi}, {_SENSITIVE}" if reads_sensitive else quasi
                query = f"SELECT count(*) FROM (SELECT {columns}, count(*) FROM {ADULT.name} GROUP BY ALL)"
                baseline = partial(seconds, partial(_read, connection.duckdb, query))
                statement = f"CHECK {ADULT.name} ({quasi}) SENSITIVE {_SENSITIVE} REQUIRE {model}"
                subject = partial(_timed, connection, statement)
                sample = paired(baseline, subject, context.runs_at(rows))["check"]
                figure = ratio("check", name, rows, sample, _BASELINE, mark)
                yield figure.with_details(operators=partial(plan.of_statement, connection, statement, _STAGES))


def _timed(connection: sqlanon.Connection, statement: str) -> Timings:
    return {"check": seconds(lambda: connection.sql(statement).fetchall())}


def _read(connection: DuckDBPyConnection, query: str) -> object:
    return connection.execute(query).fetchall()
