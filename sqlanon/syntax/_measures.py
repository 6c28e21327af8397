"""The statements MEASURE, and those of the workloads that it measures by, one dataclass each."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.values import QualifiedName, Value
from sqlanon.syntax._calls import FigureCall
from sqlanon.syntax._placed import Placed

__all__ = ["CreateWorkload", "DropWorkload", "Measure", "MeasureFigures", "MeasureTask"]


@dataclass(frozen=True)
class Measure(Placed):
    """MEASURE release WITH WORKLOAD workload."""

    release: QualifiedName
    workload: str


@dataclass(frozen=True)
class MeasureFigures(Placed):
    """MEASURE release [[WITH WORKLOAD workload] WITH FIGURES (name [(argument => value, ...)], ...)].

    Without figures all are meant, and there is no workload.
    """

    release: QualifiedName
    figures: tuple[FigureCall, ...] = ()
    workload: str | None = None


@dataclass(frozen=True)
class MeasureTask(Placed):
    """MEASURE release WITH TASK (argument => value, ...)."""

    release: QualifiedName
    arguments: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class CreateWorkload(Placed):
    """CREATE [OR REPLACE] WORKLOAD [IF NOT EXISTS] name ON POLICY policy [(name => value, ...)]."""

    name: str
    policy: str
    arguments: tuple[tuple[str, Value], ...] = ()
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropWorkload(Placed):
    """DROP WORKLOAD [IF EXISTS] name."""

    name: str
    if_exists: bool = False
