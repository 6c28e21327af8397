"""The audit log: a line of JSON for each beginning and each end of a statement, without values of rows."""

from __future__ import annotations

import json
import os
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlanon.errors import UserError


class Audit:
    """Appends lines to a file that only its owner may read, or, if there is no file, to standard error.

    A line is written by a single call, before the event that it describes. If a line cannot be written, OSError is
    raised, so that nothing is answered without a line. Raises UserError if the file cannot be opened.
    """

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.Lock()
        self._is_own = path is not None
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._descriptor = os.open(path, flags, 0o600) if path is not None else sys.stderr.fileno()
        except OSError as error:
            raise UserError(
                f"the audit cannot be written to {path}: {os.strerror(error.errno or 0)}",
                hint="name another file: --audit FILE, or --audit - for standard error",
            ) from None

    def write(self, event: str, **facts: object) -> None:
        """Writes a line: the time, the event, and these facts except those that are None."""
        record: dict[str, object] = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event}
        record |= {name: value for name, value in facts.items() if value is not None}
        line = memoryview(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        with self._lock:
            while line:
                line = line[os.write(self._descriptor, line) :]

    def close(self) -> None:
        if self._is_own:
            os.close(self._descriptor)
            self._is_own = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
