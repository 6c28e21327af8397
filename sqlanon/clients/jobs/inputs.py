"""Reads the inputs and outputs of a job, which show whether a run would do anything new, and archives its exports."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

from sqlglot import exp

from sqlanon import __version__
from sqlanon.catalog import policies, releases
from sqlanon.catalog.snapshot import fingerprint
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Mask, Policy
from sqlanon.domain.release import Release
from sqlanon.domain.series import FinishedJob
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Engine
from sqlanon.engines.postgres_url import is_database_url
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import SqlanonError, UserError
from sqlanon.export.formats.base import suffixes
from sqlanon.export.layout import content_names, file_hash, local_path, names_of_export, report_path
from sqlanon.export.opening import export_at
from sqlanon.export.signature import key_fingerprint, signing_key
from sqlanon.plugins import plugin_versions
from sqlanon.release.existing.loaded import own_series
from sqlanon.release.existing.objects import fingerprint_of, has_checked_rows, require_own_columns
from sqlanon.republication.series.respondents import key_check, key_of
from sqlanon.sources.bind_policy import hierarchies_of
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import bind_source, qualified
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.queries import select
from sqlanon.statements.base import PassThrough, Statement
from sqlanon.statements.checks.check_release import CheckRelease
from sqlanon.statements.hierarchies.create_hierarchy import CreateHierarchy
from sqlanon.statements.policies.create_policy import CreatePolicy
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.create_short_release import CreateShortRelease
from sqlanon.statements.releases.export_release import ExportRelease
from sqlanon.statements.releases.refresh_release import RefreshRelease
from sqlanon.syntax.script import first_keyword

# Statements about a release. Their input is known if the script itself makes that release.
_OF_RELEASES = (CheckRelease, ExportRelease)
# The parts of a policy that `_of_policy` covers; a policy with any other part is not compared.
_POLICY_FIELDS = frozenset(
    ("name", "source", "attributes", "requirements", "against", "confidential", "visible", "pivot", "related")
)
_TRANSACTION = ("BEGIN", "START", "COMMIT", "END")


def script_digest(engine: Engine, text: str) -> str:
    """Returns the SHA-256 of a script and of the versions that run it: sqlanon, the engine and plug-in packages."""
    versions = json.dumps([__version__, engine.version(), plugin_versions()])
    return hashlib.sha256(f"{versions}\n{text}".encode()).hexdigest()


def released_names(engine: Engine, statements: Sequence[Statement]) -> list[QualifiedName]:
    """Returns the full names of the releases that a script makes, without repetition."""
    names = (each.name for each in statements if isinstance(each, CreateRelease | RefreshRelease))
    return list(dict.fromkeys(qualified(engine, name) for name in names))


def inputs_digest(engine: Engine, statements: Sequence[Statement]) -> str:
    """Returns the SHA-256 of everything that a script's statements read; an empty text if that cannot be known.

    It cannot be known if the script has statements besides those that make hierarchies, policies and releases, and that
    check and export releases, because DuckDB's own statements may read or change anything. The text is also empty if
    something cannot be read; the statement then reports the error.
    """
    digest = hashlib.sha256()
    try:
        with engine.transaction(), TempTables(engine) as temp:
            for part in _Inputs(engine, temp).parts(statements):
                digest.update(json.dumps(part).encode())
    except (_UnknownError, SqlanonError):
        return ""
    return digest.hexdigest()


class _UnknownError(Exception):
    """Raised when the input of a statement cannot be known."""


class _Inputs:
    """The inputs of statements, as texts that are equal if the inputs are equal."""

    def __init__(self, engine: Engine, temp: TempTables) -> None:
        self._engine, self._temp = engine, temp
        # The folded names of objects that the script makes itself.
        self._own_policies: set[str] = set()
        self._own_hierarchies: set[str] = set()
        self._own_releases: set[tuple[str, ...]] = set()

    def parts(self, statements: Sequence[Statement]) -> Iterator[list[str]]:
        for statement in statements:
            yield from self._of_statement(statement)

    def _of_statement(self, statement: Statement) -> Iterator[list[str]]:
        match statement:
            case CreateHierarchy(if_not_exists=True) | CreatePolicy(if_not_exists=True):
                # An existing object may have another definition.
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
        """Yields the inputs of a release. The policy's own inputs are left out if the script makes the policy."""
        self._own_releases.add(self._name(name))
        if series is not None:
            # A release of a series depends on all earlier releases of the series.
            raise _UnknownError
        if levels is not None:
            yield [releases.load(self._engine, qualified(self._engine, levels)).levels]
        if fold(policy) not in self._own_policies:
            yield from self._of_policy(policies.load(self._engine, policy))

    def _of_policy(self, policy: Policy) -> Iterator[list[str]]:
        """Yields the definition of a policy, the checks of its keys, and the rows of each table that it reads.

        Raises _UnknownError for a policy with parts that are not compared.
        """
        if {field.name for field in fields(policy) if getattr(policy, field.name)} - _POLICY_FIELDS:
            raise _UnknownError
        if any(isinstance(a.pseudonym, Mask) and a.pseudonym.name == "choice" for a in policy.all_attributes):
            # The masks come from another table.
            raise _UnknownError
        # Hierarchies that the script makes itself are inputs already.
        foreign = [a for a in policy.all_attributes if fold(a.hierarchy or "") not in self._own_hierarchies]
        stored = hierarchies_of(self._engine, replace(policy, attributes=tuple(foreign), related=()))
        yield [fingerprint(policy, list(stored.values()))]
        for variable in _key_variables(policy):
            yield [key_check(key_of(policy.name, variable, "pseudonyms"))]
        for source in (*policy.sources, *([policy.against] if policy.against else ()), *self._of_requirements(policy)):
            yield self._rows(source)

    def _of_requirements(self, policy: Policy) -> Iterator[Source]:
        """Yields the tables that requirements name."""
        for requirement in policy.requirements:
            for _, value in requirement.arguments:
                if isinstance(value, QualifiedName) and find_relation(self._engine, value):
                    yield Source(name=value)

    def _rows(self, source: Source) -> list[str]:
        """Returns the columns of a table or a query with their types, and the fingerprint of its rows."""
        bound = bind_source(self._engine, source, self._temp, copy=False)
        rows = select(exp.Star(), of=relation(bound.relation))
        return [*(f"{name} {kind}" for name, kind in bound.columns), fingerprint_of(self._engine, rows)]


