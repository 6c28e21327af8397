"""Policies and hierarchies as JSON and back."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sqlanon.catalog._json import (
    BadJson,
    arguments_from_json,
    arguments_to_json,
    fields_of,
    list_of,
    name_from_json,
    optional_text,
    positional_from_json,
    text_of,
    value_to_json,
)
from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.policy import Attribute, JoinedRelease, Pivot, Policy, Pseudonym, RelatedTable, Requirement, Role
from sqlanon.domain.values import Source

__all__ = [
    "attributes_from_json",
    "definition_from_json",
    "definition_to_json",
    "joined_from_json",
    "joined_to_json",
    "pivot_from_json",
    "pivot_to_json",
    "policy_from_json",
    "policy_to_json",
]


# The keys of a policy that are left out where they are empty.
_OPTIONAL = ("against", "confidential", "visible", "pivot", "related", "joined")


def definition_to_json(definition: HierarchyDefinition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "kind": definition.kind,
        "arguments": [value_to_json(value) for value in definition.arguments],
        "options": arguments_to_json(definition.options),
        "query": definition.query,
    }


def definition_from_json(json_value: Any) -> HierarchyDefinition:
    fields = fields_of(json_value, "a hierarchy", ("name", "kind", "arguments", "options", "query"))
    return HierarchyDefinition(
        name=text_of(fields["name"], "a hierarchy's name"),
        kind=text_of(fields["kind"], "a hierarchy's kind"),
        arguments=positional_from_json(fields["arguments"]),
        options=arguments_from_json(fields["options"]),
        query=optional_text(fields["query"], "a hierarchy's query"),
    )


def policy_to_json(policy: Policy) -> dict[str, Any]:
    """A policy as JSON. Keys that few policies need are left out where they are empty."""
    fields: dict[str, Any] = {
        "name": policy.name,
        "source": _source_to_json(policy.source),
        "attributes": [_attribute_to_json(attribute) for attribute in policy.attributes],
        "requirements": [
            {"model": requirement.model, "arguments": arguments_to_json(requirement.arguments)}
            for requirement in policy.requirements
        ],
    }
    if policy.against is not None:
        fields["against"] = _source_to_json(policy.against)
    for key, sets in (("confidential", policy.confidential), ("visible", policy.visible)):
        if sets:
            fields[key] = [list(names) for names in sets]
    if policy.pivot is not None:
        fields["pivot"] = pivot_to_json(policy.pivot)
    if policy.related:
        fields["related"] = list(map(_related_to_json, policy.related))
    if policy.joined is not None:
        fields["joined"] = joined_to_json(policy.joined)
    return fields


def policy_from_json(json_value: Any) -> Policy:
    known = ("name", "source", "attributes", "requirements")
    optional_keys = tuple(key for key in _OPTIONAL if isinstance(json_value, dict) and key in json_value)
    fields = fields_of(json_value, "a policy", (*known, *optional_keys))
    return Policy(
        name=text_of(fields["name"], "a policy's name"),
        source=_source_from_json(fields["source"]),
        attributes=tuple(_attribute_from_json(item) for item in list_of(fields["attributes"], "the attributes")),
        requirements=tuple(
            _requirement_from_json(item) for item in list_of(fields["requirements"], "the requirements")
        ),
        against=_source_from_json(fields["against"]) if "against" in optional_keys else None,
        confidential=_sets_from_json(fields.get("confidential", [])),
        visible=_sets_from_json(fields.get("visible", [])),
        pivot=pivot_from_json(fields["pivot"]) if "pivot" in optional_keys else None,
        related=tuple(map(_related_from_json, list_of(fields.get("related", []), "the related tables"))),
        joined=joined_from_json(fields["joined"]) if "joined" in optional_keys else None,
    )


def _related_to_json(table: RelatedTable) -> dict[str, Any]:
    attributes = [_attribute_to_json(attribute) for attribute in table.attributes]
    return {"name": table.name, "source": _source_to_json(table.source), "key": table.key, "attributes": attributes}


def _related_from_json(json_value: Any) -> RelatedTable:
    fields = fields_of(json_value, "a related table", ("name", "source", "key", "attributes"))
    return RelatedTable(
        name=text_of(fields["name"], "a related table's name"),
        source=_source_from_json(fields["source"]),
        key=text_of(fields["key"], "a related table's key"),
        attributes=tuple(map(_attribute_from_json, list_of(fields["attributes"], "the attributes"))),
    )


def pivot_to_json(pivot: Pivot) -> dict[str, Any]:
    return {"item": pivot.item, "values": pivot.rating}


def pivot_from_json(json_value: Any) -> Pivot:
    """Reads {"item": "film", "values": "rating"}. Raises BadJson if it is something else."""
    fields = fields_of(json_value, "a pivot", ("item", "values"))
    return Pivot(text_of(fields["item"], "the pivot's item"), text_of(fields["values"], "the pivot's values"))


def joined_to_json(joined: JoinedRelease) -> dict[str, Any]:
    return {"release": list(joined.release.parts), "columns": list(joined.columns)}


def joined_from_json(json_value: Any) -> JoinedRelease:
    """Reads {"release": ["main", "of_jobs"], "columns": ["job"]}. Raises BadJson if it is something else."""
    fields = fields_of(json_value, "a joined release", ("release", "columns"))
    return JoinedRelease(name_from_json(fields["release"]), attributes_from_json(fields["columns"]))


def _sets_from_json(json_value: Any) -> tuple[tuple[str, ...], ...]:
    return tuple(attributes_from_json(item) for item in list_of(json_value, "the sets of attributes"))


def attributes_from_json(json_value: Any) -> tuple[str, ...]:
    """A set of attributes, as a list of their names."""
    return tuple(text_of(item, "an attribute's name") for item in list_of(json_value, "a set of attributes"))


def _source_to_json(source: Source) -> dict[str, Any]:
    meant: dict[str, Any] = {"name": list(source.name.parts)} if source.name else {"query": source.query}
    return {**meant, "bound": [list(entry.parts) for entry in source.bound]} if source.bound else meant


def _source_from_json(json_value: Any) -> Source:
    key = "name" if isinstance(json_value, dict) and "name" in json_value else "query"
    is_bound = isinstance(json_value, dict) and "bound" in json_value
    fields = fields_of(json_value, "a source", (key, "bound") if is_bound else (key,))
    bound = tuple(map(name_from_json, list_of(fields["bound"], "what a source is bound to"))) if is_bound else ()
    if key == "name":
        return Source(name=name_from_json(fields["name"]), bound=bound)
    return Source(query=text_of(fields["query"], "a source's query"), bound=bound)


def _requirement_from_json(json_value: Any) -> Requirement:
    fields = fields_of(json_value, "a requirement", ("model", "arguments"))
    return Requirement(text_of(fields["model"], "a model"), arguments_from_json(fields["arguments"]))


_ATTRIBUTE = ("name", "role", "hierarchy", "min_level", "max_level", "weight", "pseudonym")


def _attribute_to_json(attribute: Attribute) -> dict[str, Any]:
    pseudonym = attribute.pseudonym
    return {
        "name": attribute.name,
        "role": attribute.role.value,
        "hierarchy": attribute.hierarchy,
        "min_level": attribute.min_level,
        "max_level": attribute.max_level,
        "weight": Decimal(attribute.weight),
        "pseudonym": {"key_variable": pseudonym.key_variable} if pseudonym else None,
    }


def _attribute_from_json(json_value: Any) -> Attribute:
    fields = fields_of(json_value, "an attribute", _ATTRIBUTE)
    weight = fields["weight"]
    if not isinstance(weight, Decimal):
        raise BadJson("a weight must be a number with a fraction")
    return Attribute(
        name=text_of(fields["name"], "an attribute's name"),
        role=_role(fields["role"]),
        hierarchy=optional_text(fields["hierarchy"], "an attribute's hierarchy"),
        min_level=_level(fields["min_level"]),
        max_level=_level(fields["max_level"]),
        weight=weight,
        pseudonym=_pseudonym_from_json(fields["pseudonym"]),
    )


def _pseudonym_from_json(json_value: Any) -> Pseudonym | None:
    if json_value is None:
        return None
    fields = fields_of(json_value, "a pseudonym", ("key_variable",))
    return Pseudonym(optional_text(fields["key_variable"], "a key variable"))


def _role(json_value: Any) -> Role:
    try:
        return Role(json_value)
    except ValueError:
        raise BadJson("an attribute's role is unknown") from None


def _level(json_value: Any) -> int | None:
    if json_value is not None and (isinstance(json_value, bool) or not isinstance(json_value, int)):
        raise BadJson("a level must be a whole number")
    return json_value
