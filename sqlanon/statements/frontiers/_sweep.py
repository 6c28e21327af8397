"""The candidates of a frontier: each method with each combination of the swept values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Policy, Requirement
from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import Value
from sqlanon.errors import SqlanonError, UserError, about
from sqlanon.methods.registry import find_method, options_of, promised_by
from sqlanon.methods.shared.arguments import arguments_of, with_names
from sqlanon.sources.joins import is_of_join
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sql.questions.load import Question, questions_of, readable_models
from sqlanon.sql.questions.models import is_sole_parameter
from sqlanon.statements.frontiers.frontier import Sweep


@dataclass(frozen=True)
class Candidate:
    """A release that could be published: a method, and the policy with the requirements that it would have.

    `intact` says that it is the one that changes nothing, `baseline` that it is one to compare with, whatever is
    required; `named` is whether the statement names that one.
    """

    method: MethodCall
    policy: Policy
    intact: bool = False
    baseline: bool = False
    named: bool = False


def swept(policy: Policy, methods: Sequence[MethodCall], sweep: Sequence[Sweep]) -> list[Candidate]:
    """Every method with every combination of the values.

    A value goes to each requirement of the policy with a parameter of that name, and to the method's argument of that
    name. Where there is neither, the policy gets a requirement more: that of the one model whose achieved value is
    compared with such a parameter. Raises UserError for a parameter that nothing has, or that several models do, and
    for methods and values that do not exist; PolicyError for what a model or a method does not take.
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
            candidates.append(candidate)
    return list(dict.fromkeys(candidates))


def is_same_release(first: Candidate, second: Candidate) -> bool:
    """Whether both are one method with the same options, and the same is required of them, however it is written.

    Both are of one policy. Raises as `swept` does.
    """
    return fold(first.method.name) == fold(second.method.name) and _meaning(first) == _meaning(second)


def _meaning(candidate: Candidate) -> tuple[object, ...]:
    call = candidate.method
    promised = promised_by(call.name, call.arguments)
    columns = call.sets, call.columns, call.each_apart
    return options_of(call.name, call.arguments), columns, resolve_requirements(candidate.policy, promised=promised)


@contextmanager
def _about_value(sweep: Sequence[Sweep], values: Sequence[Value]) -> Iterator[None]:
    """Says of an error about a parameter that is swept that it is about the value of the sweep."""
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
    """Whether a requirement has such a parameter, of those of its model that is meant."""
    return any(
        parameter == known.name
        for requirement in requirements
        for question in _meant(requirement)
        for known in question.parameters
    )


def _meant(requirement: Requirement) -> Iterator[Question]:
    """The questions of the requirement's model that its arguments choose, its default where they choose none.

    Of a join's requirements nothing is swept.
    """
    if is_of_join(requirement):
        return
    arguments = {fold(name): value for name, value in requirement.arguments}
    for question in questions_of(fold(requirement.model)):
        when = question.when
        if when is None or fold(str(arguments.get(when.argument, when.value if when.default else ""))) == when.value:
            yield question


def _model_of(policy: Policy, parameter: str) -> str:
    """The one model whose achieved value is compared with this parameter, and that it is enough for.

    A model that compares with a public table counts where the policy has one, which then is what is asked about.
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
            hint=f"let the policy require the one that is meant: REQUIRE {models[0]}({parameter} => ...)",
        )
    questions = [question for model in every_model for question in model]
    if about_it := sorted({q.model for q in questions if parameter in [known.name for known in q.parameters]}):
        raise UserError(
            f"{policy} requires nothing with a parameter {parameter}, and no model has that one alone",
            hint=f"let the policy require {' or '.join(about_it)}",
        )
    names = sorted({known.name for q in questions for known in q.parameters})
    raise UserError(
        f"no requirement and no method has a parameter {parameter}",
        hint=nearest(parameter, names) or "SWEEP names parameters, as in SWEEP k IN (5, 10)",
    )
