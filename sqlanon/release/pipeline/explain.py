"""EXPLAIN VERBOSE: the plan of a release in words, its reasons, and the SQL that it would run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sqlanon.domain.bound import BoundAttribute, BoundRelatedTable
from sqlanon.domain.explanation import Choice, WithNoise
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Attribute, InPlace, Mask, Role, Shift
from sqlanon.domain.release import Reading
from sqlanon.domain.series import Series
from sqlanon.methods.registry import assumed_by
from sqlanon.methods.shared.arguments import called, given_or_default
from sqlanon.release.existing.composition import others_than, warning
from sqlanon.release.pipeline.kept_method import compared_rows
from sqlanon.release.pipeline.stages import Bound, Chosen, Compiled, Explained, Plan
from sqlanon.sources.target_names import fragment_name
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery
from sqlanon.sql.release.release_query import ReleaseQuery
from sqlanon.syntax.definitions import mask_text
from sqlanon.syntax.texts import call_text, sample_text


def explain_stage(chosen: Chosen) -> Explained:
    """Asks the method for the reasons for its choice."""
    return Explained(chosen, chosen.bound.method.why(chosen.encoded.task, chosen.choice))


def explanation(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Yields rows of (stage, item, detail): the columns to publish with their loss and reasons, then the inputs and the
    SQL.

    The last row has the policy's fingerprint, which only machines compare.
    """
    compiled, advised = plan.planned.compiled, plan.planned.advised
    bound, choice = compiled.bound, compiled.choice
    policy, call = bound.resolved.policy, bound.create.method
    why = advised.explained.explanation
    for stage, item, detail in bound.method.reasons(compiled.chosen.encoded.task, choice, why):
        yield stage, item, printable(detail)
    yield from compared(bound)
    for advice in advised.advice:
        yield "advise", "advice", printable(advice)
    yield from remarked(plan)
    yield "bind", "source", source_in_words(bound, choice)
    if policy.sample is not None:
        yield "bind", "sample", sample_text(policy.sample)
    yield from _columns(compiled)
    yield "resolve", "method", printable(called(call.name.lower(), given_or_default(bound.resolved.options)))
    yield from required(bound)
    yield from assumed(bound)
    yield from _sql(compiled)
    yield "resolve", "policy", f"{policy.name}, fingerprint {bound.policy.fingerprint}"


def source_in_words(bound: Bound, choice: Choice) -> str:
    """Describes the source with its number of rows, which is left out if noise protects the number."""
    source = str(bound.resolved.policy.source)
    return source if isinstance(choice, WithNoise) else f"{source}, {counted(choice.rows, 'row')}"


def compared(bound: Bound) -> Iterator[tuple[str, str, str]]:
    """Yields rows of the compared methods, the chosen method first; no row if the statement names its method."""
    for method, figures in compared_rows(bound):
        yield "compare", printable(method), printable(figures)


def assumed(bound: Bound) -> Iterator[tuple[str, str, str]]:
    """Yields rows of the assumptions behind figures about buckets and groups."""
    call = bound.create.method
    sensitive = [attribute.column for attribute in bound.policy.sensitive]
    for assumption in assumed_by(call.name, call.arguments, sensitive):
        about = f"of {', '.join(assumption.attributes)}: " if assumption.attributes else ""
        yield "resolve", "assumption", printable(f"{about}{assumption.meaning} {assumption.leaves}")