def _key_variables(policy: Policy) -> Iterator[str]:
    """Yields the environment variables with the keys of a policy's pseudonyms."""
    for attribute in policy.all_attributes:
        if attribute.pseudonym is not None and attribute.pseudonym.key_variable is not None:
            yield attribute.pseudonym.key_variable


# The outputs of a job, and whether they are unchanged.


@dataclass(frozen=True)
class Outputs:
    """The releases of a job that still exist unchanged, and the SHA-256 of the files that it exports.

    `exported` is None if a file differs from its certificate or cannot be compared.
    """

    releases: tuple[Release, ...]
    exported: str | None

    def recorded(self, job: FinishedJob) -> FinishedJob:
        """Returns the job as it would be recorded with these releases and exports."""
        made = tuple((str(release.name), release.release_id) for release in self.releases)
        return replace(job, releases=made, exported=self.exported or "")

    def are_of(self, last: FinishedJob) -> bool:
        """Whether these releases and exports are those that the last run made."""
        return self.exported is not None and self.recorded(last) == last


def outputs_of(engine: Engine, statements: Sequence[Statement], names: Sequence[QualifiedName]) -> Outputs:
    """Finds the outputs of a script; `names` are its releases. Each output is read once."""
    return Outputs(tuple(_standing_releases(engine, names)), _exported(engine, statements))


def _standing_releases(engine: Engine, names: Sequence[QualifiedName]) -> Iterator[Release]:
    for name in names:
        # The release is gone, or another object has its name: the job has to make it again.
        with suppress(SqlanonError):
            release = releases.load(engine, name)
            require_own_columns(engine, release)
            if has_checked_rows(engine, release):
                yield release


def _exported(engine: Engine, statements: Sequence[Statement]) -> str | None:
    digest = hashlib.sha256()
    for statement in statements:
        if not isinstance(statement, ExportRelease):
            continue
        if is_database_url(statement.path):
            # Comparing it would mean to read all rows, which takes as long as a new export.
            return None
        path = local_path(statement.path)
        try:
            export_at(engine, path, tuple(suffixes().values()))
            folder = path if path.is_dir() else path.parent
            files = content_names(path) if path.is_dir() else set(names_of_export(path))
            hashes = [[name, file_hash(folder / name)] for name in sorted(files)]
            hashes += [["report", file_hash(report_path(statement.path))]] if statement.report else []
            digest.update(json.dumps(hashes).encode())
        except (SqlanonError, OSError):
            return None
    return digest.hexdigest()


# The archive of a job's exports, a folder for each run; the oldest folders are removed.


_TIMESTAMP = re.compile(r"\d{8}T\d{6}\.\d{6}Z")
_UNFINISHED = ".unfinished-"


def archived(engine: Engine, statements: Sequence[Statement], folder: Path) -> Path | None:
    """Copies the files that a script exports into a new folder, named by the timestamp; returns None if it does not
    export any.

    The copies are compared with their certificates before the folder gets its name. Raises UserError for an export that
    cannot be copied, and PrivacyViolation for a copy that differs from its certificate.
    """
    exports = [each.path for each in statements if isinstance(each, ExportRelease)]
    paths = [local_path(path) for path in exports if not is_database_url(path)]
    if not paths:
        return None
    timestamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    unfinished = folder / f"{_UNFINISHED}{timestamp}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left)
        unfinished.mkdir()
        for path in dict.fromkeys(paths):
            export_at(engine, _copied(path, unfinished), tuple(suffixes().values()))
        unfinished.rename(folder / timestamp)
    except OSError as error:
        raise UserError(f"the export cannot be copied to {folder}: {error.strerror}") from None
    return folder / timestamp


def _copied(path: Path, folder: Path) -> Path:
    """Copies an export, a folder or a data file with its certificates, and returns the path of the copy."""
    target = folder / path.name
    if os.path.lexists(target):
        raise UserError(f"two exports are called {path.name}", hint="archive exports of different names")
    if path.is_dir():
        shutil.copytree(path, target)
        return target
    for name in names_of_export(path):
        shutil.copy2(path.with_name(name), folder / name)
    return target


def remove_oldest(run: Path, most: int) -> list[Path]:
    """Removes earlier runs from the folder of `run` until it has `most` of them; returns the removed runs.

    `run` itself always stays. Runs with a later timestamp were archived before the clock was set back, so they are
    removed first. Only folders that `archived` named are removed. Raises UserError for a folder that cannot be removed.
    """
    folder = run.parent
    earlier = (path for path in folder.glob("*") if path.is_dir() and _TIMESTAMP.fullmatch(path.name) and path != run)
    in_order = sorted(earlier, key=lambda path: (path.name < run.name, path.name))
    oldest = in_order[: max(len(in_order) + 1 - most, 0)]
    try:
        for path in oldest:
            shutil.rmtree(path)
    except OSError as error:
        raise UserError(f"{folder} has runs that cannot be removed: {error.strerror}") from None
    return oldest
