"""Makes the candidates of a frontier: each method with each combination of the swept values.

Also measures their figures, and chooses one for ADVISE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product

from sqlanon.assess.measure_figures import COMPUTED, OF_POLICY, Computed, measure_figures, of_whole_release
from sqlanon.assess.workloads.measure import measure
from sqlanon.catalog import frontiers, policies
from sqlanon.catalog.frontiers import Measured
from sqlanon.catalog.snapshot import fingerprint
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Policy, Requirement
from sqlanon.domain.release import Release
from sqlanon.domain.requests import FigureCall, MethodCall
from sqlanon.domain.values import UNNAMED, Value
from sqlanon.domain.workload import figure_of_workload
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, SqlanonError, UserError, about
from sqlanon.methods.registry import find_method, options_of, promised_by
from sqlanon.methods.shared.arguments import arguments_of, with_names
from sqlanon.sources.bind_policy import hierarchies_of
from sqlanon.sources.joins import is_of_join
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sql.questions.load import Question, questions_of, readable_models
from sqlanon.sql.questions.models import is_sole_parameter
from sqlanon.sql.questions.statistics import Statistic, load_statistic, readable_statistics, statistic_names
from sqlanon.statements.base import Answer
from sqlanon.statements.frontiers.advise import Advise, Bound
from sqlanon.statements.frontiers.frontier import Sweep


@dataclass(frozen=True)
class Candidate:
    """A release that could be published: a method, and the policy with the requirements of this release.

    `intact` marks the candidate that changes nothing, `baseline` a candidate for comparison that is independent of
    requirements; `named` is true if the statement names the baseline.
    """

    method: MethodCall
    policy: Policy
    intact: bool = False
    baseline: bool = False
    named: bool = False


def swept(policy: Policy, methods: Sequence[MethodCall], sweep: Sequence[Sweep]) -> list[Candidate]:
    """Returns one candidate for every method and every combination of the values.

    A value is assigned to each requirement of the policy with a parameter of that name, and to the method's argument of
    that name. If there is neither, the policy gets a further requirement, of the only model with this parameter. A
    method that ignores requirements gets only its own arguments.

    Raises UserError for a parameter that belongs to no model or to several models, and for unknown methods and values,
    and PolicyError for arguments that a model or a method refuses.
    """
    candidates: list[Candidate] = []
    for call in methods:
        with about("method", call.name):
            options = find_method(call.name).OPTIONS
            named = replace(call, arguments=with_names(call.name, options, call.arguments))
        for values in product(*(swept.values for swept in sweep)):
            candidate = Candidate(named, policy)
            for swept, value in zip(sweep, values, strict=True):
                with about("sweep", swept.parameter):
                    candidate = _with_value(candidate, call, swept.parameter, value)
            with _about_value(sweep, values):
                find_method(call.name).options(candidate.method.arguments)
                resolve_requirements(candidate.policy, promised=promised_by(call.name, candidate.method.arguments))
            candidates.append(candidate if asks_requirements(call) else replace(candidate, policy=policy))
    return list(dict.fromkeys(candidates))


def asks_requirements(call: MethodCall) -> bool:
    """Whether a release by this method must satisfy the policy's requirements."""
    return find_method(call.name).ASKS_REQUIREMENTS


def is_same_release(first: Candidate, second: Candidate) -> bool:
    """Whether two candidates of one policy have the same method, options and requirements, in any spelling.

    Raises the errors of `swept`.
    """
    return fold(first.method.name) == fold(second.method.name) and _meaning(first) == _meaning(second)


def _meaning(candidate: Candidate) -> tuple[object, ...]:
    call = candidate.method
    promised = promised_by(call.name, call.arguments)
    columns = call.sets, call.columns, call.each_apart
    return options_of(call.name, call.arguments), columns, resolve_requirements(candidate.policy, promised=promised)


@contextmanager
def _about_value(sweep: Sequence[Sweep], values: Sequence[Value]) -> Iterator[None]:
    """Points an error about a swept parameter to its value in the sweep."""
    try:
        yield
    except SqlanonError as error:
        for swept, value in zip(sweep, values, strict=True):
            if error.part and fold(error.part[-1]) == fold(swept.parameter):
                error.part = ("sweep", swept.parameter, str(value))
                break
        raise


