"""MEASURE with all figures of classes, against one grouping of the released columns; processor time of suda."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import process_time

import sqlanon
from benchmarks import databases
from benchmarks.context import Context
from benchmarks.data import DIAGNOSED
from benchmarks.figure import Figure, ratio
from benchmarks.measure import paired, seconds
from sqlanon.clients.terminal.demo import load_adult

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (100_000, 1_000_000), (20_000,)
_BASELINE = "SELECT <the columns of the release>, count(*) FROM release GROUP BY ALL"
# Few large classes, and many small ones.
_METHODS = {"generalization": "generalization(suppression => 0.02)", "mondrian": "mondrian"}
_EIGHT = "a_acc, a_know, a_quot, gain, p_loss, class_sizes, linkage_risk, uniqueness(sampling_fraction => 0.1)"
# The figures of one statement, its limit as a multiple of the grouping, and the methods of its releases: the regions of
# several numbers have too many labels for the loss of populations.
_MEASURED = {"eight figures": (_EIGHT, 5.0, tuple(_METHODS)), "u_loss": ("u_loss", 20.0, ("generalization",))}

# Eight columns of the complete rows of Adult's training file, with 46,648 minimal sample uniques.
_SPECIAL = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
_TRAINING, _MOST_SECONDS = 32_561, 1.4


def run(context: Context) -> Iterator[Figure]:
    """Measures eight figures of classes, and the loss of large populations, for releases by two methods."""
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        with databases.working_copy(DIAGNOSED, context.file(DIAGNOSED, rows)) as connection:
            for name, method in _METHODS.items():
                context.note(f"figures, {name}, {rows:,} rows")
                databases.declare(
                    connection, DIAGNOSED, DIAGNOSED.columns, [str(DIAGNOSED.sensitive)], "k_anonymity(k => 10)"
                )
                connection.sql(databases.published("table", "measured", method))
                for called, (figures, mark, methods) in _MEASURED.items():
                    if name not in methods:
                        continue
                    samples = paired(
                        lambda: _grouped(connection),
                        lambda figures=figures: {"total": seconds(lambda: _measured(connection, figures))},  # type: ignore[misc]
                        context.runs_at(rows),
                    )
                    yield ratio("figures", f"{called}, {name}", rows, samples["total"], _BASELINE, mark)
    yield _special(context)


def _special(context: Context) -> Figure:
    """Measures the processor time of the minimal sample uniques of a release with eight unchanged columns."""
    context.note("figures, suda")
    runs, times = context.runs or 3, list[float]()
    with sqlanon.connect() as connection:
        load_adult(connection)
        columns = ", ".join(_SPECIAL)
        connection.sql(
            f"CREATE TABLE people AS SELECT {columns} FROM (FROM adult LIMIT {_TRAINING}) WHERE "
            + " AND ".join(f"{name} IS NOT NULL" for name in _SPECIAL)
        )
        roles = ", ".join(f"{name} QUASI IDENTIFIER MAX LEVEL 0" for name in _SPECIAL)
        connection.sql(f"CREATE POLICY people ON people ({roles}) REQUIRE k_anonymity(k => 1)")
        connection.sql("CREATE ANONYMIZED TABLE shown AS POLICY people METHOD generalization")
        for _ in range(runs):
            before = process_time()
            rows = connection.sql("MEASURE shown WITH FIGURES (suda)").fetchall()
            times.append(process_time() - before)
    figures = {figure: value for _, figure, attribute, value in rows if attribute is None}
    return Figure(
        "figures",
        "suda of eight columns of Adult, processor time",
        median(times),
        "s",
        min(times),
        max(times),
        rows=30_162,
        runs=runs,
        mark=_MOST_SECONDS,
        note=f"{figures['minimal_sample_uniques']:,.0f} minimal sample uniques of {figures['special_rows']:,.0f} rows",
    )


def _grouped(connection: sqlanon.Connection) -> float:
    columns = ", ".join((*DIAGNOSED.columns, str(DIAGNOSED.sensitive)))
    query = f"SELECT count(*) FROM (SELECT {columns}, count(*) FROM measured GROUP BY ALL)"
    return seconds(lambda: connection.duckdb.execute(query).fetchall())


def _measured(connection: sqlanon.Connection, figures: str) -> None:
    connection.sql(f"MEASURE measured WITH FIGURES ({figures})").fetchall()
