"""What every case is given: sizes, numbers of runs, and where the data lies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import Dataset, prepared

__all__ = ["Context"]

# A longer run varies less; under these numbers of rows there are so many pairs.
_RUNS = ((500_000, 9), (5_000_000, 5))
_RUNS_ELSE = 3


@dataclass(frozen=True)
class Context:
    """`sizes` are numbers of rows, `runs` the pairs at each size (None: more where they are short)."""

    folder: Path
    sizes: tuple[int, ...]
    runs: int | None
    note: Callable[[str], None]

    def runs_at(self, rows: int) -> int:
        if self.runs is not None:
            return self.runs
        return next((runs for below, runs in _RUNS if rows < below), _RUNS_ELSE)

    def file(self, dataset: Dataset, rows: int) -> Path:
        return prepared(dataset, rows, self.folder, self.note)
