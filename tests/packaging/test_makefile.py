"""`make` on a machine without a fitting Python says so, and leaves nothing behind."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make on this machine to try")


def make_demo(python: str, environment: Path) -> subprocess.CompletedProcess[str]:
    command = ["make", "demo", f"PYTHON={python}", f"VENV={environment}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_an_old_python_is_named(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = -V ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    old.chmod(0o755)
    ran = make_demo(str(old), tmp_path / "environment")
    assert ran.returncode != 0
    assert "needs Python 3.11 or newer" in ran.stderr
    assert "Python 3.9.2" in ran.stderr
    assert not (tmp_path / "environment").exists()


def test_a_missing_python_is_named(tmp_path: Path) -> None:
    ran = make_demo("python-that-is-not-there", tmp_path / "environment")
    assert ran.returncode != 0
    assert "There is no python-that-is-not-there" in ran.stderr
    assert not (tmp_path / "environment").exists()


def test_help_names_every_target() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony is not None
    targets = set(phony[1].split()) - {"help"}
    # A make within a make announces the directories it enters and leaves.
    command = ["make", "--no-print-directory", "help"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {line.split()[1] for line in ran.stdout.splitlines()} == targets


def test_what_a_target_installs_comes_from_the_projects_extras(tmp_path: Path) -> None:
    targets = ["demo", "test", "test-spark", "test-clients", "test-pure", "test-lowest", "lint", "docs"]
    command = ["make", "--no-print-directory", "--dry-run", *targets, f"VENV={tmp_path / 'environment'}"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    extras = re.findall(r"--editable '\.\[(.*)\]'", ran.stdout)
    assert extras == ["all", "test", "test,spark", "test,clients", "test", "test", "lint", "docs"]
    assert ran.stdout.count("pip uninstall") == ran.stdout.count("--yes sqlglotc") == 1


def test_all_tests_are_those_of_every_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A make within a make takes over the variables of its command line.
    for name in ("MAKEFLAGS", "MAKEOVERRIDES", "PYTEST_ARGS"):
        monkeypatch.delenv(name, raising=False)
    command = ["make", "--no-print-directory", "--dry-run", "test-all", f"VENV={tmp_path / 'environment'}"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    runs = [line.partition("-m pytest")[2].split() for line in ran.stdout.splitlines() if "-m pytest" in line]
    assert [run[-1] for run in runs[:1]] == ["--part=all"]
    for folder in ("tests/spark", "tests/clients"):
        assert [run[-1] for run in runs if folder in run] == ["--part=all"]
    assert len([run for run in runs if "--pure" in run]) == len([run for run in runs if "--lowest" in run]) == 1
