"""What candidates are measured by: any figure of MEASURE, and the error of a workload. Less is better of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlanon.assess.measure_figures import COMPUTED, OF_POLICY, Computed, measure_figures, of_whole_release
from sqlanon.assess.workloads.measure import measure
from sqlanon.domain.identifiers import nearest
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.domain.requests import FigureCall
from sqlanon.domain.values import UNNAMED
from sqlanon.domain.workload import figure_of_workload
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import UserError
from sqlanon.sql.questions.statistics import Statistic, load_statistic, readable_statistics, statistic_names

_ERROR, _NOT_ESTIMATED, _RESULTS = "mean_relative_error", "not_estimated", "results"


@dataclass(frozen=True)
class Figure:
    """One number of a release; where it is not defined, the reason in words, or None if there is nothing to say.

    `prepared` makes of it the one that measures releases of a policy faster, with tables that live as long as the
    `Scratch`.
    """

    name: str
    measure: Callable[[Engine, Release], float | str | None]
    prepared: Callable[[Engine, Policy, Scratch], Figure] | None = None


def figure_of(call: FigureCall) -> Figure:
    """The figure of this name: that of the whole release, or the worst of those of several sensitive attributes.

    Of several statistics with a figure of the name it is that of the one which takes the arguments. Raises UserError,
    with the nearest name, where MEASURE knows none, and where arguments are lacking.
    """
    name = call.name
    if name in COMPUTED:
        return _figure(name, call, COMPUTED)
    if name in statistic_names("figures"):
        # A broken file is said to be so.
        load_statistic("figures", name)
    files = readable_statistics("figures")
    having = [file for file in files if name in file.columns]
    if not having:
        raise _unknown(name, files)
    taking = next((file for file in having if _takes(file, call)), having[0])
    if lacking := [p.name for p in taking.parameters if p.default is None and not call.arguments]:
        raise UserError(
            f"{name} lacks its argument {lacking[0]!r}",
            hint=f"write {name}({lacking[0]} => ...), as in MEASURE",
            part=("figures", name),
        )
    return _figure(name, FigureCall(taking.name, call.arguments), COMPUTED)


def _takes(file: Statistic, call: FigureCall) -> bool:
    names, arguments = {p.name for p in file.parameters}, {argument for argument, _ in call.arguments} - {UNNAMED}
    return names >= arguments and (bool(call.arguments) or all(p.default is not None for p in file.parameters))


def _unknown(name: str, files: Sequence[Statistic]) -> UserError:
    """The error for a name that no figure has; a group of figures is told its figures."""
    known = sorted({*(column for file in files for column in file.columns), *COMPUTED})
    group = next((file.columns for file in files if file.name == name), ())
    hint = f"it is several: {', '.join(group)}" if group else nearest(name, known) or f"there are: {', '.join(known)}"
    return UserError(f"there is no figure {name!r}", hint=hint, part=("figures", name))


def _figure(name: str, requested: FigureCall, computed: Mapping[str, Computed]) -> Figure:
    def worst(engine: Engine, release: Release) -> float | None:
        return of_whole_release(measure_figures(engine, release, [requested], computed), name)

    def prepared(engine: Engine, policy: Policy, scratch: Scratch) -> Figure:
        of_policy = OF_POLICY[requested.name](engine, policy, dict(requested.arguments), scratch)
        return replace(_figure(name, requested, {**computed, requested.name: of_policy}), prepared=None)

    return Figure(name, worst, prepared if requested.name in OF_POLICY else None)


def workload_figure(workload: str) -> Figure:
    """The mean relative error of the queries of a workload; not defined where the release does not answer them all."""

    def error(engine: Engine, release: Release) -> float | str | None:
        summary = dict(measure(engine, release, workload))
        without, results = summary[_NOT_ESTIMATED], summary[_RESULTS]
        return f"{without:.0f} of {results:.0f} results have no estimate" if without else summary[_ERROR]

    return Figure(figure_of_workload(workload), error)
