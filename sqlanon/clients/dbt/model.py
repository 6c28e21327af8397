"""A dbt model that is a release: dbt runs `publish` on its own connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, cast

from dbt.adapters.events.logging import AdapterLogger
from dbt.artifacts.resources import ModelConfig

from sqlanon import __version__
from sqlanon.catalog import policies, releases
from sqlanon.clients.api.text_arguments import requirements_of_text
from sqlanon.clients.dbt import ONE_AT_A_TIME, connection_of
from sqlanon.domain.identifiers import fold, nearest, same_name
from sqlanon.domain.policy import Attribute, Policy, Requirement, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.statement_memo import current_database
from sqlanon.errors import SqlanonError, UserError
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import own_object, qualified
from sqlanon.sql.build.render import drop_object
from sqlanon.statements.base import Answer
from sqlanon.statements.hierarchies.create_hierarchy import CreateHierarchy
from sqlanon.statements.parser import statement_ending
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.export_release import ExportRelease
from sqlanon.statements.run import run_statement
from sqlanon.syntax.query_text import query_text

_LOG = AdapterLogger("sqlanon")


def publish(connection: Any, settings: Mapping[str, Any]) -> None:
    """Makes or replaces the release of a model's SELECT, and exports it if the config has a path for the export.

    `connection` is the connection that dbt-duckdb passes to a Python model; `settings` are gathered by the macro
    `sqlanon_settings`. Raises an error that dbt prints; in this case nothing is published, unless only the export
    failed.
    """
    with _errors_of_model():
        _require_same_version(settings["macros"])
        require_known_keys(settings["keys"])
        _require_export(settings["export"])
        engine = DuckDBEngine(connection_of(connection).duckdb)
        with ONE_AT_A_TIME:
            with engine.transaction():
                answer = _release(engine, settings)
            _log(answer)
            if settings["export"]:
                _export(engine, settings)


def _release(engine: Engine, settings: Mapping[str, Any]) -> Answer:
    _require_own_database(engine, settings["database"])
    name, policy_name = _name(settings), f"dbt.{settings['schema']}.{settings['identifier']}"
    create = _create(settings["method"], settings.get("choose_method"), name, policy_name)
    if settings["full_refresh"]:
        _drop_what_is_no_release(engine, name)
    for hierarchy in hierarchies_of_model(policy_name, settings["policy"]):
        run_statement(engine, hierarchy)
    policy = policy_of_model(engine, policy_name, query_text(settings["source"]), settings["policy"])
    run_statement(engine, CreatePolicy(policy, or_replace=True))
    answer = run_statement(engine, create)
    if find_relation(engine, own_object(engine, name)) is None:
        raise UserError(
            f"{create.method.name} publishes several tables, but a dbt model is one table",
            hint="take another method, or make the release in a Python model",
        )
    return answer


def _create(method: object, choose_method: object, name: QualifiedName, policy: str) -> CreateRelease:
    """Returns the statement of a model. If its config has no method, methods are compared as in the statement."""
    if not isinstance(choose_method, bool | None):
        raise UserError(f"choose_method must be true or false, not {choose_method!r}")
    if method and choose_method:
        raise UserError(
            "choose_method compares methods, but the config also names a method", hint="leave one of the two out"
        )
    if not method:
        return CreateRelease("table", name, policy, or_replace=True, choose_method=bool(choose_method))
    if not isinstance(method, str):
        raise UserError(f"method must be a text, such as generalization(suppression => 0.02), not {method!r}")
    statement = statement_ending("CREATE ANONYMIZED TABLE data AS POLICY data METHOD", method, "method")
    return replace(cast(CreateRelease, statement), name=name, policy=policy, or_replace=True)


def _drop_what_is_no_release(engine: Engine, name: QualifiedName) -> None:
    """Drops a table or a view that dbt made earlier from the model and that is not a release."""
    existing = find_relation(engine, own_object(engine, name))
    if existing is not None and releases.find(engine, qualified(engine, name)) is None:
        kind, full = existing
        engine.run(drop_object(kind, full))


def _require_export(path: object) -> None:
    if path is not None and not isinstance(path, str):
        raise UserError(
            f"export must be the path of a folder or a file, not {path!r}", hint="write export='published/visits'"
        )


def _export(engine: Engine, settings: Mapping[str, Any]) -> None:
    """Writes the release and its certificate to files, which replace an earlier export."""
    run_statement(engine, ExportRelease(_name(settings), settings["export"], replace=True))


def _log(answer: Answer) -> None:
    """Writes the figures of the release to dbt's log, and its warning and remarks as warnings."""
    columns = [column for column, _ in answer.columns]
    rows = [dict(zip(columns, row, strict=True)) for row in answer.rows]
    for row in rows[:1]:
        _LOG.info(f"{row['release']}: {row['released_rows']} rows are published, {row['suppressed_rows']} are left out")
        if row["method"]:
            method, _, why = row["method"].partition("\n")[0].partition(": ")
            _LOG.info(f"{row['release']}: the method is {method}: {why}")
        if row["levels"]:
            _LOG.info(f"{row['release']}: the levels are {row['levels']}, where 0 is the value itself")
    for row in rows:
        if row["achieved"] is not None:
            _LOG.info(f"{row['release']}: {row['requirement']} is {row['achieved']}, required {row['required']}")
    for row in rows[:1]:
        for text in filter(None, (row["warning"], row["remarks"])):
            _LOG.warning(f"{row['release']}: {text}")


