"""Statements that exhaust time, memory, rows or bytes, through a door without its gate: only limits hold them.

Each is stopped with one line, the door answers afterwards, and a reader beside it is answered meanwhile.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from sqlanon.clients.serve.workers import Limits
from tests.support.door.doors import FlightClient, OpenedDoor, opened_door, room_file

SECONDS = 3.0
# A worker that was killed is replaced on a machine that does other things, too.
SLACK = 8.0
LIMITS = Limits(seconds=SECONDS, memory=512 << 20, rows=200_000, bytes=128 << 20)
OF_TIME = (
    "SELECT lpad('x', 2000000000, 'y')",
    "SELECT count(*) FROM released a, released b, released c WHERE a.age + b.age + c.age + random() < 0",
    "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r",
    "SELECT max(md5(i::VARCHAR)) FROM range(100000000000) t(i)",
)
OF_MEMORY = (
    "SELECT length(repeat('x', 2000000000))",
    "SELECT list(i) FROM range(200000000) t(i)",
    "SELECT string_agg(i || repeat('x', 100), '') FROM range(20000000) t(i)",
    "SELECT count(DISTINCT i || repeat('x', 100)) FROM range(20000000) t(i)",
)
OF_ROWS = ("FROM range(200001)", "SELECT a.age FROM released a, released b")
OF_BYTES = ("SELECT repeat('x', 1000) FROM range(200000)", "SELECT repeat('x', 20000000)")


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedDoor]:
    folder = tmp_path_factory.mktemp("door")
    file = room_file(folder / "releases.duckdb", "CREATE TABLE released AS SELECT i AS age FROM range(20000) t(i)")
    with opened_door(folder, file, limits=LIMITS, has_gate=False) as opened:
        yield opened


def stopped(door: OpenedDoor, statement: str) -> tuple[str, str, float]:
    """Returns the outcome in the audit, the reader's message, and the seconds that it took."""
    client = door.client()
    begun = time.monotonic()
    with pytest.raises((pa.ArrowException, OSError)) as caught:
        client.fetch(client.ticket(statement))
    text = str(caught.value)
    assert "Traceback" not in text
    return door.lines("ended")[-1]["outcome"], text, time.monotonic() - begun


def count(door: OpenedDoor, name: str = "ana") -> object:
    client = door.client(name)
    return client.fetch(client.ticket("SELECT count(*) AS n FROM released")).column("n")[0].as_py()


@pytest.mark.long
@pytest.mark.parametrize("statement", OF_TIME)
def test_time(door: OpenedDoor, statement: str) -> None:
    outcome, text, seconds = stopped(door, statement)
    assert (outcome, "longer than it may" in text) == ("time", True) or outcome in ("memory", "killed")
    assert seconds < SECONDS + SLACK
    assert count(door) == 20000


@pytest.mark.long
@pytest.mark.parametrize("statement", OF_MEMORY)
def test_memory(door: OpenedDoor, statement: str) -> None:
    outcome, text, _ = stopped(door, statement)
    assert outcome in ("memory", "killed", "time")
    assert "aggregate or filter" in text
    assert count(door) == 20000


@pytest.mark.long
def test_one_statement_of_each_kind(door: OpenedDoor) -> None:
    assert stopped(door, "SELECT length(repeat('x', 2000000000))")[0] == "memory"
    assert count(door) == 20000


@pytest.mark.one_in(2)
@pytest.mark.parametrize("statement", [*OF_ROWS, *OF_BYTES])
def test_rows_and_bytes(door: OpenedDoor, statement: str) -> None:
    count(door)
    outcome, text, seconds = stopped(door, statement)
    assert outcome == "limit"
    assert "more than" in text
    assert seconds < SECONDS
    client = door.client()
    assert client.fetch(client.ticket("FROM range(200000)")).num_rows == 200_000


@pytest.mark.long
def test_a_reader_never_has_the_last_worker(door: OpenedDoor) -> None:
    """Ana's first statement runs to its limit; her second one waits, and ben is answered at once."""
    ana, ended = door.client("ana"), []

    def exhaust() -> None:
        for _ in range(2):
            try:
                ana.fetch(ana.ticket("SELECT max(md5(i::VARCHAR)) FROM range(100000000000) t(i)"))
            except flight.FlightServerError:
                pass
            except flight.FlightTimedOutError:
                ended.append(time.monotonic())

    threads = [threading.Thread(target=exhaust) for _ in range(2)]
    count(door, "ben")
    for thread in threads:
        thread.start()
    try:
        until = time.monotonic() + SLACK
        while not any(worker.reader == "ana" for worker in door.pool.workers) and time.monotonic() < until:
            time.sleep(0.01)
        held = [worker.reader for worker in door.pool.workers]
        assert count(door, "ben") == 20000
        assert held.count("ana") == 1
        assert not ended
    finally:
        for thread in threads:
            thread.join(60)


