"""EXPLAIN in brief: the treatment of each column, the rows left out, the error, the binding requirement, and
alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Mask
from sqlanon.domain.release import Reading, level_range
from sqlanon.methods.shared.arguments import called, given_or_default
from sqlanon.methods.shared.wording import loss_text
from sqlanon.release.pipeline.advise import why_untried
from sqlanon.release.pipeline.explain import (
    Place,
    assumed,
    compared,
    labels_in_words,
    places_of,
    printable,
    pseudonym_in_words,
    published_columns,
    remarked,
    required,
    source_in_words,
)
from sqlanon.release.pipeline.stages import Compiled, Plan
from sqlanon.sources.target_names import fragment_name
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.cells.labels import text_of_token
from sqlanon.sql.cells.value_ranks import by_value
from sqlanon.sql.release.multi_table_query import TablesQuery
from sqlanon.sql.release.release_query import ReleaseQuery

# Words that fit one column and several.
_READINGS = {
    Reading.EXACT: "unchanged",
    Reading.LABEL: "labels of its hierarchy",
    Reading.LABEL_OR_NULL: "NULL in some rows",
    Reading.ITEM_LABELS: "labels of its items",
    Reading.RANGE: "ranges",
    Reading.BUCKET_RANGE: "ranges, by bucket",
    Reading.CENTROID: "one value for each class",
    Reading.BUCKET_VALUE: "unchanged, by bucket",
    Reading.RESPONDENT: "a random number for each person",
    Reading.DOMAIN_VALUE: "values that anybody may know, by counts with noise",
    Reading.NOISY_COUNT: "counts with noise",
}
_RANGES = (Reading.RANGE, Reading.BUCKET_RANGE)

_SUPPRESSED = "suppressed "
_LEFT_OUT = "rows left out"
_BINDING = "binding requirement"

# The details of a method's reasons by their items.
Reasons = Mapping[str, Sequence[str]]


def summary(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Yields rows of (stage, item, detail): the task, remarks, and finally the five rows for a decision.

    The five rows are `columns`, `rows left out`, `error`, `binding requirement` and `alternative`, in this order.
    `binding requirement` is missing for a method without levels under several requirements, because it is unknown.
    """
    compiled, advised = plan.planned.compiled, plan.planned.advised
    bound, choice = compiled.bound, compiled.choice
    method = called(bound.create.method.name.lower(), given_or_default(bound.resolved.options))
    yield "bind", "source", source_in_words(bound, choice)
    yield "resolve", "method", printable(method)
    yield from compared(bound)
    yield from required(bound)
    yield from assumed(bound)
    yield from remarked(plan)
    reasons: dict[str, list[str]] = {}
    for _, item, detail in bound.method.reasons(compiled.chosen.encoded.task, choice, advised.explained.explanation):
        reasons.setdefault(item, []).append(detail)
    yield "bind", "columns", printable(_columns(compiled))
    yield "solve", _LEFT_OUT, printable(_left_out(compiled, reasons))
    yield "solve", "error", printable(_error(compiled, reasons))
    if binding := _binding(compiled, reasons):
        yield "explain", _BINDING, printable(binding)
    yield "advise", "alternative", printable(_alternative(compiled, advised.advice))


def _left_out(compiled: Compiled, reasons: Reasons) -> str:
    """Describes the rows, or people, that the release leaves out: their number, its limit, and their common values."""
    choice = compiled.choice
    numbers = [f"{choice.suppressed} of {choice.rows}"]
    for item, details in reasons.items():
        if item.startswith(_SUPPRESSED):
            unit = item.removeprefix(_SUPPRESSED)
            numbers = [detail if unit == "rows" else f"{unit}: {detail}" for detail in details]
    return "; ".join([*numbers, *reasons.get(_LEFT_OUT, ())])


def _error(compiled: Compiled, reasons: Reasons) -> str:
    """Describes the loss by its name and value, and whether it is proven to be the least."""
    choice = compiled.choice
    name = choice.loss_name.replace("_", " ")
    return f"{name} {'; '.join(reasons.get(name, [loss_text(choice.loss)]))}"


def _binding(compiled: Compiled, reasons: Reasons) -> str | None:
    """Names the binding requirement; for a method without levels, it is the only requirement, or None if there are
    several.
    """
    if _BINDING in reasons:
        return "; ".join(reasons[_BINDING])
    requirements = [detail for _, item, detail in required(compiled.bound) if item == "requirement"]
    return f"{requirements[0]}: it is the only one" if len(requirements) == 1 else None


def _alternative(compiled: Compiled, advice: Sequence[str]) -> str:
    """Describes options and methods that would lose less, or the reason why none is named."""
    if advice:
        return "; ".join(advice)
    if compiled.bound.comparison is not None:
        return "none: no method that was compared is better"
    untried = why_untried(compiled.chosen)
    return f"none was tried: {untried}" if untried else "none: no other method or option that was tried loses less"


