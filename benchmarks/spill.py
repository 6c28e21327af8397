"""Measures the peak number of bytes in a folder of temporary files."""

from __future__ import annotations

import threading
from pathlib import Path

__all__ = ["Spill"]

_EVERY = 0.2


class Spill:
    """The peak number of bytes in a folder of temporary files, polled by a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.most = 0

    def __enter__(self) -> Spill:
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
