"""An executor is killed while a release is made: the release is whole and as it should be, or there is none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.long]

ROWS = 20_000
POLICY = """
    CREATE HIERARCHY bands AS INTERVALS (5, 20);
    CREATE POLICY clinic ON people (age QUASI IDENTIFIER USING bands, disease SENSITIVE) REQUIRE k_anonymity(k => 5);
"""
CREATE = "CREATE ANONYMIZED TABLE r AS POLICY clinic METHOD generalization"
# The stages in which an executor is killed, each in its turn: rows are copied, counted, written, read again.
STAGES = ("encode", "materialize", "check")


def main(folder: str) -> None:
    """Makes a release for each stage, and prints what became of it: a process of its own, since it has a cluster."""
    from pyspark.sql import SparkSession

    from sqlanon import SqlanonError, connect

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    for name, value in (("driver.host", "127.0.0.1"), ("driver.bindAddress", "127.0.0.1"), ("log.level", "OFF")):
        builder = builder.config(f"spark.{name}", value)
    session = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    session.range(ROWS).selectExpr("CAST(id % 60 AS INT) AS age", "'d' || id % 7 AS disease").createOrReplaceTempView(
        "people"
    )
    for stage in STAGES:
        releases = Path(folder) / stage
        outcome, killed = "made", []

        def kill(now: str, *_: object, of: str = stage, killed: list[int] = killed) -> None:
            if now == of and not killed and (executors := running()):
                killed.append(executors[0])
                os.kill(executors[0], signal.SIGKILL)

        with connect(engine="spark", session=session, releases=releases) as connection:
            connection.execute(POLICY)
            connection.observe(kill)
            try:
                connection.execute(CREATE)
            except SqlanonError as error:
                outcome = type(error).__name__
            connection.observe(None)
            names = connection.execute("SHOW RELEASES").fetchall()
            satisfied = [row[-1] for row in connection.execute("CHECK r").fetchall()] if names else []
            rows = session.read.parquet(f"{releases}/main/r").groupBy("age").count().collect() if names else []
        made = sorted(path.name for path in releases.glob("*/*"))
        print(json.dumps([stage, outcome, len(killed), satisfied, sorted(map(list, rows)), made]), flush=True)
    session.stop()


def running() -> list[int]:
    """The processes of executors of this process's cluster."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            grandparent = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if "CoarseGrainedExecutorBackend" in command and os.getpid() in (parent, grandparent):
            found.append(int(entry.name))
    return sorted(found)


def test_a_lost_executor_loses_no_row(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, __file__, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    outcomes = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("[")]
    assert [outcome[0] for outcome in outcomes] == list(STAGES), ran.stderr[-2000:]
    expected = [[age, ROWS // 60 + (age < ROWS % 60)] for age in range(60)]
    for stage, outcome, killed, satisfied, rows, made in outcomes:
        assert killed == 1, stage
        if outcome == "made":
            assert (satisfied, sorted(rows), made) == ([True], expected, ["r"]), stage
        else:
            assert (outcome, satisfied, rows, made) == ("EngineError", [], [], []), stage


if __name__ == "__main__":
    main(sys.argv[1])
