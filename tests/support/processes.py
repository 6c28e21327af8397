"""Programs that a test starts and that never outlive it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["SECONDS", "running"]

# No program of a test takes as long; one that does is a failure.
SECONDS = 120


@contextmanager
def running(command: Sequence[str | Path], **named: Any) -> Iterator[subprocess.Popen[Any]]:
    """A program, which is killed where the block ends and it has not: a test that fails must not wait for it."""
    with subprocess.Popen(command, **named) as process:
        try:
            yield process
        finally:
            process.kill()
