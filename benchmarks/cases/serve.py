"""The door: rows through the standard driver beside reading in process, small queries, and rooms of releases."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import duckdb

import sqlanon
from benchmarks import databases
from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import MARKED_FROM, Figure, ratio
from benchmarks.measure import paired, seconds
from sqlanon.clients.serve import exports_main, keeper_main
from sqlanon.clients.serve.exports import export_files
from sqlanon.domain.values import QualifiedName
from tests.support.door.doors import OpenedDoor, opened_door

__all__ = ["run"]

# 4 million rows a second.
_MILLISECONDS_A_MILLION = 250.0
_ROOM = 1.5
_SIZES, _QUICK_SIZES = (1_000_000,), (100_000,)
_SMALL, _SMALL_RUNS = "SELECT sex, count(*) FROM snapshot GROUP BY sex", 50
_RELEASE = QualifiedName(("main", "snapshot"))


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        context.note(f"a room and its door, {rows:,} rows")
        with (
            tempfile.TemporaryDirectory() as name,
            databases.working_copy(ADULT, context.file(ADULT, rows)) as connection,
        ):
            folder = Path(name)
            connection.execute(databases.release("table", "snapshot", "0.02"))
            connection.execute(f"EXPORT snapshot TO '{folder}/exports/' (FORMAT parquet)")
            runs = context.runs_at(rows)
            yield from _rooms(connection, folder, rows, runs)
            yield _live_rooms(connection, folder, rows, runs)
            yield from _answers(folder, rows, runs)


def _rooms(connection: sqlanon.Connection, folder: Path, rows: int, runs: int) -> Iterator[Figure]:
    """Measures the copy into a room; the export is verified once, before the first room."""
    [path] = map(str, export_files(folder / "exports"))
    begun = time.perf_counter()
    verified = exports_main._answer({"do": "verify", "paths": [path], "key": None})["exports"]
    taken = time.perf_counter() - begun
    yield Figure("serve", "verifying an export", taken, "s", taken, taken, rows=rows)
    room = folder / "released.duckdb"

    def fill() -> float:
        room.unlink(missing_ok=True)
        request = {"do": "fill", "room": str(room), "exports": verified}
        return seconds(lambda: exports_main._answer(request))

    samples = paired(lambda: databases.shuffled(connection, ADULT), lambda: {"room": fill()}, runs)
    yield ratio("serve", "a room of an export", rows, samples["room"], databases.SHUFFLED, _ROOM)


def _live_rooms(connection: sqlanon.Connection, folder: Path, rows: int, runs: int) -> Figure:
    """Measures the checked copy of a live view into a room, beside a shuffled copy of the view into a file."""
    connection.execute(databases.release("view", "live", "0.02"))
    connection.execute("CREATE READER ana; GRANT SELECT ON RELEASE live TO ana")
    file, room, naive = (folder / f"{name}.duckdb" for name in ("clinic", "live", "naive"))
    [(database,)] = connection.execute("SELECT current_database()").fetchall()
    for statement in (f"ATTACH '{file}' AS clinic", f"COPY FROM DATABASE {database} TO clinic", "DETACH clinic"):
        connection.duckdb.execute(statement)
    [reader] = keeper_main.look(file)["readers"]
    granted = [(str(release_id), QualifiedName((schema, name))) for release_id, schema, name in reader["releases"]]

    def copy() -> float:
        naive.unlink(missing_ok=True)

        def copied() -> None:
            with duckdb.connect(str(file), read_only=True) as opened:
                opened.execute(f"ATTACH '{naive}' AS naive (READ_WRITE)")
                opened.execute("CREATE TABLE naive.live AS FROM live ORDER BY random()")

        return seconds(copied)

    def fill() -> float:
        room.unlink(missing_ok=True)
        return seconds(lambda: keeper_main.fill(file, room, granted, 0))

    samples = paired(copy, lambda: {"room": fill()}, runs)
    return ratio("serve", "a room of a live view", rows, samples["room"], "the view, copied in random order", _ROOM)


def _answers(folder: Path, rows: int, runs: int) -> Iterator[Figure]:
    room = folder / "released.duckdb"
    with duckdb.connect(str(room), read_only=True) as inside:

        def inside_rows() -> float:
            return seconds(lambda: inside.sql("FROM snapshot").to_arrow_table())

        with opened_door(folder, _copied(room, folder)) as door, door.connect() as client, client.cursor() as cursor:

            def fetch(statement: str) -> float:
                return seconds(lambda: (cursor.execute(statement), cursor.fetch_arrow_table()))

            samples = paired(inside_rows, lambda: {"door": fetch("FROM snapshot")}, runs)
            sample = samples["door"]
            yield ratio("serve", "all rows through the driver", rows, sample, "the same rows in process")
            millions = [1000 * taken * 1_000_000 / rows for taken in sample.measured]
            mark = _MILLISECONDS_A_MILLION if rows >= MARKED_FROM else None
            of_millions = (median(millions), "ms", min(millions), max(millions))
            yield Figure("serve", "a million rows through the driver", *of_millions, rows=rows, runs=runs, mark=mark)
            spent = [_processor(door, lambda: fetch("FROM snapshot")) * 1_000_000 / rows for _ in range(runs)]
            of_spent = (median(spent), "s", min(spent), max(spent))
            yield Figure("serve", "processor time of these: client, front and worker", *of_spent, rows=rows, runs=runs)
            small = [1000 * fetch(_SMALL) for _ in range(_SMALL_RUNS)]
            of_small = (median(small), "ms", min(small), max(small))
            yield Figure("serve", "a small query through the driver", *of_small, rows=rows, runs=_SMALL_RUNS)
            _require_whole(door, rows)


def _processor(door: OpenedDoor, work: Callable[[], object]) -> float:
    """Returns the processor time of this process, with client and front, and of the workers."""
    before = time.process_time() + _of_workers(door)
    work()
    return time.process_time() + _of_workers(door) - before


def _of_workers(door: OpenedDoor) -> float:
    ticks = 0
    for worker in door.pool.workers:
        fields = Path(f"/proc/{worker.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        # User and system time, the fields 14 and 15 of the line.
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _copied(room: Path, folder: Path) -> Path:
    """Returns a copy of the room, which the door copies again, so that the process may have the first one open."""
    copy = folder / "served.duckdb"
    copy.write_bytes(room.read_bytes())
    return copy


def _require_whole(door: OpenedDoor, rows: int) -> None:
    [[count]] = door.rows("SELECT count(*) FROM snapshot")
    if not isinstance(count, int) or count < rows * 0.95:
        raise AssertionError(f"the door has {count} of {rows} rows")
