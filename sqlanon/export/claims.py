"""Verifies that a certificate's columns and requirements follow from its policy and its method.

The readings and sources of columns determine the classes. A certificate that called a quasi-identifier a bucket or a
sensitive column would make classes look larger than they are in the files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import isclose

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Mask, Policy, Role
from sqlanon.domain.release import LABELS, Measurement, Reading
from sqlanon.domain.values import QualifiedName, Scalar, Value
from sqlanon.export.certificate_format import (
    Argument,
    Arguments,
    AttributeEntry,
    JoinedWith,
    RequirementEntry,
    figure_of,
)
from sqlanon.methods.base import Figure
from sqlanon.release.existing.estimable import Recorded, RecordedColumn, RecordedTable
from sqlanon.sources.joins import JoinedRequirement
from sqlanon.sql.classes.buckets import VALUE
from sqlanon.sql.questions.ask import WITHIN, BoundRequirement
from sqlanon.sql.questions.load import INFINITE
from sqlanon.sql.release.recode import ENDS

# Requirements and arguments, converted between the forms in the policy and in the certificate.


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
        """The names of the attributes in one text, as in the figures."""
        return ", ".join(self.attributes) or None


def asked_by(requirement: BoundRequirement) -> EntryMembers:
    """Returns the members that a certificate's entry for a requirement of the policy must have."""
    when = requirement.question.when
    chosen: Arguments = {when.argument: when.value} if when else {}
    if requirement.within is not None:
        chosen |= {WITHIN: [f"{name} LEVEL {level}" for name, level in requirement.within]}
    return EntryMembers(
        str(requirement),
        requirement.question.model,
        requirement.question_name,
        stated_arguments(requirement.arguments) | chosen,
        tuple(requirement.attributes),
        tuple(requirement.on),
    )


def asked_of_join(requirement: JoinedRequirement) -> EntryMembers:
    """Returns the members of the entry of a requirement about the join with another release."""
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
    """Builds the entry of a requirement with its figures."""
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
    """Converts arguments to JSON values, by name."""
    return {
        name: [_plain(item) for item in value] if isinstance(value, tuple) else _plain(value)
        for name, value in arguments
    }


def _plain(value: Scalar) -> bool | int | float | str:
    if isinstance(value, Decimal):
        if value.is_infinite():
            return INFINITE
        # Programs that read JSON hold a number as a DOUBLE: a number that does not fit is a text.
        return float(value) if Decimal(repr(float(value))) == value else f"{value:f}"
    return str(value) if isinstance(value, QualifiedName) else value


def arguments_of(stated: Arguments) -> tuple[tuple[str, Value], ...]:
    """Converts JSON arguments of a method to the arguments of its statement."""
    return tuple((name, _value(value)) for name, value in stated.items())


def _value(stated: Argument) -> Value:
    return tuple(map(_scalar, stated)) if isinstance(stated, list) else _scalar(stated)


def _scalar(stated: bool | int | float | str) -> Scalar:
    return Decimal(repr(stated)) if isinstance(stated, float) else stated


def is_alike(first: float | None, second: float | None) -> bool:
    """Whether two figures are equal up to the rounding errors of sums."""
    if first is None or second is None:
        return first is second
    return first == second or isclose(first, second, rel_tol=_SAME, abs_tol=_SAME)


def stated_timestamp(timestamp: datetime) -> str:
    """Writes a timestamp in UTC as ISO 8601, in whole seconds."""
    return timestamp.replace(microsecond=0).isoformat() + "Z"


# Readings of columns that a method adds: they have no column of the source.
_ADDED = (Reading.BUCKET, Reading.COUNT, Reading.COUNTERFEITS, Reading.GROUP, Reading.LINK, Reading.NOISY_COUNT)
# Readings of columns with a row's own value or label, then of columns that generalize a quasi-identifier.
_OF_THE_ROW = (Reading.EXACT, Reading.LABEL)
_RECODED = (*LABELS, Reading.ITEM_LABELS, Reading.RANGE, Reading.CENTROID, Reading.BUCKET_RANGE)
_ENDS = dict(zip((Reading.LOWER_BOUND, Reading.UPPER_BOUND), ENDS, strict=True))
_NOT_VALUES = (*_ADDED, *_ENDS, Reading.RESPONDENT)
# Roles of columns that releases show as tokens only, if at all.
_HIDDEN = (Role.IDENTIFIER, Role.ENTITY)
# The members of a requirement's entry that follow from the policy alone.
_ASKED = ("model", "question", "arguments", "attributes", "on", "attribute")


