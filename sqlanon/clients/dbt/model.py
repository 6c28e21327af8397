"""A model that is a release: what dbt runs of it, on its own connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from dbt.adapters.events.logging import AdapterLogger

from sqlanon import __version__
from sqlanon.catalog import releases
from sqlanon.clients.dbt import ONE_AT_A_TIME, connection_of
from sqlanon.clients.dbt.model_policy import hierarchies_of_model, policy_of_model, require_known_keys
from sqlanon.domain.identifiers import same_name
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.statement_memo import current_database
from sqlanon.errors import SqlanonError, UserError
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import own_object, qualified
from sqlanon.sql.build.ddl import drop_object
from sqlanon.statements.base import Answer
from sqlanon.statements.parser import statement_ending
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.export_release import ExportRelease
from sqlanon.statements.run import run_statement
from sqlanon.syntax.query_text import query_text

_LOG = AdapterLogger("sqlanon")
_DEFAULT_METHOD = "generalization"


def publish(connection: Any, settings: Mapping[str, Any]) -> None:
    """Makes the release of a model from the model's SELECT, or replaces it, and exports it if the config says so.

    `connection` is what dbt-duckdb gives to a Python model, `settings` what the macro `sqlanon_settings` has gathered.
    Raises what dbt prints of an error: nothing is published then, unless it is the export that failed.
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
    create = _create(settings["method"], name, policy_name)
    if settings["full_refresh"]:
        _drop_what_is_no_release(engine, name)
    for hierarchy in hierarchies_of_model(policy_name, settings["policy"]):
        run_statement(engine, hierarchy)
    policy = policy_of_model(engine, policy_name, query_text(settings["source"]), settings["policy"])
    run_statement(engine, CreatePolicy(policy, or_replace=True))
    answer = run_statement(engine, create)
    if find_relation(engine, own_object(engine, name)) is None:
        raise UserError(
            f"{create.method.name} publishes several tables, and a model is one",
            hint="take another method, or make the release in a Python model",
        )
    return answer


def _create(method: object, name: QualifiedName, policy: str) -> CreateRelease:
    text = method or _DEFAULT_METHOD
    if not isinstance(text, str):
        raise UserError(f"method is a text, such as generalization(suppression => 0.02), and not {text!r}")
    statement = statement_ending("CREATE ANONYMIZED TABLE data AS POLICY data METHOD", text, "method")
    return replace(cast(CreateRelease, statement), name=name, policy=policy, or_replace=True)


def _drop_what_is_no_release(engine: Engine, name: QualifiedName) -> None:
    """Drops what dbt has made of the model before, as a table or a view."""
    existing = find_relation(engine, own_object(engine, name))
    if existing is not None and releases.find(engine, qualified(engine, name)) is None:
        kind, full = existing
        engine.run(drop_object(kind, full))


def _require_export(path: object) -> None:
    if path is not None and not isinstance(path, str):
        raise UserError(
            f"export is the path of a folder or a file, and not {path!r}", hint="write export='published/visits'"
        )


def _export(engine: Engine, settings: Mapping[str, Any]) -> None:
    """Writes the release to files, with its certificate, in place of an earlier export."""
    run_statement(engine, ExportRelease(_name(settings), settings["export"], replace=True))


def _log(answer: Answer) -> None:
    """Says in dbt's log what the release reaches and, as warnings, what its readers may put together."""
    columns = [column for column, _ in answer.columns]
    rows = [dict(zip(columns, row, strict=True)) for row in answer.rows]
    for row in rows[:1]:
        _LOG.info(f"{row['release']}: {row['released_rows']} rows are published, {row['suppressed_rows']} are left out")
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
            f"the model is to be in the database {database}, and releases are made in {current}, beside their catalog",
            hint="leave database out of the config of the model",
        )


def _require_same_version(macros: str) -> None:
    if macros != __version__:
        raise UserError(
            f"the macros of this project are of sqlanon {macros}, and sqlanon {__version__} is installed",
            hint="run `sqlanon dbt install` in the folder of the project",
        )


@contextmanager
def _errors_of_model() -> Iterator[None]:
    """Has dbt print an error's message alone: it prints the frames of a traceback, and none of them says more."""
    try:
        yield
    except SqlanonError as error:
        kind = type(type(error).__name__, (Exception,), {"__module__": "sqlanon", "__traceback__": None})
        raise kind(str(error)) from None
