"""Stages 2 and 3: the policy that a release names, its requirements, and its source."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.catalog import policies
from sqlanon.catalog.fingerprint import fingerprint
from sqlanon.domain.policy import Policy, Requirement
from sqlanon.domain.values import Source
from sqlanon.errors import PolicyError, about
from sqlanon.inputs.bind_policy import bind, hierarchies_of, policy_source, public_source
from sqlanon.inputs.catalog_entries import require_unhidden
from sqlanon.inputs.related_tables import related_sources, require_of_respondents, require_one_table
from sqlanon.inputs.requirements import bind_requirements, resolve_requirements
from sqlanon.inputs.source import passing
from sqlanon.methods.registry import DEFAULT, find_method, promised_by
from sqlanon.methods.shared.arguments import with_names
from sqlanon.pipeline.distributed import require_possible
from sqlanon.pipeline.fixed_levels import with_levels
from sqlanon.pipeline.join import join_with, other_release
from sqlanon.pipeline.limits import require_within
from sqlanon.pipeline.state import State, need
from sqlanon.releases.lineage import sources_of
from sqlanon.series.admission import admitted
from sqlanon.series.columns import require_same_columns
from sqlanon.series.respondents import Respondents
from sqlanon.syntax.statements import CreateRelease

__all__ = ["bind_stage", "resolve_stage"]


def resolve_stage(state: State) -> State:
    """The policy as the catalog has it, or as the state brings it along, validated, with its hierarchies and its
    requirements bound.

    The method and its arguments are checked here too, before anything is read. Raises UserError for an unknown method,
    PolicyError for what the method cannot do, and for a release that its series does not take.
    """
    state = state.having(create=_named(state.create))
    with about("method", state.create.method.name):
        method = find_method(state.create.method.name)
        options = method.options(state.create.method.arguments)
    with about("policy"):
        policy = state.policy or policies.load(state.engine, state.create.policy)
    hierarchies = hierarchies_of(state.engine, policy)
    if state.leveled is not None:
        policy = with_levels(policy, state.leveled, hierarchies)
    requirements = resolve_requirements(policy, promised=_promised(state))
    distributed = state.engine.distributed
    require_within(method.limits(options), state.create, policy, hierarchies, requirements, distributed=distributed)
    if distributed:
        require_possible(state.create, policy, requirements)
    other = other_release(state.engine, policy, state.create)
    name = state.create.series
    if name is not None:
        with about("series"):
            require_one_table(policy, "a series", "its ledger says in which one class a respondent was")
    return state.having(
        options=options,
        policy=policy,
        hierarchies=tuple(hierarchies.values()),
        requirements=requirements,
        series=None if name is None else admitted(state.engine, name, policy, state.create.kind),
        other=other,
    )


def _named(statement: CreateRelease) -> CreateRelease:
    """The statement with the method that it means, and the names of all its arguments."""
    name = statement.method.name or DEFAULT
    with about("method", name):
        arguments = with_names(name, find_method(name).OPTIONS, statement.method.arguments)
    return replace(statement, method=replace(statement.method, name=name, arguments=arguments))


def bind_stage(state: State) -> State:
    """The policy's columns in its source, its related tables and its public table, each copied first unless it is a
    table.

    From here on the requirements are about the source's own columns.
    """
    engine, policy, scratch = state.engine, need(state.policy), state.scratch
    source = policy_source(engine, policy, scratch)
    public = public_source(engine, policy, scratch)
    related = related_sources(engine, policy, scratch)
    if state.create.kind == "view":
        _require_columns(state, policy)
        _require_one_table(state, policy)
        _require_here(state, policy.source, "source")
        if policy.against:
            _require_here(state, policy.against, "public table")
        _require_no_pseudonyms(state)
    made_by = fingerprint(policy, list(state.hierarchies))
    bound = bind(policy, source, state.hierarchies_by_name, made_by, public, related)
    require_of_respondents(engine, bound)
    if not bound.published:
        raise PolicyError(f"{policy} publishes no column")
    bound, requirements = bind_requirements(engine, bound, source, scratch, _promised(state))
    respondents = None
    if state.series is not None:
        require_same_columns(state.series, bound)
        respondents = Respondents(engine, state.series, bound, scratch)
    join = None if state.other is None else join_with(state, bound, state.other)
    read = sources_of(engine, policy)
    return state.having(
        source=source,
        public=public,
        sources=read,
        bound=bound,
        requirements=requirements,
        respondents=respondents,
        join=join,
    )


def _promised(state: State) -> tuple[Requirement, ...]:
    method = state.create.method
    return promised_by(method.name, method.arguments)


def _require_columns(state: State, policy: Policy) -> None:
    """Raises where a live view would have to make columns of what is in rows."""
    if policy.pivot:
        raise PolicyError(
            f"a live view cannot pivot {policy.source.called}: its columns would be the items of the moment",
            hint=f"make a snapshot, CREATE ANONYMIZED TABLE {state.create.name}",
        )


def _require_one_table(state: State, policy: Policy) -> None:
    """Raises where a live view would have to be several, whose rows are linked by numbers that are drawn once."""
    if policy.related:
        raise PolicyError(
            f"a live view is one query, and {policy} has related tables, WITH TABLE {policy.related[0].name}, whose "
            "rows are linked by numbers drawn when they are published",
            hint=f"make a snapshot, CREATE ANONYMIZED TABLE {state.create.name}",
        )


def _require_here(state: State, named: Source, what: str) -> None:
    """Raises where a live view could not read its source again and again, from this database."""
    if why := passing(state.engine, named):
        raise PolicyError(
            f"a live view cannot read {named}: {why}",
            hint=f"make a snapshot, CREATE ANONYMIZED TABLE {state.create.name}, or copy the {what} into this database",
        )
    require_unhidden(state.engine, named)


def _require_no_pseudonyms(state: State) -> None:
    secret = [a.name for a in need(state.policy).attributes if a.pseudonym]
    if secret:
        raise PolicyError(
            f"a live view cannot publish pseudonyms ({', '.join(secret)}): the key would stand in its text",
            hint=f"make a snapshot, CREATE ANONYMIZED TABLE {state.create.name}",
        )
