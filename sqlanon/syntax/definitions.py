"""Writes the statements that define a hierarchy, a policy or a release, as the catalog stores them."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.domain.policy import Attribute, HierarchyDefinition, InPlace, Mask, Policy, RelatedTable, Role, Shift
from sqlanon.domain.requests import MethodCall, ReleaseRequest
from sqlanon.domain.values import plain_number
from sqlanon.errors import StatementError
from sqlanon.syntax.attributes import role_words
from sqlanon.syntax.query_text import query_text
from sqlanon.syntax.texts import (
    against_text,
    arguments_text,
    budget_text,
    call_text,
    create_text,
    if_not_exists_text,
    joined_text,
    levels_text,
    name_text,
    qualified_text,
    requirements_text,
    sample_text,
    sets_text,
    source_text,
    string_text,
    value_text,
    word_text,
)


def hierarchy_text(definition: HierarchyDefinition, *, or_replace: bool = False, if_not_exists: bool = False) -> str:
    """Returns the CREATE HIERARCHY statement that defines this hierarchy."""
    kind = word_text(definition.kind)
    kind = kind if kind.startswith('"') else kind.upper()
    head = f"{create_text(or_replace)}HIERARCHY {if_not_exists_text(if_not_exists)}{name_text(definition.name)}"
    return f"{head} AS {kind} ({_hierarchy_arguments(definition)})"


def _hierarchy_arguments(definition: HierarchyDefinition) -> str:
    if definition.query is None:
        return ", ".join([*map(value_text, definition.arguments), *arguments_text(definition.options)])
    if definition.arguments or definition.options:
        raise StatementError(
            f"the hierarchy {definition.name} has a query and arguments",
            hint="LEVELS and PARENTS read a query alone, the other kinds have arguments",
        )
    return query_text(definition.query)


def policy_text(policy: Policy, *, or_replace: bool = False, if_not_exists: bool = False) -> str:
    """Returns the CREATE POLICY statement that defines this policy, with each attribute on its own line."""
    head = f"{create_text(or_replace)}POLICY {if_not_exists_text(if_not_exists)}{name_text(policy.name)} ON "
    parts = [
        sample_text(policy.sample),
        sets_text("CONFIDENTIAL", policy.confidential),
        sets_text("VISIBLE", policy.visible),
        against_text(policy.against) + joined_text(policy.joined) + requirements_text(policy.requirements),
    ]
    pivot = f" PIVOT {name_text(p.item)} VALUES {name_text(p.rating)}" if (p := policy.pivot) else ""
    tables = "".join(map(_related_table, policy.related))
    columns = _attribute_lines(policy.attributes)
    return f"{head}{source_text(policy.source)}{pivot} (\n{columns}\n){tables} {' '.join(filter(None, parts))}"


def _related_table(table: RelatedTable) -> str:
    """Writes a related table of a policy with its columns, on its own line."""
    name = "" if table.source.name and table.source.name.name == table.name else f" AS {name_text(table.name)}"
    head = f"\nWITH TABLE {source_text(table.source)}{name} ON ({name_text(table.key)})"
    return f"{head} (\n{_attribute_lines(table.attributes)}\n)"


def _attribute_lines(attributes: tuple[Attribute, ...]) -> str:
    return ",\n".join(f"    {attribute_text(attribute)}" for attribute in attributes)


def attribute_text(attribute: Attribute) -> str:
    """Returns a column of a policy with its role and the role's clauses."""
    return f"{name_text(attribute.name)} {role_text(attribute)}"


