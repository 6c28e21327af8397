"""A process that advances a stream is killed again and again: no row is lost, and none is published twice.

This file is also the process: it lets rows arrive and advances, until it is killed.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

import sqlanon
from sqlanon import Connection
from tests.support.draws import draws
from tests.support.processes import running

pytestmark = pytest.mark.drawn

ROWS = 600
KILLS = draws(2, long=20)
STEP = 7
SETUP = f"""
CREATE TABLE feed AS SELECT i AS arrived, 'p' || hash(i) % 90 AS person, (hash(i * 31) % 70)::INTEGER AS age, i AS id
    FROM range(1, {ROWS + 1}) AS t(i);
CREATE TABLE visits AS FROM feed LIMIT 0;
CREATE POLICY p ON visits (person ENTITY, age QUASI IDENTIFIER, id SENSITIVE) REQUIRE k_anonymity(k => 3);
CREATE ANONYMIZED STREAM s AS POLICY p ORDER BY arrived METHOD stream(k => 3, delay => 40);
"""


def step(con: Connection) -> bool:
    """Lets some rows arrive, and advances; whether there were any."""
    [(last,)] = con.duckdb.execute("SELECT coalesce(max(arrived), 0) FROM visits").fetchall()
    con.duckdb.execute("INSERT INTO visits FROM feed WHERE arrived > ? AND arrived <= ?", [last, last + STEP])
    con.execute("ADVANCE s")
    return bool(last < ROWS)


def published(con: Connection) -> list[tuple[str, int]]:
    return sorted(con.duckdb.execute("SELECT age, id FROM s").fetchall())


def test_killed_and_resumed_it_publishes_what_it_would_have_published(tmp_path: Path) -> None:
    path = tmp_path / "visits.duckdb"
    with sqlanon.connect(path) as con:
        con.execute(SETUP)
    chance, kills, within = random.Random(0), 0, 0
    root = str(Path(sqlanon.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    while kills < KILLS:
        with running(
            [sys.executable, __file__, str(path)], stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            assert process.stdout is not None
            for _ in range(chance.randint(1, 3)):
                said = process.stdout.readline()
            assert said.strip() in ("advancing", "advanced", "end")
            if said.strip() == "end":
                break
            sleep(chance.uniform(0, 0.15))
            process.send_signal(signal.SIGKILL)
            process.wait()
            rest = [line.strip() for line in process.stdout]
        kills += 1
        within += ([said.strip(), *rest][-1]) == "advancing"
        with sqlanon.connect(path) as con:
            rows = published(con)
            assert len(rows) == len({number for _, number in rows})
            [(satisfied,)] = [row[-1:] for row in con.execute("CHECK s").fetchall()]
            assert satisfied
    assert within or KILLS < 10, "no kill has hit an ADVANCE"
    with sqlanon.connect(path) as con:
        con.duckdb.execute(
            "INSERT INTO visits FROM feed WHERE arrived > (SELECT coalesce(max(arrived), 0) FROM visits)"
        )
        con.execute("ADVANCE s TO END")
        resumed = published(con)
        [(lost,)] = con.duckdb.execute("SELECT count(*) FROM feed WHERE id NOT IN (SELECT id FROM s)").fetchall()
        [shown] = con.execute("SHOW STREAMS").fetchall()
    with sqlanon.connect() as con:
        con.execute(SETUP)
        con.duckdb.execute("INSERT INTO visits FROM feed")
        con.execute("ADVANCE s TO END")
        assert resumed == published(con)
    read, released, reused, withheld, waiting = shown[6:11]
    assert (read, released + reused, withheld, waiting) == (ROWS, ROWS - lost, lost, 0)


def main() -> None:
    # As in test_kill.py: a checkpoint is the database's own work, and its parent, which is not killed, writes it.
    with sqlanon.connect(sys.argv[1], config={"checkpoint_threshold": "1TB", "threads": "1"}) as con:
        more = True
        while more:
            print("advancing", flush=True)
            more = step(con)
            print("advanced", flush=True)
        print("end", flush=True)
        sleep(60)


if __name__ == "__main__":
    main()
