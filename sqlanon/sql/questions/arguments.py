"""Checks the arguments of a model against the model's header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Protocol

from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import UNNAMED, QualifiedName, Value, plain_number, written
from sqlanon.errors import PolicyError, about
from sqlanon.sql.questions.load import INFINITE, Parameter, Question, Selector, questions_of

# The value of a parameter: an int for a BIGINT, a Decimal for a DECIMAL, a string for a TEXT, a name for the others.
# A COLUMN always has a name of one part.
Argument = int | Decimal | str | QualifiedName

# Arguments that every model about sensitive values takes.
_OF_VALUES = ("attribute", "jointly")
# Arguments that models take besides the parameters of their headers.
_GENERIC = (*_OF_VALUES, "on", "within", "knows")


class _Parameterized(Protocol):
    """A question or a statistic: an object with a name and parameters."""

    @property
    def model(self) -> str: ...

    @property
    def when(self) -> Selector | None: ...

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...


def chosen(questions: Sequence[Question], arguments: dict[str, Value]) -> Question:
    """Returns the question of a model that the arguments choose; removes the argument that chooses it from `arguments`.

    Raises PolicyError, with the choices, for a value that does not choose a question.
    """
    by_value = {q.when.value: q for q in questions if q.when}
    if not by_value:
        return questions[0]
    argument = next(q.when.argument for q in questions if q.when)
    if argument not in arguments:
        default = next((q for q in questions if q.when is None or q.when.default), None)
        if default is None:
            raise PolicyError(
                f"{questions[0].model} lacks its argument {argument!r}", hint=_choices(argument, by_value)
            )
        return default
    value = arguments.pop(argument)
    if not isinstance(value, str) or value not in by_value:
        raise PolicyError(
            f"{questions[0].model} has no {argument} {written(value)}",
            hint=_choices(argument, by_value),
            part=("requirement", questions[0].model, argument),
        )
    return by_value[value]


def with_names(requirement: Requirement) -> Requirement:
    """Returns the requirement with a name for the argument that was written without one, as in k_anonymity(5).

    This argument is the only one that still has to be given. Raises UserError for an unknown model, and PolicyError if
    no argument or more than one still has to be given.
    """
    arguments = dict(requirement.arguments)
    if UNNAMED not in arguments:
        return requirement
    others = {name: value for name, value in arguments.items() if name != UNNAMED}
    with about("requirement", requirement.model):
        question = chosen(questions_of(requirement.model), dict(others))
    missing = [p.name for p in question.parameters if p.default is None and not p.of_policy]
    missing = [name for name in missing if name not in others]
    if len(missing) != 1:
        raise PolicyError(
            f"{_called(question)}: it is not clear which argument {written(arguments[UNNAMED])} is",
            hint=f"write {_shape(question)}",
            part=("requirement", requirement.model, UNNAMED),
        )
    named = {missing[0] if name == UNNAMED else name: value for name, value in arguments.items()}
    return replace(requirement, arguments=tuple(named.items()))


def _choices(argument: str, values: Mapping[str, object] | Sequence[str]) -> str:
    return f"write {' or '.join(f'{argument} => {written(value)}' for value in values)}"


def bound_arguments(
    question: _Parameterized, arguments: Mapping[str, Value], choices: Sequence[Question] = ()
) -> tuple[tuple[str, Argument], ...]:
    """Returns a value for every parameter, in the header's order; `choices` are all questions of the model.

    Raises PolicyError for an argument that is missing, unknown, of the wrong type, outside its bounds or not among its
    choices.
    """
    names = [parameter.name for parameter in question.parameters]
    for name in arguments:
        if name not in names:
            near = nearest(name, [*names, *_GENERIC])
            raise PolicyError(
                f"{_called(question)} has no argument {name!r}",
                hint=_goes_with(choices, name) or near or f"write {_shape(question)}",
                part=("requirement", question.model, name),
            )
    bound: list[tuple[str, Argument]] = []
    for parameter in question.parameters:
        value = arguments.get(parameter.name, parameter.default)
        if value is None:
            beside = ", or SAMPLE FRACTION behind the columns of the policy" if parameter.of_policy else ""
            raise PolicyError(
                f"{_called(question)} lacks its argument {parameter.name!r}", hint=f"write {_shape(question)}{beside}"
            )
        with about("requirement", question.model, parameter.name):
            bound.append((parameter.name, _checked(question, parameter, value)))
    return tuple(bound)


def _goes_with(choices: Sequence[Question], name: str) -> str | None:
    """Returns the choice of the model that has the argument, such as prior => 'table' for weights, or None."""
    for other in choices:
        if other.when and any(parameter.name == name for parameter in other.parameters):
            return f"{name} goes with {other.when.argument} => {written(other.when.value)}: write {_shape(other)}"
    return None


def _called(question: _Parameterized) -> str:
    when = question.when
    return f"{question.model} with {when.argument} {written(when.value)}" if when else question.model


def _shape(question: _Parameterized) -> str:
    parts = [f"{parameter.name} => ..." for parameter in question.parameters]
    if question.when:
        parts.append(f"{question.when.argument} => {written(question.when.value)}")
    return f"{question.model}({', '.join(parts)})"


def _checked(question: _Parameterized, parameter: Parameter, value: Value) -> Argument:
    if parameter.type == "TEXT":
        if not isinstance(value, str) or value not in parameter.choices:
            raise PolicyError(
                f"{question.model} has no {parameter.name} {written(value)}",
                hint=_choices(parameter.name, parameter.choices),
            )
        return value
    if parameter.type == "RELATION" and isinstance(value, QualifiedName):
        return value
    if parameter.type == "COLUMN" and isinstance(value, str) and value:
        return QualifiedName((value,))
    if parameter.type == "COLUMN" and isinstance(value, QualifiedName) and len(value.parts) == 1:
        return value
    if parameter.type in ("BIGINT", "DECIMAL"):
        return _number(question, parameter, value)
    kind = "the name of a table or view" if parameter.type == "RELATION" else "the name of a column"
    raise PolicyError(f"{question.model}: {parameter.name} must be {kind}, not {written(value)}")


def _number(question: _Parameterized, parameter: Parameter, value: Value) -> int | Decimal:
    if parameter.infinite and value in (INFINITE, Decimal("Infinity")):
        return Decimal("Infinity")
    where = f"{question.model}: {parameter.name}"
    number = plain_number(value) if isinstance(value, Decimal) else value
    whole = isinstance(number, int) and not isinstance(number, bool)
    if not whole and not (parameter.type == "DECIMAL" and isinstance(number, Decimal) and number.is_finite()):
        kind = "number" if parameter.type == "DECIMAL" else "whole number"
        kind += f" or '{INFINITE}'" if parameter.infinite else ""
        raise PolicyError(f"{where} must be a {kind}, not {written(value)}")
    assert isinstance(number, int | Decimal)
    assert parameter.low is not None
    assert parameter.high is not None
    if not parameter.low <= number <= parameter.high:
        raise PolicyError(f"{where} = {written(value)} is outside {parameter.low} to {parameter.high}")
    return Decimal(number) if parameter.type == "DECIMAL" else number


def columns_of_weights(
    question: Question, arguments: Mapping[str, Value], weights: Sequence[str], sensitive: Sequence[str]
) -> Sequence[str]:
    """Returns the columns that a model of sampling weights may be about, which are the policy's sampling weights.

    If `attribute` is given, the sensitive columns are among them, too. Raises PolicyError if the policy does not name
    weights and the requirement does not name an attribute.
    """
    if "attribute" in arguments:
        return (*weights, *sensitive)
    if not weights:
        raise PolicyError(
            f"{question.model} reads the sampling weights of the source, and the policy names no column of them",
            hint="write weight INSENSITIVE SAMPLING WEIGHT",
        )
    return weights


def subjects_of_question(
    question: Question, arguments: dict[str, Value], sensitive: Sequence[str]
) -> list[tuple[str, ...]]:
    """Returns the sensitive columns that the model protects, each by itself or all jointly; [()] if it protects none.

    Removes `attribute` and `jointly` from `arguments`. Raises PolicyError if there are no sensitive attributes, for an
    attribute that is not sensitive, and for a model that cannot be about several columns jointly.
    """
    if not question.of_sensitive_values:
        return [()]
    attribute, jointly = (arguments.pop(name, None) for name in _OF_VALUES)
    if jointly is not None and not isinstance(jointly, bool):
        raise PolicyError(f"{question.model}: jointly must be true or false, not {written(jointly)}")
    if not sensitive:
        raise PolicyError(
            f"{question.model} is about sensitive values, and there is no sensitive attribute",
            hint="name one: disease SENSITIVE in a policy, SENSITIVE disease in CHECK, sensitive=['disease'] in Python",
        )
    if jointly and attribute is not None:
        raise PolicyError(f"{question.model} takes attribute or jointly, not both")
    if jointly and not question.joint:
        raise PolicyError(
            f"{_called(question)} cannot take several attributes jointly: it needs the values of one attribute",
            hint=f"leave out jointly, so that {question.model} is required of each attribute",
        )
    if jointly:
        return [tuple(sensitive)]
    return [(name,) for name in (sensitive if attribute is None else [_sensitive_name(question, attribute, sensitive)])]


def _sensitive_name(question: Question, attribute: Value, sensitive: Sequence[str]) -> str:
    known = {fold(name): name for name in sensitive}
    is_unqualified = isinstance(attribute, QualifiedName) and len(attribute.parts) == 1
    name = attribute.name if isinstance(attribute, QualifiedName) and is_unqualified else attribute
    if not isinstance(name, str) or fold(name) not in known:
        raise PolicyError(
            f"{question.model}: {written(attribute)} is not a sensitive attribute",
            hint=nearest(str(name), list(known.values()))
            or f"the sensitive attributes are: {', '.join(known.values())}",
            part=("requirement", question.model, "attribute"),
        )
    return known[fold(name)]
