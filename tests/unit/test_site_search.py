"""The search of the docs site: words of newcomers lead to the page that is for them.

`make docs` asks the built index the same. Here the sections of the pages stand in for it, and a small index.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tools.site_hook import WEIGHTS
from tools.site_search import PAGES, Section, built, main, misled, ranked, words

DOCS = Path(__file__).resolve().parents[2] / "docs"


def sections(path: Path) -> Iterator[tuple[str, str]]:
    """The title and the text of each section of a page."""
    text = re.sub(r"\]\([^)]*\)", "]", path.read_text(encoding="utf-8"))
    blocks = re.split(r"^(`{3,}).*?^\1$", text, flags=re.MULTILINE | re.DOTALL)
    code = "\n".join(re.findall(r"^`{3,}.*?^`{3,}$", text, flags=re.MULTILINE | re.DOTALL))
    title, lines = "", [code]
    for line in "\n".join(blocks[::2]).splitlines():
        if heading := re.match(r"#+ (.*)", line):
            if title:
                yield title, "\n".join(lines)
            title, lines = heading[1], []
        else:
            lines.append(line)
    yield title, "\n".join(lines)


@cache
def indexed() -> list[Section]:
    """The sections of all pages, as the index of the site has them."""
    rows = []
    for path in sorted(DOCS.rglob("*.md")):
        page = path.relative_to(DOCS).as_posix()
        weight = WEIGHTS.get(page, WEIGHTS.get(page.partition("/")[0], 1))
        parts = ((Counter(words(title)), Counter(words(text))) for title, text in sections(path))
        rows += [Section(page.removesuffix(".md"), weight, *part) for part in parts]
    return rows


@pytest.mark.parametrize("query", PAGES)
def test_a_word_of_a_newcomer_leads_to_the_page_about_it(query: str) -> None:
    found_pages = ranked(indexed(), query)
    assert found_pages[0] in PAGES[query]
    if query == "csv":
        assert {*found_pages[:3]} == PAGES[query]


def test_a_built_index_is_asked_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = [
        {"location": f"{min(pages)}/#part", "title": f"<em>{query}</em>", "text": "<p>of &amp;</p>"}
        for query, pages in PAGES.items()
    ]
    other = {"location": "decisions/0001/", "title": "About gdpr, hipaa and others", "text": "csv", "boost": 0.3}
    text = json.dumps({"docs": [*entries, other]})
    assert [section.page for section in built(text)][-1] == "decisions/0001"
    assert misled(built(text)) == []
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "search_index.json").write_text(text, encoding="utf-8")
    assert main([str(tmp_path)]) == 0
    wrong = json.dumps({"docs": [*entries[1:], {**other, "boost": 9}]})
    assert misled(built(wrong))[0].startswith("the search for 'csv' leads to decisions/0001, and not to five-minutes")
    (tmp_path / "search" / "search_index.json").write_text(wrong, encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    assert "'csv'" in capsys.readouterr().out


def test_the_landing_page_is_short_and_begins_with_a_command() -> None:
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    assert len(page.split()) < 600
    first = page.index("```sh")
    assert "pip install 'sqlanon[all]'" in page[first : page.index("```", first + 5)]
    assert first < page.index("## Who are you?") < 2500
