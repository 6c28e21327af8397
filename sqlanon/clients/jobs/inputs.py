"""What a job reads: its rows tell whether a run would do anything that the last one has not done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

from sqlglot import exp

from sqlanon import __version__
from sqlanon.again.series.respondents import key_check, key_of
from sqlanon.catalog import policies, releases
from sqlanon.catalog.snapshot import fingerprint
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Mask, Policy
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import SqlanonError
from sqlanon.export.signature import key_fingerprint, signing_key
from sqlanon.plugins import plugin_versions
from sqlanon.release.existing.loaded import own_series
from sqlanon.release.existing.objects import fingerprint_of
from sqlanon.sources.bind_policy import hierarchies_of
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import bind_source, qualified
from sqlanon.sql.build.names import relation
from sqlanon.statements.base import PassThrough, Statement
from sqlanon.statements.checks.check_release import CheckRelease
from sqlanon.statements.hierarchies.create_hierarchy import CreateHierarchy
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.create_short_release import CreateShortRelease
from sqlanon.statements.releases.export_release import ExportRelease
from sqlanon.statements.releases.refresh_release import RefreshRelease
from sqlanon.syntax.script import first_keyword

# Statements about a release: what they read is known if the script has made it itself.
_OF_RELEASES = (CheckRelease, ExportRelease)
# What a policy has beside its sources that its own digest covers.
_POLICY_FIELDS = frozenset(
    ("name", "source", "attributes", "requirements", "against", "confidential", "visible", "pivot", "related")
)
_TRANSACTION = ("BEGIN", "START", "COMMIT", "END")


def script_digest(engine: Engine, text: str) -> str:
    """The SHA-256 of a script and of the versions of what runs it: sqlanon, the engine and packages with plug-ins."""
    versions = json.dumps([__version__, engine.version(), plugin_versions()])
    return hashlib.sha256(f"{versions}\n{text}".encode()).hexdigest()


def released_names(engine: Engine, statements: Sequence[Statement]) -> list[QualifiedName]:
    """The full names of the releases that a script makes, each once."""
    names = (each.name for each in statements if isinstance(each, CreateRelease | RefreshRelease))
    return list(dict.fromkeys(qualified(engine, name) for name in names))


def inputs_digest(engine: Engine, statements: Sequence[Statement]) -> str:
    """The SHA-256 of all that a script's statements read; empty where nobody can tell.

    That is so if there are others than those that make hierarchies, policies and releases, and check and export these:
    a query of DuckDB's may read anything, or change it. Where something cannot be read, the statement will say why.
    """
    digest = hashlib.sha256()
    try:
        with engine.transaction(), Scratch(engine) as scratch:
            for part in _Inputs(engine, scratch).parts(statements):
                digest.update(json.dumps(part).encode())
    except (_UnknownError, SqlanonError):
        return ""
    return digest.hexdigest()


class _UnknownError(Exception):
    """Nobody can tell what a statement reads."""


class _Inputs:
    """What statements read, as texts that are equal where it is."""

    def __init__(self, engine: Engine, scratch: Scratch) -> None:
        self._engine, self._scratch = engine, scratch
        # The folded names of what the script makes itself.
        self._own_policies: set[str] = set()
        self._own_hierarchies: set[str] = set()
        self._own_releases: set[tuple[str, ...]] = set()

    def parts(self, statements: Sequence[Statement]) -> Iterator[list[str]]:
        for statement in statements:
            yield from self._of_statement(statement)

    def _of_statement(self, statement: Statement) -> Iterator[list[str]]:
        match statement:
            case CreateHierarchy(if_not_exists=True) | CreatePolicy(if_not_exists=True):
                # What is there already may be another one.
                raise _UnknownError
            case CreateHierarchy(definition=definition):
                self._own_hierarchies.add(fold(definition.name))
                if definition.query:
                    yield self._rows(Source(query=definition.query))
            case CreatePolicy(policy=policy):
                self._own_policies.add(fold(policy.name))
                yield from self._of_policy(policy)
            case CreateShortRelease(if_not_exists=False, definition=policy):
                self._own_policies.add(fold(policy.name))
                yield from self._of_policy(policy)
                yield from self._of_release(statement.name, policy.name, None, None)
            case CreateShortRelease():
                raise _UnknownError
            case CreateRelease(policy=name):
                yield from self._of_release(statement.name, name, statement.series, statement.levels_from)
            case RefreshRelease(name=name):
                release = releases.load(self._engine, qualified(self._engine, name))
                series = own_series(self._engine, release)
                yield from self._of_release(name, release.policy, series, statement.levels_from)
            case PassThrough(text=text):
                if first_keyword(text) not in _TRANSACTION:
                    raise _UnknownError
            case _:
                if isinstance(statement, ExportRelease) and statement.sign_key is not None:
                    yield [key_fingerprint(signing_key(statement.sign_key))]
                if not isinstance(statement, _OF_RELEASES) or self._name(statement.name) not in self._own_releases:
                    raise _UnknownError

    def _name(self, release: QualifiedName) -> tuple[str, ...]:
        return tuple(fold(str(part)) for part in qualified(self._engine, release).parts)

    def _of_release(
        self, name: QualifiedName, policy: str, series: str | None, levels: QualifiedName | None
    ) -> Iterator[list[str]]:
        """What a release of a policy reads that the script has not made itself."""
        self._own_releases.add(self._name(name))
        if series is not None:
            # What a release of a series may tell depends on all earlier ones.
            raise _UnknownError
        if levels is not None:
            yield [releases.load(self._engine, qualified(self._engine, levels)).levels]
        if fold(policy) not in self._own_policies:
            yield from self._of_policy(policies.load(self._engine, policy))

    def _of_policy(self, policy: Policy) -> Iterator[list[str]]:
        """The rows of a policy's tables, and checks of the keys of its pseudonyms.

        A policy of a kind that this does not know is read each time.
        """
        if {field.name for field in fields(policy) if getattr(policy, field.name)} - _POLICY_FIELDS:
            raise _UnknownError
        if any(isinstance(a.pseudonym, Mask) and a.pseudonym.name == "choice" for a in policy.all_attributes):
            # Its masks are in another table.
            raise _UnknownError
        # The script makes its own hierarchies first.
        foreign = [a for a in policy.all_attributes if fold(a.hierarchy or "") not in self._own_hierarchies]
        stored = hierarchies_of(self._engine, replace(policy, attributes=tuple(foreign), related=()))
        yield [fingerprint(policy, list(stored.values()))]
        for variable in _key_variables(policy):
            yield [key_check(key_of(policy.name, variable, "pseudonyms"))]
        for source in (*policy.sources, *([policy.against] if policy.against else ()), *self._of_requirements(policy)):
            yield self._rows(source)

    def _of_requirements(self, policy: Policy) -> Iterator[Source]:
        """The tables that requirements name."""
        for requirement in policy.requirements:
            for _, value in requirement.arguments:
                if isinstance(value, QualifiedName) and find_relation(self._engine, value):
                    yield Source(name=value)

    def _rows(self, source: Source) -> list[str]:
        """The columns of a table or a query, with their types, and the fingerprint of its rows."""
        bound = bind_source(self._engine, source, self._scratch, copy=False)
        rows = exp.select(exp.Star()).from_(relation(bound.relation))
        return [*(f"{name} {kind}" for name, kind in bound.columns), fingerprint_of(self._engine, rows)]


def _key_variables(policy: Policy) -> Iterator[str]:
    """The environment variables that hold the keys of a policy's pseudonyms."""
    for attribute in policy.all_attributes:
        if attribute.pseudonym is not None and attribute.pseudonym.key_variable is not None:
            yield attribute.pseudonym.key_variable
