"""Computes statistics of classes, which are figures and attacks, over the normal relations of any rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Release
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.methods.registry import promised_by
from sqlanon.release.existing.classes import ReleaseClasses, classes_of, classes_of_people, no_classes, not_released
from sqlanon.sources.requirement_columns import guards_of
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, identical, window
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import reading
from sqlanon.sql.classes.buckets import BucketValues
from sqlanon.sql.classes.guard import frozen_background
from sqlanon.sql.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sql.classes.rows import Rows, RowsOfRequirements, relation_names
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.statistics import BoundStatistic


def statistics_of(
    engine: Engine,
    statistics: Sequence[BoundStatistic],
    rows: Rows,
    background: Background | None,
    temp: TempTables,
    *,
    labelled: bool = True,
) -> list[list[Mapping[str, Any]]]:
    """Computes statistics; returns the rows of each statistic by column names, mostly one row.

    Unless `labelled`, class_id is an arbitrary number, because this is faster for large classes or many classes. The
    normal relations are computed once, into temporary tables. Raises InternalError if a statistic reads a relation that
    the background lacks.
    """
    answers: list[list[Mapping[str, Any]]] = []
    if not labelled and len(rows.keys) > 1:
        rows = _numbered(rows, temp)
    for query in statistic_queries(engine, statistics, rows, background, temp):
        columns = query.named_selects
        answers.append([dict(zip(columns, row, strict=True)) for row in engine.rows(query)])
    return answers


def statistic_queries(
    engine: Engine,
    statistics: Sequence[BoundStatistic],
    rows: Rows,
    background: Background | None,
    temp: TempTables,
    made: Sequence[Mapping[str, str]] | None = None,
) -> list[exp.Select]:
    """Returns the query of each statistic, over normal relations that are computed once. Raises the errors of
    `statistics_of`.

    `made` has further tables that each statistic reads.
    """
    steps = [*relations_of(rows, statistics, background), *sensitive_values(statistics)]
    tables: dict[str, str] = {}
    for name, query in steps:
        tables[name] = temp.table(name, reading(query, tables))
    others = made or [{} for _ in statistics]
    return [
        statistic.statement(
            "figures", {name: table for name, step in names.items() if (table := {**tables, **beside}.get(step))}
        )
        for statistic, names, beside in zip(statistics, relation_names(statistics), others, strict=True)
    ]


def _numbered(rows: Rows, temp: TempTables) -> Rows:
    """Numbers the classes of the rows, because joining and grouping by structs is slow."""
    keys = [alias(key, f"key_{index}") for index, key in enumerate(rows.keys)]
    values = {name: f"value_{index}" for index, name in enumerate(rows.columns)}
    outputs = [*keys, *(alias(rows.value(name), named) for name, named in values.items())]
    if rows.entity is not None:
        outputs.append(alias(rows.entity, "entity"))
    if rows.weight is not None:
        outputs.append(alias(rows.weight, "weight"))
    named_rows = select(*outputs, of=rows.relation)
    names = [key.alias for key in keys]
    numbers = select(*map(column, names), alias(window(f.row_number()), "class_id"))
    numbers = extend(numbers, of=subquery(named_rows, "released"), group_by=map(column, names))
    table = temp.table("class_number", numbers)
    same = and_(*(identical(column(name, "released"), column(name, "class_number")) for name in names))
    others = [column(part.alias, "released") for part in outputs[len(keys) :]]
    joined = select(column("class_id", "class_number"), *others, of=subquery(named_rows, "released"))
    joined = extend(joined, joins=[inner_join(relation(table, as_="class_number"), same)])
    class_id = column("class_id")
    return Rows(
        subquery(joined, "numbered"),
        (class_id,),
        class_id.copy(),
        {name: column(named) for name, named in values.items()},
        None if rows.entity is None else column("entity"),
        None if rows.weight is None else column("weight"),
        rows.counted,
    )


# The requirements that a release's published rows can answer, and the further inputs of the others.


# Inputs of requirements that no released row shows.
_RESPONDENTS = "respondents"
_GUARDS = "guarding nodes"
_PUBLIC = "public table"


def hidden_parts(
    requirements: Sequence[BoundRequirement], guards: Mapping[int, str], entity: bool, visible: Collection[str]
) -> dict[int, str]:
    """Returns the reasons, by index, why requirements cannot be recomputed from the released rows alone.

    `guards` has the columns of guarding nodes by index, `visible` the unchanged published columns; `entity` is true if
    respondents are counted.
    """
    hidden: dict[int, str] = {}
    for index, requirement in enumerate(requirements):
        if entity and requirement.counts_respondents:
            hidden[index] = _RESPONDENTS
        elif index in guards and guards[index] not in visible:
            hidden[index] = _GUARDS
        elif "public_class" in requirement.reads:
            hidden[index] = _PUBLIC
    return hidden


@dataclass(frozen=True)
class AnswerableRequirements:
    """The requirements of a release, and the reasons why its rows cannot answer some of them.

    `hidden` maps the index of a requirement to the name of the input that no released row shows; `guards` are the
    published columns of guarding nodes.
    """

    classes: ReleaseClasses
    requirements: tuple[BoundRequirement, ...]
    hidden: Mapping[int, str]
    guards: Mapping[int, str]
    release_id: str

    @property
    def bound(self) -> BoundPolicy:
        """The release's own columns: the columns that determine its classes, and the sensitive attributes."""
        return self.classes.bound

    @property
    def values(self) -> Mapping[str, BucketValues]:
        """Returns the table of values of each sensitive attribute, for a release of several tables."""
        return self.classes.values

    @property
    def indexes(self) -> tuple[int, ...]:
        """The indexes of the requirements that the released rows answer."""
        return tuple(index for index in range(len(self.requirements)) if index not in self.hidden)

    def rows_of_requirements(self, sources: Mapping[str | None, exp.Table | exp.Subquery]) -> list[RowsOfRequirements]:
        """Returns the released rows in the tables `sources` (by fragment) as `RowsOfRequirements`, with the
        requirements that they answer.
        """
        guards = {name: name for name in self.guards.values()}
        return self.classes.rows(sources, self.requirements, self.indexes, guards)

    def requirements_at(self, indexes: Sequence[int]) -> list[BoundRequirement]:
        return [self.requirements[index] for index in indexes]

    def background(self, indexes: Sequence[int]) -> Background:
        """Returns the inputs of the requirements at these indexes besides the rows."""
        return frozen_background(self.bound, self.requirements_at(indexes), self.release_id, indexes, self.guards)