def _with_value(candidate: Candidate, call: MethodCall, parameter: str, value: Value) -> Candidate:
    method, policy = candidate.method, candidate.policy
    takes_it = parameter in arguments_of(find_method(call.name).OPTIONS)
    if takes_it and parameter in dict(method.arguments):
        raise UserError(
            f"{call.name} has its argument {parameter} twice: in METHODS and in SWEEP", hint="leave one of them out"
        )
    if takes_it:
        method = replace(method, arguments=(*method.arguments, (parameter, value)))
    requirements = tuple(_with_argument(requirement, parameter, value) for requirement in policy.requirements)
    if requirements == policy.requirements and not takes_it and not _any_has(policy.requirements, parameter):
        model = _model_of(policy, parameter)
        requirements = (*requirements, Requirement(model, ((parameter, value),)))
    return Candidate(method, replace(policy, requirements=requirements))


def _with_argument(requirement: Requirement, parameter: str, value: Value) -> Requirement:
    if not _any_has((requirement,), parameter):
        return requirement
    arguments = {**{fold(name): other for name, other in requirement.arguments}, parameter: value}
    return replace(requirement, arguments=tuple(arguments.items()))


def _any_has(requirements: Sequence[Requirement], parameter: str) -> bool:
    """Whether a requirement has such a parameter, in the variant of its model that its arguments choose."""
    return any(
        parameter == known.name
        for requirement in requirements
        for question in _meant(requirement)
        for known in question.parameters
    )


def _meant(requirement: Requirement) -> Iterator[Question]:
    """Yields the questions of the requirement's model that its arguments choose, or the default questions.

    Requirements of a join are not swept.
    """
    if is_of_join(requirement):
        return
    arguments = {fold(name): value for name, value in requirement.arguments}
    for question in questions_of(fold(requirement.model)):
        when = question.when
        if when is None or fold(str(arguments.get(when.argument, when.value if when.default else ""))) == when.value:
            yield question


def _model_of(policy: Policy, parameter: str) -> str:
    """Returns the only model whose achieved value is compared with this parameter, and which needs no other parameter.

    A model that compares with a public table counts only if the policy has a public table. Raises UserError if there is
    no such model, or more than one.
    """
    every_model = readable_models()
    models = [
        question.model
        for question, *_ in every_model
        if is_sole_parameter(question, parameter, public=policy.against is not None)
    ]
    if len(models) == 1:
        return models[0]
    if models:
        raise UserError(
            f"{parameter} is a parameter of {' and '.join(models)}",
            hint=f"choose one, and add it to the policy: REQUIRE {models[0]}({parameter} => ...)",
        )
    questions = [question for model in every_model for question in model]
    if about_it := sorted({q.model for q in questions if parameter in [known.name for known in q.parameters]}):
        raise UserError(
            f"{policy} has no requirement with a parameter {parameter}, and every model with it needs other arguments "
            "too",
            hint=f"add {' or '.join(about_it)} to the requirements of the policy",
        )
    names = sorted({known.name for q in questions for known in q.parameters})
    raise UserError(
        f"no requirement and no method has a parameter {parameter}",
        hint=nearest(parameter, names) or "SWEEP names parameters, as in SWEEP k IN (5, 10)",
    )


# The figures of candidates: any figure of MEASURE, and the error of a workload. Less is better for each.


_ERROR, _NOT_ESTIMATED, _RESULTS = "mean_relative_error", "not_estimated", "results"


@dataclass(frozen=True)
class Figure:
    """A number of a release: `measure` returns its value; if it is undefined, the reason in words or None.

    `prepared` returns a figure that measures releases of a policy faster, with tables that live as long as the
    `TempTables`.
    """

    name: str
    measure: Callable[[Engine, Release], float | str | None]
    prepared: Callable[[Engine, Policy, TempTables], Figure] | None = None


def figure_of(call: FigureCall) -> Figure:
    """Returns the figure of this name: it has the value for the whole release, or the greatest value of the sensitive
    attributes.

    If several statistics have a figure of the name, the statistic with these arguments is used. Raises UserError, with
    the nearest name, for an unknown name and for missing arguments.
    """
    name = call.name
    if name in COMPUTED:
        return _figure(name, call, COMPUTED)
    if name in statistic_names("figures"):
        # This raises the error of a broken file.
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
    """Returns the error for an unknown figure; the hint for a group's name lists its figures."""
    known = sorted({*(column for file in files for column in file.columns), *COMPUTED})
    group = next((file.columns for file in files if file.name == name), ())
    hint = f"it is several: {', '.join(group)}" if group else nearest(name, known) or f"there are: {', '.join(known)}"
    return UserError(f"there is no figure {name!r}", hint=hint, part=("figures", name))


