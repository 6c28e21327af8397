"""Rooms from exports: a folder of exports, each of which is verified before any part of it is served."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from sqlanon.clients.serve.children import Children, error_in
from sqlanon.clients.serve.rooms import RoomTables
from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import InternalError, InUseError, SqlanonError, UserError

_MODULE = "sqlanon.clients.serve.exports_main"
_CERTIFICATE = "certificate.json"
_BESIDE = ".certificate.json"
_NAME_A_FOLDER = "name a folder that EXPORT wrote, or the folder above it"
_SUFFIXES = (".parquet", ".duckdb", ".db")
# Files that a door or its owner may write beside an export while it is served: the audit, and the readers.
_OTHERS = (".jsonl", ".toml")
# EXPORT renames a few files within milliseconds, and a verification takes at least a second.
_ATTEMPTS, _PAUSE_SECONDS = 5, 0.1
# Every release of an export is in the schema main of its room.
SCHEMA = "main"


@dataclass(frozen=True)
class _Known:
    """The result of verifying an export in this state: its facts, or the error."""

    state: str
    facts: dict[str, Any]
    error: SqlanonError | None


class Exports:
    """The exports at a path: one export, or a folder of exports. `key` is the public key of the required signer.

    An export is verified again when one of its files has changed. At first all exports have to pass. Later an export
    that fails is no longer served, while the others are; `report` is called once with its error.
    """

    def __init__(
        self, path: Path, children: Children, key: Path | None = None, report: Callable[[str], None] = lambda text: None
    ) -> None:
        self._path = path
        self._key = key
        self._children = children
        self._report = report
        self._lock = threading.Lock()
        # By the path of each export, the oldest first.
        self._known: dict[str, _Known] = {}
        self._is_begun = False
        self._reported: dict[str, str] = {}

    def version(self) -> str:
        """Returns a digest of the names, sizes and times of all files. Raises UserError if they cannot be read."""
        states = self._states()
        return hashlib.sha256(json.dumps(sorted(states.items())).encode()).hexdigest()[:16]

    def releases(self) -> frozenset[QualifiedName]:
        """Returns the releases of all exports that pass their verification.

        The first call raises PrivacyViolation or UserError if an export fails. Raises InUseError while exports are
        being changed.
        """
        return frozenset(self._all())

    def fill(self, path: Path, grants: frozenset[QualifiedName]) -> Mapping[QualifiedName, RoomTables]:
        """Writes a room, a new DuckDB file, with these granted releases.

        Raises InUseError if the files have changed since their verification; the next attempt may have other releases.
        """
        listed = self._all()
        if missing := grants - listed.keys():
            raise InUseError(f"{min(map(str, missing))} is no longer exported")
        exports = [listed[name] for name in sorted(grants, key=str)]
        try:
            answer = self._children.ask(_MODULE, {"do": "fill", "room": str(path), "exports": exports})
        except SqlanonError:
            with self._lock:
                for export in exports:
                    self._known.pop(export["path"], None)
            now = self._all()
            if [now.get(name) for name in sorted(grants, key=str)] != exports:
                raise InUseError("the exports were changed while they were copied", hint="try again") from None
            raise
        return {name: tuple(map(_table, answer["tables"][str(name)])) for name in grants}

    def _all(self) -> dict[QualifiedName, dict[str, Any]]:
        """Returns the facts of each release that may be served. Exports that have changed are verified first."""
        with self._lock:
            self._look()
            served: dict[QualifiedName, dict[str, Any]] = {}
            errors: dict[str, SqlanonError] = {}
            taken: dict[str, str] = {}
            for path, known in self._known.items():
                names = {fold(name) for name in (known.facts["release"], *known.facts["tables"])} if known.facts else ()
                if known.error is not None:
                    errors[path] = known.error
                elif clash := sorted(taken.keys() & names):
                    errors[path] = UserError(
                        f"{path} and {taken[clash[0]]} both have a release or a table {clash[0]}",
                        hint="serve one of them, or export one under another name",
                    )
                else:
                    taken |= dict.fromkeys(names, path)
                    served[_table(known.facts["release"])] = known.facts
            if not self._is_begun:
                for error in errors.values():
                    raise error
                if not served:
                    raise UserError(f"{self._path} has no export", hint=_NAME_A_FOLDER)
                self._is_begun = True
            self._tell({path: error.message for path, error in errors.items()})
            return served

    def _look(self) -> None:
        """Verifies the exports that have changed. Raises InUseError if they change during each attempt."""
        for _ in range(_ATTEMPTS):
            states = self._states()
            changed = [path for path, state in states.items() if self._state_of(path) != state]
            facts = self._verified(changed) if changed else {}
            if changed and self._states() != states:
                # An export was just replaced, and files of both may have been read.
                continue
            for path in self._known.keys() - states.keys():
                self._report(f"{path} is no longer served: it no longer exists")
                del self._known[path]
            for path in changed:
                answer = facts[path]
                error = answer if isinstance(answer, SqlanonError) else None
                self._known[path] = _Known(states[path], {} if error else answer, error)
            return
        raise InUseError("the exports are being changed", hint="try again")

    def _state_of(self, path: str) -> str | None:
        return self._known[path].state if path in self._known else None

    def _verified(self, paths: list[str]) -> dict[str, Any]:
        """Returns the facts of each export, or the error with which it fails."""
        key = None if self._key is None else str(self._key)
        try:
            answer = self._children.ask(_MODULE, {"do": "verify", "paths": paths, "key": key})
        except InternalError as error:
            if len(paths) == 1:
                return {paths[0]: error}
            # One of them has ended the process: each gets a process of its own.
            return {path: facts for each in paths for path, facts in self._verified([each]).items()}
        return {each["path"]: error_in(each) or each for each in answer["exports"]}

    def _tell(self, errors: dict[str, str]) -> None:
        """Reports each error once, until the export has another one or none."""
        for path, message in errors.items():
            if self._reported.get(path) != message:
                about = message if path in message else f"{path}: {message}"
                self._report(f"an export is no longer served: {about}")
        self._reported = errors

    def _states(self) -> dict[str, str]:
        """Returns a digest of names, sizes and times for each export. Raises UserError if they cannot be read."""
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(_PAUSE_SECONDS)
            try:
                return {str(export): _state(export) for export in export_files(self._path)}
            except OSError:
                # A file was renamed meanwhile.
                continue
        raise UserError(f"{self._path} cannot be read, or is being changed")


def _state(export: Path) -> str:
    """Returns a digest of the names, sizes and times of the files of an export."""
    digest = hashlib.sha256()
    pattern = "**/*" if export.name == _CERTIFICATE else f"{escape(export.name)}*"
    for file in sorted(export.parent.glob(pattern)):
        if file.suffix not in _OTHERS:
            status = file.stat()
            digest.update(json.dumps([str(file), status.st_size, status.st_mtime_ns, status.st_ino]).encode())
    return digest.hexdigest()


def export_files(path: Path) -> list[Path]:
    """Returns the certificate or the data file of each export at a path. Raises UserError if there is nothing at the
    path.
    """
    path = path.resolve()
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UserError(f"there is no file or folder {path}", hint=f"{_NAME_A_FOLDER}, or a database")
    if (path / _CERTIFICATE).is_file():
        return [path / _CERTIFICATE]
    exports = []
    certified = {each.name.removesuffix(_BESIDE) for each in path.glob(f"*{_BESIDE}")}
    for each in sorted(path.iterdir()):
        if each.name.startswith("."):
            continue
        if each.is_dir():
            if (each / _CERTIFICATE).is_file():
                exports.append(each / _CERTIFICATE)
        elif each.name in certified or each.suffix.lower() in _SUFFIXES:
            exports.append(each)
    return exports


def _table(name: str) -> QualifiedName:
    return QualifiedName((SCHEMA, name))
