"""Searches the built docs site for words of newcomers: `make docs` runs `python -m tools.site_search site`.

It fails if the first hit for a word is not a page that explains it. The index's sections are ranked by BM25, as lunr
ranks them in the browser: a title has a thousand times the weight of a text, and a page the weight in
`tools/site_hook.py`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from html import unescape
from math import log
from pathlib import Path
from typing import NamedTuple

# The weight of a title, and the constants of BM25.
TITLE = 1000
K1, B = 1.2, 0.75
# Words of newcomers, each with the pages that may come first.
PAGES: dict[str, frozenset[str]] = {
    "csv": frozenset({"index", "tutorial", "five-minutes"}),
    "gdpr": frozenset({"legal"}),
    "hipaa": frozenset({"legal"}),
    "k-anonymity": frozenset({"models/k-anonymity"}),
    "pandas": frozenset({"how-to/notebooks", "python"}),
    "confidence bounding": frozenset({"models/other-models"}),
    "templates": frozenset({"models/other-models"}),
}


class Section(NamedTuple):
    """A section of a page in the index: the page's path without its suffix, its weight, and two bags of words."""

    page: str
    weight: float
    title: Counter[str]
    text: Counter[str]


def words(text: str) -> list[str]:
    """Returns the words of a field as the index separates them, without the punctuation around them."""
    return [word.strip("`*_()[]{}.,:;?!'\"|<>#").lower() for word in re.split(r"[\s-]+", text)]


def ranked(sections: Sequence[Section], query: str) -> list[str]:
    """Returns the pages with a section that has all words of a query, best first."""
    scores: dict[str, float] = {}
    asked = words(query)
    for section in sections:
        if not all(section.title[word] + section.text[word] for word in asked):
            continue
        score = 0.0
        for boost, field, means in ((TITLE, section.title, "title"), (1, section.text, "text")):
            mean = sum(getattr(each, means).total() for each in sections) / len(sections) or 1
            for word in asked:
                having = sum(1 for each in sections if each.title[word] + each.text[word])
                rarity = log(1 + (len(sections) - having + 0.5) / (having + 0.5))
                length = 1 - B + B * field.total() / mean
                score += section.weight * boost * rarity * (K1 + 1) * field[word] / (K1 * length + field[word])
        scores[section.page] = max(score, scores.get(section.page, 0))
    return sorted(scores, key=lambda page: -scores[page])


def built(index: str) -> list[Section]:
    """Returns the sections of a built index, a JSON object with `docs`."""
    sections: list[Section] = []
    for entry in json.loads(index)["docs"]:
        path = entry["location"].partition("#")[0].removesuffix(".html").rstrip("/")
        page = path.removesuffix("/index") or "index"
        plain = (unescape(re.sub(r"<[^>]*>", " ", entry[field])) for field in ("title", "text"))
        sections.append(Section(page, float(entry.get("boost", 1)), *(Counter(words(part)) for part in plain)))
    return sections


def misled(sections: Sequence[Section]) -> list[str]:
    """Returns a sentence for each word whose first hit is not one of its pages."""
    first = {query: next(iter(ranked(sections, query)), "no page") for query in PAGES}
    return [
        f"the search for {query!r} leads to {first[query]}, and not to {' or '.join(sorted(pages))}"
        for query, pages in PAGES.items()
        if first[query] not in pages
    ]


def main(arguments: Sequence[str]) -> int:
    """Searches the index in a site's folder and prints the errors; returns the exit code."""
    sections = built(Path(arguments[0], "search", "search_index.json").read_text(encoding="utf-8"))
    problems = misled(sections)
    print("\n".join(problems or [f"the search finds {', '.join(PAGES)} in {len(sections)} sections"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
