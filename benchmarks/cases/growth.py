"""Growth of each method: processor seconds and peak memory of a release at several sizes, and the slope of each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from benchmarks.cases.growth_methods import METHODS
from benchmarks.context import Context
from benchmarks.figure import Figure
from benchmarks.slope import fitted

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000), (2_000, 4_000)
_MARK = 1.1
# MDAV compares all rows with all others, and the search of item sets examines them in Python: more rows take minutes.
_MOST_ROWS = {"microaggregation": 100_000, "itemsets": 300_000}


def run(context: Context) -> Iterator[Figure]:
    """Measures each method in a process of its own, once at each size."""
    sizes = context.sizes_or(_SIZES, _QUICK_SIZES)
    for method in METHODS:
        context.note(f"growth, {method}")
        figures = list(_measured(context, method, [rows for rows in sizes if rows <= _MOST_ROWS.get(method, rows)]))
        yield from figures
        taken = [figure for figure in figures if figure.seconds]
        if len(taken) > 1:
            yield replace(fitted(f"growth of {method}", taken, _MARK), case="growth")


def _measured(context: Context, method: str, sizes: Sequence[int]) -> Iterator[Figure]:
    command = [sys.executable, "-m", "benchmarks.growth", method, str(context.folder), *map(str, sizes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            context.note(line.rstrip())
            yield _figure(method, json.loads(line))
    if process.returncode:
        yield Figure("growth", f"{method} did not finish", inf, "s", inf, inf, finished=False)


def _figure(method: str, found: dict[str, Any]) -> Figure:
    taken = found["processor"]
    note = f"peak memory of the process {found['peak_rss'] / 1e6:,.0f} MB"
    rows = found["rows"]
    return Figure("growth", f"{method}, processor time", taken, "s", taken, taken, rows, seconds=taken, note=note)
