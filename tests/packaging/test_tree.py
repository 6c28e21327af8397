"""The project stands on its own: nothing in it points at one machine, one registry or how it came about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".ci", "benchmarks", "docs", "sql", "sqlanon", "tests", "tools", "udfs")

# A letter of each word stands in brackets, so that this file does not match itself.
UNWANTED = {
    "a path of one machine": r"(?<![\w.])/(?:w[o]rk|r[o]ot)/",
    "a registry's host": r"py[p]i\.org|pythonh[o]sted\.org|npm[j]s\.(?:org|com)",
    "how it came about": r"(?i)\b(?:h[e]lper session|i[s]sue #?\d+)\b",
    "work left undone": r"\b(?:TO[D]O|FIX[M]E)\b",
}
SAMPLES = ("cd /w~ork/main", "https://p~ypi.org/simple", "see is~sue 12", "# TO~DO: later")


def texts() -> Iterator[tuple[str, str]]:
    # In a worktree .git is a file that holds a path of this machine.
    files = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    files += [
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix != ".pyc"
    ]
    for path in files:
        try:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a picture, a database, compiled Python
            continue


@pytest.mark.long
def test_no_file_mentions_what_does_not_belong_there() -> None:
    found = [
        f"{name}:{text.count(chr(10), 0, hit.start()) + 1}: {what}: {hit.group()}"
        for name, text in texts()
        for what, pattern in UNWANTED.items()
        for hit in re.finditer(pattern, text)
    ]
    assert found == []


def test_the_search_sees_the_project_and_would_find_each() -> None:
    names = {name for name, _ in texts()}
    assert {"pyproject.toml", "sqlanon/errors.py", "tests/packaging/test_tree.py", ".ci/run"} <= names
    for pattern, sample in zip(UNWANTED.values(), SAMPLES, strict=True):
        assert re.search(pattern, sample.replace("~", "")), sample


def test_no_other_folder_lies_beside_those_of_the_project() -> None:
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    ignored = [line.strip("/") for line in lines if line.endswith("/")]
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name not in (*FOLDERS, ".git")]
    assert [path.name for path in folders if not any(map(path.match, ignored))] == []


def test_no_module_has_more_than_500_lines() -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in (ROOT / "sqlanon").rglob("*.py")}
    assert [str(path.relative_to(ROOT)) for path, count in lines.items() if count > 500] == []
