"""The front's side of workers: processes that each answer statements from one room, a file of granted releases.

The front leases a worker for one statement, and kills the worker if the statement exceeds its limits.
"""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sqlanon.clients.serve import frames
from sqlanon.clients.serve.gate import Admitted
from sqlanon.clients.serve.refused import Busy

# The bytes of an answer that the front keeps, so that a worker need not wait for a slow reader.
_KEPT_BYTES = 8 << 20
# A new worker has to open its room within this time.
_OPENING_SECONDS = 60.0
# Errors after which a worker goes on: of a statement, and of an answer that the worker itself has cut.
_HARMLESS = ("statement", "limit")
# glibc reserves 64 MiB of address space for each of its arenas, which a limit of the address space counts.
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2"}


@dataclass(frozen=True)
class Limits:
    """The limits of one statement: seconds of wall time, bytes of memory, and the rows and bytes of its answer."""

    seconds: float = 30.0
    memory: int = 2 << 30
    rows: int = 5_000_000
    bytes: int = 1 << 30


class Stopped(Exception):
    """Raised if a statement ended before its answer was complete. `outcome` is the word for the audit log; the text is
    for the reader.
    """

    def __init__(self, outcome: str, text: str) -> None:
        super().__init__(text)
        self.outcome = outcome


class Worker:
    """A process. `room` is the file that it has open, and `reader` is the name of the reader who has leased it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        lifeline, self._lifeline = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-m", "sqlanon.clients.serve.worker_main", str(theirs.fileno()), str(lifeline)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                cwd="/",
                pass_fds=(theirs.fileno(), lifeline),
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            os.close(self._lifeline)
            raise
        finally:
            theirs.close()
            os.close(lifeline)
        self.since = time.monotonic()
        self.connection = ours
        self.room: Path | None = None
        self.reader: str | None = None
        self.tables: list[dict[str, Any]] = []
        self.is_late = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """Kills the process. The lease that uses it sees the end of the connection."""
        with suppress(OSError):
            self._process.send_signal(signal.SIGKILL)

    def end(self) -> None:
        """Kills the process and waits for its end."""
        self.kill()
        self._process.wait()
        self.connection.close()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def ask(self, **request: Any) -> dict[str, Any]:
        """Sends a request and returns its short answer. Raises Stopped if there is no answer."""
        try:
            frames.send_json(self.connection, frames.ASK, request)
            kind, length = frames.header(self.connection)
            answer = frames.receive_json(self.connection, length) if kind in (frames.ASK, frames.ERROR) else {}
        except frames.BrokenFrame:
            raise self.gone() from None
        if kind != frames.ASK:
            raise stopped_by(answer)
        return answer

    def gone(self) -> Stopped:
        """Returns the error for a worker that no longer answers, because it ran out of time or memory."""
        if self.is_late:
            return Stopped("time", "the statement took longer than it may: aggregate or filter it")
        return Stopped("killed", "the statement ended its process, perhaps for want of memory: aggregate or filter it")


def stopped_by(error: dict[str, Any]) -> Stopped:
    """Returns the error that a worker has reported."""
    outcome, text = str(error.get("kind", "broken")), str(error.get("text", "the statement failed"))
    return Stopped(outcome, text.splitlines()[0][:300] if text else "the statement failed")


class Pool:
    """The workers of a door. A reader who holds a worker never gets the last free worker, so that other readers find
    one.
    """

    def __init__(self, limits: Limits, count: int) -> None:
        if count < 2:
            raise ValueError("a pool has two workers at least")
        self.limits = limits
        self._threads = max(1, min(4, os.cpu_count() or 1))
        self._changed = threading.Condition()
        self._deadlines: dict[Worker, float] = {}
        self._is_closed = False
        self._workers = [Worker() for _ in range(count)]
        # Killed ones whose readers have not taken notice.
        self._late: list[Worker] = []
        self._watch = threading.Thread(target=self._kill_late, name="watch of workers", daemon=True)
        self._watch.start()

    @property
    def workers(self) -> tuple[Worker, ...]:
        with self._changed:
            return tuple(self._workers)

    def lease(self, room: Path, reader: str) -> Lease:
        """Returns a worker that has this room open, when one is free. Raises Busy if no worker is free in time."""
        limit = time.monotonic() + self.limits.seconds
        with self._changed:
            while (worker := self._take(room, reader)) is None:
                left = limit - time.monotonic()
                if self._is_closed or left <= 0:
                    raise Busy("all workers are busy: try again")
                self._changed.wait(left)
            self._deadlines[worker] = time.monotonic() + _OPENING_SECONDS
            self._changed.notify_all()
        lease = Lease(self, worker)
        try:
            if worker.room is None:
                opened = worker.ask(ask="open", path=str(room), memory=self.limits.memory, threads=self._threads)
                worker.room, worker.tables = room, opened["tables"]
            with self._changed:
                self._deadlines[worker] = time.monotonic() + self.limits.seconds
                self._changed.notify_all()
        except BaseException:
            lease.end(is_healthy=False)
            raise
        return lease

    def _take(self, room: Path, reader: str) -> Worker | None:
        """Marks a free worker as leased by the reader, and returns it; None if the reader has to wait."""
        if self._is_closed:
            return None
        for worker in [each for each in self._workers if each.reader is None and not each.is_alive]:
            self._replace(worker)
        free = [worker for worker in self._workers if worker.reader is None]
        holds_one = any(worker.reader == reader for worker in self._workers)
        if len(free) <= holds_one:
            return None
        # A worker with the room, or one without any that was started long ago, answers at once.
        taken = min(free, key=lambda worker: (worker.room != room, worker.room is not None, worker.since))
        if taken.room not in (None, room):
            # A process that has seen another room never sees this one.
            taken = self._replace(taken)
        taken.reader = reader
        return taken

    def release(self, worker: Worker, *, is_healthy: bool) -> None:
        with self._changed:
            self._deadlines.pop(worker, None)
            if worker in self._late:
                self._late.remove(worker)
                worker.end()
            elif worker in self._workers:
                worker.reader = None
                if worker.is_late or not is_healthy or self._is_closed:
                    self._replace_if_possible(worker)
            self._changed.notify_all()

    def retire(self, room: Path) -> None:
        """Replaces the idle workers of a room that is no longer served; its other workers end with their statements."""
        with self._changed:
            for worker in [each for each in self._workers if each.room == room and each.reader is None]:
                self._replace_if_possible(worker)
            self._changed.notify_all()

    def close(self) -> None:
        """Ends all workers; statements that run end with an error."""
        with self._changed:
            self._is_closed = True
            workers, self._workers, self._late = [*self._workers, *self._late], [], []
            self._changed.notify_all()
        for worker in workers:
            worker.end()
        self._watch.join()

    def _replace(self, worker: Worker) -> Worker:
        worker.end()
        index = self._workers.index(worker)
        if self._is_closed:
            del self._workers[index]
            return worker
        self._workers[index] = Worker()
        return self._workers[index]

    def _give_up(self, worker: Worker) -> None:
        """Replaces a killed worker by a new one at once, because the reader who had leased it may not
        notice for hours.
        """
        with suppress(OSError):
            self._workers[self._workers.index(worker)] = Worker()
            self._late.append(worker)

    def _replace_if_possible(self, worker: Worker) -> None:
        """Replaces a worker. If the system cannot start a process, the next statement tries again."""
        with suppress(OSError):
            self._replace(worker)

    def _kill_late(self) -> None:
        with self._changed:
            while not self._is_closed:
                now = time.monotonic()
                for worker, deadline in list(self._deadlines.items()):
                    if deadline <= now:
                        del self._deadlines[worker]
                        worker.is_late = True
                        worker.kill()
                        self._give_up(worker)
                        self._changed.notify_all()
                nearest = min(self._deadlines.values(), default=None)
                self._changed.wait(None if nearest is None else max(0.0, nearest - time.monotonic()))


class Lease:
    """The use of a worker for one statement. `end` returns the worker, or has it replaced."""

    def __init__(self, pool: Pool, worker: Worker) -> None:
        self._pool = pool
        self._worker: Worker | None = worker
        self.tables = worker.tables

    @property
    def worker(self) -> Worker:
        if self._worker is None:
            raise Stopped("broken", "the statement has ended")
        return self._worker

    def end(self, *, is_healthy: bool) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._pool.release(worker, is_healthy=is_healthy)

    def opened(self) -> list[dict[str, Any]]:
        """Ends the lease; returns the tables of the room."""
        tables = self.worker.tables
        self.end(is_healthy=True)
        return tables

    def schema(self, admitted: Admitted, values: bytes | None = None) -> tuple[pa.Schema, int]:
        """Returns the schema of a statement's answer and the number of its parameters, and ends the lease."""
        is_healthy = False
        try:
            answer = self.worker.ask(ask="schema", **_statement(admitted, values))
            is_healthy = True
            return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(answer["schema"]))), int(answer["parameters"])
        except Stopped as stopped:
            is_healthy = stopped.outcome in _HARMLESS
            raise
        finally:
            self.end(is_healthy=is_healthy)

    def rows(self, admitted: Admitted, values: bytes | None = None) -> RowStream:
        """Runs a statement; returns its answer once the first rows are there."""
        try:
            limits = self._pool.limits
            request = {"ask": "rows", "rows": limits.rows, "bytes": limits.bytes, **_statement(admitted, values)}
            frames.send_json(self.worker.connection, frames.ASK, request)
            return RowStream(self, limits)
        except frames.BrokenFrame:
            gone = self.worker.gone()
            self.end(is_healthy=False)
            raise gone from None
        except BaseException:
            self.end(is_healthy=False)
            raise


