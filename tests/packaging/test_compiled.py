"""`--compiled` holds what it says: pytest goes on with sqlglot's compiled build, and with no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import sqlglot.parser

ROOT = Path(__file__).resolve().parents[2]


def test_only_the_compiled_build_is_taken_for_it() -> None:
    command = [sys.executable, "-m", "pytest", "--compiled", "--collect-only", "-q", __file__]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if str(sqlglot.parser.__file__).endswith(".py"):
        assert ran.returncode != 0
        assert "this is not sqlglot's compiled build" in ran.stderr
    else:
        assert ran.returncode == 0, ran.stdout + ran.stderr
