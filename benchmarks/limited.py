"""Whole releases under a memory limit, each run in its own process: `python -m benchmarks.limited WHAT FILE LIMIT`."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import sqlanon
from benchmarks import databases
from benchmarks.cases import anatomy, loose
from benchmarks.data import ADULT, DIAGNOSED, Dataset
from benchmarks.measure import seconds
from benchmarks.spill import Spill
from benchmarks.stages import timed_statement

__all__ = ["main", "peak"]

Times = tuple[float, Mapping[str, float]]


@dataclass(frozen=True)
class _Releases:
    """The releases of a data set; `taken` measures the seconds of the baseline and of each part."""

    dataset: Dataset
    baseline: str
    taken: Callable[[sqlanon.Connection], Times]


def _generalized(connection: sqlanon.Connection) -> Times:
    baseline = databases.grouped(connection, ADULT)
    table = timed_statement(connection, databases.release("table", "snapshot", "0.02"))
    view = timed_statement(connection, databases.release("view", "live", "0.02"))
    read = seconds(lambda: connection.duckdb.execute("SELECT age, count(*) FROM live GROUP BY age").fetchall())
    return baseline, {
        "encode + solve": table.seconds["encode"] + table.seconds["solve"],
        "snapshot, whole statement": table.total,
        "live view, whole statement": view.total,
        "live view, read by one column": read,
    }


def _dealt_out(connection: sqlanon.Connection) -> Times:
    anatomy.declare(connection)
    baseline = databases.shuffled(connection, DIAGNOSED)
    connection.duckdb.execute("DROP TABLE naive")
    return baseline, {"anatomy, whole statement": timed_statement(connection, anatomy.STATEMENT).total}


def _associated(connection: sqlanon.Connection) -> Times:
    databases.keep_apart(connection, DIAGNOSED)
    baseline = databases.shuffled(connection, DIAGNOSED)
    connection.duckdb.execute("DROP TABLE naive")
    return baseline, {"loose association, whole statement": timed_statement(connection, loose.STATEMENT).total}


_RELEASES = {
    "generalization": _Releases(ADULT, "GROUP BY of all columns", _generalized),
    "anatomy": _Releases(DIAGNOSED, databases.SHUFFLED, _dealt_out),
    "loose": _Releases(DIAGNOSED, databases.SHUFFLED, _associated),
}


def main(what: str, file: Path, limit: str) -> None:
    """Prints a line of JSON: the seconds of each statement, and the peaks of memory and of spilled bytes."""
    releases = _RELEASES[what]
    with tempfile.TemporaryDirectory(prefix="sqlanon-spill-", dir=file.parent) as spilled:
        config = {"memory_limit": limit, "temp_directory": spilled}
        copy = databases.working_copy(releases.dataset, file, config=config)
        with copy as connection, Spill(Path(spilled)) as spill:
            baseline, taken = releases.taken(connection)
    found = {"against": releases.baseline, "baseline": baseline, "seconds": taken}
    print(json.dumps({**found, "peak_rss": peak(), "spilled": spill.most}))


def peak() -> int:
    """Returns the peak memory of this process, in bytes."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        # In bytes on macOS; elsewhere in kilobytes.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    # Linux counts into ru_maxrss what the parent held when it started this process; VmHWM is its own.
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
