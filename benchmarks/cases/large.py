"""Fifty million rows with two gigabytes: does it finish, with how much memory, and how much written beside it?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from math import inf

from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import Figure

__all__ = ["run"]

_ROWS = 50_000_000
_MEMORY = "2GB"


def run(context: Context) -> Iterator[Figure]:
    """In a process of its own, whose peak of memory is then its own."""
    file = context.file(ADULT, _ROWS)
    context.note(f"{_ROWS:,} rows with memory_limit = '{_MEMORY}'")
    command = [sys.executable, "-m", "benchmarks.limited", str(file), _MEMORY]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        yield Figure("large", "did not finish", inf, "s", inf, inf, rows=_ROWS, finished=False)
        return
    found = json.loads(done.stdout)
    memory = f"peak memory of the process {found['peak_rss'] / 1e9:.2f} GB, spilled {found['spilled'] / 1e9:.2f} GB"
    total = sum(found["seconds"].values())
    what = f"finishes, memory_limit = {_MEMORY}"
    yield Figure("large", what, total, "s", total, total, rows=_ROWS, finished=True, note=memory)
    for what, seconds in found["seconds"].items():
        yield _figure(f"{what}, memory_limit = {_MEMORY}", seconds, found["baseline"])


def _figure(what: str, seconds: float, baseline: float) -> Figure:
    value = seconds / baseline
    return Figure(
        "large",
        what,
        value,
        "x",
        value,
        value,
        rows=_ROWS,
        seconds=seconds,
        baseline="GROUP BY of all columns, same limit",
        baseline_seconds=baseline,
    )
