"""Requirements and arguments as a certificate has them, from the policy and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import isclose

from sqlanon.domain.report import Measurement
from sqlanon.domain.values import QualifiedName, Scalar, Value
from sqlanon.export.certificate_format import Argument, Arguments, JoinedWith, RequirementEntry, figure_of
from sqlanon.sources.joins.requirements import JoinedRequirement
from sqlanon.sql.questions.ask import BoundRequirement

# Sums of logarithms depend on the order of their rows.
_SAME = 1e-9


@dataclass(frozen=True)
class EntryMembers:
    """The members of a requirement's entry that follow from the policy or the method alone."""

    requirement: str
    model: str
    question: str
    arguments: Arguments
    attributes: tuple[str, ...] = ()
    on: tuple[str, ...] = ()

    @property
    def attribute(self) -> str | None:
        """The attributes in one text, as the figures have them."""
        return ", ".join(self.attributes) or None


def asked_by(requirement: BoundRequirement) -> EntryMembers:
    """The entry's members for a requirement of the policy."""
    when = requirement.question.when
    chosen: Arguments = {when.argument: when.value} if when else {}
    return EntryMembers(
        str(requirement),
        requirement.question.model,
        requirement.question_name,
        stated_arguments(requirement.arguments) | chosen,
        tuple(requirement.attributes),
        tuple(requirement.on),
    )


def asked_of_join(requirement: JoinedRequirement) -> EntryMembers:
    """The entry's members for a requirement of the join with another release."""
    sides: Arguments = {"x": list(requirement.x), "y": requirement.y}
    arguments = stated_arguments(requirement.statistic.arguments) | sides
    name = requirement.question_name
    return EntryMembers(str(requirement), name, name, arguments, (requirement.y,))


def requirement_entry(
    members: EntryMembers,
    reached: Measurement,
    meaning: str,
    paper: str,
    recomputed_from: str,
    joined_with: JoinedWith | None = None,
) -> RequirementEntry:
    """The entry of a requirement with its figures."""
    return RequirementEntry(
        requirement=members.requirement,
        model=members.model,
        question=members.question,
        arguments=members.arguments,
        attributes=members.attributes,
        on=members.on,
        meaning=meaning,
        paper=paper,
        attribute=reached.attribute,
        joined_with=joined_with,
        required=figure_of(reached.required),
        achieved=figure_of(reached.achieved),
        satisfied=reached.satisfied,
        recomputed_from=recomputed_from,
    )


def stated_arguments(arguments: Sequence[tuple[str, Value]]) -> Arguments:
    """Arguments for JSON, by name."""
    return {
        name: [_plain(item) for item in value] if isinstance(value, tuple) else _plain(value)
        for name, value in arguments
    }


def _plain(value: Scalar) -> bool | int | float | str:
    if isinstance(value, Decimal):
        # A reader of JSON holds a number in a DOUBLE: one that does not fit there is text.
        return float(value) if Decimal(repr(float(value))) == value else f"{value:f}"
    return str(value) if isinstance(value, QualifiedName) else value


def arguments_of(stated: Arguments) -> tuple[tuple[str, Value], ...]:
    """The arguments of a method as its statement had them."""
    return tuple((name, _value(value)) for name, value in stated.items())


def _value(stated: Argument) -> Value:
    return tuple(map(_scalar, stated)) if isinstance(stated, list) else _scalar(stated)


def _scalar(stated: bool | int | float | str) -> Scalar:
    return Decimal(repr(stated)) if isinstance(stated, float) else stated


def is_alike(first: float | None, second: float | None) -> bool:
    """Whether two figures are equal, but for the order in which numbers were added."""
    if first is None or second is None:
        return first is second
    return first == second or isclose(first, second, rel_tol=_SAME, abs_tol=_SAME)


def stated_moment(moment: datetime) -> str:
    """A moment in UTC as ISO 8601, without fractions of a second."""
    return moment.replace(microsecond=0).isoformat() + "Z"
