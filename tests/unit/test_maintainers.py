"""The pages for maintainers name what is there: every test file, and files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "maintainers"

LINK = re.compile(r"\]\(\.\./\.\./(tests/[^)#]+)\)")


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
