"""Measures releases by one method: `python -m benchmarks.growth METHOD FOLDER ROWS...`, fewer rows first.

Each method runs in its own process, whose peak of memory belongs to the largest release so far. It prints a line of
JSON for each number of rows: the processor seconds of the statement, the seconds by the clock, and the process's peak
of memory in bytes. FOLDER keeps the generated tables.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from benchmarks.cases import series
from benchmarks.cases.growth_methods import METHODS, Prepared
from benchmarks.limited import peak
from benchmarks.measure import cost

__all__ = ["main"]

_WARM_UP = 1_000


def main(method: str, folder: Path, sizes: Sequence[int]) -> None:
    """Prints the lines of JSON. A release of few rows runs first, so that imports are not measured."""
    for rows in (_WARM_UP, *sizes):
        with _prepared(method, rows, folder) as (connection, statement):
            taken = cost(lambda: connection.execute(statement).fetchall())
        if rows != _WARM_UP:
            print(json.dumps({"rows": rows, **asdict(taken), "peak_rss": peak()}), flush=True)


@contextmanager
def _prepared(method: str, rows: int, folder: Path) -> Iterator[Prepared]:
    os.environ.setdefault(series.KEY, "0" * 32)
    yield from METHODS[method](rows, folder)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sorted(map(int, sys.argv[3:])))
