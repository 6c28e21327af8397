"""Counts the words of the documentation by the sections of the site's menu: `python -m tools.docs_size`.

The menu (`nav` in mkdocs.yml) has a section for each group of pages, and `extra.for_users` there names the sections
that users read. Together these have at most `USERS_LIMIT` words, so that readers find their way. Other sections are
for reference, or for people who change sqlanon.

A word is a part of a page between white space that has a letter or a digit: examples and tables count, the lines of
tables do not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["USERS_LIMIT", "page_words", "sections", "users_sections", "users_words"]

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
USERS_LIMIT = 60_000
_SECTION = re.compile(r"^  - ([^:]+):(?: ([\w/-]+/))?$")
_PAGE = re.compile(r"^ +- (?:.*: )?([\w/-]+\.md)$")
_WORD = re.compile(r"\S*\w\S*")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def sections(menu: str) -> dict[str, list[Path]]:
    """Returns the pages of each section of the menu, in the menu's order; a folder contributes all its pages."""
    pages: dict[str, list[Path]] = {}
    section = ""
    _, _, nav = menu.partition("\nnav:\n")
    for line in nav.splitlines():
        if head := _SECTION.match(line):
            section = head[1]
            pages[section] = sorted((DOCS / head[2]).glob("*.md")) if head[2] else []
        elif page := _PAGE.match(line):
            pages[section].append(DOCS / page[1])
    return pages


def users_sections(menu: str) -> list[str]:
    """Returns the sections that users read, from the line `for_users` of mkdocs.yml."""
    [names] = re.findall(r"^  for_users: \[(.*)\]$", menu, re.MULTILINE)
    return [name.strip() for name in names.split(",")]


def page_words(text: str) -> int:
    """Returns the number of words of a page."""
    return len(_WORD.findall(_COMMENT.sub("", text)))


def users_words(counts: Mapping[str, int], menu: str) -> int:
    """Returns the sum of the words in the sections that users read, from the words of each section."""
    return sum(counts[section] for section in users_sections(menu))


def _lines(menu: str, *, is_long: bool) -> list[str]:
    pages = sections(menu)
    words = {
        section: {page: page_words(page.read_text(encoding="utf-8")) for page in found}
        for section, found in pages.items()
    }
    counts = {section: sum(found.values()) for section, found in words.items()}
    lines = []
    for section, found in words.items():
        reader = "users" if section in users_sections(menu) else ""
        lines.append(f"{section:<16} {reader:<6} {len(found):>4} pages {counts[section]:>8,} words")
        if is_long:
            by_size = sorted(found.items(), key=lambda item: -item[1])
            lines += [f"    {page.relative_to(DOCS).as_posix():<40} {count:>8,}" for page, count in by_size]
    lines.append(f"users together {users_words(counts, menu):,} words, at most {USERS_LIMIT:,}")
    return [*lines, f"all            {sum(counts.values()):,} words"]


if __name__ == "__main__":
    print("\n".join(_lines((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), is_long="--pages" in sys.argv[1:])))
