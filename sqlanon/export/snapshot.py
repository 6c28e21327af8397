"""What is known of a snapshot before it is exported, all of it checked against its catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.assess.check import check_release
from sqlanon.catalog.fingerprint import fingerprint
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release, ReleaseObject
from sqlanon.domain.report import Measurement, PrivacyReport
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import CatalogError, EngineError, PrivacyViolation
from sqlanon.release.existing.answerable import AnswerableRequirements, answerable_by
from sqlanon.release.existing.content import has_fingerprint
from sqlanon.sources.column_types import without_enums
from sqlanon.sources.source import own_object
from sqlanon.sql.build.names import column, relation

# What requirements may read besides the released rows.
_FROZEN = ("release_taxonomy", "release_value_range")


@dataclass(frozen=True)
class Frozen:
    """Rows of a table of the catalog, and the names and types of its columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class ReleasedTable:
    """One of the tables that a release publishes, by its full name, with its columns; `fragment` is None if there is no
    other.
    """

    name: QualifiedName
    fragment: str | None
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Snapshot:
    """A release with what its catalog says of it.

    `achieved` are the measurements of its requirements, taken just now; `frozen` are the
    catalog's copies of the tables that they read besides.
    """

    release: Release
    policy: Policy
    hierarchies: Sequence[StoredHierarchy]
    tables: tuple[ReleasedTable, ...]
    answerable: AnswerableRequirements
    achieved: tuple[Measurement, ...]
    frozen: Mapping[str, Frozen]


def checked_snapshot(engine: Engine, release: Release) -> Snapshot:
    """Checks a snapshot as it is now against its requirements, and against what it was when it was made.

    Raises PrivacyViolation if it meets them no longer or has other rows or columns,
    CatalogError if its rows in the catalog contradict each other.
    """
    policy, hierarchies = policy_of(release), hierarchies_of(release)
    _require_consistent(release, policy, hierarchies)
    tables = tuple(
        ReleasedTable(own_object(engine, made.name), made.fragment, _columns(engine, release, made))
        for made in release.published
    )
    report = check_release(engine, release)
    answerable = answerable_by(engine, release)
    _require_achieved(release, answerable, report)
    if not has_fingerprint(engine, [table.name for table in tables], release.content_fingerprint):
        raise PrivacyViolation(
            f"{release.name} does not have the rows any more that were checked when it was made; nothing was exported",
            hint=_since(engine, release),
        )
    frozen = {table: _frozen(engine, table, release.release_id) for table in _FROZEN}
    return Snapshot(release, policy, hierarchies, tables, answerable, report.measurements, frozen)


def _since(engine: Engine, release: Release) -> str:
    """Hashes are the engine's own and may differ between its versions."""
    if engine.version() != release.engine_version:
        return f"create it again: it was made with {release.engine_version}, and this is {engine.version()}"
    return "it was changed since: create it again with CREATE OR REPLACE ANONYMIZED TABLE"


def _require_consistent(release: Release, policy: Policy, hierarchies: Sequence[StoredHierarchy]) -> None:
    whole = release.source_rows == release.released_rows + release.suppressed_rows
    if fingerprint(policy, hierarchies) != release.policy_fingerprint or not whole:
        raise CatalogError(
            f"release {release.name}: its rows in the catalog contradict each other; nothing was exported",
            hint="they were changed by hand: create the release again",
        )


def _columns(engine: Engine, release: Release, made: ReleaseObject) -> tuple[Column, ...]:
    try:
        columns = tuple(engine.columns(exp.select(exp.Star()).from_(relation(own_object(engine, made.name)))))
    except EngineError:
        raise PrivacyViolation(
            f"the table {made.name} cannot be read any more; nothing was exported", hint="create it again"
        ) from None
    if [name for name, _ in columns] != [attribute.name for attribute in release.attributes_of(made.fragment)]:
        raise PrivacyViolation(
            f"{made.name} does not have the columns any more that were released; nothing was exported",
            hint="create it again",
        )
    for name, column_type in columns:
        if without_enums(column_type) != column_type:
            raise PrivacyViolation(
                f"the column {name} of {made.name} is an ENUM now, whose dictionary may hold withheld values; "
                "nothing was exported",
                hint="create it again",
            )
    return columns


def _require_achieved(release: Release, answerable: AnswerableRequirements, report: PrivacyReport) -> None:
    """Raises PrivacyViolation unless something is required, and all of it met."""
    if not report.measurements:
        raise PrivacyViolation(f"{release.name} was made without a requirement; nothing was exported")
    structure = report.measurements[len(answerable.requirements) :]
    named = [*answerable.requirements, *(measurement.question for measurement in structure)]
    for requirement, measurement in zip(named, report.measurements, strict=True):
        if not measurement.satisfied:
            raise PrivacyViolation(
                f"{release.name} does not meet {requirement}: it reaches {measurement.achieved}; nothing was exported",
                hint="it was changed since it was made: create it again",
            )


def _frozen(engine: Engine, table: str, release_id: str) -> Frozen:
    """The rows that the catalog keeps for this release in one of its tables, and their columns."""
    rows = exp.select(exp.Star()).from_(relation(("anon", table)))
    of_release = column("release_id").eq(release_id)
    return Frozen(tuple(engine.columns(rows)), tuple(engine.rows(rows.where(of_release))))
