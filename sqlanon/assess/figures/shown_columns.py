"""Describes the form of each published column, from the published rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.release import LABELS, Reading, Release, ReleaseAttribute
from sqlanon.domain.summary import ShownColumn
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.sources.bind_policy import policy_source
from sqlanon.sources.related_tables import require_one_table
from sqlanon.sources.source import BoundSource, own_object
from sqlanon.sql.build.expressions import as_text
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled_query, query_file, reading

# The words for a column whose values are not labels of the source's values.
_WORDS = {
    Reading.ITEM_LABELS: "lists of labels of its items",
    Reading.CENTROID: "a value that represents its group",
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
_RECODED = (*LABELS, Reading.RANGE)


def shown_columns(engine: Engine, release: Release) -> tuple[ShownColumn, ...]:
    """Returns the columns of a release's tables in their order, each with the form of its published values."""
    with TempTables(engine) as temp:
        source = _source(engine, release, temp)
        return tuple(
            _shown_column(engine, relation(own_object(engine, made.name)), source, attribute)
            for made in release.published
            for attribute in release.attributes_of(made.fragment)
        )


def _source(engine: Engine, release: Release, temp: TempTables) -> BoundSource | None:
    """Returns the current source of a release; None if the source is gone, or if the policy has several tables."""
    policy = policy_of(release)
    try:
        require_one_table(policy, "a summary", "it compares values with those of the source")
        return policy_source(engine, policy, temp, copy=False)
    except PolicyError:
        return None


def _own_values(source: BoundSource | None, name: str) -> exp.Query:
    """SELECT of the values of a source column as text; if there is no source or no such column, it returns no rows."""
    if source is None or fold(name) not in {fold(each) for each, _ in source.columns}:
        return filled_query("SELECT CAST(NULL AS VARCHAR) AS label WHERE FALSE")
    text = 'SELECT CAST({name} AS VARCHAR) AS label FROM "{source}"'
    return filled_query(text, names={"name": name, "source": source.relation})


def _shown_column(
    engine: Engine, table: exp.Table, source: BoundSource | None, attribute: ReleaseAttribute
) -> ShownColumn:
    name = attribute.source or attribute.name
    recoded = attribute.reading in _RECODED
    queries = {
        "shown": select(alias(as_text(column(attribute.name)), "label"), of=table),
        "own": _own_values(source if recoded else None, name),
    }
    [figures] = engine.rows(reading(query_file("statements", "published_labels"), queries))
    count, rows, ranges, prefixes, stars, most, narrowest, widest, median, of_days, example, *others = figures
    range_labels, unchanged, own_rows, or_null, nulls, own_labels = others
    total = rows or 1
    kind = _kind(attribute, (rows or 0, ranges, prefixes, stars, nulls))
    if recoded and rows and unchanged == rows:
        kind = "kept"
    result = ShownColumn(
        name,
        attribute.role,
        kind,
        count,
        most_frequent=(most or 0) / total,
        example=example if attribute.role is Role.QUASI_IDENTIFIER else None,
        words=_WORDS.get(attribute.reading, ""),
    )
    if result.kind not in ("ranges", "prefixes", "labels"):
        return result
    return replace(
        result,
        labels=range_labels if kind == "ranges" else count,
        narrowest=narrowest,
        widest=widest,
        median=median,
        unit="day" if of_days else None,
        as_they_are=own_rows / total,
        own_labels=tuple(own_labels or ()),
        or_null=or_null / total,
        missing=nulls / total,
        starred=stars / total,
    )


def _kind(attribute: ReleaseAttribute, counted: Sequence[int]) -> str:
    """Returns the kind of a column by its reading and the numbers of its rows: all rows, and those with a range, a
    prefix, only stars, and NULL.
    """
    rows, ranges, prefixes, stars, nulls = counted
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
    return "prefixes" if prefixes and prefixes + stars + nulls == rows else "labels"
