"""A process with a Spark session that makes two releases by one name, over and over, until it is killed.

This file is also the process: it says before each stage which one it is, so that whoever kills it can choose.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["BEGIN", "NAMES", "Kill", "kill_at_random"]

NAMES = ("first", "second")
# The stages at whose beginning a process is killed, or a moment after it.
BEGIN = "begin"
STAGES = (BEGIN, "encode", "solve", "materialize", "check", "publish")
# What a kill waits for at most, so that some come in the middle of a stage and some in the next one.
_SECONDS = 0.7
_POLICIES = """
    CREATE POLICY first ON people (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 5);
    CREATE POLICY second ON young (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 5);
"""
_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@dataclass(frozen=True)
class Kill:
    """Where a process was when it was killed: the stage, and the releases that it had begun, the last one last."""

    stage: str
    begun: tuple[str, ...]


def kill_at_random(folder: Path, chance: random.Random) -> Kill:
    """Starts a process that makes releases in a folder, and kills it and its Java, or it and a moment later Java."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(folder)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout
    begun: list[str] = []
    stage = chance.choice(STAGES)
    # A stage is said once for each of its queries. It may be the first release of all, or one that replaces it.
    passed = chance.randrange(15) if stage != BEGIN else chance.randrange(3)
    try:
        for line in process.stdout:
            said, _, name = line.strip().partition(" ")
            begun += [name] if said == BEGIN else []
            passed -= said == stage
            if passed < 0:
                time.sleep(chance.choice((0.0, 0.02, _SECONDS)) * chance.random())
                return Kill(stage, tuple(begun))
    finally:
        if chance.random() < 0.5:
            process.kill()
            time.sleep(0.3)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    raise AssertionError("the process that makes releases has ended")


def _make(folder: Path) -> None:
    import sqlanon
    from sqlanon.engines.spark import local_session

    session = local_session(config=_SETTINGS | {"spark.local.dir": str(folder / "spilled")})
    rows = session.range(2_000).selectExpr("CAST(id % 50 AS INT) AS age", "'d' || id % 3 AS ill")
    rows.createOrReplaceTempView("people")
    rows.where("age < 40").createOrReplaceTempView("young")
    releases = folder / "releases"
    with sqlanon.connect(folder / "catalog.duckdb", engine="spark", session=session, releases=releases) as connection:
        if not connection.execute("SHOW POLICIES").fetchall():
            connection.execute(_POLICIES)
        connection.observe(lambda stage, *_: print(stage, flush=True))
        while True:
            for name in NAMES:
                print(BEGIN, name, flush=True)
                connection.execute(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY {name} METHOD generalization")


if __name__ == "__main__":
    _make(Path(sys.argv[1]))
