"""Reads the facts from the catalog that a script needs to make a release again in another warehouse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.snapshot import hierarchies_of, policy_of, series_name_of, types_of
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Reading, Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.export.warehouses.fragment_steps import Fragment, fragments_of
from sqlanon.export.warehouses.listed_tables import (
    LabelMapping,
    ListedTable,
    RegionMap,
    listed_labels,
    mapping_of,
    regions_of,
    sizes,
    unmade_regions,
)
from sqlanon.methods.registry import find_method, promised_by
from sqlanon.methods.shared.bucket_tables import QUASI_IDENTIFIERS, sensitive_names
from sqlanon.release.existing.estimable import require_same_hierarchies
from sqlanon.sources.bind_policy import bind
from sqlanon.sources.column_types import ENUM
from sqlanon.sources.requirement_columns import guards_of
from sqlanon.sources.requirements import resolve_requirements
from sqlanon.sources.source import BoundSource
from sqlanon.sql.classes.buckets import BUCKET, COUNT, VALUE
from sqlanon.sql.questions.ask import BoundRequirement, least_rows
from sqlanon.sql.release.recode import ENDS, Recoding

# Types whose values all warehouses compare alike and, as texts, print alike.
_COMPARED = re.compile(r"VARCHAR|BOOLEAN|TINYINT|SMALLINT|INTEGER|BIGINT|DATE|TIMESTAMP|DECIMAL\(\d+,\d+\)")
# Types of columns that are only copied.
_PASSED = re.compile(rf"{_COMPARED.pattern}|FLOAT|DOUBLE")
# Relations of requirements that are not computed from the source's columns alone, with the reason for a refusal.
_BESIDE = {
    "public_class": "it compares with a public table",
    "superset": "it compares with classes of broader labels",
    "value_range": "it reads a table of ranges",
    "known_triple": "it reads a table of what an adversary knows",
    "guarded": "it reads what each respondent guards",
    "class_itemset": "it is about lists",
    "class_itemset_value": "it is about lists",
}


class _Shape(Enum):
    """The form in which a release shows its rows: levels, regions, buckets or fragments, as the catalog records its
    columns.
    """

    LEVELS = "labels at the level of each column"
    REGIONS = "the region of each row"
    BUCKETS = "rows, and the sensitive values of their buckets"
    FRAGMENTS = "some of the columns in each table"


@dataclass(frozen=True)
class Publication:
    """A table of a release that a script writes: the step with its rows, and its columns, each with whether it is a
    text.

    Its name is the release's name, followed by `fragment` if there are several tables.
    """

    step: str
    fragment: str | None
    columns: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class ReleasePlan:
    """A release, with all facts for a script.

    `recodings` has each quasi-identifier at its level, in the policy's order; and `mappings` has the labels that stored
    hierarchies list at these levels, by the quasi-identifier's index. Both are empty if rows are recoded by `regions`,
    assigned to `buckets`, or split into `fragments`.
    """

    release: Release
    bound: BoundPolicy
    requirements: tuple[BoundRequirement, ...]
    recodings: tuple[Recoding, ...]
    mappings: dict[int, LabelMapping]
    regions: RegionMap | None = None
    buckets: BucketPlan | None = None
    fragments: tuple[Fragment, ...] = ()

    @property
    def hides_order(self) -> bool:
        """Whether the order of published rows could reveal more than the tables themselves."""
        return self.buckets is not None or bool(self.fragments)

    @property
    def policy(self) -> Policy:
        return self.bound.policy

    @property
    def source(self) -> QualifiedName | None:
        """The name of the policy's source; None for a query."""
        return self.policy.source.name

    @property
    def needed(self) -> tuple[BoundAttribute, ...]:
        """The columns of the source that the script reads, without repetition."""
        if self.fragments:
            return tuple(bound for fragment in self.fragments for bound in fragment.columns)
        unread = {recoding.bound.column for recoding in self.recodings if not recoding.is_read}
        respondents = [self.bound.entity] if self.bound.entity else []
        columns = {b.column: b for b in (*self.bound.published, *respondents) if b.column not in unread}
        return tuple(columns.values())

    @property
    def listed(self) -> tuple[ListedTable, ...]:
        """The tables whose rows are in the script."""
        if self.regions is not None:
            return self.regions.tables
        if self.buckets is not None:
            return (self.buckets.trials,)
        return tuple(listed_labels(i, self.recodings[i].bound, mapping) for i, mapping in self.mappings.items())

    @property
    def keys(self) -> tuple[str, ...]:
        """The published columns whose values distinguish classes for a reader."""
        return tuple(name for bound in self.bound.quasi_identifiers for name in (bound.column, *self.ends_of(bound)))

    @property
    def publications(self) -> tuple[Publication, ...]:
        """The tables of the release."""
        if self.fragments:
            return tuple(Publication(each.step, each.name, self._as_they_are(each.columns)) for each in self.fragments)
        if self.buckets is None:
            return (Publication("candidate", None, self.columns),)
        (bound,) = self.bound.sensitive
        values = ((BUCKET, False), (VALUE, bound.published_type == "VARCHAR"), (COUNT, False))
        return (
            Publication("candidate", QUASI_IDENTIFIERS, (*self._as_they_are(self.buckets.carried), (BUCKET, False))),
            Publication("candidate_value", sensitive_names([bound.column])[bound.column], values),
        )

    @staticmethod
    def _as_they_are(bounds: Sequence[BoundAttribute]) -> tuple[tuple[str, bool], ...]:
        return tuple((bound.column, bound.published_type == "VARCHAR") for bound in bounds)

    @property
    def columns(self) -> tuple[tuple[str, bool], ...]:
        """The names of the columns of a release that is one table, in their order, each with whether it is a text."""
        levels = {recoding.bound.column: recoding.level for recoding in self.recodings}
        columns: list[tuple[str, bool]] = []
        for bound in self.bound.published:
            is_text = bound.published_type == "VARCHAR"
            is_recoded = bound.role is Role.QUASI_IDENTIFIER and self.regions is not None
            columns.append((bound.column, is_text or is_recoded or bool(levels.get(bound.column))))
            columns += [(name, is_text) for name in self.ends_of(bound)]
        return tuple(columns)

    def ends_of(self, bound: BoundAttribute) -> tuple[str, ...]:
        """Returns the published columns with the ends of a quasi-identifier's ranges; empty if these are not
        published.
        """
        if self.regions is None or not self.regions.placed.bounds or bound.role is not Role.QUASI_IDENTIFIER:
            return ()
        return tuple(f"{bound.column}_{end}" for end in ENDS)


