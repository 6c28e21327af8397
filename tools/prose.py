"""Finds prose that is hard to read: docstrings without a verb or noun first, long lines and long sentences of pages.

`python -m tools.prose` prints the findings. The words that must not begin a docstring are in `tools/prose.toml`, each
with advice.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["FOLDERS", "LINE_LIMIT", "docstring_findings", "line_findings", "openings", "sentence_lengths"]

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
    found: Mapping[str, str] = tomllib.loads((ROOT / "tools" / "prose.toml").read_text(encoding="utf-8"))["openings"]
    return found


def docstring_findings(text: str, forbidden: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yields the line and the advice of each docstring of a module that begins with a forbidden opening."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            for opening, advice in forbidden.items():
                if re.match(rf"{opening}\b", docstring):
                    yield node.body[0].lineno, f'a docstring begins with "{opening}": {advice}'


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
    forbidden = openings()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for line, advice in docstring_findings(path.read_text(encoding="utf-8"), forbidden):
                yield f"{path.relative_to(ROOT)}:{line}: {advice}"
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for path in sorted(page for page in pages if page.relative_to(ROOT).as_posix() not in GENERATED):
        for line, advice in line_findings(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(ROOT)}:{line}: {advice}"


if __name__ == "__main__":
    found = list(findings())
    print("\n".join(found) or "nothing found")
    sys.exit(bool(found))