def role_text(attribute: Attribute) -> str:
    """Returns the role of a column and its clauses, as a policy writes them after the column's name."""
    parts = [role_words(attribute.role)]
    if attribute.pseudonym:
        parts.append(in_place_text(attribute.pseudonym))
        if attribute.pseudonym.key_variable is not None:
            parts.append(f"KEY {string_text(attribute.pseudonym.key_variable)}")
    if attribute.automatic or attribute.hierarchy is not None:
        parts.append("USING AUTO" if attribute.automatic else f"USING {name_text(str(attribute.hierarchy))}")
    for words, level in (("MIN LEVEL", attribute.min_level), ("MAX LEVEL", attribute.max_level)):
        if level is not None:
            parts.append(f"{words} {level}")
    if attribute.sampling_weight:
        parts.append("SAMPLING WEIGHT")
    if attribute.hide:
        parts.append(f"HIDE ({', '.join(map(string_text, attribute.hide))})")
    if attribute.weight != 1:
        # The catalog stores six decimals of a weight.
        parts.append(f"WEIGHT {value_text(plain_number(attribute.weight))}")
    return " ".join(parts)


def in_place_text(in_place: InPlace) -> str:
    """Returns the clause PSEUDONYM, MASK or SHIFT, without its key."""
    if isinstance(in_place, Shift):
        return f"SHIFT ({', '.join(arguments_text(in_place.arguments))})"
    return f"MASK {mask_text(in_place)}" if isinstance(in_place, Mask) else "PSEUDONYM"


def mask_text(mask: Mask) -> str:
    """Returns a mask as it is written after MASK, without its key."""
    arguments = ", ".join(arguments_text(mask.arguments))
    return f"{word_text(mask.name)}({arguments})" if arguments else word_text(mask.name)


def release_text(request: ReleaseRequest) -> str:
    """Returns the CREATE ANONYMIZED statement that makes this release."""
    return create_text(request.or_replace) + anonymized_text(request)


def anonymized_text(request: ReleaseRequest) -> str:
    """Returns the part of a CREATE or EXPLAIN statement that begins with ANONYMIZED."""
    condition = if_not_exists_text(request.if_not_exists)
    head = f"ANONYMIZED {request.kind.upper()} {condition}{qualified_text(request.name)}"
    series = f" IN SERIES {name_text(request.series)}" if request.series is not None else ""
    method = f" {text}" if (text := _method_text(request)) else ""
    return f"{head} AS POLICY {name_text(request.policy)}{method}{levels_text(request.levels_from)}{series}"


def short_text(request: ReleaseRequest, policy: Policy) -> str:
    """Returns a release and its policy as one statement in the short form, from ANONYMIZED on."""
    condition = if_not_exists_text(request.if_not_exists)
    head = f"ANONYMIZED {request.kind.upper()} {condition}{qualified_text(request.name)} FROM"
    columns = ", ".join(name_text(a.name) + _clauses_text(a) for a in policy.quasi_identifiers)
    secret = ", ".join(name_text(a.name) + _clauses_text(a) for a in policy.having(Role.SENSITIVE))
    sensitive = f" SENSITIVE {secret}" if secret else ""
    entity = f" ENTITY {name_text(policy.entity.name)}" if policy.entity else ""
    parts = [
        f"{head} {source_text(policy.source)} ({columns}){sensitive}{entity}",
        against_text(policy.against).rstrip(),
        requirements_text(policy.requirements),
        _method_text(request),
    ]
    return " ".join(filter(None, parts))


def _clauses_text(attribute: Attribute) -> str:
    """Returns the clauses of a column after a space, as in lists without roles, where AUTO is left out."""
    return role_text(replace(attribute, automatic=False)).removeprefix(role_words(attribute.role))


def _method_text(request: ReleaseRequest) -> str:
    """Returns METHOD with the method, its sets and its budget, or CHOOSE METHOD; empty if the request has neither."""
    method = f"METHOD {call_text(request.method)}" if request.method.name else ""
    return f"{method}{_sets_of(request.method)}" or ("CHOOSE METHOD" if request.choose_method else "")


def _sets_of(method: MethodCall) -> str:
    """Returns FRAGMENTS or COLUMNS with the sets, and UNDER BUDGET, each after a space; empty if the method has
    neither.
    """
    budget = budget_text(method)
    if method.each_apart:
        return f" COLUMNS EACH{budget}"
    named = sets_text("FRAGMENTS", method.sets) or sets_text("COLUMNS", method.columns)
    return f" {named}{budget}" if named else budget
