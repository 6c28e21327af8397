"""Rooms: private DuckDB files with the granted releases and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from sqlanon.domain.values import QualifiedName

# The relations of one release in a room: the release itself, or its tables if it has several.
RoomTables = tuple[QualifiedName, ...]


class RoomSource(Protocol):
    """The releases that a door serves, and the way to copy them into a room."""

    def releases(self) -> frozenset[QualifiedName]:
        """Returns the full names of the releases that may be granted now."""
        ...

    def version(self) -> str:
        """Returns a short text that changes when the releases may have changed. A room of another version is
        outdated.
        """
        ...

    def fill(self, path: Path, grants: frozenset[QualifiedName]) -> Mapping[QualifiedName, RoomTables]:
        """Writes a new DuckDB file with copies of these releases, in random order, and nothing else.

        Each copy is checked before the file is used. Runs in a process of its own. Returns the tables of each release,
        by schema and name. Raises SqlanonError if a release fails its check, and leaves no file behind then.
        """
        ...
