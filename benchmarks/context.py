"""The inputs of every case: sizes, numbers of runs, and the place of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import Dataset, prepared

__all__ = ["SIZES", "Context"]

SIZES = (100_000, 1_000_000, 10_000_000)
_QUICK_SIZES, _QUICK_RUNS = (100_000, 300_000), 1
# The number of pairs of runs below a number of rows; longer runs vary less.
_RUNS = ((500_000, 9), (5_000_000, 5))
_RUNS_ELSE = 3


@dataclass(frozen=True)
class Context:
    """Sizes, runs and folder of the benchmarks; `asked_sizes` (rows) and `asked_runs` (runs at each size) are the
    user's.

    `quick` shortens everything, with figures that mean little.
    """

    folder: Path
    note: Callable[[str], None]
    asked_sizes: tuple[int, ...] | None = None
    asked_runs: int | None = None
    quick: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.sizes_or(SIZES, _QUICK_SIZES)

    @property
    def runs(self) -> int | None:
        """The number of runs at each size; None if the case chooses it."""
        return self.asked_runs or (_QUICK_RUNS if self.quick else None)

    def sizes_or(self, usual: tuple[int, ...], quick: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the sizes of a case with sizes of its own, `quick` for the quick benchmarks."""
        return self.asked_sizes or (quick if self.quick else usual)

    def runs_at(self, rows: int) -> int:
        """Returns the number of pairs of runs: more for fewer rows, whose runs are short."""
        return self.runs or next((runs for below, runs in _RUNS if rows < below), _RUNS_ELSE)

    def file(self, dataset: Dataset, rows: int) -> Path:
        return prepared(dataset, rows, self.folder, self.note)
