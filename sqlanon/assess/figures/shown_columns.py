"""Describes what each published column became, from the published rows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading, Release, ReleaseAttribute
from sqlanon.domain.summary import ShownColumn
from sqlanon.engines.base import Engine
from sqlanon.sources.source import own_object
from sqlanon.sql.build.expressions import as_text
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.sql_files import query_file, reading

# What is said of a column whose values are not the labels of the source's own.
_WORDS = {
    Reading.ITEM_LABELS: "lists of labels of its items",
    Reading.CENTROID: "a value that stands for those of its group",
    Reading.LOWER_BOUND: "the least value of the group",
    Reading.UPPER_BOUND: "the greatest value of the group",
    Reading.TOKEN: "tokens in place of the values",
    Reading.BUCKET: "the number of the row's group",
    Reading.BUCKET_VALUE: "as it is, within a group of rows and not beside its row",
    Reading.BUCKET_RANGE: "ranges, within a group of rows and not beside their row",
    Reading.COUNT: "how often the value beside it is in the group",
    Reading.COUNTERFEITS: "how many values of the group are made up",
    Reading.GROUP: "the number of the row's group in its table",
    Reading.LINK: "the number of the row's group in another table",
    Reading.RESPONDENT: "a number that was drawn for each person",
    Reading.DOMAIN_VALUE: "a value that anybody may know, by counts with noise",
    Reading.NOISY_COUNT: "how many rows have the values beside it, with noise",
}
_RECODED = (Reading.LABEL, Reading.RANGE)


def shown_columns(engine: Engine, release: Release) -> tuple[ShownColumn, ...]:
    """The columns of a release's tables in their order, each with what its published values look like."""
    return tuple(
        _shown_column(engine, relation(own_object(engine, made.name)), attribute)
        for made in release.published
        for attribute in release.attributes_of(made.fragment)
    )


def _shown_column(engine: Engine, table: exp.Table, attribute: ReleaseAttribute) -> ShownColumn:
    labels = exp.select(alias(as_text(column(attribute.name)), "label")).from_(table)
    [figures] = engine.rows(reading(query_file("statements", "published_labels"), {"shown": labels}))
    count, rows, ranges, prefixes, stars, most, narrowest, widest, median, of_days, example = figures
    total = rows or 1
    result = ShownColumn(
        attribute.source or attribute.name,
        attribute.role,
        _kind(attribute, (rows or 0, ranges, prefixes, stars)),
        count,
        most_frequent=(most or 0) / total,
        example=example if attribute.role is Role.QUASI_IDENTIFIER else None,
        words=_WORDS.get(attribute.reading, ""),
    )
    if result.kind not in ("ranges", "prefixes", "labels"):
        return result
    # Beside ranges and beginnings stand the source's own values; labels of a hierarchy may be anything.
    others = (
        0 if result.kind == "labels" else (rows - stars - (ranges if result.kind == "ranges" else prefixes)) / total
    )
    return ShownColumn(
        result.name,
        result.role,
        result.kind,
        result.labels,
        narrowest,
        widest,
        median,
        "day" if of_days else None,
        others,
        stars / total,
        result.most_frequent,
        result.example,
    )


def _kind(attribute: ReleaseAttribute, counted: Sequence[int]) -> str:
    """The kind of a column by its reading and its (rows, rows with a range, with a beginning, with stars alone)."""
    rows, ranges, prefixes, stars = counted
    if attribute.reading in _WORDS:
        return "other"
    if attribute.reading not in _RECODED or attribute.levels == (0,):
        return "kept"
    if rows and stars == rows:
        return "nothing"
    if ranges:
        return "ranges"
    if attribute.reading is Reading.RANGE and attribute.hierarchy is None:
        return "kept"
    return "prefixes" if prefixes and prefixes + stars == rows else "labels"
