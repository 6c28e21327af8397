"""Fifty million rows with two gigabytes of memory: completion, peak of memory, and bytes spilled to disk."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from math import inf
from pathlib import Path

from benchmarks.context import Context
from benchmarks.data import ADULT, DIAGNOSED
from benchmarks.figure import Figure

__all__ = ["run"]

_ROWS = 50_000_000
_MEMORY = "2GB"
_DATASETS = {"generalization": ADULT, "anatomy": DIAGNOSED, "loose": DIAGNOSED}


def run(context: Context) -> Iterator[Figure]:
    """Measures each release in a process of its own, with its own peak of memory."""
    for what, dataset in _DATASETS.items():
        for rows in context.sizes_or((_ROWS,), (_ROWS,)):
            context.note(f"{what}, {rows:,} rows with memory_limit = '{_MEMORY}'")
            yield from _measured(what, context.file(dataset, rows), rows)


def _measured(what: str, file: Path, rows: int) -> Iterator[Figure]:
    command = [sys.executable, "-m", "benchmarks.limited", what, str(file), _MEMORY]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        yield Figure("large", f"{what} did not finish", inf, "s", inf, inf, rows=rows, finished=False)
        return
    found = json.loads(done.stdout)
    memory = f"peak memory of the process {found['peak_rss'] / 1e9:.2f} GB, spilled {found['spilled'] / 1e9:.2f} GB"
    total = sum(found["seconds"].values())
    finishes = f"{what} finishes, memory_limit = {_MEMORY}"
    yield Figure("large", finishes, total, "s", total, total, rows=rows, finished=True, note=memory)
    for part, seconds in found["seconds"].items():
        value = seconds / found["baseline"]
        yield Figure(
            "large",
            f"{part}, memory_limit = {_MEMORY}",
            value,
            "x",
            value,
            value,
            rows=rows,
            seconds=seconds,
            baseline=f"{found['against']}, same limit",
            baseline_seconds=found["baseline"],
        )
