"""Rooms from exports: a folder of exports, each of which is verified before any part of it is served."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlanon.clients.serve.children import Children
from sqlanon.clients.serve.rooms import RoomTables
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import UserError

_MODULE = "sqlanon.clients.serve.exports_main"
_CERTIFICATE = "certificate.json"
_BESIDE = ".certificate.json"
_NAME_A_FOLDER = "name a folder that EXPORT wrote, or the folder above it"
_SUFFIXES = (".parquet", ".duckdb", ".db")
# Every release of an export is in the schema main of its room.
SCHEMA = "main"


class Exports:
    """The exports at a path: one export, or a folder of exports. `key` is the public key of the required signer."""

    def __init__(self, path: Path, children: Children, key: Path | None = None) -> None:
        self._path = path
        self._key = key
        self._children = children
        self._lock = threading.Lock()
        self._verified: tuple[str, dict[QualifiedName, dict[str, Any]]] | None = None

    def version(self) -> str:
        """Returns a digest of the names, sizes and times of all files. Raises UserError if they cannot be read."""
        digest = hashlib.sha256()
        try:
            for export in export_files(self._path):
                for file in sorted(export.parent.glob("**/*") if export.name == _CERTIFICATE else [export]):
                    status = file.stat()
                    digest.update(json.dumps([str(file), status.st_size, status.st_mtime_ns, status.st_ino]).encode())
        except OSError:
            raise UserError(f"{self._path} cannot be read, or is being changed") from None
        return digest.hexdigest()[:16]

    def releases(self) -> frozenset[QualifiedName]:
        """Returns the releases of all exports, after all have been verified. Raises PrivacyViolation if an export
        fails.
        """
        return frozenset(self._all())

    def fill(self, path: Path, grants: frozenset[QualifiedName]) -> Mapping[QualifiedName, RoomTables]:
        """Writes a room, a new DuckDB file, with these granted releases.

        The rows are read from the files of the exports only if these are still the verified files.
        """
        listed = self._all()
        exports = [listed[name] for name in sorted(grants, key=str)]
        answer = self._children.ask(_MODULE, {"do": "fill", "room": str(path), "exports": exports})
        return {name: tuple(map(_table, answer["tables"][str(name)])) for name in grants}

    def _all(self) -> dict[QualifiedName, dict[str, Any]]:
        with self._lock:
            version = self.version()
            if self._verified is None or self._verified[0] != version:
                paths = [str(path) for path in export_files(self._path)]
                if not paths:
                    raise UserError(f"{self._path} has no export", hint=_NAME_A_FOLDER)
                key = None if self._key is None else str(self._key)
                answer = self._children.ask(_MODULE, {"do": "verify", "paths": paths, "key": key})
                if self.version() != version:
                    raise UserError("the exports were changed while they were read", hint="try again")
                self._verified = version, {_table(each["release"]): each for each in answer["exports"]}
            return self._verified[1]


def export_files(path: Path) -> list[Path]:
    """Returns the certificate or the data file of each export at a path. Raises UserError if there is nothing at the
    path.
    """
    path = path.resolve()
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UserError(f"there is no file or folder {path}", hint=_NAME_A_FOLDER)
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
