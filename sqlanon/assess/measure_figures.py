"""MEASURE release [WITH FIGURES]: measures the risk and the loss of a release, without a workload."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlanon.assess.figures.class_figures import ClassFigure, class_figures, membership, reads_more, why_not
from sqlanon.assess.figures.losses import granularity_loss, non_uniform_entropy, precision
from sqlanon.assess.figures.missing import missing
from sqlanon.assess.figures.population_risk import k_map, risk, uniques
from sqlanon.assess.figures.samples import sample_arguments
from sqlanon.assess.figures.sse import sse
from sqlanon.assess.figures.suda import suda
from sqlanon.assess.figures.u_loss import u_loss, u_loss_of_policy
from sqlanon.assess.figures.with_noise import epsilon, marginals
from sqlanon.catalog import releases
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import nearest
from sqlanon.domain.numbers import without_noise
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.domain.requests import FigureCall
from sqlanon.domain.values import UNNAMED, Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, PolicyError, UserError, about
from sqlanon.release.existing.classes import people_in_no_class, shows_people
from sqlanon.sources.preconditions import is_writable
from sqlanon.sql.questions.statistics import Statistic, load_statistic, readable_statistics, statistic_names

Computed = Callable[[Engine, Release, Mapping[str, Value], TempTables], Sequence[ClassFigure]]


def _membership(
    engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables
) -> list[ClassFigure]:
    """Measures the figures of membership. Raises UserError for any argument."""
    if arguments:
        with about("figures", "membership"):
            raise UserError("membership takes no arguments", hint="write membership")
    return [ClassFigure(name, None, value) for name, value in membership(engine, release, temp)]


# The figures that need more than a query over the classes, by name.
COMPUTED: Mapping[str, Computed] = {
    "epsilon": epsilon,
    "granularity_loss": granularity_loss,
    "individual_risk": risk,
    "k_map_estimated": k_map,
    "marginals": marginals,
    "membership": _membership,
    "missing": missing,
    "non_uniform_entropy": non_uniform_entropy,
    "population_uniques": uniques,
    "precision": precision,
    "sse": sse,
    "suda": suda,
    "u_loss": u_loss,
}

# Figures that need numbered rows, which other engines do not have.
_OF_NUMBERED_ROWS = ("membership", "suda", "u_loss")

# Figures of releases with noise.
_OF_NOISE = ("epsilon", "marginals")

# The warning on figures that compare a release with noise with its source.
OWNERS = "the figures have no noise, and no budget pays for them: they are the owner's, and not to be given away"

# Figures that are measured only by name: they need an argument, group by many sets of columns, or compare all
# pairs of rows.
_BY_NAME = ("individual_risk", "k_map_estimated", "missing", "population_uniques", "suda")

# Figures whose first step is done once for all releases of a policy, from the policy's source.
OF_POLICY: Mapping[str, Callable[[Engine, Policy, Mapping[str, Value], TempTables], Computed]] = {
    "u_loss": u_loss_of_policy,
}


def figure_names() -> tuple[str, ...]:
    """Returns the names of all figures."""
    return (*statistic_names("figures"), *COMPUTED)


def measured_names() -> tuple[str, ...]:
    """Returns the names of the figures that MEASURE can compute; the others compare with a second table and belong to
    CHECK.
    """
    of_classes = (file.name for file in readable_statistics("figures") if not reads_more(file))
    return (*of_classes, *COMPUTED)


def of_whole_release(figures: Sequence[ClassFigure], name: str) -> float | None:
    """Returns the value of a figure for the whole release; for a figure by attribute, this is the greatest value.

    Returns None if one of the attributes has an undefined value, because it could be any number.
    """
    measured = [figure for figure in figures if figure.name == name]
    values = [figure.value for figure in measured if figure.attribute is None] or [f.value for f in measured]
    return None if None in values else max((value for value in values if value is not None), default=None)


def measure_figures(
    engine: Engine,
    release: Release,
    calls: Sequence[FigureCall],
    computed: Mapping[str, Computed] = COMPUTED,
    remark: Callable[[str], None] = lambda _: None,
    undefined: Callable[[str], None] | None = None,
) -> list[ClassFigure]:
    """Measures the figures of these calls, or, if there are no calls, all figures, and records them in
    `anon.release_figure` if the database is writable.

    `computed` has the figures that take more than a query over the classes. Raises UserError for an unknown name, and
    PolicyError for a figure that cannot be measured on this release.

    If there are no calls, figures that need an argument and figures that cannot be measured are skipped; `remark` is
    called with the reason, and with the notes of figures. If `undefined` is given, it is called instead, with only the
    name of a computed figure that cannot be measured.
    """
    for call in calls:
        _require_known(call)
    with engine.transaction(), TempTables(engine) as temp:
        measured = (
            _measured(engine, release, calls, temp, computed)
            if calls
            else _all(engine, release, temp, remark, undefined)
        )
        figures = [replace(figure, value=without_noise(figure.value)) for figure in measured]
        remember(engine, release, figures)
    for figure in figures:
        if figure.note:
            remark(figure.note)
    return figures


def remember(engine: Engine, release: Release, figures: Sequence[ClassFigure]) -> None:
    """Records figures, in place of recorded figures of the same names, unless the database is read-only."""
    if is_writable(engine):
        recorded = [(figure.name, figure.attribute, figure.value) for figure in figures if figure.recorded]
        releases.save_figures(engine, release, recorded)


def _require_known(call: FigureCall) -> None:
    if call.name in figure_names():
        return
    hint = nearest(call.name, figure_names()) or f"there are: {', '.join(figure_names())}"
    for file in readable_statistics("figures"):
        if call.name in file.columns:
            hint = f"it is one of {file.name}: write {file.name}"
            break
    raise UserError(f"there are no figures {call.name!r}", hint=hint, part=("figures", call.name))


def _measured(
    engine: Engine,
    release: Release,
    calls: Sequence[FigureCall],
    temp: TempTables,
    computed: Mapping[str, Computed] = COMPUTED,
) -> Iterator[ClassFigure]:
    """Yields the figures in the order of the calls; figures of classes are measured in one query."""
    if shows_people(release):
        raise people_in_no_class(release.name)
    statistics = {call: load_statistic("figures", call.name) for call in calls if call.name not in COMPUTED}
    of_classes: dict[FigureCall, list[ClassFigure]] = {}
    if statistics:
        requested = [
            (statistic, _arguments_by_name(release, statistic, call)) for call, statistic in statistics.items()
        ]
        of_classes = dict(zip(statistics, class_figures(engine, release, requested, temp), strict=True))
    for call in calls:
        if call in of_classes:
            yield from of_classes[call]
        else:
            _require_rows(engine, release, call.name)
            yield from computed[call.name](engine, release, sample_arguments(release, call), temp)


def _require_rows(engine: Engine, release: Release, name: str) -> None:
    """Raises PolicyError for a figure that needs numbered rows, if the rows are on another engine."""
    if not engine.numbers_rows and name in _OF_NUMBERED_ROWS:
        raise PolicyError(
            f"{name} of {release.name} cannot be measured: it gives numbers to rows, which are on Spark",
            hint="measure a release of the same policy on DuckDB, from a table of the rows there",
        )


def _arguments_by_name(release: Release, statistic: Statistic, call: FigureCall) -> dict[str, Value]:
    """Returns the arguments of a call by name, completed by the fraction and the weights of the policy's sample.

    If there is only one parameter, an unnamed argument gets its name.

    Raises UserError for an unnamed argument if there are several parameters.
    """
    arguments = sample_arguments(release, call)
    names = [parameter.name for parameter in statistic.parameters]
    if UNNAMED in arguments and len(names) == 1:
        arguments[names[0]] = arguments.pop(UNNAMED)
    elif UNNAMED in arguments:
        with about("figures", call.name):
            raise UserError(f"{call.name}: an argument lacks its name", hint=f"it takes: {', '.join(names) or 'none'}")
    return arguments


def _all(
    engine: Engine,
    release: Release,
    temp: TempTables,
    remark: Callable[[str], None],
    undefined: Callable[[str], None] | None,
) -> Iterator[ClassFigure]:
    readable = readable_statistics("figures")
    for name in sorted({*statistic_names("figures")} - {file.name for file in readable}):
        remark(f"{name} is not measured: sql/figures/{name}.sql is broken")
    calls = [FigureCall(file.name) for file in readable if _by_itself(file, release)]
    for file in readable:
        error = None if file.of_buckets or reads_more(file) or _needs_argument(file) else why_not(file, release)
        if error is not None and policy_of(release).entity is None:
            remark(f"{file.name} is not measured: {_reason(file.name, release, error)}")
    try:
        yield from _measured(engine, release, calls, temp)
    except PolicyError as error:
        # The rows of the release are in no classes.
        remark(f"figures of classes are not measured: {error.message}")
    if shows_people(release):
        return
    for name, computed in COMPUTED.items():
        if name in _BY_NAME or (name in _OF_NOISE and not release.has_noise):
            continue
        try:
            _require_rows(engine, release, name)
            figures = computed(engine, release, {}, temp)
        except PolicyError as error:
            reason = _reason(name, release, error)
            if undefined:
                undefined(name)
            else:
                remark(f"{name} is not measured: {reason}")
            continue
        except DataError as error:
            # The source has lost values that the release shows.
            remark(f"{name} is not measured: {error.message}; the source has changed since the release was made")
            continue
        yield from figures


def _reason(name: str, release: Release, error: PolicyError) -> str:
    """Returns the reason why a figure cannot be measured, without the name of the figure."""
    return error.message.removeprefix(f"{name} of {release.name} cannot be measured: ")


def _needs_argument(statistic: Statistic) -> bool:
    return any(parameter.default is None for parameter in statistic.parameters)


def _by_itself(statistic: Statistic, release: Release) -> bool:
    """Whether a statistic can be measured on a release without arguments."""
    return why_not(statistic, release) is None and not _needs_argument(statistic)
