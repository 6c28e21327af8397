"""What candidates are measured by: any figure of MEASURE, and the error of a workload. Less is better of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlanon.domain.identifiers import nearest
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import UserError, about
from sqlanon.questions.statistics import load_statistic, statistic_names
from sqlanon.statements.measure import measure
from sqlanon.statements.measure_figures import COMPUTED, OF_POLICY, Computed, measure_figures
from sqlanon.syntax._frontier_statements import figure_of_workload
from sqlanon.syntax.statements import FigureCall

__all__ = ["Figure", "figure_of", "workload_figure"]

_ERROR, _NOT_ESTIMATED = "mean_relative_error", "not_estimated"


@dataclass(frozen=True)
class Figure:
    """One number of a release; None where it is not defined.

    `prepared` makes of it the one that measures releases of a policy faster, with tables that live as long as the
    `Scratch`.
    """

    name: str
    measure: Callable[[Engine, Release], float | None]
    prepared: Callable[[Engine, Policy, Scratch], Figure] | None = None


def figure_of(call: FigureCall) -> Figure:
    """The figure of this name, the worst of those of several sensitive attributes.

    Raises UserError, with the nearest name, where MEASURE knows none.
    """
    name = call.name
    files = {column: file for file in statistic_names("figures") for column in load_statistic("figures", file).columns}
    source = files.get(name) or (name if name in COMPUTED else None)
    if source is None:
        known = sorted({*files, *COMPUTED})
        with about("figures", name):
            raise UserError(
                f"there is no figure {name!r}", hint=nearest(name, known) or f"there are: {', '.join(known)}"
            )
    return _figure(name, FigureCall(source, call.arguments), COMPUTED)


def _figure(name: str, requested: FigureCall, computed: Mapping[str, Computed]) -> Figure:
    def worst(engine: Engine, release: Release) -> float | None:
        figures = measure_figures(engine, release, [requested], computed)
        values = [figure.value for figure in figures if figure.name == name]
        # One that is not defined could be any number.
        return None if None in values else max((value for value in values if value is not None), default=None)

    def prepared(engine: Engine, policy: Policy, scratch: Scratch) -> Figure:
        of_policy = OF_POLICY[requested.name](engine, policy, dict(requested.arguments), scratch)
        return replace(_figure(name, requested, {**computed, requested.name: of_policy}), prepared=None)

    return Figure(name, worst, prepared if requested.name in OF_POLICY else None)


def workload_figure(workload: str) -> Figure:
    """The mean relative error of the queries of a workload; None where the release does not answer all of them."""

    def error(engine: Engine, release: Release) -> float | None:
        summary = dict(measure(engine, release, workload))
        return None if summary[_NOT_ESTIMATED] else summary[_ERROR]

    return Figure(figure_of_workload(workload), error)
