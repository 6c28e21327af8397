"""Reads parts of statements that a program gives as texts: requirements, methods and hierarchies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import cast

from sqlanon.clients.api.arguments import described
from sqlanon.clients.api.method import Method
from sqlanon.clients.api.requirements import Requirement
from sqlanon.domain import policy as domain
from sqlanon.domain.requests import MethodCall
from sqlanon.errors import UserError
from sqlanon.statements.hierarchies.create_hierarchy import CreateHierarchy
from sqlanon.statements.parser import statement_ending
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease

_POLICY = "CREATE POLICY data ON data (data QUASI IDENTIFIER) REQUIRE"


def requirement_arguments(k: object, l: object, t: object, require: object) -> tuple[domain.Requirement, ...]:  # noqa: E741
    """Returns the requirements from `k`, `l`, `t` and `require`: each a text, an object or a list of these.

    Raises UserError if there is no requirement, and for a value that is not a requirement.
    """
    asked_models = (("k_anonymity", "k", k), ("l_diversity", "l", l), ("t_closeness", "t", t))
    requirements = [
        domain.Requirement(model, ((parameter, _number(parameter, value)),))
        for model, parameter, value in asked_models
        if value is not None
    ]
    if isinstance(require, str):
        if require:
            requirements += requirements_of_text(require, "require")
    elif require is not None:
        requirements += _definitions(require)
    if not requirements:
        raise UserError("nothing is required", hint="leave k out for k = 5, or give k, l, t or require")
    return tuple(requirements)


def requirements_of_text(text: str, argument: str) -> tuple[domain.Requirement, ...]:
    """Reads the requirements in a text, as after REQUIRE. Raises UserError for a text without requirements."""
    return cast(CreatePolicy, statement_ending(_POLICY, text, argument)).policy.requirements


def _definitions(require: object) -> list[domain.Requirement]:
    definitions: list[domain.Requirement] = []
    for requirement in require if isinstance(require, Iterable) else [require]:
        if isinstance(requirement, str):
            definitions += requirements_of_text(requirement, "require")
            continue
        if not isinstance(requirement, Requirement):
            hint = 'write require=[sqlanon.KAnonymity(k=5)], or a text: require="k_anonymity(k => 5)"'
            raise UserError(f"require: {described(requirement)} is not a Requirement", hint=hint)
        definitions.append(requirement.definition)
    return definitions


def method_argument(method: object) -> MethodCall:
    """Returns the method of an object, or of a text as after METHOD. Raises UserError for any other value."""
    if isinstance(method, Method):
        return method.definition
    if not isinstance(method, str):
        raise UserError(f"method is a text or a Method, not {type(method).__name__}")
    statement = statement_ending("CREATE ANONYMIZED TABLE data AS POLICY data METHOD", method, "method")
    return cast(CreateRelease, statement).method


def hierarchy_argument(name: str, text: str) -> CreateHierarchy:
    """Reads a hierarchy's definition from a text, as after AS, and names it. Raises UserError for any other value."""
    if not isinstance(text, str):
        raise UserError(
            f"hierarchies[{name!r}] is a text, not {described(text)}",
            hint=f'write {{{name!r}: "INTERVALS (5, 10)"}}, as after AS in CREATE HIERARCHY',
        )
    statement = cast(CreateHierarchy, statement_ending("CREATE HIERARCHY data AS", text, f"hierarchies[{name!r}]"))
    return replace(statement, definition=replace(statement.definition, name=name))


def _number(parameter: str, value: object) -> int | Decimal:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise UserError(f"{parameter} is a number, not {described(value)}")
    number = Decimal(str(value))
    if not number.is_finite():
        raise UserError(f"{parameter} is a finite number, not {value!r}")
    return int(number) if number == number.to_integral_value() else number
