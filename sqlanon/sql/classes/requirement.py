"""What queries need to know of a requirement: its statements, and the normal relations that they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, literal

# Relations about one sensitive attribute, or several jointly, and those about one requirement's own arguments.
PER_SUBJECT = ("class_sensitive_value", "sensitive_value", "sensitive_ancestor", "sensitive_number")
PER_REQUIREMENT = ("value_range", "guarded", "guarding_node", "class_itemset")

# Relations with rows for each class.
PER_CLASS = ("equivalence_class", "class_sensitive_value", "guarded")
# Under this the names of a requirement on some quasi-identifiers have the relation that says in which class of theirs
# each class by all of them lies.
WHOLE = "whole_class"

# What names the class of a set of quasi-identifiers in which a class_id lies.
Projected = Callable[[exp.Expr, Sequence[str]], exp.Expr]

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

    @property
    def on(self) -> Sequence[str]:
        """The quasi-identifiers whose classes it is asked about; empty if these are all."""
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


def projections(requirements: Sequence[SqlRequirement]) -> list[tuple[str, ...]]:
    """The sets of quasi-identifiers that requirements are asked on, each once, without that of all."""
    return list(dict.fromkeys(tuple(r.on) for r in requirements if r.on))


def by_projection(requirements: Sequence[SqlRequirement]) -> dict[tuple[str, ...], list[int]]:
    """The indexes of the requirements on each set of quasi-identifiers; that of all is empty."""
    indexes: dict[tuple[str, ...], list[int]] = {}
    for index, requirement in enumerate(requirements):
        indexes.setdefault(tuple(requirement.on), []).append(index)
    return indexes


def class_of_set(number: int) -> str:
    """The relation that says in which class of a set of `projections` each class by all quasi-identifiers lies."""
    return f"class_of_set_{number}"


def relation_names(requirements: Sequence[SqlRequirement], *, whole: bool = False) -> list[dict[str, str]]:
    """For each requirement the relation that stands for each normal relation.

    `class_sensitive_value_0` is that of the first subject, `value_range_2` belongs to
    the third requirement; what all share keeps its name. `equivalence_class_on_0` has the classes of the first set of
    `projections`; if `whole`, it is what that is made of, class_of_set_0 or a relation of the classes by all of them.
    """
    numbers = {subject: number for number, subject in enumerate(subjects(requirements))}
    sets = projections(requirements)
    named = []
    for index, requirement in enumerate(requirements):
        subject = numbers.get(tuple(requirement.attributes))
        names = {
            relation: f"{relation}_{subject}"
            if relation in PER_SUBJECT
            else f"{relation}_{index}"
            if relation in PER_REQUIREMENT
            else relation
            for relation in requirement.reads
        }
        if requirement.on:
            number = sets.index(tuple(requirement.on))
            if not whole:
                names = {kind: f"{name}_on_{number}" if kind in PER_CLASS else name for kind, name in names.items()}
            elif "equivalence_class" in names:
                names["equivalence_class"] = class_of_set(number)
            names[WHOLE] = class_of_set(number)
        named.append(names)
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