def hidden_column(recorded: Recorded) -> str | None:
    """Returns the source of a column that the policy hides and the certificate lists as published; None if there is no
    such column.
    """
    hidden = {fold(a.name) for a in recorded.policy.all_attributes if a.role in _HIDDEN and not a.pseudonym}
    for part in (part for table in recorded.tables for part in table.columns):
        if part.reading is Reading.RESPONDENT and recorded.policy.related:
            continue
        if fold(part.source) in hidden or fold(part.name) in hidden:
            return part.source
    return None


def unlike_release(recorded: Recorded, tables: Sequence[Collection[Reading]]) -> str | None:
    """Returns the objection to the published columns, given the policy and the method; None if there is no objection.

    `tables` are the readings that the columns of one table of the method's releases have together.
    """
    sources = [
        fold(part.source) for table in recorded.tables for part in table.columns if part.reading not in _NOT_VALUES
    ]
    claims = _Claims(recorded.policy, {fold(a.name): a for a in recorded.policy.all_attributes}, frozenset(sources))
    for table in recorded.tables:
        why = _unlike_table(table, tables, recorded.policy) or claims.unlike_columns(table)
        if why := why or _shown_beside(table, recorded.policy):
            return why
    if not recorded.policy.related and len(set(sources)) < len(sources):
        return "two columns show the same column of the source"
    return None


def as_of_method(reading: Reading, is_coarse: bool) -> Reading:
    """Returns a column's reading as its method declares it.

    A method reads the labels of a coarse column as values, so their reading is EXACT.
    """
    return Reading.EXACT if is_coarse and reading is Reading.LABEL else reading


def _unlike_table(table: RecordedTable, tables: Sequence[Collection[Reading]], policy: Policy) -> str | None:
    coarse = {fold(attribute.name) for attribute in policy.all_attributes if attribute.is_coarse}
    names = [fold(part.name) for part in table.columns]
    readings = {as_of_method(part.reading, fold(part.source) in coarse) for part in table.columns} - {Reading.TOKEN}
    if len(set(names)) < len(names):
        return "a table has two columns of one name"
    if not any(readings.issubset(together) for together in tables):
        return f"its method publishes no table whose columns are read as {', '.join(sorted(readings))}"
    return None


@dataclass(frozen=True)
class _Claims:
    """A certificate's policy, its attributes by folded name, and the source columns that the files show."""

    policy: Policy
    attributes: Mapping[str, Attribute]
    sources: frozenset[str]

    def unlike_columns(self, table: RecordedTable) -> str | None:
        """Returns the objection to the source or the reading of a column of the table; None if there is no
        objection.
        """
        for part in table.columns:
            if why := self._unlike(part, table):
                return f"the column {part.name} {why}"
        return None

    def _unlike(self, part: RecordedColumn, table: RecordedTable) -> str | None:
        if part.reading is Reading.RESPONDENT:
            return self._unlike_respondent(part)
        if part.reading in _ADDED:
            return self._unlike_added(part)
        if part.reading in _ENDS:
            return self._unlike_end(part, table)
        return self._unlike_value(part, table)

    def _unlike_respondent(self, part: RecordedColumn) -> str | None:
        attribute = self.attributes.get(fold(part.source))
        is_number = bool(self.policy.related) and attribute is not None and attribute.role is Role.ENTITY
        return None if is_number and fold(part.source) == fold(part.name) else "is not the number of a person"

    def _unlike_added(self, part: RecordedColumn) -> str | None:
        name = fold(part.name)
        is_added = fold(part.source) == name and (name not in self.attributes or name in self.sources)
        return None if is_added else f"is one of the policy's, and no {part.reading}"

    def _unlike_end(self, part: RecordedColumn, table: RecordedTable) -> str | None:
        name = fold(part.name)
        of = name.removesuffix(f"_{_ENDS[part.reading]}")
        ranged = [fold(other.name) for other in table.having(*_RECODED)]
        is_end = fold(part.source) == name and of != name and of in ranged and name not in self.attributes
        return None if is_end else f"is not a {part.reading} of a column beside it"

    def _unlike_value(self, part: RecordedColumn, table: RecordedTable) -> str | None:
        name, attribute = fold(part.name), self.attributes.get(fold(part.source))
        if attribute is None:
            return "is none of the policy's"
        is_listed = attribute.role is Role.SENSITIVE and name == VALUE and table.having(Reading.COUNT)
        if name != fold(part.source) and not is_listed:
            return f"has another name than {part.source}, which is said to be its source"
        if (part.reading is Reading.TOKEN) != (attribute.pseudonym is not None):
            return "is a token or shifted, and not so by the policy, or the other way round"
        is_label = attribute.is_coarse and part.reading is Reading.LABEL
        if attribute.is_coarse and part.reading is Reading.EXACT:
            return "has labels by the policy, and is read as exact"
        if part.reading in _RECODED and attribute.role is not Role.QUASI_IDENTIFIER and not is_label:
            return f"is not a quasi-identifier, and read as {part.reading}"
        return None


