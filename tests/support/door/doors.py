"""Doors in the process of a test: readers in a dictionary, rooms copied from a file of DuckDB, a log to read."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.flight as flight
import pytest

from sqlanon.clients.serve import server, wire
from sqlanon.clients.serve.audit import Audit
from sqlanon.clients.serve.children import Children
from sqlanon.clients.serve.gate import Admitted
from sqlanon.clients.serve.keeper import Keeper
from sqlanon.clients.serve.rooms import Rooms, rooms_folder
from sqlanon.clients.serve.workers import Limits, Pool
from sqlanon.domain.values import QualifiedName

__all__ = ["OpenedDoor", "TestReader", "database_door", "main_table", "opened_door", "room_file"]

TOKEN = "right"


def main_table(name: str) -> QualifiedName:
    return QualifiedName(("main", name))


@dataclass(frozen=True)
class TestReader:
    """A reader with a token in plain text."""

    __test__ = False

    name: str
    grants: frozenset[QualifiedName]
    token: str = TOKEN
    expires: datetime | None = None


class Readers(dict[str, TestReader]):
    """Readers by name, which a test may change while a door is open."""

    def authenticate(self, name: str, token: str) -> TestReader | None:
        reader = self.get(name)
        return reader if reader is not None and reader.token == token else None


@dataclass
class FileOfReleases:
    """A source of rooms: each table of a file is a release. `error` is raised in place of a copy."""

    file: Path
    changes: int = 0
    error: Exception | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def change(self, statement: str) -> None:
        """Runs a statement on the file, which then has a new version."""
        with self.lock, duckdb.connect(str(self.file)) as connection:
            connection.execute(statement)
            self.changes += 1

    def releases(self) -> frozenset[QualifiedName]:
        with self.lock, duckdb.connect(str(self.file)) as connection:
            return frozenset(
                map(QualifiedName, connection.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall())
            )

    def version(self) -> str:
        return str(self.changes)

    def fill(self, path: Path, grants: frozenset[QualifiedName]) -> Mapping[QualifiedName, tuple[QualifiedName, ...]]:
        if self.error is not None:
            raise self.error
        with self.lock, duckdb.connect(str(path)) as room:
            room.execute(f"ATTACH '{self.file}' AS source (READ_ONLY)")
            for grant in grants:
                quoted = ".".join(f'"{part}"' for part in grant.parts)
                room.execute(f'CREATE SCHEMA IF NOT EXISTS "{grant.parts[0]}"')
                room.execute(f"CREATE TABLE {quoted} AS FROM source.{quoted}")
            room.execute("DETACH source")
        path.chmod(0o600)
        return {grant: (grant,) for grant in grants}


@dataclass
class OpenedDoor:
    """An open door. `tls` are the arguments that a client of pyarrow needs."""

    door: server.Door
    pool: Pool
    rooms: Rooms
    source: FileOfReleases
    readers: Readers
    folder: Path
    log: Path
    tls: dict[str, Any] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        return f"{'grpc+tls' if self.tls else 'grpc'}://127.0.0.1:{self.door.port}"

    def connect(self, name: str = "ana", token: str = TOKEN, **options: str) -> Any:
        """Connects the standard driver."""
        from adbc_driver_flightsql import dbapi

        return dbapi.connect(self.uri, db_kwargs={"username": name, "password": token, **options}, autocommit=True)

    def client(self, name: str = "ana", token: str = TOKEN) -> FlightClient:
        """Connects a client of Arrow Flight, which sends what a test likes."""
        return FlightClient(flight.connect(self.uri, **self.tls), name, token)

    def rows(self, statement: str, name: str = "ana") -> list[tuple[object, ...]]:
        """Returns the rows that the standard driver fetches."""
        with self.connect(name) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def lines(self, event: str | None = None) -> list[dict[str, Any]]:
        """Returns the lines of the audit, or those of one event."""
        read = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]
        return [line for line in read if event in (None, line["event"])]


class FlightClient:
    """A client of Arrow Flight with the token of a reader, or without any."""

    def __init__(self, connected: Any, name: str, token: str | None) -> None:
        self.connected = connected
        headers = [] if token is None else [connected.authenticate_basic_token(name, token)]
        self.options = flight.FlightCallOptions(headers=headers, timeout=60)

    def ticket(self, statement: str) -> Any:
        command = wire.any_of("CommandStatementQuery", (1, statement.encode()))
        info = self.connected.get_flight_info(flight.FlightDescriptor.for_command(command), self.options)
        return info.endpoints[0].ticket

    def fetch(self, ticket: Any) -> pa.Table:
        return self.connected.do_get(ticket, self.options).read_all()

    def begin(self, statement: str) -> Any:
        """Starts to fetch; returns the reader of the stream, from which nothing was read."""
        return self.connected.do_get(self.ticket(statement), self.options)


def room_file(path: Path, *statements: str) -> Path:
    """Makes a file of DuckDB with the tables that statements create."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