def _statement(admitted: Admitted, values: bytes | None) -> dict[str, Any]:
    estimate = None if admitted.estimate is None else admitted.estimate.parts
    names = admitted.parameters if any(not name.isdigit() for name in admitted.parameters) else ()
    return {"sql": admitted.sql, "estimate": estimate, "values": _text(values), "names": names}


class RowStream:
    """The answer of a worker: its schema, and batches that the front has checked.

    The first batches are read at once. A short answer is then complete and its worker free, even if the answer is read
    slowly.
    """

    def __init__(self, lease: Lease, limits: Limits) -> None:
        self._lease = lease
        self._limits = limits
        self._frames = _FrameFile(lease.worker.connection)
        self.rows = 0
        self.bytes = 0
        self._early_batches: deque[pa.RecordBatch] = deque()
        self._source: Iterator[pa.RecordBatch] = self._read()
        with self._errors():
            self._reader = pa.ipc.open_stream(pa.PythonFile(self._frames, mode="r"))
            self.schema: pa.Schema = self._reader.schema
        while self.bytes < _KEPT_BYTES:
            batch = next(self._source, None)
            if batch is None:
                break
            self._early_batches.append(batch)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while self._early_batches:
            yield self._early_batches.popleft()
        yield from self._source

    def close(self) -> None:
        """Ends the statement, if it is still running, by ending its worker."""
        self._early_batches.clear()
        self._lease.end(is_healthy=False)

    def _read(self) -> Iterator[pa.RecordBatch]:
        while True:
            with self._errors():
                batch = next(self._reader, None)
                if batch is None:
                    self._frames.require_end()
                else:
                    # A broken worker could send offsets that point beyond its buffers.
                    batch.validate(full=True)
            if batch is None:
                self._lease.end(is_healthy=True)
                return
            self.rows += batch.num_rows
            self.bytes += batch.nbytes
            if self.rows > self._limits.rows or self.bytes > 2 * self._limits.bytes:
                self._lease.end(is_healthy=False)
                raise Stopped("limit", "the answer has more rows or bytes than it may have")
            yield batch

    def _errors(self) -> _Errors:
        return _Errors(self._lease, self._frames)


