"""The policy of a model: what its config says of the columns of its SELECT, and what a release has to satisfy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import cast

from dbt.artifacts.resources import ModelConfig

from sqlanon.catalog import policies
from sqlanon.clients.api.text_arguments import requirements_of_text
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Attribute, Policy, Requirement, Role
from sqlanon.domain.values import Source
from sqlanon.engines.base import Engine
from sqlanon.errors import UserError
from sqlanon.statements.hierarchies.create_hierarchy import CreateHierarchy
from sqlanon.statements.parser import statement_ending
from sqlanon.statements.policies.create_policy import CreatePolicy

# The keys of a config that list columns, and the words of a policy for their role.
_ROLES = {
    "identifiers": "IDENTIFIER",
    "entity": "ENTITY",
    "quasi_identifiers": "QUASI IDENTIFIER",
    "sensitive": "SENSITIVE",
    "insensitive": "INSENSITIVE",
}
_KEYS = (*_ROLES, "hierarchies", "require")
_OF_DBT = tuple(field.name for field in fields(ModelConfig))
# The keys of a config beside these.
_MODEL_KEYS = ("policy", "method", "export")
_ANY_REQUIREMENT = ") REQUIRE k_anonymity(k => 1)"


def require_known_keys(keys: Sequence[str]) -> None:
    """Raises UserError for a key of a model's config that dbt lets pass, and that was meant to say something here.

    One that is of a policy would not count beside it: respondents, say, would not.
    """
    for key in keys:
        if key in _KEYS:
            raise UserError(f"{key} is beside policy in the config of the model", hint=f"write policy={{'{key}': ...}}")
        if key not in (*_MODEL_KEYS, *_OF_DBT) and (near := nearest(key, _MODEL_KEYS)):
            raise UserError(f"{key} is nothing that the config of an anonymized model has", hint=near)


def hierarchies_of_model(name: str, config: object) -> Iterator[CreateHierarchy]:
    """The hierarchies that the config of a model defines, each called after the model and the column."""
    if not isinstance(config, Mapping):
        return
    for column, definition in _mapping("hierarchies", config.get("hierarchies")).items():
        argument = f"policy.hierarchies.{column}"
        text = _text(argument, definition)
        made = cast(CreateHierarchy, statement_ending("CREATE HIERARCHY data AS", text, argument))
        named = replace(made.definition, name=_hierarchy_name(name, column))
        yield replace(made, definition=named, or_replace=True)


def policy_of_model(engine: Engine, name: str, query: str, config: object) -> Policy:
    """The policy on the SELECT of a model: that of its config, or one of the catalog with its source replaced.

    Columns stand in the order of the SELECT. Raises UserError where the config is none, has an unknown key, gives a
    column two roles or requires nothing.
    """
    source = Source(query=query)
    if isinstance(config, str):
        return _of_catalog(engine, name, source, config)
    if not isinstance(config, Mapping):
        hint = "policy={'quasi_identifiers': ['age'], 'require': 'k_anonymity(k => 5)'}, or the name of a policy"
        raise UserError("an anonymized model has a policy in its config", hint=f"write {hint}")
    for key in config:
        if key not in _KEYS:
            hint = nearest(str(key), _KEYS) or f"there are: {', '.join(_KEYS)}"
            raise UserError(f"policy.{key} is nothing that a policy has", hint=hint)
    attributes = _attributes(config)
    positions = {fold(column): number for number, (column, _) in enumerate(engine.columns(query))}
    attributes.sort(key=lambda attribute: positions.get(fold(attribute.name), len(positions)))
    hierarchies = {fold(column): column for column in _mapping("hierarchies", config.get("hierarchies"))}
    named = tuple(_with_hierarchy(name, attribute, hierarchies) for attribute in attributes)
    if hierarchies:
        raise UserError(
            f"policy.hierarchies.{min(hierarchies.values())} is about a column that has no role",
            hint="list the column in quasi_identifiers or sensitive",
        )
    return Policy(name=name, source=source, attributes=named, requirements=tuple(_requirements(config.get("require"))))


def _of_catalog(engine: Engine, name: str, source: Source, catalog_name: str) -> Policy:
    policy = policies.load(engine, catalog_name)
    if policy.pivot or policy.related:
        raise UserError(
            f"the policy {policy.name} has a PIVOT or tables that belong together, and a model is one query"
        )
    return replace(policy, name=name, source=source)


def _attributes(config: Mapping[str, object]) -> list[Attribute]:
    attributes = [attribute for key, words in _ROLES.items() for attribute in _having(key, words, config.get(key))]
    roles: dict[str, Role] = {}
    for attribute in attributes:
        if roles.setdefault(fold(attribute.name), attribute.role) is not attribute.role:
            raise UserError(f"the column {attribute.name} has two roles", hint="a column has one role")
    return attributes


def _having(key: str, words: str, columns: object) -> Iterator[Attribute]:
    """The columns that a key lists, each perhaps with what stands behind its role in a policy."""
    listed = [columns] if isinstance(columns, str) else columns
    clauses = listed if isinstance(listed, Mapping) else dict.fromkeys(_listed(key, listed), "")
    for column, clause in clauses.items():
        argument = f"policy.{key}.{column}"
        text = _text(argument, clause or "") + _ANY_REQUIREMENT
        statement = cast(CreatePolicy, statement_ending(f"CREATE POLICY data ON data (data {words}", text, argument))
        if len(statement.policy.attributes) != 1:
            raise UserError(f"{argument}: {clause!r} is about more than one column")
        yield replace(statement.policy.attributes[0], name=_text(f"policy.{key}", column))


def _with_hierarchy(name: str, attribute: Attribute, hierarchies: dict[str, str]) -> Attribute:
    """The attribute with the hierarchy that the config defines for it, which is taken out of `hierarchies`."""
    column = hierarchies.pop(fold(attribute.name), None)
    if column is None:
        return attribute
    if attribute.hierarchy is not None:
        raise UserError(f"the column {attribute.name} has two hierarchies", hint="leave one out, or USING")
    return replace(attribute, hierarchy=_hierarchy_name(name, column))


def _requirements(require: object) -> Iterator[Requirement]:
    texts = _listed("require", [require] if isinstance(require, str) else require)
    if not texts:
        raise UserError("nothing is required", hint="write 'require': 'k_anonymity(k => 5)'")
    for text in texts:
        yield from requirements_of_text(_text("policy.require", text), "policy.require")


def _hierarchy_name(name: str, column: str) -> str:
    return f"{name}.{column}"


def _listed(key: str, values: object) -> Sequence[object]:
    if values is None:
        return ()
    if not isinstance(values, Sequence):
        raise UserError(
            f"policy.{key} is a list, and not {values!r}",
            hint="write 'require': ['k_anonymity(k => 5)']" if key == "require" else f"write '{key}': ['age']",
        )
    return values


def _mapping(key: str, values: object) -> Mapping[str, object]:
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise UserError(
            f"policy.{key} maps columns to texts, and is {values!r}", hint="write {'age': 'INTERVALS (10)'}"
        )
    return values


def _text(argument: str, value: object) -> str:
    if not isinstance(value, str):
        raise UserError(f"{argument} is a text, and not {value!r}")
    return value