def test_a_slow_reader_of_a_short_answer_holds_no_worker(door: OpenedDoor) -> None:
    client = door.client()
    stream = client.begin("FROM range(100000)")
    assert all(worker.reader is None for worker in door.pool.workers)
    assert stream.read_all().num_rows == 100_000


@pytest.mark.long
def test_a_slow_reader_of_a_long_answer_is_stopped_by_the_clock(door: OpenedDoor) -> None:
    """The answer has more bytes than the front and the connection take in, so its worker waits for the reader."""
    client = door.client()
    stream = client.begin("SELECT i, repeat('x', 600) AS x FROM range(200000) t(i)")
    rows = [stream.read_chunk().data.num_rows]
    until = time.monotonic() + SLACK + SECONDS
    while any(worker.reader == "ana" for worker in door.pool.workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(worker.reader == "ana" for worker in door.pool.workers)
    assert count(door, "ben") == 20000
    with pytest.raises(flight.FlightTimedOutError, match="longer than it may"):
        rows += [chunk.data.num_rows for chunk in stream]
    assert sum(rows) < 200_000


def test_a_reader_has_eight_answers_open_at_most(door: OpenedDoor) -> None:
    """An answer is open until it was sent. As a connection takes some of it in, the door counts here without one."""
    client = door.client()
    for _ in range(8):
        door.door._count("ana", 1)
    try:
        with pytest.raises(flight.FlightError, match="answers are open already"):
            client.fetch(client.ticket("SELECT 1"))
        assert count(door, "ben") == 20000
    finally:
        for _ in range(8):
            door.door._count("ana", -1)
    assert count(door) == 20000


@pytest.mark.long
def test_a_reader_who_leaves_frees_the_worker(door: OpenedDoor) -> None:
    for _ in range(3):
        stream = door.client().begin("SELECT i, repeat('x', 150) AS x FROM range(190000) t(i)")
        stream.read_chunk()
        stream.cancel()
        del stream
    assert count(door) == 20000


def test_a_statement_writes_no_file(door: OpenedDoor, tmp_path: Path) -> None:
    """Sorting more than fits into memory fails, and COPY does, where the gate would not even let it through."""
    client = door.client()
    for statement in (
        f"COPY released TO '{tmp_path}/out.csv'",
        f"ATTACH '{tmp_path}/out.duckdb' AS other",
        "INSERT INTO released VALUES (1)",
        "SET lock_configuration = false",
        "SET memory_limit = '100GB'",
        "INSTALL spatial",
        f"SELECT * FROM read_text('{__file__}')",
        "SELECT * FROM read_text('/proc/self/environ')",
    ):
        with pytest.raises((pa.ArrowException, OSError)) as caught:
            client.fetch(client.ticket(statement))
        assert str(tmp_path) not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    assert count(door) == 20000


def test_the_process_of_a_worker_has_its_limits(door: OpenedDoor) -> None:
    count(door)
    worker = next(each for each in door.pool.workers if each.room is not None)
    limits = Path(f"/proc/{worker.pid}/limits").read_text(encoding="ascii").splitlines()
    soft = {line[:26].strip(): line[26:47].strip() for line in limits}
    hard = {line[:26].strip(): line[47:68].strip() for line in limits}
    for of in (soft, hard):
        assert of["Max file size"] == of["Max core file size"] == of["Max processes"] == "0"
        assert int(of["Max address space"]) < 8 << 30
    environment = Path(f"/proc/{worker.pid}/environ").read_bytes()
    assert environment.rstrip(b"\0").split(b"\0") == [b"MALLOC_ARENA_MAX=2"]
    assert os.readlink(f"/proc/{worker.pid}/cwd") == "/"


@pytest.mark.long
def test_many_readers_at_once_get_their_own_answers(door: OpenedDoor) -> None:
    answers: dict[int, list[object]] = {}

    def ask(number: int) -> None:
        client: FlightClient = door.client("ana" if number % 2 else "ben")
        statement = f"SELECT {number} * count(*) AS n FROM released WHERE age >= {number}"
        answers[number] = [client.fetch(client.ticket(statement)).column("n")[0].as_py() for _ in range(5)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == {number: [number * (20000 - number)] * 5 for number in range(6)}
