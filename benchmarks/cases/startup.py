"""What a user waits for: importing the package, and the demonstration from an empty folder."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.context import Context
from benchmarks.figure import Figure
from sqlanon.terminal.datasets import adult_wheel

__all__ = ["run"]

_IMPORT = "import time; begun = time.perf_counter(); import sqlanon; print(time.perf_counter() - begun)"
_IMPORT_MARK, _DEMO_MARK = 0.5, 15.0
_IMPORTS, _DEMOS = 9, 3


def run(context: Context) -> Iterator[Figure]:
    context.note("import and demonstration")
    yield _figure("import sqlanon", [_import() for _ in range(context.runs or _IMPORTS)], _IMPORT_MARK)
    adult_wheel()  # the mark is for the time after installation, so the download is not part of it
    yield _figure("sqlanon demo", [_demo() for _ in range(context.runs or _DEMOS)], _DEMO_MARK)


def _import() -> float:
    """In a new process; Python's own start is not counted."""
    done = subprocess.run([sys.executable, "-c", _IMPORT], check=True, capture_output=True, text=True)
    return float(done.stdout)


def _demo() -> float:
    with tempfile.TemporaryDirectory(prefix="sqlanon-demo-") as folder:
        command = [sys.executable, "-m", "sqlanon", "demo", "--directory", str(Path(folder) / "demo")]
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - begun


def _figure(what: str, taken: Sequence[float], mark: float) -> Figure:
    return Figure("startup", what, median(taken), "s", min(taken), max(taken), runs=len(taken), mark=mark)
