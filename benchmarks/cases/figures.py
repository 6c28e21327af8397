"""MEASURE with all figures of classes, against one grouping of the released columns."""

from __future__ import annotations

from collections.abc import Iterator

import sqlanon
from benchmarks import databases
from benchmarks.context import Context
from benchmarks.data import DIAGNOSED
from benchmarks.figure import Figure, ratio
from benchmarks.measure import paired, seconds

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (100_000, 1_000_000), (20_000,)
_BASELINE = "SELECT <the columns of the release>, count(*) FROM release GROUP BY ALL"
# Few large classes, and many small ones.
_METHODS = {"generalization": "generalization(suppression => 0.02)", "mondrian": "mondrian"}
_EIGHT = "a_acc, a_know, a_quot, gain, p_loss, class_sizes, linkage_risk, uniqueness(sampling_fraction => 0.1)"
# What is measured in one statement, how many times the grouping it may take, and of the releases of which methods: the
# regions of many numbers have too many labels for the loss of populations.
_MEASURED = {"eight figures": (_EIGHT, 5.0, tuple(_METHODS)), "u_loss": ("u_loss", 20.0, ("generalization",))}


def run(context: Context) -> Iterator[Figure]:
    """Eight figures of classes, and the loss of large populations, of releases by two methods."""
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


def _grouped(connection: sqlanon.Connection) -> float:
    columns = ", ".join((*DIAGNOSED.columns, str(DIAGNOSED.sensitive)))
    query = f"SELECT count(*) FROM (SELECT {columns}, count(*) FROM measured GROUP BY ALL)"
    return seconds(lambda: connection.duckdb.execute(query).fetchall())


def _measured(connection: sqlanon.Connection, figures: str) -> None:
    connection.sql(f"MEASURE measured WITH FIGURES ({figures})").fetchall()
