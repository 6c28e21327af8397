"""Checks a release against the requirements for which it was made."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.assess.attacks.attacked import unbounded
from sqlanon.catalog import releases
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Measurement, PrivacyReport, Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import CatalogError, EngineError, PrivacyViolation, UserError
from sqlanon.methods.base import PublishedTables
from sqlanon.methods.registry import promised_by, verified
from sqlanon.release.existing.joined import joined_measurements
from sqlanon.release.existing.loaded import load_release, unreadable
from sqlanon.release.existing.objects import (
    content_view,
    has_checked_rows,
    has_fingerprint,
    report_view,
    require_own_columns,
)
from sqlanon.release.existing.statistics import AnswerableRequirements, answerable_by
from sqlanon.release.pipeline.check import measured, reported
from sqlanon.republication.streams.columns import find_stream
from sqlanon.sources.catalog_entries import find_relation, require_unhidden
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sources.source import own_object
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.syntax.texts import typed_qualified


def check_release(engine: Engine, release: Release) -> PrivacyReport:
    """Measures every requirement on the current release.

    Some requirements are about data that no released row shows: respondents, guarding nodes, a public table. For these
    requirements, a snapshot must have the rows that were checked when it was made, and the recorded result is returned.
    A live view must show the rows of its own query, and its own report is returned. Raises PrivacyViolation for other
    rows or another object than those that were released, and UserError if the object is gone.
    """
    require_own_columns(engine, release)
    if release.kind == "view":
        policy = policy_of(release)
        for source in filter(None, (policy.source, policy.against)):
            require_unhidden(engine, source)
    try:
        answerable = answerable_by(engine, release)
        structure = _of_structure(engine, release, answerable)
        hidden = (
            _of_view(engine, release, answerable)
            if release.kind == "view"
            else _of_snapshot(engine, release, answerable)
        )
        answered = _answered(engine, release, answerable)
        of_join = joined_measurements(engine, release)
    except EngineError as error:
        raise unreadable(engine, release, error) from None
    measurements = hidden | answered
    return PrivacyReport((*(measurements[index] for index in sorted(measurements)), *structure, *of_join))


def attacks_beyond(engine: Engine, release: Release, measurements: Sequence[Measurement]) -> tuple[str, ...]:
    """Returns remarks on the attacks that neither the satisfied requirements nor the method's promise prevents."""
    policy = policy_of(release)
    requirements = resolve_requirements(policy, promised=promised_by(release.method, release.method_arguments))
    sensitive = [attribute.name for attribute in policy.having(Role.SENSITIVE)]
    return unbounded(engine, requirements, measurements, sensitive, typed_qualified(release.name))


def require_no_table(engine: Engine, name: QualifiedName, statement: str = "CHECK") -> None:
    """Raises UserError for a table or view that is not a release; the hint has `statement`, the statement for a
    table.
    """
    table = find_relation(engine, name)
    if table is None:
        return
    kind, full = table
    columns = ", ".join(column for column, _ in engine.columns(select(exp.Star(), of=relation(full))))
    raise UserError(
        f"{name} is a {kind}, not a release",
        hint=f"name the columns by which respondents could be found: {statement} {name} (...); it has {columns}",
        part=("release",),
    )


def load_release_or_table(engine: Engine, name: QualifiedName, statement: str) -> Release:
    """Returns the release of this name. Raises UserError for a table that is not a release; the hint has the
    `statement` for a table.
    """
    try:
        return load_release(engine, name)
    except CatalogError:
        raise
    except UserError:
        # There is no such release.
        if find_stream(engine, name):
            raise
        require_no_table(engine, name, statement)
        raise


