"""The statements about frontiers, one dataclass each."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.values import Scalar, Value
from sqlanon.syntax._calls import FigureCall, MethodCall
from sqlanon.syntax._placed import Placed

__all__ = ["Advise", "Bound", "DropFrontier", "Frontier", "Sweep", "figure_of_workload", "workload_of"]

_WORKLOAD = "workload "


@dataclass(frozen=True)
class Sweep:
    """parameter IN (value, ...): the values that a parameter takes, its name in lower case."""

    parameter: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class Frontier(Placed):
    """FRONTIER name ON POLICY policy METHODS (method, ...) [SWEEP parameter IN (value, ...), ...]
    MEASURE figure, ... [, WORKLOAD workload].

    At least one figure or workload is there.
    """

    name: str
    policy: str
    methods: tuple[MethodCall, ...]
    sweep: tuple[Sweep, ...] = ()
    figures: tuple[FigureCall, ...] = ()
    workloads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bound:
    """figure <= most, or figure < most where `strict`. The figure of a workload is called `workload` and its name."""

    figure: str
    most: Value
    strict: bool = False


@dataclass(frozen=True)
class Advise(Placed):
    """ADVISE frontier [WHERE figure <= number [AND ...]] LEAST figure."""

    frontier: str
    least: str
    bounds: tuple[Bound, ...] = ()


@dataclass(frozen=True)
class DropFrontier(Placed):
    """DROP FRONTIER [IF EXISTS] name."""

    name: str
    if_exists: bool = False


def figure_of_workload(name: str) -> str:
    """What the figure of a workload is called: no figure of a file has a space in its name."""
    return _WORKLOAD + name


def workload_of(figure: str) -> str | None:
    """The workload of a figure, None for one of a file."""
    return figure.removeprefix(_WORKLOAD) if figure.startswith(_WORKLOAD) else None
