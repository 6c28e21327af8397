"""A process that exports two releases to one place, over and over, and is killed at a random moment.

This file is also the process: it says before each export which release it is, so that whoever kills it knows what may
be there afterwards.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import sqlanon

__all__ = ["NAMES", "Exporter", "made"]

NAMES = ("first", "second")
_ROWS = 40_000
_MADE = f"""
    CREATE TABLE people AS SELECT i % 50 AS age, ['Flu', 'Cold', 'Ulcer'][1 + i % 3] AS ill FROM range({_ROWS}) AS t(i);
    CREATE POLICY p ON people (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 5);
    CREATE POLICY q ON (SELECT * FROM people WHERE age < 40) (age QUASI IDENTIFIER, ill SENSITIVE)
    REQUIRE k_anonymity(k => 5);
    CREATE ANONYMIZED TABLE first AS POLICY p METHOD generalization;
    CREATE ANONYMIZED TABLE second AS POLICY q;
"""


def made(database: Path) -> None:
    """Makes a database with the two releases."""
    with sqlanon.connect(database) as connection:
        connection.execute(_MADE)


class Exporter:
    """Starts processes that export to a target, and kills them. One process has imported sqlanon, and forks them."""

    def __enter__(self) -> Exporter:
        root = str(Path(sqlanon.__file__).parents[1])
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._seconds = 0.5
        return self

    def __exit__(self, *error: object) -> None:
        self._server.communicate()

    def kill_at_random(self, database: Path, target: str, chance: random.Random) -> None:
        """Starts a process that exports the two releases in turn, and kills it after a random time."""
        assert self._server.stdin
        self._server.stdin.write(json.dumps([str(database), target]) + "\n")
        self._server.stdin.flush()
        pid = int(self._line())
        assert self._line() in NAMES
        begun = time.perf_counter()
        if chance.random() < 0.4:
            # The export that is killed is the second one, and it is known how long one takes.
            self._line()
            self._seconds = time.perf_counter() - begun
        time.sleep(chance.uniform(0, 1.1) * self._seconds)
        os.kill(pid, signal.SIGKILL)
        while self._line() != "gone":
            pass

    def _line(self) -> str:
        assert self._server.stdout
        line = self._server.stdout.readline().strip()
        assert line, "the process that forks has ended"
        return line


def _serve() -> None:
    """Forks a process for each line of the input, and says when it is gone."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                _export(*json.loads(line))
            finally:
                os._exit(1)
        print(child, flush=True)
        os.waitpid(child, 0)
        print("gone", flush=True)


def _export(database: str, target: str) -> None:
    connection = sqlanon.connect(database, config={"checkpoint_threshold": "1TB", "threads": "2"})
    while True:
        for name in NAMES:
            print(name, flush=True)
            connection.sql(f"EXPORT {name} TO '{target}' (REPLACE true)")


if __name__ == "__main__":
    _serve()
