"""Processes of `sqlanon serve` that are killed at random moments: nothing is left but what the next start sweeps.

After each kill the exports are byte for byte the same, no worker lives on, and an answer is whole or an error: no
client takes a part of an answer for all of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from sqlanon.clients.serve.readers_file import add_reader
from tests.support.database import template
from tests.support.door.doors import FlightClient, OpenedDoor, opened_door, room_file

KILLS_OF_WORKERS, KILLS_OF_FRONTS, KILLS_OF_STARTS = 30, 15, 15
SECONDS = 60
ROWS = 3_000
SOURCE = f"""
CREATE TABLE patients AS SELECT 20 + i % 40 AS age, 'flu ' || i % 4 AS disease FROM range({ROWS}) t(i);
CREATE POLICY p ON patients (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 4);
CREATE ANONYMIZED TABLE study AS POLICY p METHOD mondrian;
"""


@dataclass(frozen=True)
class Folder:
    """A folder with an export, its readers and the folder for rooms."""

    path: Path
    token: str

    def digest(self) -> str:
        files = sorted(file for file in (self.path / "exports").rglob("*") if file.is_file())
        return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()

    def rooms(self) -> list[Path]:
        rooms = self.path / "rooms"
        return [each for each in rooms.iterdir() if each.is_dir()] if rooms.exists() else []

    def start(self) -> subprocess.Popen[str]:
        arguments = [
            "exports",
            "--readers",
            "readers.toml",
            "--rooms",
            "rooms",
            "--audit",
            "audit.jsonl",
            "--port",
            "0",
        ]
        return subprocess.Popen(
            [sys.executable, "-m", "sqlanon", "serve", *arguments, "--json"],
            cwd=self.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    with template(SOURCE) as connection:
        connection.sql(f"EXPORT study TO '{tmp_path}/exports/' (FORMAT parquet)")
    return Folder(tmp_path, add_reader(tmp_path / "readers.toml", "ana", ["study"], None))


def descendants(pid: int) -> list[int]:
    """Returns the processes that a process has started, and those that these have started."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text(encoding="ascii").split()):
                found += [child, *descendants(child)]
    return found


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def ended(pids: list[int]) -> bool:
    """Waits for the end of processes; returns whether all have ended in time."""
    until = time.monotonic() + SECONDS
    while any(map(is_running, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(is_running, pids))


@contextmanager
def asking(client: FlightClient, statement: str, expected: int) -> Iterator[list[str]]:
    """Asks again and again in a thread, while the block runs. Yields the texts of errors, and wrong numbers of rows."""
    errors: list[str] = []
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            try:
                rows = client.fetch(client.ticket(statement)).num_rows
                if rows != expected:
                    errors.append(f"WRONG: {rows} rows")
            except (pa.ArrowException, OSError) as error:
                errors.append(str(error))
                time.sleep(0.01)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield errors
    finally:
        is_over.set()
        thread.join(SECONDS)


@pytest.mark.long
def test_workers(tmp_path: Path) -> None:
    """A killed worker is replaced, and its reader has an error or the whole answer."""
    file = room_file(
        tmp_path / "releases.duckdb", "CREATE TABLE released AS SELECT i AS age, 'flu' AS d FROM range(300000) t(i)"
    )
    before, drawn = file.read_bytes(), random.Random(1)
    with opened_door(tmp_path, file) as door:
        client = door.client()
        client.fetch(client.ticket("FROM released"))
        with asking(client, "FROM released", 300_000) as errors:
            for _ in range(KILLS_OF_WORKERS):
                time.sleep(drawn.random() * 0.2)
                os.kill(drawn.choice(door.pool.workers).pid, signal.SIGKILL)
        assert not [error for error in errors if "WRONG" in error or "Traceback" in error]
        assert client.fetch(client.ticket("FROM released")).num_rows == 300_000
        workers = [worker.pid for worker in door.pool.workers]
        assert descendants(os.getpid()) == workers or set(workers) <= set(descendants(os.getpid()))
        begun, over = door.lines("started"), door.lines("ended")
        assert {line["query"] for line in begun} == {line["query"] for line in over}
    assert ended(workers)
    assert file.read_bytes() == before


@pytest.mark.long
def test_fronts(folder: Folder) -> None:
    """The workers of a killed front end; the next front sweeps its rooms and answers."""
    before, drawn = folder.digest(), random.Random(2)
    for _ in range(KILLS_OF_FRONTS):
        front = folder.start()
        try:
            assert front.stdout is not None
            uri = json.loads(front.stdout.readline())["uri"]
            assert len(folder.rooms()) == 1, "the rooms of the killed one are gone"
            client = FlightClient(flight.connect(uri), "ana", folder.token)
            assert client.fetch(client.ticket("FROM study")).num_rows == ROWS
            with asking(client, "FROM study", ROWS) as errors:
                time.sleep(drawn.random())
                started = descendants(front.pid)
                front.kill()
                front.wait()
            assert started
            assert ended(started)
        finally:
            front.kill()
            front.wait()
        assert not [error for error in errors if "WRONG" in error or "Traceback" in error]
        assert folder.digest() == before


@pytest.mark.long
def test_starts(folder: Folder) -> None:
    """A door that is killed while it starts leaves no process, and no half of a room that is served later."""
    before, drawn = folder.digest(), random.Random(3)
    for _ in range(KILLS_OF_STARTS):
        front = folder.start()
        time.sleep(drawn.random() * 4)
        started = descendants(front.pid)
        front.kill()
        front.wait()
        assert ended(started)
        assert folder.digest() == before
    front = folder.start()
    try:
        assert front.stdout is not None
        client = FlightClient(flight.connect(json.loads(front.stdout.readline())["uri"]), "ana", folder.token)
        assert client.fetch(client.ticket("FROM study")).num_rows == ROWS
        assert len(folder.rooms()) == 1
    finally:
        front.terminate()
        assert front.wait(SECONDS) == 0
    assert folder.rooms() == []


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_cleanly_although_a_client_does_not_read(folder: Folder, number: int) -> None:
    front = folder.start()
    try:
        assert front.stdout is not None
        client = FlightClient(flight.connect(json.loads(front.stdout.readline())["uri"]), "ana", folder.token)
        stream = client.begin("SELECT a.age, repeat('x', 1000) AS x FROM study a, study b LIMIT 100000")
        stream.read_chunk()
        started = descendants(front.pid)
        assert len(started) == 2
        front.send_signal(number)
        assert front.wait(SECONDS) == 0
    finally:
        front.kill()
        front.wait()
    assert ended(started)
    assert folder.rooms() == []


@pytest.mark.long
def test_a_message_of_a_gigabyte_harms_nobody_but_its_front(folder: Folder, tmp_path: Path) -> None:
    """The front answers with one line, or ends by its limit of memory; the machine's memory is not taken."""
    front = folder.start()
    try:
        assert front.stdout is not None
        uri = json.loads(front.stdout.readline())["uri"]
        started = descendants(front.pid)
        message = flight.FlightDescriptor.for_command(b"x" * (1 << 30))
        options = flight.FlightCallOptions(timeout=120)
        with pytest.raises((pa.ArrowException, OSError)):
            flight.connect(uri).get_flight_info(message, options)
        if front.poll() is None:
            client = FlightClient(flight.connect(uri), "ana", folder.token)
            assert client.fetch(client.ticket("FROM study")).num_rows == ROWS
        else:
            assert ended(started)
    finally:
        front.kill()
        front.wait()


def test_the_door_of_the_test_is_no_other(tmp_path: Path) -> None:
    """The helper that counts processes finds the workers of a door."""
    file = room_file(tmp_path / "releases.duckdb", "CREATE TABLE released AS SELECT 1 AS age")
    with opened_door(tmp_path, file) as door:
        opened: OpenedDoor = door
        assert {worker.pid for worker in opened.pool.workers} <= set(descendants(os.getpid()))