def plan_of(engine: Engine, release: Release) -> ReleasePlan:
    """Returns the plan by which a script makes a release again.

    Raises PolicyError, with the reason, for a release that a script cannot make, and for a hierarchy that has changed
    since the release was made.
    """
    policy = policy_of(release)
    shape = _shape_of(release)
    for reason, hint in _refusals(engine, release, policy, shape):
        raise _refused(release, reason, hint)
    hierarchies = {fold(stored.definition.name): stored for stored in hierarchies_of(release)}
    bound = _bound(release, policy, hierarchies)
    promised = promised_by(release.method, release.method_arguments)
    requirements = resolve_requirements(policy, tuple(b.column for b in bound.sensitive), promised)
    if shape is _Shape.FRAGMENTS:
        _require_types(release, bound, (), bound.published)
        return ReleasePlan(release, bound, (), (), {}, fragments=fragments_of(release, bound))
    _require_askable(release, bound, requirements)
    if shape is _Shape.REGIONS:
        _require_types(release, bound, bound.quasi_identifiers)
        return ReleasePlan(release, bound, requirements, (), {}, regions_of(engine, release, bound))
    if shape is _Shape.BUCKETS:
        if unmade := unmade_buckets(release, bound):
            raise _refused(release, *unmade)
        _require_types(release, bound, (), bound.quasi_identifiers)
        return ReleasePlan(release, bound, requirements, (), {}, buckets=bucket_plan(release, bound, requirements))
    recodings = tuple(_recoding(release, attribute) for attribute in bound.quasi_identifiers)
    _require_types(release, bound, [recoding.bound for recoding in recodings if recoding.is_read])
    return ReleasePlan(release, bound, requirements, recodings, _mappings(engine, release, recodings, hierarchies))


