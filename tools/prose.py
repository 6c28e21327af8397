"""Finds prose that is hard to read: docstrings without a verb or noun first, phrases, long lines and long sentences.

`python -m tools.prose` prints the findings. The words that must not begin a docstring, and the phrases, are in
`tools/prose.toml`, each with advice.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = [
    "FOLDERS",
    "LINE_LIMIT",
    "docstring_findings",
    "line_findings",
    "openings",
    "page_prose",
    "phrase_findings",
    "phrases",
    "sentence_lengths",
]

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("sqlanon", "udfs", "tools", "benchmarks")
LINE_LIMIT = 120
# The page is written by tools.grammar.
GENERATED = {"docs/grammar.md"}
_FENCE = re.compile(r"^( *)(```|~~~).*?^ *\2[`~]*$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.) )")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\[])")
_LINK = re.compile(r"\]\([^)]*\)")
_WORD = re.compile(r"\S*\w\S*")


def openings() -> Mapping[str, str]:
    """Returns the words that must not begin a docstring, each with its advice."""
    return _listed("openings")


def phrases() -> Mapping[str, str]:
    """Returns the regular expressions of phrases that prose must not have, each with its advice."""
    return _listed("phrases")


def _listed(name: str) -> Mapping[str, str]:
    """Returns a table of `tools/prose.toml`."""
    found: Mapping[str, str] = tomllib.loads((ROOT / "tools" / "prose.toml").read_text(encoding="utf-8"))[name]
    return found


def docstring_findings(
    text: str, forbidden: Mapping[str, str], unclear: Mapping[str, str] | None = None
) -> Iterator[tuple[int, str]]:
    """Yields the line and the advice of each docstring of a module with a forbidden opening or an `unclear` phrase."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            first = node.body[0].lineno if docstring else 0
            for opening, advice in forbidden.items():
                if re.match(rf"{opening}\b", docstring):
                    yield first, f'a docstring begins with "{opening}": {advice}'
            for line, advice in phrase_findings(docstring, unclear or {}):
                yield first + line - 1, advice


def phrase_findings(prose: str, unclear: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yields the line and the advice of each unclear phrase of a text, even of a phrase that two lines share."""
    words = list(re.finditer(r"\S+", prose))
    flat = " ".join(word[0] for word in words)
    for phrase, advice in unclear.items():
        for found in re.finditer(phrase, flat):
            first = words[flat.count(" ", 0, found.start())]
            yield prose.count("\n", 0, first.start()) + 1, f'"{found[0]}": {advice}'


def page_prose(text: str) -> str:
    """Returns a page with empty lines in place of code, tables and titles."""
    blank = _FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    return "\n".join("" if line.lstrip().startswith(("|", "#", "<")) else line for line in blank.split("\n"))


def line_findings(text: str) -> Iterator[tuple[int, str]]:
    """Yields each line of prose of a page that is longer than `LINE_LIMIT`; tables and code may be longer."""
    blank = _FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    for number, line in enumerate(blank.split("\n"), 1):
        # A single word that is too long, such as a link, cannot be broken.
        longest = max(map(len, line.split()), default=0)
        if len(line) > LINE_LIMIT and not line.lstrip().startswith(("|", "#", "<")) and longest <= LINE_LIMIT - 10:
            yield number, f"a line of prose has {len(line)} characters, of {LINE_LIMIT} at most"


def sentence_lengths(text: str) -> list[int]:
    """Returns the number of words of each sentence of a page, without its code, tables and headings."""
    prose = _COMMENT.sub("", _FENCE.sub("", text))
    prose = "\n".join(line for line in prose.split("\n") if not line.lstrip().startswith(("|", "#", "<", "!!!", "???")))
    blocks = _BLOCK.split(_LINK.sub("]", prose))
    lengths = [len(_WORD.findall(part)) for block in blocks for part in _SENTENCE.split(" ".join(block.split()))]
    # A list's lead such as "Two kinds:" is no sentence.
    return [length for length in lengths if length > 2]


def findings() -> Iterator[str]:
    """Yields the findings in the package and in its pages, each as `file:line: advice`."""
    forbidden, unclear = openings(), phrases()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for line, advice in docstring_findings(path.read_text(encoding="utf-8"), forbidden, unclear):
                yield f"{path.relative_to(ROOT)}:{line}: {advice}"
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for path in sorted(page for page in pages if page.relative_to(ROOT).as_posix() not in GENERATED):
        text = path.read_text(encoding="utf-8")
        for line, advice in (*line_findings(text), *phrase_findings(page_prose(text), unclear)):
            yield f"{path.relative_to(ROOT)}:{line}: {advice}"


if __name__ == "__main__":
    found = list(findings())
    print("\n".join(found) or "nothing found")
    sys.exit(bool(found))
