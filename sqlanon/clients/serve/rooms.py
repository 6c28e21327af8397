"""Rooms: private DuckDB files with the granted releases and nothing else, one for each set of grants."""

from __future__ import annotations

import base64
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from sqlanon.clients.serve.refused import Busy, Forbidden, Refused
from sqlanon.clients.serve.workers import Pool, Stopped
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.room_reader import ROOM
from sqlanon.errors import InternalError, InUseError, PrivacyViolation, SqlanonError, UserError

# The relations of one release in a room: the release itself, or its tables if it has several.
RoomTables = tuple[QualifiedName, ...]
_LOCK = "lock"
# The name under which the door itself leases a worker; no reader has a name with a space.
_DOOR = "the door"


class RoomSource(Protocol):
    """The releases that a door serves, and the way to copy them into a room."""

    def releases(self) -> frozenset[QualifiedName]:
        """Returns the full names of the releases that may be granted now."""
        ...

    def version(self) -> str:
        """Returns a short text that changes when the releases may have changed. A room of any other version is
        outdated.
        """
        ...

    def fill(self, path: Path, grants: frozenset[QualifiedName]) -> Mapping[QualifiedName, RoomTables]:
        """Writes a new DuckDB file with copies of these releases, and nothing else, in a separate process.

        Each release is checked before it is in the file. Returns the tables of each release, by schema and name. Raises
        SqlanonError if a release fails its check, and leaves no file behind; InUseError means that the source is in
        use, so that the room before may be served for a while.
        """
        ...


@dataclass(frozen=True)
class RoomTable:
    """A table of a room: the names and DuckDB types of its columns, and its schema in Arrow."""

    columns: tuple[tuple[str, str], ...]
    schema: pa.Schema


@dataclass
class Room:
    """An open room. `tables` are all its tables, `releases` has the tables of each release, and `made` is the time of
    the copy.

    `users` counts the statements that are about to open the room's file, which is removed after the last of them.
    """

    path: Path
    version: str
    tables: Mapping[QualifiedName, RoomTable]
    releases: Mapping[QualifiedName, RoomTables]
    made: datetime = field(default_factory=lambda: datetime.now(UTC))
    is_used: bool = True
    users: int = 0
    is_retired: bool = False


