"""The version is said once, and the changelog and the installed package agree with it."""

from __future__ import annotations

import re
import subprocess
from importlib.metadata import version
from pathlib import Path

import sqlanon

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)


def test_the_changelog_and_the_package_have_the_version() -> None:
    assert version("sqlanon") == sqlanon.__version__
    assert HEADINGS[0] == "[Unreleased]"
    assert HEADINGS[1].partition(" ")[0] == f"[{sqlanon.__version__}]"


def test_versions_of_the_changelog_descend_and_have_dates() -> None:
    versions = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d\d-\d\d", heading) for heading in HEADINGS[1:]]
    numbers = [tuple(map(int, found.groups())) for found in versions if found]
    assert len(numbers) == len(HEADINGS) - 1
    assert numbers == sorted(set(numbers), reverse=True)


def test_the_version_is_said_in_one_place() -> None:
    said = f'"{sqlanon.__version__}"'
    folders = ("sqlanon", "sql", "udfs", "tools", "docs")
    named = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".sql", ".md")]
    places = [path for path in [*named, ROOT / "pyproject.toml"] if said in path.read_text(encoding="utf-8")]
    assert places == [ROOT / "sqlanon" / "__init__.py"]


def test_a_tagged_commit_has_the_version_of_its_tag() -> None:
    """Where there is a repository with tags: a source distribution has none."""
    try:
        said = subprocess.run(
            ["git", "tag", "--points-at", "HEAD", "--list", "v*"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return
    assert set(said.stdout.split()) <= {f"v{sqlanon.__version__}"}
