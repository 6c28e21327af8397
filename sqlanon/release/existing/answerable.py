"""Which of a release's requirements its published rows can answer, and what the others read besides."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Release
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import PolicyError
from sqlanon.methods.registry import promised_by
from sqlanon.release.existing.classes import ReleaseClasses, classes_of, classes_of_people, no_classes, not_released
from sqlanon.sources.requirement_columns import guards_of
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sql.classes.buckets import BucketValues
from sqlanon.sql.classes.frozen_background import frozen_background
from sqlanon.sql.classes.normal_relations import Background
from sqlanon.sql.classes.rows import RowsOfRequirements
from sqlanon.sql.questions.ask import BoundRequirement

# What a requirement may read that no released row shows.
_RESPONDENTS = "respondents"
_GUARDS = "guarding nodes"
_PUBLIC = "public table"


def hidden_parts(
    requirements: Sequence[BoundRequirement], guards: Mapping[int, str], entity: bool, visible: Collection[str]
) -> dict[int, str]:
    """Why requirements, by their indexes, cannot be recomputed from the released rows alone.

    `guards` has the columns of guarding nodes by index, `visible` the columns that are
    published as they are; `entity` says that respondents are counted.
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
    """The requirements of a release, and which of them its rows answer for a reader.

    `hidden` has, by the index of a requirement, what it reads that no released row
    shows; `guards` are the published columns of guarding nodes.
    """

    classes: ReleaseClasses
    requirements: tuple[BoundRequirement, ...]
    hidden: Mapping[int, str]
    guards: Mapping[int, str]
    release_id: str

    @property
    def bound(self) -> BoundPolicy:
        """The release's own columns: what tells its classes apart, and the sensitive attributes."""
        return self.classes.bound

    @property
    def values(self) -> Mapping[str, BucketValues]:
        """Where the values of each sensitive attribute are, for a release of several tables."""
        return self.classes.values

    @property
    def indexes(self) -> tuple[int, ...]:
        """The indexes of the requirements that the released rows answer."""
        return tuple(index for index in range(len(self.requirements)) if index not in self.hidden)

    def rows_of_requirements(self, sources: Mapping[str | None, exp.Table | exp.Subquery]) -> list[RowsOfRequirements]:
        """The released rows in `sources`, by fragment, each with the requirements that they answer."""
        guards = {name: name for name in self.guards.values()}
        return self.classes.rows(sources, self.requirements, self.indexes, guards)

    def requirements_at(self, indexes: Sequence[int]) -> list[BoundRequirement]:
        return [self.requirements[index] for index in indexes]

    def background(self, indexes: Sequence[int]) -> Background:
        """What the requirements at these indexes read besides the rows."""
        return frozen_background(self.bound, self.requirements_at(indexes), self.release_id, indexes, self.guards)


def answerable_by(engine: Engine, release: Release) -> AnswerableRequirements:
    """The requirements of a release that its rows can answer, by the policy that it carries.

    Raises PrivacyViolation if it does not have the columns that its policy publishes,
    EngineError if it cannot be read.
    """
    policy = policy_of(release)
    promised = promised_by(release.method, release.method_arguments)
    if not (policy.requirements or promised):
        # There is no requirement of classes, and there may be no class.
        return AnswerableRequirements(no_classes(engine, release), (), {}, {}, release.release_id)
    classes = classes_of_people(engine, release) if policy.related else classes_of(engine, release)
    try:
        requirements = resolve_requirements(policy, tuple(b.column for b in classes.bound.sensitive), promised)
    except PolicyError as error:
        raise not_released(release, error) from None
    guards = guards_of(requirements)
    visible = _published_as_it_is(policy, classes.columns)
    folded_guards = {index: fold(guard) for index, guard in guards.items()}
    hidden = hidden_parts(requirements, folded_guards, policy.hides_respondents, visible)
    published_guards = {index: visible[fold(guard)] for index, guard in guards.items() if index not in hidden}
    return AnswerableRequirements(classes, requirements, hidden, published_guards, release.release_id)


def _published_as_it_is(policy: Policy, columns: Sequence[Column]) -> dict[str, str]:
    """The columns of a release that are neither recoded nor tokens, by their folded names."""
    roles = {fold(attribute.name): attribute.role for attribute in policy.attributes}
    as_is = (Role.SENSITIVE, Role.INSENSITIVE)
    return {fold(name): name for name, _ in columns if roles.get(fold(name)) in as_is}