class Rooms:
    """Makes a room when a reader asks, and makes it again when the source has changed.

    `max_age` limits how long a room is served while its source is in use and cannot be read. `report` is called with a
    line about a room that cannot be made again.
    """

    def __init__(
        self,
        folder: Path,
        source: RoomSource,
        pool: Pool,
        *,
        max_age: timedelta | None = None,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._folder = folder
        self._source = source
        self._pool = pool
        self._max_age = max_age
        self._report = report
        self._lock = threading.Lock()
        self._making: dict[frozenset[QualifiedName], threading.Lock] = {}
        self._rooms: dict[frozenset[QualifiedName], Room] = {}
        # Reported since a room was last made.
        self._reported: set[str] = set()

    def room(self, grants: frozenset[QualifiedName]) -> Room:
        """Returns the room of these grants. Raises Refused if there is none and it cannot be made."""
        with self._lock:
            room = self._rooms.get(grants)
            making = self._making.setdefault(grants, threading.Lock())
        if room is None:
            with making:
                with self._lock:
                    room = self._rooms.get(grants)
                if room is None:
                    room = self._new(grants)
        room.is_used = True
        return room

    @contextmanager
    def use(self, grants: frozenset[QualifiedName]) -> Iterator[Room]:
        """Yields the room of these grants, whose file stays within the block. Raises Refused if there is none."""
        while True:
            room = self.room(grants)
            with self._lock:
                if not room.is_retired:
                    room.users += 1
                    break
        try:
            yield room
        finally:
            with self._lock:
                room.users -= 1
            self._remove(room)

    def _remove(self, room: Room) -> None:
        """Removes a retired room that nobody is about to open; statements that run already have the file open."""
        with self._lock:
            if room.users or not room.is_retired:
                return
        self._pool.retire(room.path)
        shutil.rmtree(room.path.parent, ignore_errors=True)

    def _new(self, grants: frozenset[QualifiedName]) -> Room:
        try:
            served = grants & self._source.releases()
            if not served:
                raise Forbidden("no release is granted to you, or none of them can be read now")
            room = self._made(served)
        except Refused:
            raise
        except (OSError, SqlanonError, Stopped) as error:
            self._say(f"a room cannot be made: {_message(error)}")
            raise Busy("the releases cannot be read now: try again later") from None
        with self._lock:
            self._rooms[grants] = room
        self._reported.clear()
        return room

    def _say(self, text: str) -> None:
        """Reports a line, unless it was reported since a room was last made: readers who ask again do not repeat it."""
        if text not in self._reported:
            self._reported.add(text)
            self._report(text)

    def refresh(self) -> bool:
        """Makes rooms of an older version again: now, if they were used since that version, otherwise when a reader
        asks.

        Returns whether no room of an older version is left; a room is left while its source is in use.
        """
        with self._lock:
            rooms = dict(self._rooms)
        try:
            version: str | None = self._source.version()
        except InUseError:
            version = None
        except SqlanonError as error:
            self._say(f"rooms are closed: {_message(error)}")
            version = ""
        are_new = []
        for grants, room in rooms.items():
            if version is None:
                are_new.append(self._drop_if_old(grants, room))
            elif room.version != version:
                are_new.append(self._renew(grants, room))
        return all(are_new)

    def _renew(self, grants: frozenset[QualifiedName], room: Room) -> bool:
        """Makes a room of an older version again, or closes it if nobody has used it; returns whether the old room is
        gone.
        """
        new = None
        if room.is_used:
            try:
                if served := grants & self._source.releases():
                    new = self._made(served)
                    new.is_used = False
            except (InUseError, Refused, Stopped):
                # Another process writes the source, or all workers are busy.
                return self._drop_if_old(grants, room)
            except (OSError, SqlanonError) as error:
                self._say(f"a room is closed, because it cannot be made again: {_message(error)}")
        self._swap(grants, room, new)
        return True

    def _drop_if_old(self, grants: frozenset[QualifiedName], room: Room) -> bool:
        """Closes a room that is too old to be served while its source is in use; returns whether it did."""
        is_old = self._max_age is not None and datetime.now(UTC) - room.made > self._max_age
        if is_old:
            self._say("a room is closed, because its source has been in use for too long")
            self._swap(grants, room, None)
        return is_old

    def _swap(self, grants: frozenset[QualifiedName], old: Room, new: Room | None) -> None:
        with self._lock:
            if new is None:
                self._rooms.pop(grants, None)
            else:
                self._rooms[grants] = new
                self._reported.clear()
            old.is_retired = True
        self._remove(old)

    def _made(self, served: frozenset[QualifiedName]) -> Room:
        """Makes a room and opens it once. Raises PrivacyViolation if it contains anything except the releases."""
        # DuckDB names a database after its file, so each room has a folder.
        folder = self._folder / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        path = folder / f"{ROOM}.duckdb"
        try:
            version = self._source.version()
            releases = self._source.fill(path, served)
            require_private(path)
            tables = dict(map(_table, self._pool.lease(path, _DOOR).opened()))
            expected = [table for names in releases.values() for table in names]
            if set(releases) != served or sorted(map(str, tables)) != sorted(map(str, expected)):
                raise PrivacyViolation("a room holds other tables than the granted releases")
            return Room(path, version, tables, releases)
        except BaseException:
            self._pool.retire(path)
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _message(error: Exception) -> str:
    """Returns an error on one line."""
    if not isinstance(error, SqlanonError) or not error.hint:
        return str(error)
    return f"{error.message} ({error.hint})"


def _table(opened: Mapping[str, Any]) -> tuple[QualifiedName, RoomTable]:
    """Returns the name of a table that a worker has described, and its columns."""
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(opened["schema"])))
    columns = tuple((name, kind) for name, kind in opened["columns"])
    return QualifiedName(tuple(opened["name"])), RoomTable(columns, schema)


def require_private(file: Path) -> None:
    """Raises InternalError unless a file is a regular file of this user with a single name, which no other user may
    read.
    """
    status = file.lstat()
    is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1
    if not is_own or status.st_mode & 0o077:
        raise InternalError("the file of a room may be read by others")


@contextmanager
def rooms_folder(parent: Path | None = None) -> Iterator[Path]:
    """Yields a new folder for the rooms of this process, which only its user may enter; it is removed at the end.

    Folders that killed processes left are removed first. Each running process holds a lock on its folder.
    """
    # Workers have another working directory.
    parent = (parent or Path(tempfile.gettempdir()) / f"sqlanon-rooms-{os.geteuid()}").absolute()
    with suppress(FileExistsError):
        parent.mkdir(mode=0o700, parents=True)
    status = parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise UserError(
            f"the folder {parent} is not a folder that only you may read", hint="remove it, or name another: --rooms"
        )
    with _locked(parent):
        _sweep(parent)
        folder = parent / f"{os.getpid()}-{secrets.token_hex(4)}"
        folder.mkdir(mode=0o700)
        lock = _lock(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _sweep(parent: Path) -> None:
    """Removes the folders of processes that have ended; a running process holds the lock of its folder."""
    for folder in parent.iterdir():
        if folder.is_symlink() or not folder.is_dir():
            continue
        with suppress(BlockingIOError), _locked(folder, fcntl.LOCK_NB):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path, how: int = 0) -> Iterator[None]:
    lock = _lock(folder, how)
    try:
        yield
    finally:
        os.close(lock)


def _lock(folder: Path, how: int = 0) -> int:
    """Returns the descriptor that holds the lock of a folder. Raises BlockingIOError if the lock is taken, with
    LOCK_NB.
    """
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | how)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