@contextmanager
def opened_door(
    folder: Path,
    file: Path,
    *,
    limits: Limits | None = None,
    workers: int = 2,
    has_gate: bool = True,
    tls: Mapping[str, Any] | None = None,
    trusted: Mapping[str, Any] | None = None,
) -> Iterator[OpenedDoor]:
    """Opens a door with the readers ana and ben, who may read every table of the file.

    Without a gate every statement reaches a worker. `tls` are arguments of the server, `trusted` of its clients.
    """
    source = FileOfReleases(file)
    readers = Readers({name: TestReader(name, source.releases()) for name in ("ana", "ben")})
    log = folder / "audit.jsonl"
    with pytest.MonkeyPatch.context() as patch, Audit(log) as audit, rooms_folder(folder / "rooms") as rooms_in:
        if not has_gate:
            patch.setattr(server, "admit", lambda statement, granted, releases: Admitted(statement, frozenset()))
        pool = Pool(limits or Limits(seconds=20), workers)
        try:
            rooms = Rooms(rooms_in, source, pool)
            scheme = "grpc+tls" if tls else "grpc"
            door = server.Door(
                f"{scheme}://127.0.0.1:0", readers=readers, rooms=rooms, pool=pool, audit=audit, **(tls or {})
            )
            try:
                yield OpenedDoor(door, pool, rooms, source, readers, rooms_in, log, dict(trusted or {}))
            finally:
                pool.close()
                door.shutdown()
        finally:
            pool.close()
            shutil.rmtree(rooms_in, ignore_errors=True)


@contextmanager
def database_door(folder: Path, file: Path, *, limits: Limits | None = None, code: str = "") -> Iterator[OpenedDoor]:
    """Opens a door on a database, whose readers and budgets are those of its catalog.

    The processes that open the database run `code` first.
    """
    log = folder / "audit.jsonl"
    children = _Prepared(code)
    keeper = Keeper(file, children)
    with Audit(log) as audit, rooms_folder(folder / "rooms") as rooms_in:
        pool = Pool(limits or Limits(seconds=60), 2)
        try:
            rooms = Rooms(rooms_in, keeper, pool)
            parts: dict[str, Any] = {"readers": keeper, "rooms": rooms, "pool": pool, "budgets": keeper}
            door = server.Door("grpc://127.0.0.1:0", audit=audit, **parts)
            try:
                yield OpenedDoor(door, pool, rooms, FileOfReleases(file), Readers(), rooms_in, log)
            finally:
                pool.close()
                children.close()
                door.shutdown()
        finally:
            pool.close()
            children.close()
            shutil.rmtree(rooms_in, ignore_errors=True)


class _Prepared(Children):
    """Children that run a text of Python before their module."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self._code = code

    def start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts the module with pipes, after the text."""
        command = [sys.executable, "-c", f"{self._code}\nfrom {module} import main\nmain()", *arguments]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        with self._lock:
            self._running.add(child)
        return child
