"""What is built from the project holds everything that it needs to run, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from importlib import import_module
from pathlib import Path

import pytest

import sqlanon

ROOT = Path(__file__).resolve().parents[2]


def files_under(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def run(program: str, *arguments: str, cwd: Path, path: Path | None = None) -> str:
    """What a new Python prints, with `path` before everything else if given."""
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=cwd,
        env=None if path is None else {**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def build(hook: str, target: Path) -> Path:
    """Runs one of the build backend's own hooks, as pip does, and returns the file that it made."""
    program = f"import sys; from hatchling.build import {hook}; {hook}(sys.argv[1])"
    run(program, str(target), cwd=ROOT)
    [made] = target.iterdir()
    return made


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's content, which is all that installing one does."""
    wheel = build("build_wheel", tmp_path_factory.mktemp("wheel"))
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_the_wheel_is_the_package_with_its_sql_and_functions(unpacked: Path) -> None:
    package = files_under(ROOT / "sqlanon")
    package |= {f"_sql/{name}" for name in files_under(ROOT / "sql")}
    package |= {f"_udfs/{name}" for name in files_under(ROOT / "udfs")}
    assert files_under(unpacked / "sqlanon") == package
    assert {"py.typed", "_sql/models/k_anonymity.sql", "_udfs/pseudonym.py"} <= package
    assert {path.name for path in unpacked.iterdir()} == {"sqlanon", f"sqlanon-{sqlanon.__version__}.dist-info"}


def test_the_metadata_says_what_the_project_says(unpacked: Path) -> None:
    info = unpacked / f"sqlanon-{sqlanon.__version__}.dist-info"
    metadata = Parser().parsestr((info / "METADATA").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert metadata["Version"] == sqlanon.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert set(metadata.get_all("Provides-Extra", [])) == set(project["optional-dependencies"])
    required = {line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line}
    assert len(required) == len(project["dependencies"])
    # DuckDB needs it for a type that every table of events has, and does not ask for it.
    assert any(line.startswith("pytz") for line in required)
    assert (info / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.long
def test_the_wheel_finds_its_own_files(unpacked: Path, tmp_path: Path) -> None:
    program = "\n".join(
        (
            "import sqlanon.assets as assets, sqlanon.udfs as udfs",
            "print(assets.__file__)",
            "print(assets.folder('sql'))",
            "print(udfs.load('pseudonym').pseudonym.__name__)",
        )
    )
    lines = run(program, cwd=tmp_path, path=unpacked).splitlines()
    package = unpacked / "sqlanon"
    assert lines == [str(package / "assets.py"), str(package / "_sql"), "pseudonym"]


@pytest.mark.long
def test_the_source_distribution_can_build_and_test_itself(tmp_path: Path) -> None:
    with tarfile.open(build("build_sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"pyproject.toml", "README.md", "LICENSE", "Makefile", ".ci/run", "tests/packaging/test_distributions.py"}
    for folder in ("sqlanon", "sql", "udfs"):
        wanted |= {f"{folder}/{name}" for name in files_under(ROOT / folder)}
    assert wanted <= names
    assert not [name for name in names if name.endswith((".pyc", ".duckdb")) or "/.venv/" in name]


def test_the_command_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = project["scripts"]["sqlanon"].partition(":")
    assert callable(getattr(import_module(module), function))