def _figure(name: str, requested: FigureCall, computed: Mapping[str, Computed]) -> Figure:
    def worst(engine: Engine, release: Release) -> float | None:
        return of_whole_release(measure_figures(engine, release, [requested], computed), name)

    def prepared(engine: Engine, policy: Policy, temp: TempTables) -> Figure:
        of_policy = OF_POLICY[requested.name](engine, policy, dict(requested.arguments), temp)
        return replace(_figure(name, requested, {**computed, requested.name: of_policy}), prepared=None)

    return Figure(name, worst, prepared if requested.name in OF_POLICY else None)


def workload_figure(workload: str) -> Figure:
    """Returns the mean relative error of a workload's queries; it is undefined unless the release answers all
    queries.
    """

    def error(engine: Engine, release: Release) -> float | str | None:
        summary = dict(measure(engine, release, workload))
        without, results = summary[_NOT_ESTIMATED], summary[_RESULTS]
        return f"{without:.0f} of {results:.0f} results have no estimate" if without else summary[_ERROR]

    return Figure(figure_of_workload(workload), error)


# The warnings on candidates and choices whose figures cost no budget.
UNPAID = (
    "candidates with noise are drafts, which are deleted and spend nothing of a budget. Their figures compare them "
    "with the source: keep the figures to yourself. Publishing a candidate spends its epsilon, with new noise"
)
CHOSEN = (
    "the choice was made by figures without noise, so it reveals something about the source that the epsilon does not "
    "cover: for n candidates at most log2(n) bits. If that is too much, choose by another, similar table"
)


# ADVISE: the candidate of a frontier that has the least value of one figure within bounds, and the statement that
# publishes it.


def advise(engine: Engine, statement: Advise) -> Answer:
    """Returns a row with the number of the best candidate within the bounds, its figures and the statement that
    publishes it. Raises the errors of `choice`.
    """
    best = choice(engine, statement)
    remarks = () if find_method(best.method).ASKS_REQUIREMENTS else (CHOSEN,)
    figures = tuple((name, "DOUBLE") for name, _ in best.figures)
    columns = (("candidate", "BIGINT"), *figures, ("statement", "VARCHAR"))
    return Answer(columns, ((best.number, *(value for _, value in best.figures), best.statement),), remarks)


def choice(engine: Engine, statement: Advise) -> Measured:
    """Returns the candidate with the least value of the figure, among candidates that satisfy all bounds and can be
    published.

    Among candidates with equal values, it is the first efficient candidate. Raises UserError for a figure that was not
    measured. Raises PolicyError if no candidate satisfies the bounds, or if the policy has changed.
    """
    candidates = frontiers.load(engine, statement.frontier)
    _require_same_policy(engine, candidates[0], statement.frontier)
    names = [name for name, _ in candidates[0].figures]
    least = _figure_name(statement.least, names, statement.frontier)
    bounds = [
        replace(bound, figure=_figure_name(bound.figure, names, statement.frontier)) for bound in statement.bounds
    ]
    choices: list[tuple[float, bool, int, Measured]] = []
    for candidate in candidates:
        values = dict(candidate.figures)
        value = values[least]
        if candidate.statement and value is not None and all(_within(values[b.figure], b) for b in bounds):
            choices.append((value, not candidate.efficient, candidate.number, candidate))
    if not choices:
        raise PolicyError(
            f"no candidate of {statement.frontier} that can be published satisfies the condition",
            hint=_reached(candidates, bounds) or "SHOW FRONTIERS and the table anon.candidate have all candidates",
        )
    return min(choices, key=lambda choice: choice[:3])[3]


def _within(value: float | None, bound: Bound) -> bool:
    most = float(bound.most)  # type: ignore[arg-type]
    return value is not None and (value < most if bound.strict else value <= most)


def _reached(candidates: list[Measured], bounds: list[Bound]) -> str:
    """Describes the least value of each bounded figure among the candidates that can be published."""
    reached = []
    for bound in bounds:
        values = [v for c in candidates if c.statement and (v := dict(c.figures)[bound.figure]) is not None]
        reached += [f"the least {bound.figure} is {min(values):.6g}"] if values else []
    return ", ".join(reached)


def _figure_name(figure: str, names: list[str], frontier: str) -> str:
    for name in names:
        if fold(name) == fold(figure):
            return name
    with about("figures", figure):
        raise UserError(
            f"{frontier} has no figure {figure}", hint=nearest(figure, names) or f"it has: {', '.join(names)}"
        )


def _require_same_policy(engine: Engine, candidate: Measured, frontier: str) -> None:
    policy = policies.load(engine, candidate.policy)
    stored = list(hierarchies_of(engine, policy).values())
    if fingerprint(replace(policy, requirements=()), stored) != candidate.policy_fingerprint:
        raise PolicyError(
            f"{policy} has changed since {frontier} was made", hint="make it again, with the same FRONTIER statement"
        )
