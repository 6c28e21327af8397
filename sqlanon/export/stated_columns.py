"""Whether what a certificate states of columns and requirements follows from its policy and its method.

Readings and sources decide which columns tell classes apart. A certificate that calls a quasi-identifier a bucket, or a
sensitive column, would make larger classes than the files have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Policy, Role
from sqlanon.domain.reading import Reading
from sqlanon.export.access import Export
from sqlanon.methods.base import Figure
from sqlanon.releases.estimable import Recorded, RecordedColumn, RecordedTable
from sqlanon.sqlgen.classes.buckets import VALUE
from sqlanon.sqlgen.release.region_rows import ENDS

__all__ = ["unlike_attributes", "unlike_release", "unlike_requirements", "unpublished"]

# Columns that a method adds: no column of the source is behind them.
_ADDED = (Reading.BUCKET, Reading.COUNT, Reading.COUNTERFEITS, Reading.GROUP, Reading.LINK)
# Columns that show the values of a quasi-identifier less precisely.
_RECODED = (Reading.LABEL, Reading.ITEM_LABELS, Reading.RANGE, Reading.CENTROID, Reading.BUCKET_RANGE)
_ENDS = dict(zip((Reading.LOWER_BOUND, Reading.UPPER_BOUND), ENDS, strict=True))
# What both the statement of a policy and its list of attributes say of one.
_OF_ATTRIBUTE = ("role", "hierarchy", "min_level", "max_level", "weight")


def unlike_release(recorded: Recorded, tables: Sequence[Collection[Reading]]) -> str | None:
    """Returns what speaks against these columns' being those of the policy and the method; None if nothing.

    `tables` are the readings that the columns of one table of the method's releases have together.
    """
    policy = recorded.policy
    attributes = {fold(attribute.name): attribute for attribute in policy.all_attributes}
    shown_columns = [
        fold(part.source) for table in recorded.tables for part in table.columns if part.reading not in _NOT_VALUES
    ]
    for table in recorded.tables:
        names = [fold(part.name) for part in table.columns]
        readings = {part.reading for part in table.columns} - {Reading.TOKEN}
        if len(set(names)) < len(names):
            return "a table has two columns of one name"
        if not any(readings.issubset(together) for together in tables):
            return f"its method publishes no table whose columns are read as {', '.join(sorted(readings))}"
        for part in table.columns:
            if why := _why_not(part, table, attributes, policy, shown_columns):
                return f"the column {part.name} {why}"
        if why := _shown_beside(table, policy):
            return why
    if not policy.related and len(set(shown_columns)) < len(shown_columns):
        return "two columns show the same column of the source"
    return None


_NOT_VALUES = (*_ADDED, *_ENDS, Reading.RESPONDENT)


def _why_not(
    part: RecordedColumn,
    table: RecordedTable,
    attributes: dict[str, Attribute],
    policy: Policy,
    shown_columns: Collection[str],
) -> str | None:
    """What speaks against the source and the reading of a column; None if nothing."""
    name, attribute = fold(part.name), attributes.get(fold(part.source))
    if part.reading is Reading.RESPONDENT:
        is_number = bool(policy.related) and attribute is not None and attribute.role is Role.ENTITY
        return None if is_number and fold(part.source) == name else "is no number of a person"
    if part.reading in _ADDED:
        is_own = fold(part.source) == name and (name not in attributes or name in shown_columns)
        return None if is_own else f"is one of the policy's, and no {part.reading}"
    if end := _ENDS.get(part.reading):
        of = name.removesuffix(f"_{end}")
        ranged = [fold(other.name) for other in table.having(*_RECODED)]
        is_own = fold(part.source) == name and of != name and of in ranged and name not in attributes
        return None if is_own else f"is no {part.reading} of a column beside it"
    if attribute is None:
        return "is none of the policy's"
    if name != fold(part.source) and not (
        attribute.role is Role.SENSITIVE and name == VALUE and table.having(Reading.COUNT)
    ):
        return f"has another name than {part.source}, which is said to be its source"
    if (part.reading is Reading.TOKEN) != (attribute.pseudonym is not None):
        return "is a token, and no pseudonym of the policy's, or the other way round"
    if part.reading in _RECODED and attribute.role is not Role.QUASI_IDENTIFIER:
        return f"is no quasi-identifier, and read as {part.reading}"
    return None


def _shown_beside(table: RecordedTable, policy: Policy) -> str | None:
    """What speaks against a table with buckets: a row of its own shows both who it is about and a sensitive value."""
    if not table.having(Reading.BUCKET):
        return None
    sensitive = {fold(a.name) for a in policy.all_having(Role.SENSITIVE)}
    quasi = {fold(a.name) for a in policy.all_having(Role.QUASI_IDENTIFIER)}
    exact = [part.name for part in table.having(Reading.EXACT) if fold(part.source) in sensitive]
    if exact and any(fold(part.source) in quasi for part in table.columns):
        return f"the column {exact[0]} is shown row by row beside quasi-identifiers, and is in no bucket"
    return None


def unpublished(recorded: Recorded) -> Iterator[str]:
    """The quasi-identifiers and sensitive columns of the policy that no column of the files shows."""
    shown_columns = {
        fold(part.source) for table in recorded.tables for part in table.columns if part.reading not in _ADDED
    }
    for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        yield from (a.name for a in recorded.policy.all_having(role) if fold(a.name) not in shown_columns)


def unlike_attributes(stated: Sequence[dict[str, Any]], policy: Policy) -> str | None:
    """Returns what the list of a certificate's attributes says otherwise than the policy's statement; None if nothing.

    The list is what a program reads, the statement what classes are counted by.
    """
    attributes = policy.all_attributes
    if [fold(str(entry["name"])) for entry in stated] != [fold(attribute.name) for attribute in attributes]:
        return "it lists other attributes than the statement of its policy"
    for entry, attribute in zip(stated, attributes, strict=True):
        said = {
            "role": attribute.role.value,
            "hierarchy": attribute.hierarchy,
            "min_level": attribute.min_level,
            "max_level": attribute.max_level,
            "weight": float(attribute.weight),
        }
        if other := next((word for word in _OF_ATTRIBUTE if entry[word] != said[word]), None):
            return f"it states another {other} of {attribute.name} than the statement of its policy"
        if bool(entry["pseudonym"]) != (attribute.pseudonym is not None):
            return f"it states otherwise than its policy whether {attribute.name} is a pseudonym"
    return None


def unlike_requirements(
    export: Export,
    asked_requirements: Sequence[Mapping[str, Any]],
    figures: Mapping[str, Figure],
    arguments: Mapping[str, Any],
) -> str | None:
    """Returns what a certificate says otherwise of its requirements than its policy and its method; None if nothing.

    `asked` are the members of each entry that follow from the policy. `figures` are those of the method, whose entries
    have its `arguments`.
    """
    expected = {
        entry["requirement"]: {**entry, "attribute": ", ".join(entry["attributes"]) or None}
        for entry in asked_requirements
    }
    entries = export.stated["requirements"]
    names = [str(entry["requirement"]) for entry in entries]
    if len(set(names)) < len(names):
        return "it lists a requirement twice"
    for name, entry in zip(names, entries, strict=True):
        if name in expected:
            # An entry without the member says what one with an empty one says.
            other = next((m for m, said in {"on": [], **expected[name]}.items() if entry.get(m, []) != said), None)
        elif entry["question"] in figures:
            other = None if entry.get("arguments") == arguments else "arguments"
        else:
            return f"its policy does not require {name}"
        if other:
            return f"it states another {other} of {name}"
    return None
