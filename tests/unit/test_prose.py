"""`tools.prose` finds docstrings that begin with no noun or verb, and long lines of pages."""

from __future__ import annotations

from statistics import median

import pytest

from tools.docs_size import DOCS, sections, users_sections
from tools.prose import (
    LINE_LIMIT,
    docstring_findings,
    line_findings,
    openings,
    page_prose,
    phrase_findings,
    phrases,
    sentence_lengths,
)

LONG = "a word " * 20


@pytest.mark.parametrize("opening", openings())
def test_a_forbidden_opening_is_found_with_its_advice(opening: str) -> None:
    text = f'class Release:\n    """A release."""\n\n    def rows(self) -> int:\n        """{opening} it is."""\n'
    [(line, advice)] = docstring_findings(text, {opening: openings()[opening]})
    assert (line, openings()[opening] in advice) == (5, True)


@pytest.mark.parametrize("docstring", ["Returns what it is.", "Whether it is so.", "Ofcom's rule.", ""])
def test_other_docstrings_are_not_complained_of(docstring: str) -> None:
    assert list(docstring_findings(f'"""{docstring}"""\n', openings())) == []


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("the level; None without\na level", "None without"),
        ("the last day; None for no last day", "None for no"),
        ("the condition, joined by the AND\nthat it is in.", "that it is in"),
        ("a text that is no value of the type", "is no value"),
    ],
)
def test_an_unclear_phrase_is_found_in_docstrings_and_pages(text: str, phrase: str) -> None:
    in_docstring = list(docstring_findings(f'"""Returns {text}"""\n', openings(), phrases()))
    in_page = list(phrase_findings(page_prose(f"Returns {text}"), phrases()))
    assert in_docstring == in_page
    [(line, advice)] = in_page
    assert (line, advice.startswith(f'"{phrase}": ')) == (1 + ("\nthat" in text), True)


@pytest.mark.parametrize(
    "text",
    ["there is no value", "a source that is no longer there", "| None without one |", "```sql\nNULL without a\n```"],
)
def test_clear_phrases_tables_and_code_are_not_complained_of(text: str) -> None:
    assert list(phrase_findings(page_prose(text), phrases())) == []


def test_a_long_line_of_prose_is_found() -> None:
    assert list(line_findings(f"# A page\n\n{LONG}\n")) == [
        (3, f"a line of prose has {len(LONG)} characters, of {LINE_LIMIT} at most")
    ]


@pytest.mark.parametrize(
    "text", [f"| {LONG} |", f"# {LONG}", f"```sql\n{LONG}\n```", f"  ```text\n{LONG}\n  ```", "see " + "x" * LINE_LIMIT]
)
def test_tables_titles_code_and_words_may_be_longer(text: str) -> None:
    assert list(line_findings(f"{text}\n")) == []


def test_the_words_of_sentences_are_counted() -> None:
    text = (
        "# Title\n\nOne two three. A `b` [c d](e f) g!\n\n- One two three\n- Four five six: `seven` eight nine\n\n| a |"
    )
    assert sentence_lengths(text) == [3, 5, 3, 3, 3]


def test_half_of_the_sentences_for_users_have_at_most_18_words() -> None:
    menu = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    pages = sections(menu)
    texts = [page.read_text(encoding="utf-8") for section in users_sections(menu) for page in pages[section]]
    assert median(length for text in texts for length in sentence_lengths(text)) <= 18
