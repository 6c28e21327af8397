"""The search of the docs site: words of newcomers lead to the page that is for them.

The index of the site is made of sections with the fields title and text, where a title weighs a thousand times as much
and a page weighs what the hook says; here the same fields are ranked by BM25, as lunr does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from math import log
from pathlib import Path

import pytest

from tools.site_hook import WEIGHTS

DOCS = Path(__file__).resolve().parents[2] / "docs"
TITLE = 1000
K1, B = 1.2, 0.75


def words(text: str) -> list[str]:
    """The words of a field as the index separates them, without the punctuation around them."""
    return [word.strip("`*_()[]{}.,:;?!'\"|<>#").lower() for word in re.split(r"[\s-]+", text)]


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
def indexed() -> list[tuple[str, float, Counter[str], Counter[str]]]:
    """The page of each section, its weight, and the words of its title and of its text."""
    rows = []
    for path in sorted(DOCS.rglob("*.md")):
        page = path.relative_to(DOCS).as_posix()
        weight = WEIGHTS.get(page, WEIGHTS.get(page.partition("/")[0], 1))
        rows += [(page, weight, Counter(words(title)), Counter(words(text))) for title, text in sections(path)]
    return rows


def hits(query: str) -> list[str]:
    """The pages with all words of a query in a section, the best first."""
    rows = indexed()
    scores: dict[str, float] = {}
    matching = [row for row in rows if all(row[2][word] + row[3][word] for word in words(query))]
    for page, weight, *fields in matching:
        score = 0.0
        for place, (boost, field) in enumerate(zip((TITLE, 1), fields, strict=True)):
            mean = sum(row[2 + place].total() for row in rows) / len(rows)
            for word in words(query):
                having = sum(1 for row in rows if row[2][word] + row[3][word])
                rarity = log(1 + (len(rows) - having + 0.5) / (having + 0.5))
                length = 1 - B + B * field.total() / mean
                score += weight * boost * rarity * (K1 + 1) * field[word] / (K1 * length + field[word])
        scores[page] = max(score, scores.get(page, 0))
    return sorted(scores, key=lambda page: -scores[page])


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("csv", {"index.md", "tutorial.md", "five-minutes.md"}),
        ("gdpr", {"legal.md"}),
        ("hipaa", {"legal.md"}),
        ("k-anonymity", {"models/k-anonymity.md"}),
        ("pandas", {"how-to/notebooks.md", "python.md"}),
    ],
)
def test_a_word_of_a_newcomer_leads_to_the_page_about_it(query: str, pages: set[str]) -> None:
    assert hits(query)[0] in pages
    if query == "csv":
        assert {*hits(query)[:3]} == pages


def test_the_landing_page_is_short_and_begins_with_a_command() -> None:
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    assert len(page.split()) < 600
    first = page.index("```sh")
    assert "pip install 'sqlanon[all]'" in page[first : page.index("```", first + 5)]
    assert first < page.index("## Who are you?") < 2500
