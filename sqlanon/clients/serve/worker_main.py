"""A worker: a process that opens one room, answers statements from it, and may be killed at any time.

`python -m sqlanon.clients.serve.worker_main N` starts it, where N is the number of a socket that the front has passed
on.
"""

from __future__ import annotations

import base64
import ctypes
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from sqlanon.clients.serve import frames
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.room_reader import Parameters, RoomReader, is_out_of_memory, reader_text
from sqlanon.errors import SqlanonError

# Rows of a batch: a client has the first ones early, and each batch costs a few calls of Python.
_ROWS = 50_000
# Drivers take messages of 16 MiB by default, so a longer batch is cut.
_MOST_BATCH = 8 << 20
_OPEN_FILES = 64
_NO_NEW_PRIVILEGES = 38


class _Sink:
    """A file that collects the output of the IPC writer until a message is complete, and sends it as one frame."""

    closed = False

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._parts: list[bytes | memoryview] = []
        self.sent = 0

    def write(self, part: Any) -> int:
        # The buffer of a batch is sent before the batch is dropped.
        view = memoryview(part)
        self._parts.append(view)
        return len(view)

    def flush(self) -> None:
        """Does nothing, because the writer flushes in the middle of a message."""

    def send(self) -> None:
        self.sent += sum(map(len, self._parts))
        frames.send(self._connection, frames.ROWS, *self._parts)
        self._parts.clear()


def main() -> None:
    """Answers the requests of the front until the front ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    connection = socket.socket(fileno=int(sys.argv[1]))
    lifeline = int(sys.argv[2])
    for limited, limit in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
    ):
        resource.setrlimit(limited, (limit, limit))
    # Of the front, whose limit the worker has inherited.
    unlimited = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (unlimited, unlimited))
    ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    # Arrow would start threads, which the limit of processes then refuses.
    pa.set_cpu_count(1)
    room: RoomReader | None = None
    try:
        while True:
            kind, length = frames.header(connection)
            if kind != frames.ASK:
                return
            request = frames.receive_json(connection, length)
            try:
                if request["ask"] == "open" and room is None:
                    room = RoomReader(request["path"], memory=request["memory"], threads=request["threads"])
                    opened = _described(room)
                    _limit_memory(request["memory"])
                    frames.send_json(connection, frames.ASK, opened)
                elif request["ask"] == "schema" and room is not None:
                    frames.send_json(connection, frames.ASK, _schema(room, request))
                elif request["ask"] == "rows" and room is not None:
                    _answer(connection, room, request)
                else:
                    return
            except Exception as error:  # The front decides what a reader sees of it.
                frames.send_json(connection, frames.ERROR, _error_answer(error))
    except frames.BrokenFrame:
        return


def _end_with(lifeline: int) -> None:
    """Ends the process when the front ends, even in the middle of a statement."""
    os.read(lifeline, 1)
    os._exit(1)


def _limit_memory(memory: int) -> None:
    """Limits the address space to its present size plus `memory` bytes, and forbids further processes and threads."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def _described(room: RoomReader) -> dict[str, Any]:
    """Returns the tables of the room, each with its columns' names and types and its schema in Arrow IPC."""
    tables: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for schema, table, column, kind in room.tables():
        tables.setdefault((schema, table), []).append((column, kind))
    listed = []
    for (schema, table), columns in tables.items():
        quoted = ".".join('"' + part.replace('"', '""') + '"' for part in (schema, table))
        arrow = room.schema(f"FROM {quoted}", ())
        listed.append({"name": [schema, table], "columns": columns, "schema": _text(arrow.serialize())})
    return {"tables": listed}


def _schema(room: RoomReader, request: dict[str, Any]) -> dict[str, Any]:
    sql = _query(room, request)
    count = room.parameters(sql)
    values = _bound(request, _values(request) or (None,) * count)
    return {"schema": _text(room.schema(sql, values).serialize()), "parameters": count}


def _query(room: RoomReader, request: dict[str, Any]) -> str:
    """Returns the query of a request. An ESTIMATE is computed, and the query has its answer."""
    sql: str = request["sql"]
    if request["estimate"] is None:
        return sql
    # Imported with the first ESTIMATE: a worker has to start soon.
    from sqlanon.clients.serve.estimates import estimate_query

    return estimate_query(room, QualifiedName(tuple(request["estimate"])), sql)


def _answer(connection: socket.socket, room: RoomReader, request: dict[str, Any]) -> None:
    """Sends the rows of a statement, and then their number; an answer with more rows or bytes than allowed ends with an
    error.
    """
    sink = _Sink(connection)
    rows = 0
    with room.batches(_query(room, request), _bound(request, _values(request)), _ROWS) as answer:
        # The schema is written with the first batch, or at the end.
        with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), answer.schema) as writer:
            for batch in answer:
                rows += batch.num_rows
                _require_at_most(rows, request["rows"], "rows")
                for part in _cut(batch):
                    writer.write_batch(part)
                    sink.send()
                    _require_at_most(sink.sent, request["bytes"], "bytes")
        sink.send()
    frames.send_json(connection, frames.END, {"rows": rows, "bytes": sink.sent})


class _TooMany(Exception):
    """Raised if an answer has more rows or bytes than the limits allow."""


def _require_at_most(count: int, limit: int, unit: str) -> None:
    if count > limit:
        raise _TooMany(f"the answer has more than {limit:,} {unit}: aggregate or filter it")


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yields the batch in parts that drivers accept. A single row that is too long is an error."""
    if batch.nbytes <= _MOST_BATCH:
        yield batch
        return
    if batch.num_rows == 1:
        raise _TooMany(f"a row of the answer has more than {_MOST_BATCH >> 20} MiB: select less of it")
    half = batch.num_rows // 2
    yield from _cut(batch.slice(0, half))
    yield from _cut(batch.slice(half))


def _values(request: dict[str, Any]) -> tuple[object, ...]:
    """Returns the values of the parameters, which a request has as a batch of one row."""
    if request.get("values") is None:
        return ()
    with pa.ipc.open_stream(base64.b64decode(request["values"])) as values:
        [batch] = values
    return tuple(column[0].as_py() for column in batch.columns)


def _bound(request: dict[str, Any], values: tuple[object, ...]) -> Parameters:
    """Returns the parameters' values by name if the statement names its parameters, otherwise in order."""
    return dict(zip(request["names"], values, strict=True)) if request["names"] and values else values


def _error_answer(error: Exception) -> dict[str, Any]:
    if is_out_of_memory(error) or "Out of Memory" in str(error):
        return {"kind": "memory", "text": "the statement needs more memory than it may have: aggregate or filter it"}
    if isinstance(error, _TooMany):
        return {"kind": "limit", "text": str(error)}
    text = error.message if isinstance(error, SqlanonError) else reader_text(error)
    return {"kind": "statement", "text": text}


def _text(buffer: pa.Buffer) -> str:
    return base64.b64encode(buffer).decode()


if __name__ == "__main__":
    main()
