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
# An installation does not see the checkout.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


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


def build(hook: str, target: Path, project: Path = ROOT) -> Path:
    """Runs one of the build backend's own hooks, as pip does, and returns the file that it made."""
    program = f"import sys; from hatchling.build import {hook}; {hook}(sys.argv[1])"
    run(program, str(target), cwd=project)
    [made] = target.iterdir()
    return made


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel, but for the list of them."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("build_wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("build_sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's content, which is all that installing one does."""
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
            "import sqlanon.assets as assets, sqlanon.engines.udfs as udfs",
            "print(assets.__file__)",
            "print(assets.folder('sql'))",
            "print(udfs.load('pseudonym').pseudonym.__name__)",
        )
    )
    lines = run(program, cwd=tmp_path, path=unpacked).splitlines()
    package = unpacked / "sqlanon"
    assert lines == [str(package / "assets.py"), str(package / "_sql"), "pseudonym"]


@pytest.mark.long
def test_the_source_distribution_can_build_and_test_itself(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        archive.extractall(tmp_path / "project", filter="data")
    wanted = {"pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "mkdocs.yml"}
    wanted |= {".ci/run", "tests/packaging/test_distributions.py", "docs/maintainers/releasing.md"}
    for folder in ("sqlanon", "sql", "udfs"):
        wanted |= {f"{folder}/{name}" for name in files_under(ROOT / folder)}
    assert wanted <= names
    folders = {"sqlanon", "sql", "udfs", "tests", "benchmarks", "docs", "tools", ".ci"}
    # Of the project's files hatchling adds the list of what git ignores.
    others = {"pyproject.toml", "PKG-INFO", ".gitignore", "LICENSE", "Makefile", "mkdocs.yml"}
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops - folders - others if not top.endswith(".md")} == set()
    assert not [name for name in names if name.endswith((".pyc", ".duckdb")) or "/.venv/" in name]
    [project] = (tmp_path / "project").iterdir()
    assert project.name == f"sqlanon-{sqlanon.__version__}"
    assert contents(build("build_wheel", tmp_path / "again", project)) == contents(wheel)


# What a user does first, in Python.
PUBLISHED = """
import sys, sqlanon
con = sqlanon.connect(sys.argv[1])
con.execute("CREATE TABLE patients AS SELECT i // 4 AS age, 'd' || i % 3 AS disease FROM range(40) AS t(i)")
con.execute("CREATE HIERARCHY bands AS INTERVALS (5)")
con.execute("CREATE POLICY p ON patients (age QUASI IDENTIFIER USING bands, disease SENSITIVE) "
            "REQUIRE k_anonymity(k => 4), l_diversity(l => 2)")
con.execute("CREATE ANONYMIZED VIEW live AS POLICY p "
            "METHOD generalization; CREATE ANONYMIZED TABLE released AS POLICY p")
print(sqlanon.__version__, con.execute("SELECT count(*) FROM released").fetchone()[0])
print([row[5] for statement in ("CHECK live", "CHECK released") for row in con.execute(statement).fetchall()])
con.execute(f"EXPORT released TO '{sys.argv[2]}'")
print([row[5] for row in con.execute(f"CHECK '{sys.argv[2]}'").fetchall()])
"""


def installed(distribution: Path, extra: str, folder: Path) -> Path:
    """The programs of an empty environment in which a distribution was installed with what it requires."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", f"{distribution}{extra}"], cwd=folder, env=CLEAN, check=True)
    subprocess.run([*pip, "check"], cwd=folder, env=CLEAN, check=True)
    return folder / "bin"


@pytest.mark.long
@pytest.mark.parametrize(("kind", "extra"), [("wheel", ""), ("sdist", "[cli]")])
def test_what_is_installed_publishes_checks_and_exports(
    kind: str, extra: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    programs = installed(request.getfixturevalue(kind), extra, tmp_path / "empty")

    def ran(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [programs / program, *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, env=CLEAN, capture_output=True, text=True, check=False)

    done = ran("python", "-c", PUBLISHED, tmp_path / "d.duckdb", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{sqlanon.__version__} 40", str([True] * 4), str([True] * 3)]
    said = ran("sqlanon", "--version")
    if extra:
        assert said.stdout == f"sqlanon {sqlanon.__version__}\n"
        assert ran("sqlanon", "verify", tmp_path / "out").returncode == 0
        script = ROOT / "sql" / "examples" / "hospital.sql"
        assert ran("sqlanon", "run", script, "--database", tmp_path / "hospital.duckdb").returncode == 0
        assert ran("sqlanon", "migrate", tmp_path / "d.duckdb").returncode == 0
    else:
        assert said.returncode == 2
        assert "sqlanon[cli]" in said.stderr


def test_the_command_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = project["scripts"]["sqlanon"].partition(":")
    assert callable(getattr(import_module(module), function))
