"""The start of a command: the processor time of a process that imports the package or runs a command, and the seconds
of the demonstration from an empty folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.context import Context
from benchmarks.figure import Figure
from sqlanon.clients.terminal.demo import adult_wheel

__all__ = ["run"]

_PROCESSES, _DEMOS = 15, 3
_DEMO_MARK = 25.0  # two releases, a dry run and a report
_COMPLETION = {"_SQLANON_COMPLETE": "complete_bash", "COMP_WORDS": "sqlanon run --data", "COMP_CWORD": "2"}
_HIERARCHY = "CREATE HIERARCHY zip_prefix AS PREFIXES (4, 3, 2)"
# The measured commands: arguments of Python, the standard input, the environment, and the limit in milliseconds.
_COMMAND_LINE = ("-m", "sqlanon")
_STARTS: Mapping[str, tuple[tuple[str, ...], str, Mapping[str, str], float | None]] = {
    "import duckdb, sqlglot": (("-c", "import duckdb, sqlglot"), "", {}, None),
    "import sqlanon": (("-c", "import sqlanon"), "", {}, None),
    "sqlanon.connect()": (("-c", "import sqlanon; sqlanon.connect()"), "", {}, 350),
    "sqlanon --version": ((*_COMMAND_LINE, "--version"), "", {}, 150),
    "sqlanon --help": ((*_COMMAND_LINE, "--help"), "", {}, 150),
    "completion": (_COMMAND_LINE, "", _COMPLETION, 150),
    "sqlanon run, SELECT 1": ((*_COMMAND_LINE, "run", "-"), "SELECT 1", {}, None),
    "sqlanon run, CREATE HIERARCHY": ((*_COMMAND_LINE, "run", "-"), _HIERARCHY, {}, None),
}


def run(context: Context) -> Iterator[Figure]:
    context.note("imports, commands and demonstration")
    for what, (arguments, given, environment, mark) in _STARTS.items():
        taken = [_processor_time(arguments, given, environment) for _ in range(context.runs or _PROCESSES)]
        yield _figure(what, taken, "ms", mark)
    adult_wheel()  # the mark is for the time after installation, so the download is not part of it
    yield _figure("sqlanon demo", [_demo() for _ in range(context.runs or _DEMOS)], "s", _DEMO_MARK)


def _processor_time(arguments: Sequence[str], given: str, environment: Mapping[str, str]) -> float:
    """Returns the milliseconds of a new process, including Python's own start."""
    before = os.times()
    command, variables = [sys.executable, *arguments], {**os.environ, **environment}
    subprocess.run(command, check=True, capture_output=True, text=True, input=given, env=variables)
    after = os.times()
    return 1000 * (after.children_user - before.children_user + after.children_system - before.children_system)


def _demo() -> float:
    with tempfile.TemporaryDirectory(prefix="sqlanon-demo-") as folder:
        command = [sys.executable, "-m", "sqlanon", "demo", "--directory", str(Path(folder) / "demo")]
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - begun


def _figure(what: str, taken: Sequence[float], unit: str, mark: float | None) -> Figure:
    return Figure("startup", what, median(taken), unit, min(taken), max(taken), runs=len(taken), mark=mark)
