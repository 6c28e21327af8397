"""Commands as tests run them: in this process, in another one, and on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from typer.testing import CliRunner, Result

import sqlanon
from sqlanon.clients.terminal.cli import app

SQLANON = [sys.executable, "-m", "sqlanon"]


def environment() -> dict[str, str]:
    """The test's environment, with which `python -m sqlanon` works from any folder."""
    path = [str(Path(sqlanon.__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


PATIENTS = """
CREATE TABLE patients AS SELECT (20 + i % 3) AS age, 'd' || i % 5 AS disease FROM range(30) r(i);
CREATE HIERARCHY ages AS INTERVALS (5, 10);
CREATE POLICY p ON patients (age QUASI IDENTIFIER USING ages, disease SENSITIVE) REQUIRE k_anonymity(k => 10);
"""
RELEASE = PATIENTS + "CREATE ANONYMIZED TABLE released AS POLICY p METHOD generalization;\n"


def invoke(
    *arguments: str | Path,
    stdin: str | None = None,
    prog_name: str | None = None,
    env: Mapping[str, str] | None = None,
) -> Result:
    options = {"prog_name": prog_name} if prog_name else {}
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, env=env, **options)


def run_script(text: str, *arguments: str | Path) -> Result:
    return invoke("run", "-", *arguments, stdin=text)


def in_terminal(*arguments: str, **environment: str) -> str:
    """What a command prints on a terminal."""
    settings = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    settings |= {"TERM": "xterm-256color", "COLUMNS": "100", **environment}
    master, slave = pty.openpty()
    process = subprocess.Popen([*SQLANON, *arguments], stdin=slave, stdout=slave, stderr=slave, env=settings)
    os.close(slave)
    seen = b""
    while True:
        try:
            seen += os.read(master, 65536)
        except OSError:
            break
    process.wait(timeout=60)
    os.close(master)
    return seen.decode()
