"""The pages for maintainers name what is there: every test file, files that exist, imports as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "maintainers"
FOLDERS = ("docs", "sql", "sqlanon", "tests", "tools", "udfs")

LINK = re.compile(r"\]\(\.\./\.\./(tests/[^)#]+)\)")
FILE = re.compile(r"`(?![^`]*NNNN)([a-z][\w./]*\.(?:py|sql|toml|md))`")


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
    """A page may leave out the first folders of a path."""
    there = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")]
    named = FILE.findall((PAGES / page).read_text(encoding="utf-8"))
    gone = [name for name in named if not (ROOT / name).exists() and not any(p.endswith(f"/{name}") for p in there)]
    assert gone == []


def test_the_glossary_has_each_word_once() -> None:
    rows = [line for line in (PAGES / "glossary.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    words = [line.split(" | ")[0].removeprefix("| ") for line in rows]
    words = [word for word in words if word not in ("word", "---")]
    assert len(words) > 100
    assert sorted(words) == sorted(set(words))


@pytest.mark.long
def test_the_pictures_show_the_imports_as_they_are() -> None:
    """`make lint` checks it too, and always: only its environment is sure to have grimp, which import-linter brings."""
    pytest.importorskip("grimp")
    from tools.import_diagram import diagram, drawn_anew

    page = (PAGES / "architecture.md").read_text(encoding="utf-8")
    assert drawn_anew(page) == page
    for package in ("sqlanon", "sqlanon.methods", "sqlanon.estimates", "sqlanon.sql"):
        assert diagram(package) in page


def test_arrows_that_follow_from_others_are_left_out() -> None:
    pytest.importorskip("grimp")
    from tools.import_diagram import boxes, reduced

    edges = {"a": frozenset("bcd"), "b": frozenset("c"), "c": frozenset("bd"), "d": frozenset(), "e": frozenset("d")}
    assert reduced(boxes(edges)) == {
        "a": frozenset({"b, c"}),
        "b, c": frozenset({"d"}),
        "d": frozenset(),
        "e": frozenset({"d"}),
    }
