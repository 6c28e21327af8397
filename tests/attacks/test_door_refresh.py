"""A door on a database that changes: no answer mixes two versions, none is of a half-made room, and the source stays.

Each version of the source has another number of rows, and every row says its version. So an answer that mixes two
versions, or lacks rows, shows.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon

pytestmark = pytest.mark.long

READERS, QUERIES, KILLS = 8, 100, 30
ROWS, MORE = 3_000, 7
SECONDS = 120
SETUP = f"""
CREATE TABLE patients AS SELECT i % 60 AS age, 'd' || (i % 5) AS disease, 0 AS version FROM range({ROWS}) AS t(i);
CREATE HIERARCHY ages AS INTERVALS (10, 30);
CREATE POLICY p ON patients (age QUASI IDENTIFIER USING ages, disease SENSITIVE, version INSENSITIVE)
REQUIRE k_anonymity(k => 5), l_diversity(l => 2);
CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization;
CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
"""


def rows_of(version: int) -> int:
    """The number of rows of the live view in a version: no row is withheld."""
    return ROWS + MORE * version


@dataclass
class Clinic:
    """A database with readers, and the door that serves it."""

    folder: Path
    tokens: dict[str, str] = field(default_factory=dict)
    door: subprocess.Popen[str] | None = None
    uri: str = ""

    @property
    def file(self) -> Path:
        return self.folder / "clinic.duckdb"

    @property
    def rooms(self) -> Path:
        return self.folder / "rooms"

    def digest(self) -> str:
        return hashlib.md5(self.file.read_bytes()).hexdigest()

    def write(self, version: int) -> None:
        """Writes a version, as soon as the file can be had."""
        until = time.monotonic() + SECONDS
        while True:
            try:
                connection = duckdb.connect(str(self.file))
                break
            except duckdb.IOException:
                assert time.monotonic() < until, "the keeper holds the file for too long"
                time.sleep(0.05)
        with connection:
            connection.execute("BEGIN; DELETE FROM patients")
            connection.execute(
                "INSERT INTO patients SELECT i % 60, 'd' || (i % 5), $v FROM range($n) AS t(i)",
                {"v": version, "n": rows_of(version)},
            )
            connection.execute("COMMIT")

    def statement(self, text: str) -> list[tuple[Any, ...]]:
        with sqlanon.connect(str(self.file)) as connection:
            return connection.execute(text).fetchall()

    def start(self, *options: str) -> None:
        arguments = [str(self.file), "--port", "0", "--rooms", str(self.rooms), "--audit", str(self.folder / "audit")]
        self.door = subprocess.Popen(
            [sys.executable, "-m", "sqlanon", "serve", *arguments, *options],
            stdout=subprocess.PIPE,
            stderr=(self.folder / "errors").open("a"),
            text=True,
        )
        assert self.door.stdout is not None
        self.uri = self.door.stdout.readline().split()[-1]

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        assert self.door is not None
        self.door.send_signal(how)
        self.door.wait(SECONDS)

    @contextmanager
    def cursor(self, name: str) -> Iterator[Any]:
        """A cursor of the standard driver."""
        from adbc_driver_flightsql import dbapi

        keywords = {"username": name, "password": self.tokens[name]}
        with dbapi.connect(self.uri, db_kwargs=keywords, autocommit=True) as connection, connection.cursor() as cursor:
            yield cursor

    def ask(self, name: str, statement: str) -> list[tuple[Any, ...]]:
        with self.cursor(name) as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[Clinic]:
    made = Clinic(tmp_path)
    with sqlanon.connect(str(made.file)) as connection:
        connection.execute(SETUP)
        for number in range(READERS):
            name = f"reader {number}"
            made.tokens[name] = connection.execute(f'CREATE READER "{name}"').fetchall()[0][3]
            releases = "live, r" if number % 2 else "live"
            connection.execute(f'GRANT SELECT ON RELEASE {releases} TO "{name}"')
    yield made
    if made.door is not None:
        made.door.kill()
        made.door.wait()


class Reading(threading.Thread):
    """A reader who asks again and again; `wrong` are answers that no version gives, `errors` the texts of errors."""

    def __init__(self, clinic: Clinic, name: str, queries: int, drawn: random.Random) -> None:
        super().__init__()
        self.versions: list[int] = []
        self.wrong: list[object] = []
        self.errors: list[str] = []
        self._clinic, self._name, self._queries, self._drawn = clinic, name, queries, drawn

    def run(self) -> None:
        with self._clinic.cursor(self._name) as cursor:
            for _ in range(self._queries):
                try:
                    first, last, count = self._asked(cursor)
                except Exception as error:
                    self.errors.append(str(error))
                    continue
                if first != last or count != rows_of(first) or (self.versions and first < self.versions[-1]):
                    self.wrong.append((first, last, count, self.versions[-3:]))
                self.versions.append(first)

    def _asked(self, cursor: Any) -> tuple[int, int, int]:
        """Returns the least and the greatest version of the rows, and their number."""
        if self._drawn.random() < 0.3:
            cursor.execute("SELECT version, age, disease FROM live")
            rows = cursor.fetchall()
            return min(rows)[0], max(rows)[0], len(rows)
        cursor.execute("SELECT min(version), max(version), count(*) FROM live")
        [(first, last, count)] = cursor.fetchall()
        return first, last, count


def made_rooms(clinic: Clinic) -> list[Path]:
    return sorted(clinic.rooms.rglob("*.duckdb"))


def settled(clinic: Clinic, most: int) -> bool:
    """Waits until there are no more rooms than sets of grants; returns whether it is so in time."""
    until = time.monotonic() + SECONDS
    while len(made_rooms(clinic)) > most and time.monotonic() < until:
        time.sleep(0.5)
    return len(made_rooms(clinic)) <= most


def test_eight_readers_while_the_source_is_written_and_copied(clinic: Clinic) -> None:
    clinic.start("--refresh", "1s", "--workers", "4")
    readings = [
        Reading(clinic, name, QUERIES, random.Random(number)) for number, name in enumerate(sorted(clinic.tokens))
    ]
    version = 0
    for reading in readings:
        reading.start()
    while any(reading.is_alive() for reading in readings):
        version += 1
        clinic.write(version)
        time.sleep(3)
    for reading in readings:
        reading.join()
    assert [reading.wrong for reading in readings] == [[]] * READERS
    # A machine with much else to do may let a reader wait for a worker until the door says so.
    errors = [error for reading in readings for error in reading.errors if "all workers are busy" not in error]
    assert errors == []
    answers = sum(len(reading.versions) for reading in readings)
    assert answers + sum(len(reading.errors) for reading in readings) == READERS * QUERIES
    assert answers > READERS * QUERIES / 2
    seen = {version for reading in readings for version in reading.versions}
    assert len(seen) > 2, "no refresh fell into the queries"
    # Two sets of grants are two rooms; once no copy is being made, those of former versions are gone.
    before = clinic.digest()
    assert settled(clinic, 2)
    clinic.stop()
    assert made_rooms(clinic) == []
    assert clinic.digest() == before


def test_the_source_is_only_read(clinic: Clinic) -> None:
    before = clinic.digest()
    clinic.start("--refresh", "1s")
    for name in clinic.tokens:
        assert clinic.ask(name, "SELECT count(*) FROM live") == [(ROWS,)]
        os.utime(clinic.file)
    time.sleep(3)
    clinic.stop()
    assert clinic.digest() == before
    assert sorted(path.name for path in clinic.folder.iterdir()) == ["audit", "clinic.duckdb", "errors", "rooms"]


def keepers(clinic: Clinic) -> list[int]:
    """The processes of the door that have the database open, or will."""
    assert clinic.door is not None
    pids = []
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            parent = int((each / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])
            if parent == clinic.door.pid and b"keeper_main" in (each / "cmdline").read_bytes():
                pids.append(int(each.name))
    return pids


def test_keepers_that_are_killed(clinic: Clinic) -> None:
    """A reader has the former room, a new one or an error; never a half of one."""
    drawn = random.Random(1)
    clinic.start("--refresh", "1s")
    name = "reader 0"
    assert clinic.ask(name, "SELECT count(*) FROM live") == [(ROWS,)]
    version, kills, wrong = 0, 0, []
    until = time.monotonic() + 20 * SECONDS
    while kills < KILLS and time.monotonic() < until:
        version += 1
        clinic.write(version)
        wait = time.monotonic() + drawn.random() * 4
        is_killed = False
        while not is_killed or time.monotonic() < wait:
            if (pids := keepers(clinic)) and not is_killed:
                # At a random moment of its life: a keeper starts for half a second, copies, checks and ends.
                time.sleep(drawn.random() * drawn.choice((0.3, 1.5, 4)))
                for pid in pids:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        kills += 1
                is_killed = True
            with suppress(Exception):
                [(first, last, count)] = clinic.ask(name, "SELECT min(version), max(version), count(*) FROM live")
                if first != last or count != rows_of(first):
                    wrong.append((first, last, count))
    assert kills >= KILLS
    assert wrong == []
    # It goes on, and no half of a room is left.
    until = time.monotonic() + SECONDS
    answer: list[tuple[Any, ...]] = []
    while time.monotonic() < until and answer != [(version, rows_of(version))]:
        with suppress(Exception):
            answer = clinic.ask(name, "SELECT min(version), count(*) FROM live")
        time.sleep(0.5)
    assert answer == [(version, rows_of(version))]
    assert settled(clinic, 1)
    clinic.stop()
    assert made_rooms(clinic) == []
    with duckdb.connect(str(clinic.file), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM patients").fetchall() == [(rows_of(version),)]


def test_grants_and_tokens_while_a_door_is_open(clinic: Clinic) -> None:
    clinic.start("--refresh", "never")
    assert clinic.ask("reader 1", "SELECT count(*) FROM r") == [(ROWS,)]
    with pytest.raises(Exception, match="no release of this name"):
        clinic.ask("reader 0", "SELECT count(*) FROM r")
    clinic.statement('REVOKE SELECT ON RELEASE r FROM "reader 1"; GRANT SELECT ON RELEASE r TO "reader 0"')
    time.sleep(3)
    with pytest.raises(Exception, match="no release of this name"):
        clinic.ask("reader 1", "SELECT count(*) FROM r")
    assert clinic.ask("reader 0", "SELECT count(*) FROM r") == [(ROWS,)]
    # Another release of the name: who was granted the former one sees neither.
    clinic.statement("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    time.sleep(3)
    with pytest.raises(Exception, match="no release of this name"):
        clinic.ask("reader 0", "SELECT count(*) FROM r")
    clinic.statement('DROP READER "reader 0"')
    time.sleep(3)
    with pytest.raises(Exception, match="UNAUTHENTICATED"):
        clinic.ask("reader 0", "SELECT count(*) FROM live")
    assert clinic.ask("reader 2", "SELECT count(*) FROM live") == [(ROWS,)]


def test_a_writer_that_stays(clinic: Clinic) -> None:
    """While the owner has the file open, the copies before are served until their greatest age."""
    clinic.start("--refresh", "1s", "--max-age", "12s")
    assert clinic.ask("reader 0", "SELECT count(*) FROM live") == [(ROWS,)]
    with duckdb.connect(str(clinic.file)) as connection:
        connection.execute("INSERT INTO patients SELECT 1, 'd1', 0")
        connection.execute("CHECKPOINT")
        assert clinic.ask("reader 0", "SELECT count(*) FROM live") == [(ROWS,)]
        until = time.monotonic() + SECONDS
        error = ""
        while not error and time.monotonic() < until:
            try:
                clinic.ask("reader 0", "SELECT count(*) FROM live")
                time.sleep(0.5)
            except Exception as raised:
                error = str(raised)
        assert "cannot be read now" in error
    until = time.monotonic() + SECONDS
    answer: list[tuple[Any, ...]] = []
    while time.monotonic() < until and not answer:
        with suppress(Exception):
            answer = clinic.ask("reader 0", "SELECT count(*) FROM live")
    assert answer == [(ROWS + 1,)]