def _of_structure(engine: Engine, release: Release, answerable: AnswerableRequirements) -> tuple[Measurement, ...]:
    """Measures the structure that the method promises, besides the requirements of classes.

    The tables of a release of several tables must fit together, and be the released tables; otherwise PrivacyViolation
    is raised.
    """
    several = any(made.fragment is not None for made in release.published)
    published = PublishedTables(
        engine=engine,
        policy=policy_of(release),
        tables={made.fragment or "": relation(own_object(engine, made.name)) for made in release.published},
        values=answerable.values,
        suppressed=release.suppressed_rows,
        recorded=releases.measurements(engine, release),
        is_own=True,
    )
    structure = verified(release.method, release.method_arguments, published)
    if structure.misfit is not None:
        raise PrivacyViolation(
            f"the tables of {release.name} do not fit together any more: {structure.misfit}", hint="create it again"
        )
    if several:
        _require_released(engine, release)
    return structure.measurements


def _answered(engine: Engine, release: Release, answerable: AnswerableRequirements) -> dict[int, Measurement]:
    """Measures the requirements that the released rows can answer, by index."""
    sources = {made.fragment: relation(own_object(engine, made.name)) for made in release.published}
    measurements: dict[int, Measurement] = {}
    for part in answerable.rows_of_requirements(sources):
        requirements = answerable.requirements_at(part.indexes)
        reached = measured(engine, requirements, part.rows, answerable.background(part.indexes))
        measurements |= dict(zip(part.indexes, reached, strict=True))
    return measurements


def _require_released(engine: Engine, release: Release) -> None:
    if not has_checked_rows(engine, release):
        raise PrivacyViolation(
            f"the tables of {release.name} do not have the rows any more that were checked when they were made",
            hint="create it again",
        )


def _of_snapshot(engine: Engine, release: Release, answerable: AnswerableRequirements) -> dict[int, Measurement]:
    """Returns the recorded measurements of the requirements that the snapshot's rows alone cannot answer, by index."""
    if not answerable.hidden:
        return {}
    if not has_checked_rows(engine, release):
        raise PrivacyViolation(
            f"{release.name} is not as it was when {_seen(answerable)} were counted, so nothing can be said of it",
            hint="create it again",
        )
    recorded = releases.measurements(engine, release)
    measurements: dict[int, Measurement] = {}
    for index in answerable.hidden:
        requirement = answerable.requirements[index]
        same = (requirement.question_name, ", ".join(requirement.attributes) or None, requirement.required)
        known = next((m for m in recorded if (m.question, m.attribute, m.required) == same), None)
        if known is None:
            raise CatalogError(
                f"release {release.name}: nothing is recorded of what it comes to in {requirement}",
                hint="rows of anon.measurement were removed: create the release again",
            )
        recorded.remove(known)
        measurements[index] = known
    return measurements


def _seen(answerable: AnswerableRequirements) -> str:
    whose = {"respondents": "its respondents", "guarding nodes": "its guarding nodes", "public table": "public rows"}
    return " and ".join(whose[part] for part in dict.fromkeys(answerable.hidden.values()))


def _of_view(engine: Engine, release: Release, answerable: AnswerableRequirements) -> dict[int, Measurement]:
    """Returns the live view's own report on the requirements that its rows alone cannot answer, by index."""
    if not answerable.hidden:
        return {}
    report, content = (own_object(engine, view(release.release_id)) for view in (report_view, content_view))
    if find_relation(engine, report) is None or find_relation(engine, content) is None:
        raise UserError(
            f"the views are gone by which {release.name} is checked, {report.name} and {content.name} in schema anon",
            hint="create it again with CREATE OR REPLACE ANONYMIZED VIEW",
        )
    [(expected,)] = engine.rows(select(exp.Star(), of=relation(content)))
    if not has_fingerprint(engine, [release.name], expected):
        raise PrivacyViolation(
            f"{release.name} shows other rows than those for which {_seen(answerable)} are counted",
            hint="create it again",
        )
    rows = select(exp.Star(), of=relation(report))
    return reported(engine, rows, {index: answerable.requirements[index] for index in answerable.hidden})