@dataclass(frozen=True)
class _Errors:
    """Ends the lease at an error of the block, and raises Stopped in place of the error."""

    lease: Lease
    frames: _FrameFile

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        stopped = stopped_by(self.frames.error) if self.frames.error is not None else None
        if stopped is None:
            is_gone = isinstance(error, frames.BrokenFrame) or self.frames.is_broken
            broken = Stopped("broken", "the answer of the statement cannot be read")
            stopped = self.lease.worker.gone() if is_gone else broken
        self.lease.end(is_healthy=self.frames.error is not None and stopped.outcome in _HARMLESS)
        raise stopped from None


class _FrameFile:
    """A file for Arrow's IPC reader, whose bytes arrive in frames from a worker. `error` is the error that the worker
    sent instead of a frame.
    """

    closed = False

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._left: memoryview = memoryview(b"")
        self.error: dict[str, Any] | None = None
        self.is_broken = False

    def read(self, size: int = -1) -> memoryview:
        if not self._left and self.error is None and not self.is_broken:
            self._receive()
        part, self._left = self._left[:size], self._left[size:]
        return part

    def _receive(self) -> None:
        try:
            kind, length = frames.header(self._connection)
            if kind == frames.ROWS:
                buffer = memoryview(pa.allocate_buffer(length)).cast("B")
                frames.receive(self._connection, buffer)
                self._left = buffer
            elif kind == frames.ERROR:
                self.error = frames.receive_json(self._connection, length)
            else:
                self.is_broken = True
        except frames.BrokenFrame:
            self.is_broken = True

    def require_end(self) -> None:
        """Receives the end of the answer. Raises BrokenFrame if anything else is received, or if an error was received
        before.
        """
        if self.error is not None or self.is_broken:
            # Arrow takes an error between two batches for the end of the stream.
            raise frames.BrokenFrame("an answer was not complete")
        kind, length = frames.header(self._connection)
        content = frames.receive_json(self._connection, length)
        if kind == frames.ERROR:
            self.error = content
        if kind != frames.END or self._left:
            raise frames.BrokenFrame("an answer has more after its end")


def _text(values: bytes | None) -> str | None:
    return None if values is None else base64.b64encode(values).decode()
