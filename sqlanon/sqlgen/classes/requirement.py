"""What queries need to know of a requirement: its statements, and the normal relations that they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlglot import exp

from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import cast
from sqlanon.sqlgen.build.names import alias, literal

__all__ = [
    "PER_REQUIREMENT",
    "PER_SUBJECT",
    "SqlRequirement",
    "by_attribute",
    "depends_on_others",
    "relation_names",
    "report_row",
    "subjects",
]

# Relations about one sensitive attribute, or several jointly, and those about one requirement's own arguments.
PER_SUBJECT = ("class_sensitive_value", "sensitive_value", "sensitive_ancestor", "sensitive_number")
PER_REQUIREMENT = ("value_range", "guarded", "guarding_node", "class_itemset")

# A requirement that reads these judges a class by rows outside it.
_OF_OTHERS = ("sensitive_value", "public_class")


class SqlRequirement(Protocol):
    """A requirement that normal relations can answer."""

    @property
    def question_name(self) -> str: ...

    @property
    def reads(self) -> Sequence[str]:
        """The normal relations that its statements read."""
        ...

    @property
    def attributes(self) -> Sequence[str]:
        """The sensitive columns that it is about, several if jointly; empty if it is about none."""
        ...

    def satisfied_by(self, rows: int) -> bool:
        """Whether a class of `rows` rows, each of another respondent, always satisfies it."""
        ...

    def statement(self, name: str, relations: Mapping[str, str]) -> exp.Select:
        """The statement `achieved` or `violations`; `relations` has what it reads in place of each normal relation."""
        ...


def subjects(requirements: Sequence[SqlRequirement]) -> list[tuple[str, ...]]:
    """The sensitive columns that requirements ask about, each by itself or several jointly, without repetition."""
    return list(dict.fromkeys(tuple(r.attributes) for r in requirements if r.attributes))


def by_attribute(requirements: Sequence[SqlRequirement], attributes: Sequence[str]) -> dict[str, list[int]]:
    """The indexes of the requirements that each attribute's values answer.

    The first attribute answers those that are about no attribute, such as the size of classes.
    """
    indexes: dict[str, list[int]] = {name: [] for name in attributes}
    for index, requirement in enumerate(requirements):
        indexes[requirement.attributes[0] if requirement.attributes else attributes[0]].append(index)
    return indexes


def relation_names(requirements: Sequence[SqlRequirement]) -> list[dict[str, str]]:
    """For each requirement the relation that stands for each normal relation.

    `class_sensitive_value_0` is that of the first subject, `value_range_2` belongs to
    the third requirement; what all share keeps its name.
    """
    numbers = {subject: number for number, subject in enumerate(subjects(requirements))}
    named = []
    for index, requirement in enumerate(requirements):
        subject = numbers.get(tuple(requirement.attributes))
        named.append(
            {
                relation: f"{relation}_{subject}"
                if relation in PER_SUBJECT
                else f"{relation}_{index}"
                if relation in PER_REQUIREMENT
                else relation
                for relation in requirement.reads
            }
        )
    return named


def depends_on_others(requirement: SqlRequirement) -> bool:
    """Whether a class may satisfy the requirement or not according to the rows of other classes."""
    return any(relation in _OF_OTHERS for relation in requirement.reads)


def report_row(index: int, requirement: SqlRequirement, names: Mapping[str, str]) -> exp.Select:
    """place, achieved and violating: what a requirement comes to, and how many classes violate it."""
    achieved = cast(requirement.statement("achieved", names).subquery(copy=False), "DOUBLE")
    violating = requirement.statement("violations", names).subquery("violations", copy=False)
    count = exp.select(f.count()).from_(violating, copy=False)
    return exp.select(
        alias(literal(index), "place"), alias(achieved, "achieved"), alias(count.subquery(copy=False), "violating")
    )
