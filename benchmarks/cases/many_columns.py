"""Tables of many quasi-identifiers and few rows: the loss that METHOD generalization reaches, and that of ARX.

ARX takes part if the variable ARX_CLASSPATH has its jar and the jars that it needs, in tables of at most 64 columns.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import sqlanon
from benchmarks.context import Context
from benchmarks.figure import Figure

__all__ = ["run"]

_PROGRAM = Path(__file__).resolve().parents[1] / "ArxSearch.java"
# Columns, rows, and the suppressed share of the rows.
_TABLES = ((97, 4_000, "0.04"), (47, 1_500, "0.04"), (47, 1_500, "0"))
_QUICK_TABLES = ((20, 500, "0.04"),)
_SECONDS, _QUICK_SECONDS, _MARK_SECONDS = 30, 2, 60
# The values of a column, and the widths of the levels between a value and `*`; columns have these kinds in turn.
_KINDS = ((2, ()), (6, (3,)), (24, (4, 12)), (120, (5, 20, 60)))
# Of ten cells of a column, six are of the row's cause, which columns share.
_CAUSES, _CAUSED = 8, 6
_ARX_COLUMNS = 64


def run(context: Context) -> Iterator[Figure]:
    """Yields the seconds of the statement and the loss in percent for each table, and the loss over ARX's."""
    seconds = _QUICK_SECONDS if context.quick else _SECONDS
    for columns, rows, suppression in _QUICK_TABLES if context.quick else _TABLES:
        context.note(f"many_columns, {columns} columns, {rows:,} rows, {suppression} suppressed")
        what = f"{columns} columns, {float(suppression):.0%} suppressed"
        with sqlanon.connect() as connection:
            _declare(connection, columns, rows)
            method = f"generalization(suppression => {suppression}, time_limit => {seconds})"
            begun = perf_counter()
            connection.sql(f"CREATE ANONYMIZED TABLE found AS POLICY wide METHOD {method}")
            taken = perf_counter() - begun
            figures = connection.sql("MEASURE found WITH FIGURES (granularity_loss)").fetchall()
            loss = next(value for _, _, attribute, value in figures if attribute is None)
            yield Figure(
                "many_columns", f"whole statement, {what}", taken, "s", taken, taken, rows=rows, mark=_MARK_SECONDS
            )
            percent = 100 * loss
            yield Figure("many_columns", f"loss after {seconds} s, {what}", percent, "%", percent, percent, rows=rows)
            classpath = os.environ.get("ARX_CLASSPATH")
            if classpath and columns <= _ARX_COLUMNS:
                share = loss / _loss_of_arx(connection, columns, classpath, suppression, seconds)
                what = f"loss over that of ARX's genetic search, {seconds} s, {what}"
                yield Figure("many_columns", what, share, "x", share, share, rows=rows, mark=1.0)


def _kind(column: int) -> tuple[int, tuple[int, ...]]:
    return _KINDS[column % len(_KINDS)]


def _declare(connection: sqlanon.Connection, columns: int, rows: int) -> None:
    """Makes the table, whose values depend on the number of row and column only, its hierarchies and its policy."""
    cells, quasi = [], []
    for column in range(columns):
        name, (values, widths) = f"c{column:02}", _kind(column)
        own = f"hash(i || ':{column}:own')"
        cause = f"hash(i || ':{column % _CAUSES}:cause')"
        number = f"CASE WHEN hash(i || ':{column}:which') % 10 < {_CAUSED} THEN {cause} ELSE {own} END / pow(2.0, 64)"
        cells.append(f"printf('%03d', floor({values} * pow({number}, {1.5 + column % 3}))::INTEGER) AS {name}")
        labels = "".join(f", printf('{width}: %03d', v // {width}) AS of_{width}" for width in widths)
        connection.sql(
            f"CREATE HIERARCHY {name} AS LEVELS (FROM (SELECT printf('%03d', v) AS value{labels} "
            f"FROM range({values}) AS t(v)))"
        )
        quasi.append(f"{name} QUASI IDENTIFIER USING {name}")
    connection.execute(f"CREATE TABLE wide_rows AS SELECT {', '.join(cells)} FROM range({rows}) AS r(i)")
    connection.sql(f"CREATE POLICY wide ON wide_rows ({', '.join(quasi)}) REQUIRE k_anonymity(k => 5)")


def _loss_of_arx(connection: sqlanon.Connection, columns: int, classpath: str, suppression: str, seconds: int) -> float:
    with tempfile.TemporaryDirectory(prefix="sqlanon-arx-") as made:
        folder = Path(made)
        file = str(folder / "rows.csv").replace("'", "''")
        connection.duckdb.execute(f"COPY wide_rows TO '{file}' (FORMAT csv, DELIMITER ';', QUOTE '', HEADER true)")
        for column in range(columns):
            values, widths = _kind(column)
            paths = ([f"{v:03}", *(f"{width}: {v // width:03}" for width in widths), "*"] for v in range(values))
            text = "\n".join(map(";".join, paths))
            (folder / f"c{column:02}.csv").write_text(f"{text}\n", encoding="utf-8")
        command = ["java", "-Dalgorithm=BEST_EFFORT_GENETIC", f"-Dseconds={seconds}", "-cp", classpath, str(_PROGRAM)]
        command += [str(folder), "1", suppression, "-", "k=5"]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(json.loads(answer)["loss"])