def remarked(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Yields rows of the remarks on the policy, and of the warning about other releases of the same people."""
    bound = plan.planned.compiled.bound
    for remark in plan.remarks:
        yield "remark", "remark", printable(remark)
    if text := warning(others_than(bound.engine, bound.create.name, bound.sources, bound.resolved.series)):
        yield "bind", "warning", printable(text)


def required(bound: Bound) -> Iterator[tuple[str, str, str]]:
    """Yields rows of the requirements of classes, of the join with another release, and of the series."""
    for requirement in bound.requirements:
        yield "resolve", "requirement", printable(str(requirement))
    for attribute in bound.resolved.policy.all_having(Role.SENSITIVE):
        if attribute.is_coarse:
            yield "resolve", "labels", printable(_asked_of_labels(bound, attribute))
    joined, series = bound.resolved.policy.joined, bound.resolved.series
    if bound.join is not None:
        for of_join in bound.join.requirements:
            yield "resolve", "requirement", printable(f"{of_join} of the join with {joined}")
    if series is not None:
        yield "resolve", "series", printable(_series(series))


def _asked_of_labels(bound: Bound, attribute: Attribute) -> str:
    """Describes the labels that are published in place of a column's values, and the requirements on these labels."""
    by_model = [r.question.model for r in bound.requirements if fold(attribute.name) in map(fold, r.attributes)]
    models = dict.fromkeys(by_model)
    models_text = f"; {', '.join(models)} {'is' if len(models) == 1 else 'are'} asked of labels" if models else ""
    return f"{attribute.name}: {labels_in_words(attribute)}{models_text}"


def labels_in_words(attribute: Attribute) -> str:
    """Describes the labels of a coarse column, such as `labels of level 1 of diseases`."""
    if attribute.hide:
        nodes = ", ".join(map(repr, attribute.hide))
        return f"values, and labels of {attribute.hierarchy} for all values below the parent of {nodes}"
    return f"labels of level {attribute.min_level} of {attribute.hierarchy}"


def _series(series: Series) -> str:
    """Describes the requirements of a series, which are measured when a release is made, not when it is planned."""
    releases = f"{series.name}, {counted(len(series.releases), 'release')} so far"
    required = ", ".join(map(call_text, series.requirements))
    return f"{releases}; {required} is measured when the release is made" if required else releases


@dataclass(frozen=True)
class Place:
    """The table in which a column of the source is published, and the column of that table."""

    table: PublishedTable
    part: PublishedColumn

    @property
    def is_range(self) -> bool:
        return self.part.reading in (Reading.BUCKET_RANGE, Reading.RANGE)

    @property
    def is_value(self) -> bool:
        """Whether the column shows the values of its bucket, or their range."""
        return self.is_range or self.part.reading is Reading.BUCKET_VALUE


def _columns(compiled: Compiled) -> Iterator[tuple[str, str, str]]:
    """Yields a row for each column that is not generalized, with its treatment."""
    policy, column_places = compiled.bound.policy, places_of(compiled.query)
    published = published_columns(compiled, column_places)
    for attribute in published:
        column_place = column_places.get(attribute.column)
        if attribute.role is not Role.QUASI_IDENTIFIER or (column_place and column_place.is_value):
            form = (
                pseudonym_in_words(attribute.attribute.pseudonym)
                if attribute.attribute.pseudonym
                else _place_in_words(compiled, attribute, column_place)
            )
            weight = ", the sampling weight" if attribute.attribute.sampling_weight else ""
            yield "bind", attribute.column, f"{attribute.role.value}, published {form}{weight}"
    for attribute in policy.attributes:
        if policy.related and attribute is policy.entity:
            yield "bind", attribute.column, "entity, published as a number that is drawn for the release, in all tables"
        elif attribute not in published:
            why_not = "the policy hides it" if attribute not in policy.published else "no fragment has it"
            yield "bind", attribute.column, f"not published: {why_not}"
    for table in policy.related:
        yield from _not_shown(table, published)
    for name in policy.unpublished:
        yield "bind", name, "not published: the policy does not name it"


def _not_shown(table: BoundRelatedTable, published: Collection[BoundAttribute]) -> Iterator[tuple[str, str, str]]:
    """Yields a row for each column of a related table that is not published."""
    for attribute in table.attributes:
        if attribute not in published:
            yield "bind", attribute.column, "not published: the policy hides it"
    for name in table.unpublished:
        if name != table.key:
            yield "bind", name, "not published: the policy does not name it"


def pseudonym_in_words(pseudonym: InPlace) -> str:
    """Describes how the values of a pseudonym, or of a shifted column, are published."""
    if isinstance(pseudonym, Shift):
        unit = "days" if pseudonym.unit == 1 else "weeks"
        key = f", keyed by {pseudonym.key_variable}" if pseudonym.key_variable else ""
        return f"shifted by one number of {unit} a respondent, -{pseudonym.width} to {pseudonym.width}{key}"
    if not isinstance(pseudonym, Mask):
        return "as a token"
    if pseudonym.is_keyless:
        return f"as mask {mask_text(pseudonym)}, which has no key"
    key = (
        f"keyed by {pseudonym.key_variable}"
        if pseudonym.key_variable
        else "under a key that is generated and forgotten"
    )
    return f"as mask {mask_text(pseudonym)}, {key}"


def places_of(query: ReleaseQuery | TablesQuery) -> dict[str, Place]:
    """Returns the table and column in which each column of the source is published; empty for a release of one table or
    view.
    """
    tables = query.tables if isinstance(query, TablesQuery) else ()
    return {part.bound.column: Place(table, part) for table in tables for part in table.columns if part.bound}


def published_columns(compiled: Compiled, column_places: Mapping[str, Place]) -> tuple[BoundAttribute, ...]:
    """Returns the published attributes; the tables of a release may leave some out."""
    policy = compiled.bound.policy
    if not isinstance(compiled.query, TablesQuery):
        return policy.published
    others = (attribute for table in policy.related for attribute in table.attributes)
    return tuple(attribute for attribute in (*policy.published, *others) if attribute.column in column_places)


def _place_in_words(compiled: Compiled, attribute: BoundAttribute, column_place: Place | None) -> str:
    """Describes how a column is published: its table, and whether as a value of a bucket."""
    unchanged = "as labels" if attribute.attribute.is_coarse else "unchanged"
    if column_place is not None and column_place.part.reading is Reading.DOMAIN_VALUE:
        return "by counts with noise"
    if column_place is None or not column_place.is_value:
        return unchanged
    table, query = fragment_name(compiled.bound.create.name, column_place.table.name).name, compiled.query
    if column_place.is_range:
        return f"as ranges in {table}"
    has_counterfeits = isinstance(query, TablesQuery) and query.bucket_rows is not None
    by_bucket = has_counterfeits or any(other.reading is Reading.COUNT for other in column_place.table.columns)
    return f"{'by bucket' if by_bucket else unchanged} in {table}"


def _sql(compiled: Compiled) -> Iterator[tuple[str, str, str]]:
    query = compiled.query
    if isinstance(query, ReleaseQuery):
        yield "compile", "sql", to_sql(query.select(), pretty=True)
        return
    for table in query.tables:
        name = fragment_name(compiled.bound.create.name, table.name).name
        yield "compile", f"sql of {printable(name)}", to_sql(table.query, pretty=True)


def printable(text: str) -> str:
    """Escapes a text to one line, because details with several lines are displayed as SQL."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
