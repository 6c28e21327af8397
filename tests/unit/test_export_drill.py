"""Exports that are killed, or find no room: what stands there is whole and checked, or what was there before."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon
from tests.support.killed_exports import NAMES, Exporter, made

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there no signal kills, and no limit is set")

KILLS = 24
TARGETS = ("out.sqlite", "out.arrow", "out.csv", "folder")
# No file may become as large as the release; a limit is what an ordinary user has in place of a full disk.
_LIMITED = """
import resource, signal, sys
import sqlanon
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
connection = sqlanon.connect(sys.argv[1], read_only=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
for statement in sys.argv[2:]:
    try:
        connection.sql(statement)
    except sqlanon.SqlanonError as error:
        print(type(error).__name__)
    else:
        print("done")
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("drill") / "people.duckdb"
    made(path)
    return path


@pytest.fixture(scope="module")
def exporter() -> Iterator[Exporter]:
    with Exporter() as started:
        yield started


def satisfied(path: Path) -> set[str]:
    """The release whose export is there, if one is; it is what its certificate says."""
    if not path.exists():
        return set()
    with sqlanon.connect() as receiver:
        rows = receiver.sql(f"CHECK '{path}'").fetchall()
    assert all(row[5] for row in rows)
    return {row[0] for row in rows}


@pytest.mark.long
def test_a_killed_export_leaves_one_that_is_whole(database: Path, exporter: Exporter, tmp_path: Path) -> None:
    """The one that was there, or the new one; and the next export takes away what is left."""
    chance, seen = random.Random("files"), set()
    for target in TARGETS:
        path = tmp_path / target
        for _ in range(KILLS // len(TARGETS)):
            exporter.kill_at_random(database, str(path), chance)
            # A data file whose certificates were not renamed any more is no export yet.
            certificate = path / "certificate.json" if path.is_dir() else tmp_path / f"{target}.certificate.json"
            seen |= satisfied(path) if certificate.exists() else set()
        with sqlanon.connect(database) as connection:
            connection.sql(f"EXPORT first TO '{path}' (REPLACE true)")
        assert satisfied(path) == {"first"}
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".sqlanon")]
    assert seen == set(NAMES)


def test_no_room_leaves_what_was_there(database: Path, tmp_path: Path) -> None:
    """CSV is not asked: there DuckDB now and then waits for ever."""
    targets = [tmp_path / name for name in TARGETS if name != "out.csv"]
    with sqlanon.connect(database) as connection:
        for path in targets:
            connection.sql(f"EXPORT first TO '{path}'")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    statements = [f"EXPORT second TO '{path}' (REPLACE true)" for path in targets]
    statements.append(f"EXPORT second TO '{tmp_path}/new.parquet'")
    statements.append(f"EXPORT second TO '{tmp_path}/lake' (PARTITION_BY (ill))")
    command = [sys.executable, "-c", _LIMITED, str(database), *statements]
    environment = os.environ | {"PYTHONPATH": str(Path(sqlanon.__file__).parents[1])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["EngineError"] * len(statements), done.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