def _mappings(
    engine: Engine, release: Release, recodings: Sequence[Recoding], hierarchies: dict[str, StoredHierarchy]
) -> dict[int, LabelMapping]:
    """Returns the labels of each stored hierarchy that is read. Raises PolicyError for a hierarchy that has changed."""
    mappings: dict[int, LabelMapping] = {}
    for index, recoding in enumerate(recodings):
        if recoding.is_read and recoding.bound.stored:
            assert recoding.bound.hierarchy is not None
            require_same_hierarchies(engine, release, [hierarchies[fold(recoding.bound.hierarchy.name)]])
            mappings[index] = mapping_of(engine, recoding)
    return mappings


def _shape_of(release: Release) -> _Shape:
    readings = {attribute.reading for attribute in release.attributes}
    if any(made.fragment is not None for made in release.published):
        return _Shape.BUCKETS if Reading.BUCKET in readings else _Shape.FRAGMENTS
    has_levels = any(attribute.level is not None for attribute in release.attributes)
    return _Shape.LEVELS if has_levels else _Shape.REGIONS


def _refusals(engine: Engine, release: Release, policy: Policy, shape: _Shape) -> Iterator[tuple[str, str | None]]:
    """Yields the reasons why a script cannot make a release again, each with a hint."""
    method = find_method(release.method)
    if refusal := method.limits(method.options(release.method_arguments)).scripted:
        yield refusal.sentence.format(method=release.method), refusal.hint
    if release.is_locally_recoded:
        yield "its rows are at several levels (recoding => 'local'), and a script gives each column one", None
    if policy.related:
        yield "its policy has related tables", None
    if policy.pivot is not None:
        yield "its policy pivots the source", None
    if policy.joined is not None:
        yield "its policy measures the join with another release, which does not lie there", None
    if shape is _Shape.BUCKETS and policy.entity is not None:
        yield (
            "its policy has an ENTITY, and a script does not check that each respondent has one row there",
            "make the column an IDENTIFIER, and the source a query with one row of each respondent",
        )
    if series_name_of(release) is not None:
        yield "it is part of a series, whose ledger does not lie there", None
    for attribute in policy.attributes:
        if attribute.is_coarse:
            yield f"{attribute.name} is published as labels, which a script reads of quasi-identifiers only", None
        if attribute.is_shifted:
            yield f"the dates of {attribute.name} are shifted, and a script never holds the key for it", None
        elif attribute.pseudonym is not None:
            yield f"{attribute.name} has pseudonyms, and a script never holds the key that they are made with", None
    if not policy.quasi_identifiers and shape is not _Shape.FRAGMENTS:
        yield "its policy has no quasi-identifier, so that there are no classes to check", None
    if shape is _Shape.REGIONS and (unmade := unmade_regions(release)):
        yield unmade


def _refused(release: Release, reason: str, hint: str | None = None) -> PolicyError:
    return PolicyError(f"no script can make {release.name} again: {reason}", hint=hint)


def _bound(release: Release, policy: Policy, hierarchies: dict[str, StoredHierarchy]) -> BoundPolicy:
    """Returns the policy bound to a source with the columns that existed when the release was made."""
    columns = tuple((name, "VARCHAR" if kind == ENUM else kind) for name, kind in types_of(release).items())
    nowhere = BoundSource(columns, QualifiedName(("source",)), None, stable=True)
    bound = bind(replace(policy, against=None), nowhere, hierarchies, fingerprint="")
    return replace(bound, policy=policy)


