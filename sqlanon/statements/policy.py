"""CREATE, ALTER and DROP POLICY."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.catalog import policies as catalog
from sqlanon.catalog import series, streams
from sqlanon.domain.identifiers import nearest, same_name
from sqlanon.domain.policy import Attribute, Policy, Requirement
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError, about
from sqlanon.inputs.bind_policy import bind, hierarchies_of, policy_source, public_source
from sqlanon.inputs.catalog_entries import with_bound_names
from sqlanon.inputs.joins.requirements import with_argument_names
from sqlanon.inputs.pivot import with_items
from sqlanon.inputs.related_tables import related_sources, require_of_respondents
from sqlanon.inputs.requirements import bind_requirements, resolve_requirements, with_bound_relations
from sqlanon.remarks.columns import rows_of_nobody
from sqlanon.remarks.wording import of_nobody
from sqlanon.statements.create_or_replace import to_be_made
from sqlanon.syntax import render
from sqlanon.syntax.statements import AlterPolicy, CreatePolicy, DropPolicy

__all__ = ["alter_policy", "create_policy", "drop_policy"]


def create_policy(engine: Engine, statement: CreatePolicy) -> tuple[str, ...] | None:
    """Checks a policy against its sources and its hierarchies, and stores it.

    Returns what is remarkable in the source, as sentences; None where IF NOT EXISTS found a policy.
    """
    requirements = tuple(map(with_argument_names, statement.policy.requirements))
    policy = replace(statement.policy, requirements=requirements)
    with engine.transaction():
        if not to_be_made(engine, catalog, "policy", policy.name, statement):
            return None
        if policy.pivot:
            with Scratch(engine) as scratch:
                policy = with_items(engine, policy, scratch)
        return _save(engine, policy)


def alter_policy(engine: Engine, statement: AlterPolicy) -> tuple[str, ...] | None:
    """Changes a policy and checks it as if it were made anew; None where IF EXISTS finds none.

    Returns the remarks of `create_policy`. Releases keep the policy as it was when they were made. Raises PolicyError
    where there is no such policy or no such column, or where the name or the column is taken.
    """
    with engine.transaction():
        if statement.if_exists and not catalog.exists(engine, statement.name):
            return None
        with about("name"):
            policy = catalog.load(engine, statement.name)
        changed = _changed(engine, policy, statement)
        catalog.delete(engine, policy.name)
        remarks = _save(engine, changed)
        if changed.name != policy.name:
            series.rename_policy(engine, policy.name, changed.name)
            streams.rename_policy(engine, policy.name, changed.name)
    return remarks


def _save(engine: Engine, policy: Policy) -> tuple[str, ...]:
    """Checks a policy against its sources and its hierarchies, and stores it; returns remarks on the source."""
    with Scratch(engine) as scratch:
        catalog.validate(policy)
        resolve_requirements(policy)
        source = policy_source(engine, policy, scratch, copy=False)
        public = public_source(engine, policy, scratch, copy=False)
        related = related_sources(engine, policy, scratch, copy=False)
        bound = bind(policy, source, hierarchies_of(engine, policy), "", public, related)
        require_of_respondents(engine, bound)
        bind_requirements(engine, bound, source, scratch)
        catalog.save(engine, with_bound_relations(engine, with_bound_names(engine, policy)))
        return tuple(of_nobody(bound.entity.column, rows_of_nobody(engine, bound))) if bound.entity else ()


def _changed(engine: Engine, policy: Policy, statement: AlterPolicy) -> Policy:
    match statement.action:
        case "rename":
            if catalog.exists(engine, statement.new_name) and not same_name(statement.new_name, policy.name):
                raise PolicyError(f"the policy {statement.new_name} exists already", hint="drop it first")
            return replace(policy, name=statement.new_name)
        case "require":
            return replace(policy, requirements=tuple(map(with_argument_names, statement.requirements)))
        case "add" if statement.requirements:
            return replace(policy, requirements=_more_requirements(policy, statement))
        case action:
            return replace(policy, attributes=_attributes(policy, action, statement.attribute, statement.column))


def _more_requirements(policy: Policy, statement: AlterPolicy) -> tuple[Requirement, ...]:
    """The requirements of a policy and those that are added; PolicyError where one is there with other numbers."""
    added = tuple(map(with_argument_names, statement.requirements))
    for requirement in added:
        for known in policy.requirements:
            if known.subject == requirement.subject:
                raise PolicyError(
                    f"{policy} requires {render.requirement(known)} already",
                    hint=f"ALTER POLICY {policy.name} REQUIRE takes the place of all requirements: name all that stay",
                    part=("requirement", requirement.model),
                )
    return (*policy.requirements, *added)


def _attributes(policy: Policy, action: str, attribute: Attribute | None, column: str) -> tuple[Attribute, ...]:
    """The attributes of a policy after one was added, altered or dropped."""
    name = attribute.name if attribute else column
    for table in policy.related:
        if any(same_name(known.name, name) for known in table.attributes):
            raise PolicyError(
                f"{name} is a column of {table.name}, and ALTER POLICY changes those of the source of {policy} alone",
                hint=f"DESCRIBE POLICY {policy.name} answers with its statement: change it, and CREATE OR REPLACE",
                part=("column", name),
            )
    is_there = any(same_name(known.name, name) for known in policy.attributes)
    if is_there == (action == "add"):
        raise PolicyError(
            f"{policy} {'has' if is_there else 'does not name'} the column {name}" + (" already" if is_there else ""),
            hint="write ALTER COLUMN" if is_there else nearest(name, [known.name for known in policy.attributes]),
            part=("column", name),
        )
    if attribute and not is_there:
        return (*policy.attributes, attribute)
    changed = ((attribute,) if same_name(known.name, name) else (known,) for known in policy.attributes)
    return tuple(known for pair in changed for known in pair if known is not None)


def drop_policy(engine: Engine, statement: DropPolicy) -> bool:
    """Forgets a policy; its releases stay. Raises PolicyError if there is none and IF EXISTS is not said."""
    with engine.transaction():
        if not catalog.exists(engine, statement.name):
            if statement.if_exists:
                return False
            raise PolicyError(
                f"there is no policy {statement.name}",
                hint=nearest(statement.name, catalog.listing(engine)),
                part=("name",),
            )
        catalog.delete(engine, statement.name)
    return True
