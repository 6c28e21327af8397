"""Changes, checks and stores policies."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.catalog import policies as catalog
from sqlanon.catalog.validation import validate
from sqlanon.domain.identifiers import nearest, same_name
from sqlanon.domain.policy import Attribute, Policy, Requirement
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.release.remarks.columns import rows_of_nobody
from sqlanon.release.remarks.wording import of_nobody, of_thresholds
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source, public_source
from sqlanon.sources.catalog_entries import with_bound_names
from sqlanon.sources.joins import with_argument_names
from sqlanon.sources.related_tables import related_sources, require_of_respondents
from sqlanon.sources.requirements import bind_requirements, resolve_requirements, with_bound_relations
from sqlanon.statements.policies._automatic import with_hierarchies
from sqlanon.statements.policies.alter_policy import AlterPolicy
from sqlanon.syntax.texts import call_text, typed_name


def save_policy(engine: Engine, policy: Policy) -> tuple[str, ...]:
    """Checks a policy against its sources and its hierarchies, and stores it; returns remarks on the source.

    Makes the hierarchies for USING AUTO first. Raises UserError or PolicyError for a policy that does not fit.
    """
    policy, remarks = with_hierarchies(engine, policy)
    with TempTables(engine) as temp:
        validate(policy)
        thresholds = tuple(dict.fromkeys(of_thresholds(resolve_requirements(policy))))
        source = policy_source(engine, policy, temp, copy=False)
        public = public_source(engine, policy, temp, copy=False)
        related = related_sources(engine, policy, temp, copy=False)
        bound = bind(policy, source, hierarchies_of(engine, policy), "", public, related)
        require_of_respondents(engine, bound)
        bind_requirements(engine, bound, source, temp)
        catalog.save(engine, with_bound_relations(engine, with_bound_names(engine, policy)))
        nobody = tuple(of_nobody(bound.entity.column, rows_of_nobody(engine, bound))) if bound.entity else ()
    return (*remarks, *nobody, *thresholds)


def changed_policy(engine: Engine, policy: Policy, statement: AlterPolicy) -> Policy:
    """Returns the policy after an ALTER POLICY.

    Raises PolicyError for a missing column, and for a name, a column or a requirement that exists already.
    """
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
    """Returns the requirements of a policy with the added ones. Raises PolicyError for an added requirement that exists
    already, with any numbers.
    """
    added = tuple(map(with_argument_names, statement.requirements))
    for requirement in added:
        for known in policy.requirements:
            if known.subject == requirement.subject:
                raise PolicyError(
                    f"{policy} requires {call_text(known)} already",
                    hint=f"ALTER POLICY {typed_name(policy.name)} REQUIRE replaces all requirements: also list those "
                    "that stay",
                    part=("requirement", requirement.model),
                )
    return (*policy.requirements, *added)


def _attributes(policy: Policy, action: str, attribute: Attribute | None, column: str) -> tuple[Attribute, ...]:
    """Returns the attributes of a policy after one was added, altered or dropped. Raises PolicyError if that is
    impossible.
    """
    name = attribute.name if attribute else column
    for table in policy.related:
        if any(same_name(known.name, name) for known in table.attributes):
            raise PolicyError(
                f"{name} is a column of {table.name}, and ALTER POLICY changes those of the source of {policy} alone",
                hint=f"DESCRIBE POLICY {typed_name(policy.name)} AS SQL writes its statement: change it, and CREATE OR "
                "REPLACE",
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
