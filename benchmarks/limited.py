"""A whole release under a memory limit, in a process of its own: `python -m benchmarks.limited FILE LIMIT`."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import threading
from pathlib import Path

from benchmarks import databases
from benchmarks.data import ADULT
from benchmarks.measure import seconds
from benchmarks.stages import timed_statement

__all__ = ["main"]

_EVERY = 0.2


class _Spill:
    """The most that a folder of temporary files ever held, looked at from a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.most = 0

    def __enter__(self) -> _Spill:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(_EVERY):
            self.most = max(self.most, sum(map(_size, self._folder.rglob("*"))))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # DuckDB has removed it meanwhile
        return 0


def main(file: Path, limit: str) -> None:
    """Prints a line of JSON: the seconds of each statement, the peak of memory and of spilled bytes."""
    with tempfile.TemporaryDirectory(prefix="sqlanon-spill-", dir=file.parent) as spilled:
        config = {"memory_limit": limit, "temp_directory": spilled}
        with databases.working_copy(ADULT, file, config=config) as connection, _Spill(Path(spilled)) as spill:
            baseline = databases.grouped(connection, ADULT)
            table = timed_statement(connection, databases.release("table", "snapshot", "0.02"))
            view = timed_statement(connection, databases.release("view", "live", "0.02"))
            read = seconds(lambda: connection.duckdb.execute("SELECT age, count(*) FROM live GROUP BY age").fetchall())
    taken = {
        "encode + solve": table.seconds["encode"] + table.seconds["solve"],
        "snapshot, whole statement": table.total,
        "live view, whole statement": view.total,
        "live view, read by one column": read,
    }
    print(json.dumps({"baseline": baseline, "seconds": taken, "peak_rss": _peak(), "spilled": spill.most}))


def _peak() -> int:
    """The most memory that this process held, in bytes."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        # In bytes on macOS; elsewhere in kilobytes.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    # Linux counts into ru_maxrss what the parent held when it started this process; VmHWM is its own.
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
