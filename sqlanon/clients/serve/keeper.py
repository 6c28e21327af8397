"""The door's side of a database: its readers, and the rooms with their granted releases.

The file is opened by processes of `keeper_main`, for reading only and for as long as each needs; the door itself looks
only at the file's size and time. A grant, a revocation or a new token counts from the first request after the process
that wrote it has closed the database, because nobody can look into a file that another process has open for writing.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day
from pathlib import Path
from typing import Any

from sqlanon.clients.serve.children import Children, LastingChild
from sqlanon.clients.serve.rooms import RoomTables
from sqlanon.domain.identifiers import fold
from sqlanon.domain.tokens import NO_DIGEST, token_digest
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import InUseError, SqlanonError, UserError

_MODULE = "sqlanon.clients.serve.keeper_main"
_LOG = ".wal"
# After so many seconds the file is tried again: if another process has it, and if it cannot be read.
_ATTEMPT_SECONDS = 0.2
_PAUSE_SECONDS = 1.0
# What makes rooms waits so long for another process that writes for a moment.
_PATIENCE = 5.0
# Compared for a name that nobody has, so that an answer takes as long.


@dataclass(frozen=True)
class Granted(QualifiedName):
    """The full name of a granted release, and its id: another release of the same name is another grant."""

    release_id: str = ""


@dataclass(frozen=True)
class KnownReader:
    """A reader of the catalog. `expires` is the end of the last day of the token, in UTC; None means never."""

    name: str
    grants: frozenset[QualifiedName]
    expires: datetime | None
    token_sha256: str = field(repr=False)


@dataclass(frozen=True)
class _Look:
    """The readers that a look into the catalog found, by their folded names.

    `state` is the state of the file before the look. `is_whole` is true if the granted releases change only when the
    file changes.
    """

    state: str
    readers: Mapping[str, KnownReader]
    is_whole: bool

    @property
    def releases(self) -> frozenset[QualifiedName]:
        return frozenset(granted for reader in self.readers.values() for granted in reader.grants)


class Keeper:
    """The readers of a database, and the source of their rooms."""

    def __init__(self, database: Path, children: Children) -> None:
        self._database = database.resolve()
        self._children = children
        self._lock = threading.Lock()
        self._looks = LastingChild(children, _MODULE)
        self._look: _Look | None = None
        # The error of the last attempt to look, and the time of the next one.
        self._failed: tuple[SqlanonError, float] | None = None

    def authenticate(self, name: str, token: str) -> KnownReader | None:
        """Returns the reader with this name and token; None for another name or token, and after the expiry.

        It first looks into the catalog if the file has changed. While another process has the file open for writing,
        the last look counts. Raises SqlanonError if the catalog cannot be read; in this case nobody is admitted.
        """
        reader = self._looked().readers.get(fold(name))
        is_right = hmac.compare_digest(token_digest(token), NO_DIGEST if reader is None else reader.token_sha256)
        if reader is None or not is_right:
            return None
        return reader if reader.expires is None or datetime.now(UTC) < reader.expires else None

    def releases(self) -> frozenset[QualifiedName]:
        """Returns the releases that are granted to anybody now. Raises InUseError if another process goes on
        writing.
        """
        until = time.monotonic() + _PATIENCE
        while True:
            with self._lock:
                state, look = self._state(), self._look
                if look is not None and look.state == state:
                    return look.releases
                error = self._error_of_look(state)
                if error is None:
                    assert self._look is not None
                    return self._look.releases
            if not isinstance(error, InUseError) or time.monotonic() > until:
                raise error
            # Without the lock, so that those who are let in by the last look do not wait.
            time.sleep(_ATTEMPT_SECONDS)

    def version(self) -> str:
        """Returns a text that changes when the file does; the text is new each time if releases read other files,
        too.
        """
        look = self._look
        state = self._state()
        return state if look is None or look.is_whole else f"{state} {secrets.token_hex(8)}"

    def fill(self, path: Path, grants: frozenset[QualifiedName]) -> Mapping[QualifiedName, RoomTables]:
        """Writes a room with these releases. Raises InUseError while another process writes, and UserError or
        PrivacyViolation if one of the releases is no longer the granted release, or fails its check.
        """
        granted = [each for each in grants if isinstance(each, Granted)]
        listed = [[each.release_id, *each.parts] for each in sorted(granted, key=str)]
        request: dict[str, Any] = {"do": "fill", "database": str(self._database), "patience": _PATIENCE}
        request |= {"room": str(path), "releases": listed}
        tables = self._children.ask(_MODULE, request)["tables"]
        return {each: tuple(QualifiedName(tuple(parts)) for parts in tables[each.release_id]) for each in granted}

    def _looked(self) -> _Look:
        """Returns what the catalog says now, or what it said last while another process has the file."""
        with self._lock:
            state, look = self._state(), self._look
            if look is not None and look.state == state:
                return look
            error = self._error_of_look(state)
            if error is None:
                assert self._look is not None
                return self._look
            if isinstance(error, InUseError) and look is not None:
                return look
            raise error

    def _error_of_look(self, state: str) -> SqlanonError | None:
        """Looks into the catalog; returns the error if this fails, and also for a moment after it has failed."""
        if self._failed is not None and time.monotonic() < self._failed[1]:
            # A peer without a token can ask for a look.
            return self._failed[0]
        try:
            self._look = _read(state, self._looks.ask({"do": "look", "database": str(self._database)}))
            self._failed = None
        except SqlanonError as error:
            pause = _ATTEMPT_SECONDS
            if not isinstance(error, InUseError):
                # What cannot be read grants nothing.
                self._look, pause = None, _PAUSE_SECONDS
            self._failed = error, time.monotonic() + pause
            return error
        return None

    def _state(self) -> str:
        """Returns the identity, the size and the time of the file and of its log. Raises UserError if there is no
        file.
        """
        statuses = []
        for file in (self._database, self._database.with_name(self._database.name + _LOG)):
            with suppress(FileNotFoundError):
                statuses.append(file.stat())
        if not self._database.is_file():
            raise UserError(f"there is no database {self._database} any more")
        return " ".join(f"{each.st_dev}.{each.st_ino}.{each.st_size}.{each.st_mtime_ns}" for each in statuses)


def _read(state: str, answer: Mapping[str, Any]) -> _Look:
    """Returns the look that a child process has reported."""
    readers = [
        KnownReader(
            each["name"],
            frozenset(Granted((schema, name), release_id) for release_id, schema, name in each["releases"]),
            _end_of(each["expires_on"]),
            each["token_sha256"],
        )
        for each in answer["readers"]
    ]
    return _Look(state, {fold(reader.name): reader for reader in readers}, bool(answer["is_whole"]))


def _end_of(day: str | None) -> datetime | None:
    if day is None or date.fromisoformat(day) == date.max:
        return None
    return datetime.combine(date.fromisoformat(day) + timedelta(days=1), time_of_day.min, UTC)
