"""What a published column is by the policy, and how its values are shown, in words."""

from __future__ import annotations

from collections.abc import Mapping

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.release import ReleaseAttribute
from sqlanon.report.facts import Facts

_READINGS: Mapping[Reading, str] = {
    Reading.EXACT: "as it is",
    Reading.LABEL: "as the label of a level",
    Reading.ITEM_LABELS: "as labels of the items in a list",
    Reading.RANGE: "as the range of a region",
    Reading.CENTROID: "as the centre of a region",
    Reading.LOWER_BOUND: "the least value of a region",
    Reading.UPPER_BOUND: "the greatest value of a region",
    Reading.TOKEN: "as a token",
    Reading.BUCKET: "number of the bucket",
    Reading.BUCKET_VALUE: "as a value of some row of a bucket",
    Reading.BUCKET_RANGE: "as a range that has a value of some row of a bucket",
    Reading.COUNT: "how many rows of a bucket have the value",
    Reading.COUNTERFEITS: "how many values of a bucket no row has",
    Reading.GROUP: "number of the group",
    Reading.LINK: "the group that a row has in another table",
    Reading.RESPONDENT: "number of the person, the same in all tables",
}
# Of a release that has counterfeits, or could have.
_WITH_COUNTERFEITS: Mapping[Reading, str] = {
    Reading.BUCKET_VALUE: "as a value of some row of a bucket, or a counterfeit",
    Reading.RANGE: "as the range of a bucket",
    Reading.COUNT: "how many rows and counterfeits of a bucket have the value",
}
# What a method adds to the columns of the policy.
_ADDED = (Reading.BUCKET, Reading.COUNT, Reading.COUNTERFEITS, Reading.GROUP, Reading.LINK)
# A value of the source, beside those that stand in the same row of the table.
_VALUES = (Reading.EXACT, Reading.BUCKET_VALUE)


def role_of(facts: Facts, attribute: ReleaseAttribute) -> str:
    """The role of the policy, whichever one the tables of the method have for the column."""
    if attribute.reading in _ADDED:
        return "added by the method"
    return _policy_role(facts, attribute).value.replace("_", "-")


def _policy_role(facts: Facts, attribute: ReleaseAttribute) -> Role:
    """That of the column of the source; of a column that has another name, such as the end of a range, its own."""
    source = fold(attribute.source or attribute.name)
    return next((known.role for known in facts.policy.all_attributes if fold(known.name) == source), attribute.role)


def reading_of(facts: Facts, attribute: ReleaseAttribute) -> str:
    """How the values of the column are shown."""
    has_counterfeits = any(column.reading is Reading.COUNTERFEITS for column in facts.release.attributes)
    words = {**_READINGS, **_WITH_COUNTERFEITS} if has_counterfeits else _READINGS
    return _apart(facts, attribute) or _label(facts, attribute) or words[attribute.reading]


def levels_of(facts: Facts, attribute: ReleaseAttribute) -> tuple[int, ...]:
    """The levels at which a column is published, several where rows differ in it; empty for a column without any."""
    return attribute.levels


def _label(facts: Facts, attribute: ReleaseAttribute) -> str | None:
    """Which level of its hierarchy a column shows, with one of its labels; None for a column that is not of a level."""
    levels = levels_of(facts, attribute)
    if attribute.reading is not Reading.LABEL or not levels or attribute.height is None:
        return None
    if levels == (attribute.height,):
        return "not shown: * for everybody"
    word = "level" if len(levels) == 1 else "levels"
    numbers = " or ".join(map(str, levels))
    example = facts.examples.get(fold(attribute.name))
    return f"as the label of {word} {numbers} of {attribute.height}{f', such as {example}' if example else ''}"


def _apart(facts: Facts, attribute: ReleaseAttribute) -> str | None:
    """How a column is shown that has values of the source apart from those of other columns; None for any other."""
    columns = facts.release.attributes
    readings = {column.reading for column in columns}
    has_buckets = Reading.BUCKET in readings
    if attribute.reading not in _VALUES or not (has_buckets or attribute.fragment) or Reading.RESPONDENT in readings:
        return None
    is_sensitive = _policy_role(facts, attribute) is Role.SENSITIVE
    if is_sensitive and has_buckets and attribute.reading is Reading.BUCKET_VALUE:
        return None
    where = ", in buckets" if has_buckets else ", in groups" if Reading.GROUP in readings else ""
    if _is_apart_from_sensitive(facts, attribute):
        return f"as it is, apart from the sensitive values{where}"
    return f"as it is, apart from the columns of other tables{where}"


def _is_apart_from_sensitive(facts: Facts, attribute: ReleaseAttribute) -> bool:
    """Whether sensitive values are published, and none of them for the row that has this column's value.

    A sensitive value in the table of the column is one of some row of the bucket alone where its reading says so.
    """
    sensitive = [
        column
        for column in facts.release.attributes
        if column.reading not in _ADDED and _policy_role(facts, column) is Role.SENSITIVE
    ]
    beside = [column for column in sensitive if column.fragment == attribute.fragment]
    is_exact = attribute.reading is Reading.EXACT
    return bool(sensitive) and all(is_exact and column.reading is not Reading.EXACT for column in beside)
