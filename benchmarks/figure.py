"""One measured number, its baseline, and its mark: the limit that it should not exceed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from benchmarks.measure import Sample
from benchmarks.plan import Operators

__all__ = ["MARKED_FROM", "Figure", "ratio"]

# Below this many rows a statement's fixed cost (parsing, catalog, planning) dominates; the marks are for larger tables.
MARKED_FROM = 1_000_000


@dataclass(frozen=True)
class Figure:
    """A measured `value` in a `unit`: 'x' (times the baseline), 's', 'ms', 'queries' (a count), '%' or 'slope'.

    A slope is of log time over log rows. `seconds` and `baseline_seconds` are medians, `low` and `high` the range of
    `value` over the runs. `stages` has the seconds of a statement's stages, `queries` their numbers of queries, and
    `found` the result of a search.
    """

    case: str
    what: str
    value: float
    unit: str
    low: float
    high: float
    rows: int | None = None
    runs: int = 1
    seconds: float | None = None
    baseline: str | None = None
    baseline_seconds: float | None = None
    mark: float | None = None
    stages: Mapping[str, float] = field(default_factory=dict)
    queries: Mapping[str, int] = field(default_factory=dict)
    found: Mapping[str, Any] = field(default_factory=dict)
    operators: Operators | None = None
    finished: bool | None = None
    note: str = ""

    @property
    def passed(self) -> bool | None:
        """Whether the mark is kept; None if there is no mark. If the mark is to finish at all, `finished` decides."""
        if self.finished is not None:
            return self.finished
        return None if self.mark is None else self.value <= self.mark

    @property
    def verdict(self) -> str:
        """'pass', 'miss', or '' without a mark; with a question mark if the runs lie on both sides of the mark."""
        if self.passed is None:
            return ""
        divided = self.mark is not None and self.low <= self.mark < self.high
        return ("pass" if self.passed else "miss") + ("?" if divided else "")

    @property
    def name(self) -> str:
        """The case and the subject: the name of the measurement, without the number of rows."""
        return f"{self.case}: {self.what}"

    def with_details(
        self,
        *,
        stages: Mapping[str, Sample] | None = None,
        queries: Mapping[str, int] | None = None,
        found: Mapping[str, Any] | None = None,
        operators: Callable[[], Operators],
        note: str = "",
    ) -> Figure:
        """Returns the figure with its details; the costliest operators are added only if the mark is missed."""
        return replace(
            self,
            stages={name: median(sample.measured) for name, sample in (stages or {}).items()},
            queries=dict(queries or {}),
            found=dict(found or {}),
            operators=operators() if self.passed is False else None,
            note=note,
        )


def ratio(
    case: str,
    what: str,
    rows: int,
    sample: Sample,
    baseline: str,
    mark: float | None = None,
    *,
    marked_from: int = MARKED_FROM,
) -> Figure:
    """Returns the ratio of the measured median to the baseline's; tables below `marked_from` rows have no mark."""
    return Figure(
        case,
        what,
        sample.ratio,
        "x",
        min(sample.ratios),
        max(sample.ratios),
        rows=rows,
        runs=len(sample.ratios),
        seconds=median(sample.measured),
        baseline=baseline,
        baseline_seconds=median(sample.baseline),
        mark=mark if rows >= marked_from else None,
    )
