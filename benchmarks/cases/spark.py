"""Case `spark`: one release of one Parquet file through DuckDB and through Spark, as a ratio of their seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.context import Context
from benchmarks.figure import Figure
from benchmarks.on_spark import make_source
from sqlanon.errors import InternalError

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (100_000, 1_000_000), (20_000,)
_THREADS = (1, 2)
# The memory of DuckDB, and of the heap of the process that is both Spark's driver and its executor.
_MEMORY, _MORE_MEMORY, _MORE_FROM = "2GB", "4GB", 20_000_000
# From this number of rows on a run takes minutes, and needs no warm-up.
_ONCE_FROM, _RUNS = 5_000_000, 2


def run(context: Context) -> Iterator[Figure]:
    """Measures each engine in a process of its own, with its own session of Spark and its own peaks of memory."""
    if find_spec("pyspark") is None:
        context.note("spark: skipped, as PySpark is not installed (pip install 'sqlanon[spark]')")
        return
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        file = context.folder / f"people_rows-{rows}.parquet"
        if not file.exists():
            context.note(f"making {rows:,} rows of people")
            make_source(rows, file)
        runs = context.runs or (_RUNS if rows < _ONCE_FROM else 1)
        baseline = _made(context, 0, file, rows, runs)
        for threads in _THREADS:
            yield _figure(threads, rows, _made(context, threads, file, rows, runs), baseline)


def _made(context: Context, threads: int, file: Path, rows: int, runs: int) -> dict[str, Any]:
    context.note(f"spark: {rows:,} rows through " + (f"Spark, threads = {threads}" if threads else "DuckDB"))
    command = [
        sys.executable,
        "-m",
        "benchmarks.on_spark",
        str(threads),
        str(file.absolute()),
        str(runs),
        _memory(rows),
    ]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _memory(rows: int) -> str:
    return _MEMORY if rows < _MORE_FROM else _MORE_MEMORY


def _figure(threads: int, rows: int, spark: dict[str, Any], baseline: dict[str, Any]) -> Figure:
    """Returns the ratio of the last runs of Spark and DuckDB. Raises InternalError if their releases differ."""
    if spark["come_to"] != baseline["come_to"]:
        raise InternalError(f"of {rows:,} rows Spark and DuckDB make different releases: {spark} {baseline}")
    taken, against = spark["seconds"], baseline["seconds"]
    ratios = [one / other for one, other in zip(taken, against, strict=True)]
    ours, theirs = _held(spark), _held(baseline)
    note = f"first run {taken[0]:.1f} s; {ours}; DuckDB: first run {against[0]:.1f} s; {theirs}"
    return Figure(
        "spark",
        f"whole statement, threads = {threads}, memory = {_memory(rows)}",
        ratios[-1],
        "x",
        min(ratios),
        max(ratios),
        rows=rows,
        runs=len(ratios),
        seconds=taken[-1],
        baseline="DuckDB, 2 threads, same limit",
        baseline_seconds=against[-1],
        note=note,
    )


def _held(found: dict[str, Any]) -> str:
    peaks = ", ".join(f"{name} {peak / 1e9:.2f} GB" for name, peak in found["memory"].items())
    return f"peak memory {peaks}, {found['spilled'] / 1e9:.2f} GB of temporary files"
