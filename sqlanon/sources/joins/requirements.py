"""What is required of the join of two releases: the files under `sql/joined/` (Wang and Fung 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.domain.identifiers import fold, listed, nearest
from sqlanon.domain.policy import Policy, Requirement
from sqlanon.domain.values import QualifiedName, Value, written
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.sql.questions.arguments import with_names
from sqlanon.sql.questions.statistics import (
    BoundStatistic,
    bind_statistic,
    load_statistic,
    named_arguments,
    statistic_names,
)

_KIND = "joined"


@dataclass(frozen=True)
class JoinedRequirement:
    """A requirement of a join, with every parameter inside its bounds: of the values of Y that go with those of X."""

    statistic: BoundStatistic
    x: tuple[str, ...]
    y: str

    @property
    def question_name(self) -> str:
        return self.statistic.question_name

    @property
    def required(self) -> float:
        """The number that `achieved` is compared with."""
        return float(str(self.statistic.arguments[0][1]))

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} => {written(value)}" for name, value in self.statistic.arguments)
        return f"{self.question_name}(x => {listed(self.x)}, y => {listed((self.y,))[1:-1]}, {numbers})"


def is_of_join(requirement: Requirement) -> bool:
    """Whether a requirement is about the join of two releases, and not about classes."""
    return fold(requirement.model) in statistic_names(_KIND)


def with_argument_names(requirement: Requirement) -> Requirement:
    """The requirement with the names of all its arguments, of classes or of a join. Raises as `with_names` does."""
    if not is_of_join(requirement):
        return with_names(requirement)
    arguments = named_arguments(load_statistic(_KIND, fold(requirement.model)), requirement.arguments)
    return replace(requirement, arguments=tuple(arguments.items()))


def of_join(policy: Policy) -> tuple[Requirement, ...]:
    """The requirements of a policy about the join with its other release.

    Raises PolicyError for requirements without such a release, and for a release without such a requirement.
    """
    required = tuple(filter(is_of_join, policy.requirements))
    if required and policy.joined is None:
        raise PolicyError(
            f"{policy}: {required[0].model} is about the join with another release, and there is none",
            hint="name it before REQUIRE: JOINED WITH RELEASE other ON (column, ...)",
            part=("requirement", required[0].model),
        )
    if policy.joined is not None and not required:
        raise PolicyError(
            f"{policy}: nothing is asked about the join with {policy.joined.release}",
            hint=f"require {' or '.join(statistic_names(_KIND))}, or make the policy anew without JOINED",
            part=("other",),
        )
    if required and len(required) == len(policy.requirements) and not policy.confidential:
        raise PolicyError(
            f"{policy}: nothing is required of the classes of a release by itself",
            hint="add k_anonymity(k => 5): not all readers have the other release",
            part=("requirement", required[0].model),
        )
    return required


def of_classes(requirements: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """The requirements that are about classes of rows."""
    return tuple(requirement for requirement in requirements if not is_of_join(requirement))


def bind_joined(requirements: Sequence[Requirement]) -> tuple[JoinedRequirement, ...]:
    """Checks the arguments. Raises UserError for an unknown requirement, PolicyError for what it does not take."""
    return tuple(map(_bound, requirements))


def _bound(requirement: Requirement) -> JoinedRequirement:
    name, names = fold(requirement.model), statistic_names(_KIND)
    if name not in names:
        raise UserError(
            f"of two releases {requirement.model!r} cannot be required",
            hint=nearest(name, names) or f"there are: {', '.join(names)}",
            part=("requirement", requirement.model),
        )
    statistic = load_statistic(_KIND, name)
    arguments = named_arguments(statistic, requirement.arguments)
    with about("requirement", requirement.model):
        x = _names(arguments.pop("x", None), "x", name)
        (y, *others) = _names(arguments.pop("y", None), "y", name)
        if others:
            raise PolicyError(f"{name}: y is one column", hint="write y => disease")
    return JoinedRequirement(bind_statistic(statistic, arguments, (y,)), tuple(x), y)


def _names(value: Value | None, argument: str, model: str) -> list[str]:
    """One name, or several."""
    values = value if isinstance(value, tuple) else (value,)
    names = [part.parts[0] for part in values if isinstance(part, QualifiedName) and len(part.parts) == 1]
    if not names or len(names) != len(values):
        raise PolicyError(f"{model} needs {argument}, the name of a column", hint=f"write {argument} => name")
    return names
