"""The compiled build of sqlglot is required where it has wheels, and `--pure` accepts the pure build alone."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
import sqlglot.parser
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IS_COMPILED = str(sqlglot.parser.__file__).endswith(tuple(EXTENSION_SUFFIXES))


def requirements_of_sqlglot() -> list[Requirement]:
    requirements = map(Requirement, PROJECT["dependencies"])
    return [requirement for requirement in requirements if requirement.name == "sqlglot"]


def requires_compiled(**environment: str) -> bool:
    """Whether pip installs the compiled build in an environment, by default the one that runs this test."""
    return any(
        "c" in requirement.extras
        for requirement in requirements_of_sqlglot()
        if requirement.marker is None or requirement.marker.evaluate({**environment})
    )


def test_only_the_pure_build_is_accepted_for_it() -> None:
    command = [sys.executable, "-m", "pytest", "--pure", "--collect-only", "-q", __file__]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if IS_COMPILED:
        assert ran.returncode != 0
        assert "this is sqlglot's compiled build" in ran.stderr
    else:
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_other_tests_run_with_the_build_that_is_required(request: pytest.FixtureRequest) -> None:
    assert (requires_compiled() and not request.config.getoption("--pure")) == IS_COMPILED


@pytest.mark.parametrize(
    ("system", "machine", "implementation", "version", "compiled"),
    [
        ("linux", "x86_64", "CPython", "3.11", True),
        ("linux", "aarch64", "CPython", "3.15", True),
        ("darwin", "arm64", "CPython", "3.12", True),
        ("darwin", "x86_64", "CPython", "3.14", True),
        ("win32", "AMD64", "CPython", "3.13", True),
        ("win32", "ARM64", "CPython", "3.13", False),
        ("linux", "ppc64le", "CPython", "3.12", False),
        ("linux", "x86_64", "CPython", "3.16", False),
        ("linux", "x86_64", "PyPy", "3.11", False),
        ("emscripten", "wasm32", "CPython", "3.13", False),
    ],
)
def test_the_compiled_build_is_required_where_it_has_a_wheel(
    system: str, machine: str, implementation: str, version: str, compiled: bool
) -> None:
    assert compiled == requires_compiled(
        sys_platform=system,
        platform_machine=machine,
        platform_python_implementation=implementation,
        python_version=version,
    )


def test_both_builds_have_the_same_versions() -> None:
    assert len({str(requirement.specifier) for requirement in requirements_of_sqlglot()}) == 1
