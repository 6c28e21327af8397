"""Stages 2 and 3: the policy that a release names, its requirements, and its source."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.again.series.ledger import admitted
from sqlanon.again.series.respondents import Respondents, require_same_columns
from sqlanon.catalog import policies
from sqlanon.catalog.snapshot import fingerprint
from sqlanon.domain.policy import Mask, Policy, Requirement
from sqlanon.domain.requests import ReleaseRequest
from sqlanon.domain.values import Source
from sqlanon.errors import PolicyError, about
from sqlanon.methods.registry import default_method, find_method, promised_by
from sqlanon.methods.shared.arguments import with_names
from sqlanon.release.existing.composition import sources_of
from sqlanon.release.pipeline.compare import contenders_of
from sqlanon.release.pipeline.fixed_levels import with_levels
from sqlanon.release.pipeline.join import join_with, other_release
from sqlanon.release.pipeline.limits import require_possible, require_within
from sqlanon.release.pipeline.stages import Bound, Requested, Resolved
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source, public_source
from sqlanon.sources.catalog_entries import require_unhidden
from sqlanon.sources.related_tables import related_sources, require_of_respondents, require_one_table
from sqlanon.sources.requirements import bind_requirements, resolve_requirements
from sqlanon.sources.source import passing
from sqlanon.syntax.texts import typed_qualified


def resolve_stage(requested: Requested) -> Resolved:
    """Reads the policy from the catalog, or takes the caller's, and validates it with its hierarchies and requirements.

    The method and its arguments are checked here too, before anything is read. Raises UserError for an unknown method,
    PolicyError for what the method cannot do, and for a release that its series does not take.
    """
    policy = None if requested.create.method.name else _policy(requested)
    engine, create = requested.engine, _named(requested.create, policy)
    with about("method", create.method.name):
        method = find_method(create.method.name)
        options = method.options(create.method.arguments)
    policy = policy or _policy(requested)
    hierarchies = hierarchies_of(engine, policy)
    if requested.leveled is not None:
        policy = with_levels(policy, requested.leveled, hierarchies)
    requirements = resolve_requirements(policy, promised=_promised(create))
    on_spark = engine.distributed
    contenders = contenders_of(requested, policy, hierarchies, requirements)
    if able := next((contender for contender in contenders if contender.refused is None), None):
        create = replace(create, method=able.call)
        options = find_method(able.call.name).options(able.call.arguments)
    else:
        require_within(method.limits(options), create, policy, hierarchies, requirements, on_spark=on_spark)
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


def _named(create: ReleaseRequest, policy: Policy | None) -> ReleaseRequest:
    """The statement with the method that it means, and the names of all its arguments.

    `policy` is that of a statement without a method, which means the one for the tables that the policy has.
    """
    name = create.method.name if policy is None else default_method(policy)
    with about("method", name):
        arguments = with_names(name, find_method(name).OPTIONS, create.method.arguments)
    return replace(create, method=replace(create.method, name=name, arguments=arguments))


def _promised(create: ReleaseRequest) -> tuple[Requirement, ...]:
    return promised_by(create.method.name, create.method.arguments)


def bind_stage(resolved: Resolved) -> Bound:
    """Finds the policy's columns in its source, its related tables and its public table, each copied unless it is a
    table.

    From here on the requirements are about the source's own columns.
    """
    engine, policy, scratch = resolved.requested.engine, resolved.policy, resolved.requested.scratch
    source = policy_source(engine, policy, scratch)
    public = public_source(engine, policy, scratch)
    related = related_sources(engine, policy, scratch)
    if resolved.create.kind == "view":
        _require_live(resolved)
    made_by = fingerprint(policy, list(resolved.hierarchies.values()))
    bound = bind(policy, source, resolved.hierarchies, made_by, public, related)
    require_of_respondents(engine, bound)
    if not bound.published:
        raise PolicyError(f"{policy} publishes no column")
    bound, requirements = bind_requirements(engine, bound, source, scratch, _promised(resolved.create))
    respondents = None
    if resolved.series is not None:
        require_same_columns(resolved.series, bound)
        respondents = Respondents(engine, resolved.series, bound, scratch)
    return Bound(
        resolved=resolved,
        policy=bound,
        requirements=requirements,
        source=source,
        public=public,
        respondents=respondents,
        join=None if resolved.other is None else join_with(resolved, bound, resolved.other),
        sources=sources_of(engine, policy),
    )


def _require_live(resolved: Resolved) -> None:
    """Raises PolicyError where a live view cannot be a query of its source, which is read again and again."""
    policy, name = resolved.policy, typed_qualified(resolved.create.name)
    snapshot = f"make a snapshot, CREATE ANONYMIZED TABLE {name}"
    if policy.pivot:
        raise PolicyError(
            f"a live view cannot pivot {policy.source.called}: its columns would be the items of the moment",
            hint=snapshot,
        )
    _require_here(resolved, policy.source, "source")
    if policy.against:
        _require_here(resolved, policy.against, "public table")
    if secret := [a.name for a in policy.attributes if a.pseudonym and not a.pseudonym.is_keyless]:
        is_mask = any(isinstance(attribute.pseudonym, Mask) for attribute in policy.attributes)
        joined = "; or keep a table of masks yourself, and join it in the policy's query, ON (SELECT ... LEFT JOIN ...)"
        raise PolicyError(
            f"a live view cannot publish pseudonyms ({', '.join(secret)}): the key would stand in its text",
            hint=snapshot + (joined if is_mask else ""),
        )


def _require_here(resolved: Resolved, named: Source, what: str) -> None:
    """Raises PolicyError where a live view could not read its source again and again, from this database."""
    engine, name = resolved.requested.engine, typed_qualified(resolved.create.name)
    if why := passing(engine, named):
        raise PolicyError(
            f"a live view cannot read {named}: {why}",
            hint=f"make a snapshot, CREATE ANONYMIZED TABLE {name}, or copy the {what} into this database",
        )
    require_unhidden(engine, named)
