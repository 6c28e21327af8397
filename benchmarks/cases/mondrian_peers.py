"""METHOD mondrian against Python packages that implement it: seconds and loss on UCI Adult."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import sqlanon
from benchmarks import databases, peers
from benchmarks.context import Context
from benchmarks.data import CENSUS
from benchmarks.figure import Figure
from benchmarks.measure import Cost
from benchmarks.quality import Quality, quality
from benchmarks.stages import StageTimes, timed_choice, timed_statement
from sqlanon.clients.terminal.demo import ADULT_COMPLETE_ROWS
from sqlanon.methods.shared.partition.region_labels import Partition

__all__ = ["run"]

_QUICK_ROWS = 2_000
_K = 5
_NUMERIC = ("age",)
# Per cent of a package's time: a hundredth.
_TIME_MARK = 1.0
_LOSS_MARK = 1.0
_BUCKET = "bucket"


@dataclass(frozen=True)
class _Peer:
    """The results of a package in one run."""

    called: str
    cost: Cost
    quality: Quality


@dataclass(frozen=True)
class _Own:
    """The results of sqlanon. `loss` is its granularity loss: all values between the ends of the published ranges."""

    runs: Sequence[StageTimes]
    processor: float
    quality: Quality
    loss: float


def run(context: Context) -> Iterator[Figure]:
    """Yields the figures; marks are for all complete rows of Adult, fewer rows only test that everything works."""
    versions = {name: peers.installed(name) for name in peers.NAMES}
    for name, version in versions.items():
        if version is None:
            context.note(f"mondrian_peers: skips {name}, which is not installed (pip install 'sqlanon[peers]')")
    present = {name: version for name, version in versions.items() if version}
    if not present:
        return
    asked = context.sizes_or((ADULT_COMPLETE_ROWS,), (_QUICK_ROWS,))
    for rows in dict.fromkeys(min(size, ADULT_COMPLETE_ROWS) for size in asked):
        with (
            databases.working_copy(CENSUS, context.file(CENSUS, rows)) as connection,
            tempfile.TemporaryDirectory(prefix="sqlanon-peers-", dir=context.folder) as folder,
        ):
            context.note(f"mondrian_peers: sqlanon, {rows:,} rows")
            own = _own(connection, context.runs_at(rows))
            for name, version in present.items():
                context.note(f"mondrian_peers: {name} {version}, {rows:,} rows")
                peer = _peer(connection, name, version, Path(folder))
                if peer:
                    yield from _figures(own, peer, rows)
                else:
                    context.note(f"mondrian_peers: skips {name}, which failed")


def _own(connection: sqlanon.Connection, runs: int) -> _Own:
    """Measures the whole statement, including search and check, and its classes, which a second release keeps as
    buckets.
    """
    databases.declare(
        connection, CENSUS, CENSUS.columns, [str(CENSUS.sensitive)], f"k_anonymity(k => {_K})", hierarchies=False
    )
    statement = databases.published("table", "ranges", "mondrian")
    timed_statement(connection, statement)
    taken, processor = [], []
    for _ in range(runs):
        used = time.process_time()
        taken.append(timed_statement(connection, statement))
        processor.append(time.process_time() - used)
    _, found = timed_choice(connection, databases.planned("mondrian"))
    assert isinstance(found, Partition)
    connection.sql(databases.published("table", "buckets", "mondrian(publish => 'none')"))
    _require_same_classes(connection)
    classes = quality(connection.duckdb, "buckets", _BUCKET, CENSUS.columns, _NUMERIC)
    return _Own(taken, median(processor), classes, float(found.loss))


def _require_same_classes(connection: sqlanon.Connection) -> None:
    """Requires that the buckets are the classes that are published as ranges."""
    columns = ", ".join(CENSUS.columns)
    sizes = [
        connection.duckdb.execute(f"SELECT count(*) AS held FROM {table} GROUP BY {by} ORDER BY held").fetchall()
        for table, by in (("ranges", columns), ("buckets", _BUCKET))
    ]
    if sizes[0] != sizes[1]:
        raise RuntimeError("the classes of publish => 'none' are not those of publish => 'range'")


def _peer(connection: sqlanon.Connection, name: str, version: str, folder: Path) -> _Peer | None:
    """Runs a package in a process of its own, which keeps its imports out of this one; None if it fails."""
    source, target = folder / "rows.parquet", folder / f"{name}.parquet"
    columns = ", ".join((*CENSUS.columns, str(CENSUS.sensitive)))
    connection.duckdb.execute(f"COPY (SELECT {columns} FROM {CENSUS.name}) TO '{_quoted(source)}' (FORMAT parquet)")
    command = [sys.executable, "-m", "benchmarks.peers", name, str(_K), str(source), str(target)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return None
    classes = quality(connection.duckdb, f"'{_quoted(target)}'", peers.CLASS, CENSUS.columns, _NUMERIC)
    return _Peer(f"{name} {version}", Cost(**json.loads(done.stdout)), classes)


def _quoted(file: Path) -> str:
    return str(file).replace("'", "''")


def _figures(own: _Own, peer: _Peer, rows: int) -> Iterator[Figure]:
    marked = rows >= ADULT_COMPLETE_ROWS
    taken = [times.total for times in own.runs]
    shares = [100 * seconds / peer.cost.seconds for seconds in taken]
    yield Figure(
        "mondrian_peers",
        f"whole statement, share of the time of {peer.called}",
        median(shares),
        "%",
        min(shares),
        max(shares),
        rows=rows,
        runs=len(shares),
        seconds=median(taken),
        baseline=peer.called,
        baseline_seconds=peer.cost.seconds,
        mark=_TIME_MARK if marked else None,
        stages={name: median(times.seconds[name] for times in own.runs) for name in own.runs[-1].seconds},
        queries=dict(own.runs[-1].queries),
        note=f"{peer.cost.seconds / median(taken):,.1f} times as fast; processor {own.processor:.2f} s and "
        f"{peer.cost.processor:.1f} s, {peer.cost.processor / own.processor:,.1f} times",
    )
    found = {"own": asdict(own.quality) | {"loss": own.loss}, "peer": asdict(peer.quality)}
    notes = {
        "loss metric": f"sqlanon: {own.quality}, granularity loss {own.loss:.5f}",
        "discernibility": f"{peer.called}: {peer.quality}",
    }
    for what, note in notes.items():
        attribute = what.replace(" ", "_")
        value = getattr(own.quality, attribute) / getattr(peer.quality, attribute)
        yield Figure(
            "mondrian_peers",
            f"{what}, over that of {peer.called}",
            value,
            "x",
            value,
            value,
            rows=rows,
            mark=_LOSS_MARK if marked else None,
            found=found,
            note=note,
        )