def answerable_by(engine: Engine, release: Release) -> AnswerableRequirements:
    """Returns the requirements of a release that its rows can answer, by the policy stored with it.

    Raises PrivacyViolation if the release lacks columns that its policy publishes, and EngineError if it cannot be
    read.
    """
    policy = policy_of(release)
    promised = promised_by(release.method, release.method_arguments)
    if not (policy.requirements or promised):
        # Without a requirement of classes, the rows may be in no classes.
        return AnswerableRequirements(no_classes(engine, release), (), {}, {}, release.release_id)
    classes = classes_of_people(engine, release) if policy.related else classes_of(engine, release)
    try:
        weights = [b.column for b in classes.bound.attributes if b.attribute.sampling_weight]
        sensitive = tuple(b.column for b in classes.bound.sensitive)
        requirements = resolve_requirements(policy, sensitive, promised, weights or None)
    except PolicyError as error:
        raise not_released(release, error) from None
    guards = guards_of(requirements)
    visible = _published_as_it_is(policy, classes.columns)
    folded_guards = {index: fold(guard) for index, guard in guards.items()}
    hidden = hidden_parts(requirements, folded_guards, policy.hides_respondents, visible)
    published_guards = {index: visible[fold(guard)] for index, guard in guards.items() if index not in hidden}
    return AnswerableRequirements(classes, requirements, hidden, published_guards, release.release_id)


def _published_as_it_is(policy: Policy, columns: Sequence[Column]) -> dict[str, str]:
    """Returns the columns of a release that are neither recoded nor tokens, by their folded names."""
    roles = {fold(attribute.name): attribute.role for attribute in policy.attributes}
    as_is = (Role.SENSITIVE, Role.INSENSITIVE)
    return {fold(name): name for name, _ in columns if roles.get(fold(name)) in as_is}
