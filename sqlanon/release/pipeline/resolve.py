"""Stages 2 and 3: finds the policy that a release names, its requirements, and its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from sqlanon.catalog import policies, releases
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.snapshot import fingerprint, policy_of
from sqlanon.catalog.snapshot import hierarchies_of as hierarchies_of_release
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Mask, Policy, Requirement, Role
from sqlanon.domain.release import Measurement, Release, level_range
from sqlanon.domain.requests import ReleaseRequest
from sqlanon.domain.series import Series
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, PrivacyViolation, about
from sqlanon.methods.registry import default_method, find_method, promised_by
from sqlanon.methods.shared.arguments import with_names
from sqlanon.release.existing.composition import sources_of
from sqlanon.release.existing.joined import joined_release, side_of, types_of_columns
from sqlanon.release.pipeline.compare import contenders_of
from sqlanon.release.pipeline.limits import require_possible, require_snapshot, require_within
from sqlanon.release.pipeline.publish import published_attributes
from sqlanon.release.pipeline.stages import Bound, Materialized, Requested, Resolved
from sqlanon.republication.series.ledger import admitted
from sqlanon.republication.series.respondents import Respondents, require_same_columns
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source, public_source
from sqlanon.sources.catalog_entries import require_unhidden
from sqlanon.sources.coarse import require_no_copies, telling_columns
from sqlanon.sources.column_types import ENUM, column_types
from sqlanon.sources.joins import Join, Side, bind_joined, incomparable, of_join, owners
from sqlanon.sources.related_tables import related_sources, require_of_respondents, require_one_table
from sqlanon.sources.requirements import bind_requirements, resolve_requirements
from sqlanon.sources.source import passing, qualified
from sqlanon.sql.build.names import relation
from sqlanon.syntax.texts import typed_name, typed_qualified

# LEVELS FROM RELEASE: the levels of an earlier release that another one takes over.


_HINT = "leave out LEVELS FROM RELEASE, and levels are searched for"


def release_with_levels(engine: Engine, name: QualifiedName | None) -> Release | None:
    """Returns the release whose levels are reused, or None if `name` is None. The release is read before OR REPLACE
    drops it.

    Raises UserError for a missing release, and CatalogError if its rows in the catalog were changed.
    """
    if name is None:
        return None
    with about("levels"):
        return releases.load(engine, qualified(engine, name))


def with_levels(policy: Policy, release: Release, hierarchies: Mapping[str, StoredHierarchy]) -> Policy:
    """Returns the policy with each quasi-identifier fixed at its level in a release.

    `hierarchies` has the policy's hierarchies by their folded names. Raises PolicyError for a quasi-identifier that has
    no level or several levels in the release, or whose hierarchy now has another name or height.
    """
    known = {fold(a.source or a.name): a for a in release.attributes if a.level is not None}

    def at_level(attribute: Attribute) -> Attribute:
        if attribute.role is not Role.QUASI_IDENTIFIER:
            return attribute
        former = known.get(fold(attribute.name))
        if former is None:
            raise _refused(release, f"it does not state a level of {attribute.name}")
        if len(former.levels) > 1:
            shown_levels = f"{level_range(former.levels)} of {former.height}"
            raise _refused(
                release, f"its rows are at several levels of {attribute.name}, {shown_levels} (local recoding)"
            )
        # A column without a hierarchy has two levels: the value and '*'.
        height = hierarchies[fold(attribute.hierarchy)].height if attribute.hierarchy else 1
        if fold(attribute.hierarchy or "") != fold(former.hierarchy or "") or height != former.height:
            raise _refused(release, f"the hierarchy of {attribute.name} has changed")
        return replace(attribute, min_level=former.level, max_level=former.level)

    related = (replace(table, attributes=tuple(map(at_level, table.attributes))) for table in policy.related)
    return replace(policy, attributes=tuple(map(at_level, policy.attributes)), related=tuple(related))


def _refused(release: Release, why: str) -> PolicyError:
    return PolicyError(
        f"the levels of {release.name} cannot be kept: {why}",
        hint=_HINT,
        part=("levels",),
    )


@contextmanager
def about_levels(release: Release | None) -> Iterator[None]:
    """Adds to a violated requirement's error the hint that other levels might meet it, if levels were taken from
    another release.
    """
    try:
        yield
    except PrivacyViolation as error:
        if release is not None:
            error.hint = _HINT
        raise


# Stages 2 and 3 of a policy that joins another release: finding it, and checking that it can be joined.


def other_release(requested: Requested, policy: Policy) -> Release | None:
    """Returns the current release that a policy joins; None if it joins no release.

    Raises PolicyError for a live view, and the errors of `joined_release`.
    """
    if policy.joined is None:
        return None
    engine, create = requested.engine, requested.create
    if create.kind == "view":
        raise PolicyError(
            f"{policy}: a live view cannot check the requirements on the join with {policy.joined.release}, which are "
            "measured when a release is made",
            hint=f"make a snapshot, CREATE ANONYMIZED TABLE {typed_qualified(create.name)}",
        )
    with about("policy"):
        names = [qualified(engine, name) for name in (create.name, policy.joined.release)]
        if len({tuple(map(fold, name.parts)) for name in names}) == 1:
            raise PolicyError(
                f"{policy} joins {names[1]}, so the new release cannot replace it",
                hint="give the new release another name",
            )
        return joined_release(engine, policy)


def join_with(resolved: Resolved, bound: BoundPolicy, other: Release) -> Join:
    """Returns the join of the releases of a bound policy with another release.

    Raises PolicyError if a shared column is missing or has other labels, and for requirements on columns that no
    release or only one release shows.
    """
    policy = bound.policy
    assert policy.joined is not None
    side = side_of(resolved.requested.engine, other, resolved.requested.temp)
    published = {fold(b.column): b.column for b in bound.published}
    quasi = {fold(b.column): b for b in bound.quasi_identifiers}
    shared = {fold(name): quasi[fold(name)] for name in policy.joined.columns}
    types = types_of_columns(other)
    for name, b in shared.items():
        side.require_comparable(name)
        _require_comparable(resolved, side, b, types.get(name), column_types(bound)[b.column])
    requirements = bind_joined(of_join(policy))
    columns = (published, side.columns)
    owner_lists = tuple(owners(r, (resolved.create.name, other.name), columns) for r in requirements)
    return Join(side, {name: b.height for name, b in shared.items()}, requirements, owner_lists)


def _require_comparable(resolved: Resolved, side: Side, b: BoundAttribute, other: str | None, kind: str) -> None:
    """Raises PolicyError unless a shared column has the same hierarchy and type as in the other release."""
    theirs = side.hierarchy(fold(b.column))
    ours = resolved.hierarchies[fold(b.hierarchy.name)] if b.hierarchy else None
    if (theirs and theirs.digest) != (ours and ours.digest):
        raise incomparable(b.column, f"its hierarchy differs from the hierarchy of its labels in {side.name}")
    # An ENUM is published as text.
    kinds = ["VARCHAR" if kind == ENUM else kind for kind in (kind, other)]
    if kinds[0] != kinds[1]:
        raise incomparable(b.column, f"it is of type {kinds[0]}, and in {side.name} of type {kinds[1] or 'unknown'}")


def measured_join(made: Materialized) -> tuple[Measurement, ...]:
    """Measures the candidate's join with the other release of the policy, from the rows of both.

    Returns an empty tuple if the policy has no requirements on a join. Raises PrivacyViolation if a requirement is
    violated.
    """
    bound = made.bound
    join, policy = bound.join, bound.resolved.policy
    if join is None:
        return ()
    candidate = Side(
        engine=bound.engine,
        temp=bound.temp,
        name=bound.create.name,
        rows=relation(made.candidates[0].stands),
        policy=policy,
        hierarchies=tuple(bound.resolved.hierarchies.values()),
        columns={fold(attribute.name): attribute for attribute in published_attributes(made.compiled)},
    )
    for name in join.shared:
        candidate.require_comparable(name)
    levels = {name: candidate.level(name) for name in join.shared}
    measurements = join.measured(levels, candidate.counted)
    for requirement, reached in zip(join.requirements, measurements, strict=True):
        if not reached.satisfied:
            raise PrivacyViolation(
                f"{bound.create.name} joined with {join.name} would violate {requirement}: it reaches "
                f"{reached.achieved}; nothing was published",
                hint=f"ask for less: ALTER POLICY {typed_name(policy.name)} REQUIRE ...",
            )
    return measurements


def resolve_stage(requested: Requested) -> Resolved:
    """Reads the policy from the catalog, or takes the policy of the caller, and validates it with its hierarchies and
    requirements.

    The method and its arguments are checked here too, before any row is read. Raises UserError for an unknown method,
    and PolicyError for a task that the method cannot do or a release that its series does not accept.
    """
    policy = None if requested.create.method.name else _policy(requested)
    engine, create = requested.engine, _with_argument_names(requested.create, policy)
    with about("method", create.method.name):
        method = find_method(create.method.name)
        options = method.options(create.method.arguments)
    policy = policy or _policy(requested)
    hierarchies = hierarchies_of(engine, policy)
    if requested.leveled is not None:
        policy = with_levels(policy, requested.leveled, hierarchies)
    # The policy of a release that need not meet the requirements is stored without them.
    asked_policy = policy if method.ASKS_REQUIREMENTS else replace(policy, requirements=(), against=None, joined=None)
    requirements = resolve_requirements(asked_policy, promised=_promised(create))
    on_spark = engine.distributed
    contenders = contenders_of(requested, policy, hierarchies, requirements)
    if able := next((contender for contender in contenders if contender.refused is None), None):
        create = replace(create, method=able.call)
        options = find_method(able.call.name).options(able.call.arguments)
    else:
        limits = method.limits(options) if requested.leveled is None else method.limits_with_levels(options)
        require_within(limits, create, policy, hierarchies, requirements, on_spark=on_spark)
    policy = asked_policy
    require_snapshot(create, requirements)
    if on_spark:
        require_possible(create, policy, requirements)
    other = other_release(requested, policy)
    name = create.series
    if name is not None:
        with about("series"):
            require_one_table(policy, "a series", "its ledger says in which one class a respondent was")
    series = None if name is None else admitted(engine, name, policy, create.kind)
    return Resolved(requested, create, options, policy, hierarchies, series, other, contenders)


def _policy(requested: Requested) -> Policy:
    with about("policy"):
        return requested.policy or policies.load(requested.engine, requested.create.policy)


def _with_argument_names(create: ReleaseRequest, policy: Policy | None) -> ReleaseRequest:
    """Returns the statement with its method, or the default method for the policy's tables, and with the names of all
    arguments.

    `policy` is given for a statement without a method.
    """
    name = create.method.name if policy is None else default_method(policy)
    with about("method", name):
        arguments = with_names(name, find_method(name).OPTIONS, create.method.arguments)
    return replace(create, method=replace(create.method, name=name, arguments=arguments))


def _promised(create: ReleaseRequest) -> tuple[Requirement, ...]:
    return promised_by(create.method.name, create.method.arguments)


def bind_stage(resolved: Resolved) -> Bound:
    """Finds the policy's columns in its source, its related tables and its public table; a source that is not a table
    is copied.

    From this stage on, the requirements are about the source's own columns.
    """
    engine, policy, temp = resolved.requested.engine, resolved.policy, resolved.requested.temp
    source = policy_source(engine, policy, temp)
    public = public_source(engine, policy, temp)
    related = related_sources(engine, policy, temp)
    if resolved.create.kind == "view":
        _require_live(resolved)
    made_by = fingerprint(policy, list(resolved.hierarchies.values()))
    bound = bind(policy, source, resolved.hierarchies, made_by, public, related)
    require_of_respondents(engine, bound)
    if not bound.published:
        raise PolicyError(f"{policy} publishes no column")
    telling = tuple(telling_columns(engine, source, bound.published))
    require_no_copies(policy, telling)
    bound, requirements = bind_requirements(engine, bound, source, temp, _promised(resolved.create))
    respondents = None
    if resolved.series is not None:
        require_same_columns(resolved.series, bound)
        _require_same_labels(engine, resolved.series, policy, _digests(resolved.hierarchies))
        respondents = Respondents(engine, resolved.series, bound, temp)
    return Bound(
        resolved=resolved,
        policy=bound,
        requirements=requirements,
        source=source,
        public=public,
        respondents=respondents,
        join=None if resolved.other is None else join_with(resolved, bound, resolved.other),
        sources=sources_of(engine, policy),
        telling=telling,
    )


def _require_same_labels(engine: Engine, series: Series, policy: Policy, digests: Mapping[str, str]) -> None:
    """Raises PolicyError if sensitive values would be published by other labels than in the series' latest release."""
    now = _labelling(policy, digests)
    left = [release for made in series.releases if (release := releases.find(engine, made.name))]
    ids = {made.release_id for made in series.releases}
    former = next((release for release in reversed(left) if release.release_id in ids), None)
    if former is None:
        if now and series.releases:
            raise _other_labels(series, "none of its releases exists any longer, so its labels cannot be compared")
        return
    then = _labelling(policy_of(former), _digests({h.definition.name: h for h in hierarchies_of_release(former)}))
    if now != then:
        name = next(iter({*now, *then} - {n for n in now if then.get(n) == now[n]}))
        raise _other_labels(series, f"{former.name} shows {name} by other labels, or by its values")


