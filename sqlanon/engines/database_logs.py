"""The logs of databases: files beside a database's own, which whoever opens that one applies to it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

# What their names have behind that of the database.
DUCKDB_LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
SQLITE_LOGS = ("-journal", "-wal", "-shm")


def logs_beside(path: Path, endings: Sequence[str]) -> list[Path]:
    """Logs of these names beside a file, or where a file of its name would be.

    They stand beside what a link leads to: that is where databases look for them.
    """
    files = dict.fromkeys((path, Path(os.path.realpath(path))))
    return [log for file in files for end in endings if os.path.lexists(log := file.with_name(file.name + end))]
