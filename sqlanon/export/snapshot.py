"""What is known of a snapshot before it is exported, all of it checked against its catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog.fingerprint import fingerprint
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.names import fold
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.domain.report import Measurement, PrivacyReport
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import CatalogError, EngineError, PrivacyViolation
from sqlanon.pipeline.checks import check_release
from sqlanon.pipeline.publish import content_fingerprint
from sqlanon.pipeline.types import without_enums
from sqlanon.questions.ask import BoundRequirement, bind_requirement
from sqlanon.sqlgen.names import relation

__all__ = ["Snapshot", "checked_snapshot"]


@dataclass(frozen=True)
class Snapshot:
    """A release with what its catalog says of it.

    `achieved` pairs each requirement with its measurement of just now;
    `quasi_identifiers` are its columns' names, None where respondents are counted.
    """

    release: Release
    policy: Policy
    hierarchies: Sequence[StoredHierarchy]
    columns: tuple[Column, ...]
    achieved: tuple[tuple[BoundRequirement, Measurement], ...]
    quasi_identifiers: tuple[str, ...] | None


def checked_snapshot(engine: Engine, release: Release) -> Snapshot:
    """Checks a snapshot as it is now against its requirements, and against what it was when it was made.

    Raises PrivacyViolation if it meets them no longer or has other rows or columns,
    CatalogError if its rows in the catalog contradict each other.
    """
    policy, hierarchies = policy_of(release), hierarchies_of(release)
    _require_consistent(release, policy, hierarchies)
    columns = _columns(engine, release)
    achieved = _achieved(release, policy, check_release(engine, release))
    if content_fingerprint(engine, release.name) != release.content_fingerprint:
        raise PrivacyViolation(
            f"{release.name} does not have the rows any more that were checked when it was made; nothing was exported",
            hint=_since(engine, release),
        )
    quasi = None if policy.entity else _quasi_identifiers(policy, columns)
    return Snapshot(release, policy, hierarchies, columns, achieved, quasi)


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


def _columns(engine: Engine, release: Release) -> tuple[Column, ...]:
    try:
        columns = tuple(engine.columns(exp.select(exp.Star()).from_(relation(release.name))))
    except EngineError:
        raise PrivacyViolation(
            f"the table {release.name} cannot be read any more; nothing was exported", hint="create it again"
        ) from None
    if [name for name, _ in columns] != [attribute.name for attribute in release.attributes]:
        raise PrivacyViolation(
            f"{release.name} does not have the columns any more that were released; nothing was exported",
            hint="create it again",
        )
    for name, column_type in columns:
        if without_enums(column_type) != column_type:
            raise PrivacyViolation(
                f"the column {name} of {release.name} is an ENUM now, whose dictionary may hold withheld values; "
                "nothing was exported",
                hint="create it again",
            )
    return columns


def _achieved(
    release: Release, policy: Policy, report: PrivacyReport
) -> tuple[tuple[BoundRequirement, Measurement], ...]:
    """Each requirement with what was measured for it; raises PrivacyViolation unless all are met."""
    if not policy.requirements:
        raise PrivacyViolation(f"{release.name} was made without a requirement; nothing was exported")
    left = list(report.measurements)
    paired: list[tuple[BoundRequirement, Measurement]] = []
    for requirement in map(bind_requirement, policy.requirements):
        found = next(
            (m for m in left if m.question == requirement.question.name and m.required == requirement.required), None
        )
        if found is None or not found.satisfied:
            reached = f"it reaches {found.achieved}" if found else "nothing was measured for it"
            raise PrivacyViolation(
                f"{release.name} does not meet {requirement}: {reached}; nothing was exported",
                hint="it was changed since it was made: create it again",
            )
        left.remove(found)
        paired.append((requirement, found))
    return tuple(paired)


def _quasi_identifiers(policy: Policy, columns: Sequence[Column]) -> tuple[str, ...]:
    """By the policy rather than by what the catalog says of the release's columns: its fingerprint covers them."""
    spelled = {fold(name): name for name, _ in columns}
    return tuple(spelled[fold(attribute.name)] for attribute in policy.quasi_identifiers)
