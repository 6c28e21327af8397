"""The pages that users read stay short enough to be read, and each page is in one group of the menu."""

from __future__ import annotations

import pytest

from tools.docs_size import DOCS, ROOT, USERS_LIMIT, page_words, sections, users_sections, users_words

MENU = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
OTHERS = {"Reproductions", "Reference", "Maintainers", "Decisions"}


def words_of_sections() -> dict[str, int]:
    return {
        section: sum(page_words(page.read_text(encoding="utf-8")) for page in pages)
        for section, pages in sections(MENU).items()
    }


def test_users_can_read_all_that_is_for_them() -> None:
    counts = words_of_sections()
    words = users_words(counts, MENU)
    assert words <= USERS_LIMIT, f"{words} words: python -m tools.docs_size --pages lists the pages to shorten"
    assert words > USERS_LIMIT / 2


def test_each_section_is_for_users_or_to_be_looked_up() -> None:
    assert set(users_sections(MENU)) | OTHERS == set(sections(MENU))
    assert not OTHERS & set(users_sections(MENU))


def test_each_page_is_counted_once() -> None:
    pages = [page for listed in sections(MENU).values() for page in listed]
    assert sorted(pages) == sorted(DOCS.rglob("*.md"))


@pytest.mark.parametrize("section", ["Start", "Reference"])
def test_the_sections_have_the_pages_that_a_reader_expects(section: str) -> None:
    wanted = {
        "Start": {"index.md", "tutorial.md", "install.md"},
        "Reference": {"grammar.md", "catalog.md", "errors.md", "statements/check.md", "benchmarks.md"},
    }
    listed = {page.relative_to(DOCS).as_posix() for page in sections(MENU)[section]}
    assert wanted[section] <= listed


def test_a_line_of_a_table_is_no_word() -> None:
    """Against a count by hand: three words of prose, two cells, and three words of code."""
    text = "Some `code` here.\n\n<!-- output -->\n| a | b-c |\n|---|----:|\n\n```sql\nSELECT 1 AS x;\n```\n"
    assert page_words(text) == 3 + 2 + len(["```sql", "SELECT", "1", "AS", "x;"])


def test_a_menu_may_name_folders_and_titles() -> None:
    menu = "\nnav:\n  - Start:\n      - index.md\n      - A b: glossary.md\n  - Decisions: decisions/\n"
    found = sections(menu)
    assert [page.name for page in found["Start"]] == ["index.md", "glossary.md"]
    assert found["Decisions"] == sorted((DOCS / "decisions").glob("*.md"))