def _require_askable(release: Release, bound: BoundPolicy, requirements: Sequence[BoundRequirement]) -> None:
    """Raises PolicyError for a requirement whose check needs more than the source."""
    if not requirements:
        raise _refused(release, "nothing is required of it, so that a script would have nothing to check")
    for requirement in requirements:
        for name, why in _BESIDE.items():
            if name in requirement.reads:
                raise _refused(release, f"{requirement}: {why}, which no script carries")
        if "sensitive_ancestor" in requirement.reads and any(
            b.stored for b in bound.sensitive if b.column in requirement.attributes
        ):
            raise _refused(release, f"{requirement} reads a stored hierarchy, which no script carries")
        if requirement.question.of_sample:
            raise _refused(release, f"{requirement} estimates the risk in a population, which no script does")
        if requirement.on:
            raise _refused(release, f"{requirement}: a script asks classes by all quasi-identifiers only")
    assert not guards_of(requirements)


def _recoding(release: Release, bound: BoundAttribute) -> Recoding:
    for attribute in release.attributes:
        if fold(attribute.source or attribute.name) == fold(bound.column) and attribute.level is not None:
            return Recoding(bound, attribute.level)
    raise _refused(release, f"it does not state a level of {bound.column}")


def _require_types(
    release: Release, bound: BoundPolicy, quasi: Sequence[BoundAttribute], passed: Sequence[BoundAttribute] = ()
) -> None:
    """Raises PolicyError for a column whose values other warehouses may compare or print differently.

    `quasi` are the quasi-identifiers that are read, and `passed` are the columns that are published unchanged.
    """
    compared = [*quasi, *bound.sensitive, *([bound.entity] if bound.entity else [])]
    for attribute in compared:
        if not _COMPARED.fullmatch(attribute.published_type):
            raise _refused(
                release,
                f"{attribute.column} is of type {attribute.published_type}, whose values warehouses compare "
                "differently",
                hint="cast it in a view, name the view as the policy's source, and release that",
            )
    for attribute in (*bound.having(Role.INSENSITIVE), *passed):
        if not _PASSED.fullmatch(attribute.published_type):
            raise _refused(release, f"{attribute.column} is of type {attribute.published_type}, which not all have")


# More rows than a source has. As a size it means that all rows are one bucket.
_ALL = 2**62


@dataclass(frozen=True)
class BucketPlan:
    """The sizes of buckets that a script tries, and the published columns that rows keep besides their buckets."""

    trials: ListedTable
    carried: tuple[BoundAttribute, ...]


def unmade_buckets(release: Release, policy: BoundPolicy) -> tuple[str, str] | None:
    """Returns the reason why a script cannot assign rows to such buckets, and the alternative; None if it can."""
    if len(policy.sensitive) != 1:
        return (
            f"its policy has {len(policy.sensitive)} sensitive columns, and a script deals rows out by one",
            "release one of them",
        )
    return None


def bucket_plan(release: Release, policy: BoundPolicy, requirements: tuple[BoundRequirement, ...]) -> BucketPlan:
    """Returns the sizes that are tried: the smallest size at which a bucket can satisfy the requirements, then each
    time twice that many rows, and finally all rows in one bucket.
    """
    options = find_method(release.method).options(release.method_arguments)
    least = max(int(options.least), least_rows(requirements))
    tried = [least << number for number in range(sizes().bucket_sizes)]
    rows = tuple((str(number), str(size)) for number, size in enumerate((*tried, _ALL)))
    comment = "The sizes of buckets that are tried: the first with which all satisfy the requirements is taken."
    trials = ListedTable("trial_size", comment, (("trial", "BIGINT"), ("size", "BIGINT")), rows)
    return BucketPlan(trials, tuple(bound for bound in policy.published if bound.role is not Role.SENSITIVE))