def _name(settings: Mapping[str, Any]) -> QualifiedName:
    return QualifiedName((settings["database"], settings["schema"], settings["identifier"]))


def _require_own_database(engine: Engine, database: str) -> None:
    current = current_database(engine)
    if not same_name(database, current):
        raise UserError(
            f"the config puts the model into the database {database}, but releases are made in {current}, where their "
            "catalog is",
            hint="leave database out of the config of the model",
        )


def _require_same_version(macros: str) -> None:
    if macros != __version__:
        raise UserError(
            f"the macros of this project were written by sqlanon {macros}, but sqlanon {__version__} is installed",
            hint="run `sqlanon dbt install` in the folder of the project",
        )


@contextmanager
def _errors_of_model() -> Iterator[None]:
    """Raises an error without its traceback, so that dbt prints only the message."""
    try:
        yield
    except SqlanonError as error:
        kind = type(type(error).__name__, (Exception,), {"__module__": "sqlanon", "__traceback__": None})
        raise kind(str(error)) from None


# The policy of a model, from its config: the roles of the SELECT's columns, and the requirements.

# The keys of a config that list columns, and the role of these columns as a policy writes it.
_ROLES = {
    "identifiers": "IDENTIFIER",
    "entity": "ENTITY",
    "quasi_identifiers": "QUASI IDENTIFIER",
    "sensitive": "SENSITIVE",
    "insensitive": "INSENSITIVE",
}
_KEYS = (*_ROLES, "hierarchies", "require")
_OF_DBT = tuple(field.name for field in fields(ModelConfig))
# The other keys of a config.
_MODEL_KEYS = ("policy", "method", "choose_method", "export")
_ANY_REQUIREMENT = ") REQUIRE k_anonymity(k => 1)"


def require_known_keys(keys: Sequence[str]) -> None:
    """Raises UserError for a key of a model's config that dbt ignores and that was probably meant for sqlanon.

    A config with `policy` must not have other keys about a policy, because they would have no effect.
    """
    for key in keys:
        if key in _KEYS:
            raise UserError(
                f"{key} belongs inside policy in the config of the model", hint=f"write policy={{'{key}': ...}}"
            )
        if key not in (*_MODEL_KEYS, *_OF_DBT) and (near := nearest(key, _MODEL_KEYS)):
            raise UserError(f"{key} is not an option of an anonymized model", hint=near)


def hierarchies_of_model(name: str, config: object) -> Iterator[CreateHierarchy]:
    """Yields the hierarchies that a model's config defines; each is named after the model and the column."""
    if not isinstance(config, Mapping):
        return
    for column, definition in _mapping("hierarchies", config.get("hierarchies")).items():
        argument = f"policy.hierarchies.{column}"
        text = _text(argument, definition)
        made = cast(CreateHierarchy, statement_ending("CREATE HIERARCHY data AS", text, argument))
        named = replace(made.definition, name=_hierarchy_name(name, column))
        yield replace(made, definition=named, or_replace=True)


def policy_of_model(engine: Engine, name: str, query: str, config: object) -> Policy:
    """Returns the policy on a model's SELECT: the policy in its config, or a policy of the catalog with another source.

    Columns have the order of the SELECT. Raises UserError if the config is not a policy, has an unknown key, gives a
    column two roles, or has no requirements.
    """
    source = Source(query=query)
    if isinstance(config, str):
        return _of_catalog(engine, name, source, config)
    if not isinstance(config, Mapping):
        hint = "policy={'quasi_identifiers': ['age'], 'require': 'k_anonymity(k => 5)'}, or the name of a policy"
        raise UserError("an anonymized model needs a policy in its config", hint=f"write {hint}")
    for key in config:
        if key not in _KEYS:
            hint = nearest(str(key), _KEYS) or f"there are: {', '.join(_KEYS)}"
            raise UserError(f"policy.{key} is not a part of a policy", hint=hint)
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
        raise UserError(f"the policy {policy.name} has a PIVOT or related tables, but a dbt model is one query")
    return replace(policy, name=name, source=source)


def _attributes(config: Mapping[str, object]) -> list[Attribute]:
    attributes = [attribute for key, words in _ROLES.items() for attribute in _having(key, words, config.get(key))]
    roles: dict[str, Role] = {}
    for attribute in attributes:
        if roles.setdefault(fold(attribute.name), attribute.role) is not attribute.role:
            raise UserError(f"the column {attribute.name} has two roles", hint="a column has one role")
    return attributes


def _having(key: str, words: str, columns: object) -> Iterator[Attribute]:
    """Yields the columns that a config key lists, with the role `words`; a column may map to further clauses of its
    role.
    """
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
    """Returns the attribute with the hierarchy that the config defines for it, and removes it from `hierarchies`."""
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
            f"policy.{key} must be a list, not {values!r}",
            hint="write 'require': ['k_anonymity(k => 5)']" if key == "require" else f"write '{key}': ['age']",
        )
    return values


def _mapping(key: str, values: object) -> Mapping[str, object]:
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise UserError(
            f"policy.{key} must map columns to texts, and is {values!r}", hint="write {'age': 'INTERVALS (10)'}"
        )
    return values


def _text(argument: str, value: object) -> str:
    if not isinstance(value, str):
        raise UserError(f"{argument} must be a text, not {value!r}")
    return value
