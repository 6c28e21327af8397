"""The Python calls that make a policy and its parts, as texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from sqlanon.clients.api.arguments import Query, python_value
from sqlanon.clients.api.columns import ROLES, QuasiIdentifier
from sqlanon.clients.api.reading import requirement_of
from sqlanon.domain.policy import Attribute, JoinedRelease, Policy, RelatedTable, Role
from sqlanon.domain.values import QualifiedName, Source


def policy_call(policy: Policy) -> str:
    """The call of `Policy` that makes this one."""
    require = [requirement_of(requirement) for requirement in policy.requirements]
    arguments = [
        repr(policy.name),
        f"source={_source(policy.source)}",
        *_columns(policy.attributes),
        *_said("require", require),
        *_said("confidential", list(map(list, policy.confidential))),
        *_said("visible", list(map(list, policy.visible))),
        *([f"against={_source(policy.against)}"] if policy.against else []),
        *([f"joined={joined_call(policy.joined)}"] if policy.joined else []),
        *([f"related=[{', '.join(map(related_call, policy.related))}]"] if policy.related else []),
        *_said("pivot", policy.pivot),
    ]
    return f"Policy({', '.join(arguments)})"


def related_call(table: RelatedTable) -> str:
    """The call of `RelatedTable` that makes this one."""
    is_named = table.source.name is not None and table.source.name.name == table.name
    name = [] if is_named else [f"name={table.name!r}"]
    arguments = [_source(table.source), f"key={table.key!r}", *name, *_columns(table.attributes)]
    return f"RelatedTable({', '.join(arguments)})"


def joined_call(joined: JoinedRelease) -> str:
    """The call of `JoinedRelease` that makes this one."""
    return f"JoinedRelease({_name(joined.release)}, on={list(joined.columns)!r})"


def _columns(attributes: Sequence[Attribute]) -> Iterator[str]:
    """The arguments for the columns, and their order where the arguments do not tell it."""
    by_role = {role: [a for a in attributes if a.role is role] for role in ROLES}
    yield from _said("identifiers", _with_details(by_role[Role.IDENTIFIER]))
    if entity := by_role[Role.ENTITY]:
        yield f"entity={_with_details(entity) if entity[0].pseudonym or len(entity) > 1 else entity[0].name!r}"
    yield from _said("quasi_identifiers", _with_details(by_role[Role.QUASI_IDENTIFIER]))
    yield from _said("sensitive", _with_details(by_role[Role.SENSITIVE]))
    yield from _said("insensitive", _with_details(by_role[Role.INSENSITIVE]))
    if [a for listed in by_role.values() for a in listed] != list(attributes):
        yield f"order={[attribute.name for attribute in attributes]!r}"


def _with_details(attributes: Iterable[Attribute]) -> object:
    """The names, with what goes with their role if anything does."""
    details = {attribute.name: _detail(attribute) for attribute in attributes}
    return details if any(detail is not None for detail in details.values()) else list(details)


def _detail(attribute: Attribute) -> object:
    has_levels = attribute.min_level is not None or attribute.max_level is not None
    if has_levels or attribute.weight != 1:
        weight = python_value(attribute.weight)
        assert isinstance(weight, float | Decimal)
        return QuasiIdentifier(attribute.hierarchy, attribute.min_level, attribute.max_level, weight)
    return attribute.pseudonym or attribute.hierarchy


def _said(argument: str, value: object) -> list[str]:
    return [f"{argument}={value!r}"] if value else []


def _source(source: Source) -> str:
    return repr(Query(source.query or "")) if source.name is None else _name(source.name)


def _name(name: QualifiedName) -> str:
    return repr(python_value(name))