def _columns(compiled: Compiled) -> str:
    """Describes the treatment of each column of the source; columns with the same treatment share a phrase."""
    policy, column_places = compiled.bound.policy, places_of(compiled.query)
    published = published_columns(compiled, column_places)
    fates: dict[str, list[str]] = {}
    masked = _masked_values(compiled)
    for attribute in published:
        fate = _fate(compiled, attribute, column_places.get(attribute.column)) + masked.get(attribute.column, "")
        fates.setdefault(fate, []).append(attribute.column)
    hidden = [
        attribute.column
        for attribute in (*policy.attributes, *(a for table in policy.related for a in table.attributes))
        if attribute not in published and not (policy.related and attribute is policy.entity)
    ]
    if policy.related and policy.entity is not None:
        fates.setdefault(_READINGS[Reading.RESPONDENT], []).append(policy.entity.column)
    unnamed = [*policy.unpublished, *(n for t in policy.related for n in t.unpublished if n != t.key)]
    texts = [f"{', '.join(names)}: {fate}" for fate, names in fates.items()]
    if hidden or unnamed:
        left = [*hidden, *([f"{counted(len(unnamed), 'column')} that the policy does not name"] if unnamed else [])]
        texts.append(f"{' and '.join([', '.join(left[:-1]), left[-1]] if len(left) > 1 else left)}: not published")
    return "; ".join(texts)


def _masked_values(compiled: Compiled) -> dict[str, str]:
    """Counts the distinct values of each column under a keyed mask, which is the number of masks that have to be
    made.
    """
    policy, engine = compiled.bound.policy, compiled.bound.engine
    keyed = {bound.column for bound in policy.keyed if isinstance(bound.attribute.pseudonym, Mask)}
    words: dict[str, str] = {}
    for table in policy.tables:
        masked = [bound for bound in table.published if bound.column in keyed]
        if not masked:
            continue
        counts = (f.count_distinct(text_of_token(bound)) for bound in masked)
        (numbers,) = engine.rows(select(*counts, of=relation(table.relation)))
        for bound, number in zip(masked, numbers, strict=True):
            words[bound.column] = f", {number:,} distinct value{'' if number == 1 else 's'}"
    return words


def _fate(compiled: Compiled, attribute: BoundAttribute, column_place: Place | None) -> str:
    """Describes the treatment of a published column in a phrase."""
    query = compiled.query
    if attribute.attribute.pseudonym:
        return pseudonym_in_words(attribute.attribute.pseudonym).removeprefix("as ")
    if isinstance(query, ReleaseQuery):
        reading = compiled.readings.get(attribute.column, Reading.EXACT)
        return _in_words(reading, attribute, compiled.levels_of(attribute.column))
    assert column_place is not None
    level = column_place.part.level
    fate = _in_words(column_place.part.reading, attribute, () if level is None else (level,))
    return f"{fate}{_table(compiled, query, column_place)}"


def _table(compiled: Compiled, query: TablesQuery, column_place: Place) -> str:
    """Returns the words that name a column's table; empty if the release has only one table."""
    return (
        "" if query.is_one_table else f" in {fragment_name(compiled.bound.create.name, column_place.table.name).name}"
    )


def _in_words(reading: Reading, attribute: BoundAttribute, levels: Sequence[int]) -> str:
    if attribute.attribute.is_coarse and reading in (Reading.EXACT, Reading.LABEL):
        return labels_in_words(attribute.attribute)
    if reading is Reading.LABEL and levels:
        return _level(attribute, levels)
    if reading is Reading.LABEL_OR_NULL:
        return f"{_level(attribute, levels[:1])}, {_READINGS[reading]}"
    if reading in _RANGES and attribute.published_type == "VARCHAR" and by_value(attribute):
        return f"alphabetical {_READINGS[reading]}"
    if reading is Reading.LABEL and attribute.hierarchy:
        return f"labels of {attribute.hierarchy.name}"
    return _READINGS.get(reading, "unchanged")


def _level(attribute: BoundAttribute, levels: Sequence[int]) -> str:
    """Describes the level of a column, with the part of its hierarchy's definition that makes the level."""
    if set(levels) == {0}:
        return "unchanged"
    if set(levels) == {attribute.height}:
        return "'*' in each row"
    definition = attribute.hierarchy
    named = f"level{'s' if len(set(levels)) > 1 else ''} {level_range(levels)} of {attribute.height}"
    if definition is None:
        return named
    named += f" of {definition.name}"
    if len(set(levels)) > 1 or len(definition.arguments) != attribute.height - 1:
        return named
    return f"{definition.kind.upper()} ({definition.arguments[levels[0] - 1]}), {named}"
