"""Which of a release's requirements its published rows can answer, and what the others read besides."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold, same_name
from sqlanon.domain.policy import Attribute, Policy, Requirement, Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.release import Release
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import CatalogError, PolicyError, PrivacyViolation
from sqlanon.inputs.bind_policy import bind
from sqlanon.inputs.requirement_columns import guards_of
from sqlanon.inputs.requirements import resolve_requirements
from sqlanon.inputs.source import BoundSource, own_object
from sqlanon.methods.registry import promised_by
from sqlanon.questions.ask import BoundRequirement
from sqlanon.sqlgen.build.names import column, relation
from sqlanon.sqlgen.cells.taxonomy import Taxonomy, frozen_labels, frozen_ranges
from sqlanon.sqlgen.classes.buckets import BucketValues, rows_of_buckets, values_of_table
from sqlanon.sqlgen.classes.normal_relations import Background
from sqlanon.sqlgen.classes.rows import Rows, RowsOfRequirements, rows_of

__all__ = ["AnswerableRequirements", "answerable_by", "frozen_background", "hidden_parts", "rows_with_keys"]

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
        if entity and _counts_respondents(requirement):
            hidden[index] = _RESPONDENTS
        elif index in guards and guards[index] not in visible:
            hidden[index] = _GUARDS
        elif "public_class" in requirement.reads:
            hidden[index] = _PUBLIC
    return hidden


def _counts_respondents(requirement: BoundRequirement) -> bool:
    """Whether its statements read the column `entities`, or may do so by a star."""
    if "equivalence_class" not in requirement.reads:
        return False
    for name in ("achieved", "violations"):
        statement = requirement.statement(name)
        if any(same_name(part.name, "entities") for part in statement.find_all(exp.Column)):
            return True
        if any(not isinstance(star.parent, exp.Count) for star in statement.find_all(exp.Star)):
            return True
    return False


def rows_with_keys(
    bound: BoundPolicy,
    source: exp.Table | exp.Subquery,
    keys: Sequence[str],
    guards: Mapping[str, str] | None = None,
    entity: str | None = None,
) -> Rows:
    """The rows of a relation that has the policy's sensitive attributes under their names; `keys` tell classes apart.

    `guards` maps a column of guarding nodes to the column of `source` that holds them,
    `entity` is the one that holds the respondents.
    """
    columns = {b.column: b.column for b in bound.sensitive} | dict(guards or {})
    return rows_of(source, keys, {name: column(source_name) for name, source_name in columns.items()}, entity)


def frozen_background(
    bound: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    release_id: str,
    indexes: Sequence[int] | None = None,
    guards: Mapping[int, str] | None = None,
    public_class: exp.Query | None = None,
) -> Background:
    """What the requirements read besides the rows, from the catalog's copies for one release.

    `indexes` are those of the requirements among all of the release, if they are only some
    of them; `guards` the columns of guarding nodes by these indexes.
    """
    indexes = range(len(requirements)) if indexes is None else indexes
    by_index = dict(zip(indexes, requirements, strict=True))
    return Background(
        taxonomies={b.column: Taxonomy(b, frozen_labels(b, release_id) if b.stored else None) for b in bound.sensitive},
        ranges={
            number: frozen_ranges(release_id, index)
            for number, (index, requirement) in enumerate(by_index.items())
            if "value_range" in requirement.reads
        },
        guards={number: guards[index] for number, index in enumerate(by_index) if guards and index in guards},
        public_class=public_class,
    )


@dataclass(frozen=True)
class AnswerableRequirements:
    """The requirements of a release, and which of them its rows answer for a reader.

    `bound` has the release's own columns, quasi-identifiers and sensitive attributes
    only. `hidden` has, by the index of a requirement, what it reads that no released row
    shows; `guards` are the published columns of guarding nodes. For a release of several tables,
    `values` says where the values of a sensitive attribute are.
    """

    bound: BoundPolicy
    requirements: tuple[BoundRequirement, ...]
    hidden: Mapping[int, str]
    guards: Mapping[int, str]
    release_id: str
    values: Mapping[str, BucketValues] = field(default_factory=dict)

    @property
    def indexes(self) -> tuple[int, ...]:
        """The indexes of the requirements that the released rows answer."""
        return tuple(index for index in range(len(self.requirements)) if index not in self.hidden)

    def rows_of_requirements(self, sources: Mapping[str | None, exp.Table | exp.Subquery]) -> list[RowsOfRequirements]:
        """The released rows in `sources`, by fragment, each with the requirements that they answer."""
        if not self.requirements:
            return []
        if self.values:
            named = {name: source for name, source in sources.items() if name is not None}
            return list(rows_of_buckets(named, self.requirements, self.indexes, self.values))
        keys = [bound.column for bound in self.bound.quasi_identifiers]
        rows = rows_with_keys(self.bound, sources[None], keys, {name: name for name in self.guards.values()})
        return [RowsOfRequirements(rows, self.indexes)]

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
    name = own_object(engine, release.published[0].name)
    columns = tuple(_columns(engine, release))
    promised = promised_by(release.method, release.method_arguments)
    hierarchies = {fold(stored.definition.name): stored for stored in hierarchies_of(release)}
    try:
        source = BoundSource(columns, name, None, stable=False)
        bound = bind(_policy_of_check(policy, promised, release), source, hierarchies, fingerprint="")
        if not (policy.requirements or promised):
            return AnswerableRequirements(bound, (), {}, {}, release.release_id)
        requirements = resolve_requirements(policy, tuple(b.column for b in bound.sensitive), promised)
    except PolicyError as error:
        raise PrivacyViolation(
            f"{release.name} is not what was released: {error.message}", hint="create it again"
        ) from None
    guards = guards_of(requirements)
    visible = _published_as_it_is(policy, columns)
    folded_guards = {index: fold(guard) for index, guard in guards.items()}
    hidden = hidden_parts(requirements, folded_guards, policy.entity is not None, visible)
    published_guards = {index: visible[fold(guard)] for index, guard in guards.items() if index not in hidden}
    values = _values(release, bound)
    return AnswerableRequirements(bound, requirements, hidden, published_guards, release.release_id, values)


def _values(release: Release, bound: BoundPolicy) -> dict[str, BucketValues]:
    """Where the values of each sensitive attribute are; empty for a release of one table or view."""
    names = {made.fragment for made in release.published}
    if names == {None}:
        return {}
    sensitive = [b.column for b in bound.sensitive]
    values: dict[str, BucketValues] = {}
    for name in names:
        columns = [(a.name, a.source, a.reading) for a in release.attributes_of(name)]
        values |= values_of_table(name or "", columns, sensitive)
    bucketed = {a.fragment for a in release.attributes if a.reading is Reading.BUCKET}
    if set(values) != set(sensitive) or bucketed != names:
        raise CatalogError(
            f"release {release.name}: its rows in the catalog do not say which of its tables has which values",
            hint="they were changed by hand: create the release again",
        )
    return {name: values[name] for name in sensitive}


def _columns(engine: Engine, release: Release) -> Iterator[Column]:
    """The columns of what is released, each once, and those of several tables under the names of the source's columns.

    So a sensitive attribute has its own name, and not that of the column of values.
    """
    known: set[str] = set()
    for made in release.published:
        columns = engine.columns(exp.select(exp.Star()).from_(relation(own_object(engine, made.name))))
        behind = {fold(a.name): a.source for a in release.attributes_of(made.fragment)}
        for name, kind in columns:
            named = behind.get(fold(name)) or name
            if fold(named) not in known:
                known.add(fold(named))
                yield named, kind


def _policy_of_check(policy: Policy, promised: Sequence[Requirement], release: Release) -> Policy:
    """The policy by which a release is checked: the columns that tell its classes apart, and the sensitive ones.

    A method may add columns to the policy's quasi-identifiers, or replace them by one.
    """
    if not (policy.requirements or promised):
        # There is no requirement of classes.
        return replace(policy, attributes=())
    buckets = any(a.reading is Reading.BUCKET for a in release.attributes)
    keys = dict.fromkeys(() if buckets else (a.name for a in policy.quasi_identifiers))
    known = {fold(name) for name in keys}
    keys |= dict.fromkeys(
        a.name for a in release.attributes if a.role is Role.QUASI_IDENTIFIER and fold(a.name) not in known
    )
    quasi = [Attribute(name, Role.QUASI_IDENTIFIER) for name in keys]
    return replace(policy, attributes=(*quasi, *policy.having(Role.SENSITIVE)))


def _published_as_it_is(policy: Policy, columns: Sequence[Column]) -> dict[str, str]:
    """The columns of a release that are neither recoded nor tokens, by their folded names."""
    roles = {fold(attribute.name): attribute.role for attribute in policy.attributes}
    as_is = (Role.SENSITIVE, Role.INSENSITIVE)
    return {fold(name): name for name, _ in columns if roles.get(fold(name)) in as_is}