def _shown_beside(table: RecordedTable, policy: Policy) -> str | None:
    """Returns the objection to a table with buckets whose rows show quasi-identifiers together with a sensitive value;
    else None.
    """
    if not table.having(Reading.BUCKET):
        return None
    sensitive = {fold(a.name) for a in policy.all_having(Role.SENSITIVE)}
    quasi = {fold(a.name) for a in policy.all_having(Role.QUASI_IDENTIFIER)}
    exact = [part.name for part in table.having(*_OF_THE_ROW) if fold(part.source) in sensitive]
    if exact and any(fold(part.source) in quasi for part in table.columns):
        return f"the column {exact[0]} is shown row by row beside quasi-identifiers, and not by bucket"
    return None


def unpublished(recorded: Recorded) -> Iterator[str]:
    """Yields the quasi-identifiers and sensitive columns of the policy that no column of the files shows."""
    shown_columns = {
        fold(part.source) for table in recorded.tables for part in table.columns if part.reading not in _ADDED
    }
    for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        yield from (a.name for a in recorded.policy.all_having(role) if fold(a.name) not in shown_columns)


def unlike_attributes(entries: Sequence[AttributeEntry], policy: Policy) -> str | None:
    """Returns a difference between a certificate's list of attributes and its policy statement; None if there is no
    difference.

    Programs read the list, while classes are counted by the statement.
    """
    attributes = policy.all_attributes
    if [fold(entry.name) for entry in entries] != [fold(attribute.name) for attribute in attributes]:
        return "it lists other attributes than the statement of its policy"
    for entry, attribute in zip(entries, attributes, strict=True):
        in_policy = {
            "role": attribute.role,
            "hierarchy": attribute.hierarchy,
            "min_level": attribute.min_level,
            "max_level": attribute.max_level,
            "weight": float(attribute.weight),
            "hide": attribute.hide,
        }
        if other := next((member for member, value in in_policy.items() if getattr(entry, member) != value), None):
            return f"it states another {other} of {attribute.name} than the statement of its policy"
        if (entry.pseudonym is not None) != (attribute.pseudonym is not None):
            return f"it states otherwise than its policy whether {attribute.name} is a pseudonym"
        if (entry.pseudonym or "").startswith("mask") != isinstance(attribute.pseudonym, Mask):
            return f"it states otherwise than its policy whether {attribute.name} is a mask"
        if (entry.pseudonym or "").startswith("shift") != attribute.is_shifted:
            return f"it states otherwise than its policy whether the dates of {attribute.name} are shifted"
    return None


def unlike_requirements(
    entries: Sequence[RequirementEntry],
    expected_members: Sequence[EntryMembers],
    figures: Mapping[str, Figure],
    arguments: Arguments,
) -> str | None:
    """Returns a difference between a certificate's requirements and its policy and method; None if there is no
    difference.

    `expected_members` belong to the requirements that follow from the policy, and `figures` belong to the promises of
    the method, whose entries have its `arguments`.
    """
    expected = {each.requirement: each for each in expected_members}
    if len({entry.requirement for entry in entries}) < len(entries):
        return "it lists a requirement twice"
    for entry in entries:
        if (required := expected.get(entry.requirement)) is not None:
            other = next((m for m in _ASKED if getattr(entry, m) != getattr(required, m)), None)
        elif entry.question in figures:
            other = None if entry.arguments == arguments else "arguments"
        else:
            return f"its policy does not require {entry.requirement}"
        if other:
            return f"it states another {other} of {entry.requirement}"
    return None