def _labelling(policy: Policy, digests: Mapping[str, str]) -> dict[str, object]:
    """Returns the level, the hidden nodes and the hierarchy's digest of each coarse column, by its folded name."""
    return {
        fold(a.name): (a.min_level, a.hide, digests[fold(a.hierarchy or "")])
        for a in policy.all_attributes
        if a.is_coarse
    }


def _digests(hierarchies: Mapping[str, StoredHierarchy]) -> dict[str, str]:
    """Returns the digest of each hierarchy by its folded name."""
    return {fold(name): stored.digest for name, stored in hierarchies.items()}


def _other_labels(series: Series, why: str) -> PolicyError:
    return PolicyError(
        f"{series} cannot compare its releases: {why}; nothing was published",
        hint="publish the same labels as before, or begin another series",
        part=("series",),
    )


def _require_live(resolved: Resolved) -> None:
    """Raises PolicyError for a policy that a live view cannot query repeatedly."""
    policy, name = resolved.policy, typed_qualified(resolved.create.name)
    snapshot = f"make a snapshot, CREATE ANONYMIZED TABLE {name}"
    if policy.pivot:
        raise PolicyError(
            f"a live view cannot pivot {policy.source.called}: its columns would change with its items",
            hint=snapshot,
        )
    _require_here(resolved, policy.source, "source")
    if policy.against:
        _require_here(resolved, policy.against, "public table")
    if shifted := [a.name for a in policy.attributes if a.is_shifted]:
        raise PolicyError(
            f"a live view cannot shift dates ({', '.join(shifted)}): its text would contain the key", hint=snapshot
        )
    if secret := [a.name for a in policy.attributes if a.pseudonym and not a.pseudonym.is_keyless]:
        is_mask = any(isinstance(attribute.pseudonym, Mask) for attribute in policy.attributes)
        joined = "; or keep a table of masks yourself, and join it in the policy's query, ON (SELECT ... LEFT JOIN ...)"
        raise PolicyError(
            f"a live view cannot publish pseudonyms ({', '.join(secret)}): its text would contain the key",
            hint=snapshot + (joined if is_mask else ""),
        )


def _require_here(resolved: Resolved, named: Source, what: str) -> None:
    """Raises PolicyError for a source that a live view could not read repeatedly from this database."""
    engine, name = resolved.requested.engine, typed_qualified(resolved.create.name)
    if why := passing(engine, named):
        raise PolicyError(
            f"a live view cannot read {named}: {why}",
            hint=f"make a snapshot, CREATE ANONYMIZED TABLE {name}, or copy the {what} into this database",
        )
    require_unhidden(engine, named)
