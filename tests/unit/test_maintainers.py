"""The pages for maintainers name what is there: every test file, and files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "maintainers"

LINK = re.compile(r"\]\(\.\./\.\./(tests/[^)#]+)\)")
FILE = re.compile(r"`([a-z][\w./]*\.(?:py|sql|toml|md))`")


def linked_by_the_table() -> set[str]:
    """The files and folders that cells of the table of features link to."""
    text = (PAGES / "testing.md").read_text(encoding="utf-8")
    table = text.partition("## Evidence by feature")[2].partition("\n## ")[0]
    return set(LINK.findall("\n".join(line for line in table.splitlines() if line.startswith("|"))))


def test_every_file_of_the_table_exists() -> None:
    assert [name for name in sorted(linked_by_the_table()) if not (ROOT / name).exists()] == []


def test_every_test_and_oracle_is_in_the_table() -> None:
    linked = linked_by_the_table()
    tests = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    oracles = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "oracles").glob("*.py")}
    assert (tests | oracles) - linked == set()


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_files_that_a_page_names_exist(page: str) -> None:
    """Without a first part that is a folder of the project, a path is below `sqlanon/`."""
    named = FILE.findall((PAGES / page).read_text(encoding="utf-8"))
    assert [name for name in named if not any((below / name).exists() for below in (ROOT, ROOT / "sqlanon"))] == []


def test_the_glossary_has_each_word_once() -> None:
    rows = [line for line in (PAGES / "glossary.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    words = [line.split(" | ")[0].removeprefix("| ") for line in rows]
    words = [word for word in words if word not in ("word", "---")]
    assert len(words) > 100
    assert sorted(words) == sorted(set(words))
