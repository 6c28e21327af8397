"""Names say what a thing is: a participle or a pronoun that stands alone leaves that to the reader."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "sqlanon"
WORDS = {
    *("asked", "dealt", "every", "found", "given", "held", "kept", "one", "own", "owned", "place", "places", "shown"),
    *("standing", "there", "told"),
}
# Its fields are the keys of what `sqlanon demo --json` prints.
EXCEPT = {"clients/terminal/demo.py"}


def defined(node: ast.AST) -> str:
    """The name that a node of a module defines, "" where it defines none."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.alias(asname=str(name)):
            return name
    return ""


def bare(text: str) -> list[str]:
    """The names that a module defines and that are nothing but such a word."""
    return [name for node in ast.walk(ast.parse(text)) if (name := defined(node)).strip("_") in WORDS]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("part", sorted(path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"))
def test_the_names_of_the_package_have_a_noun(part: str) -> None:
    files = [PACKAGE / part] if part.endswith(".py") else sorted((PACKAGE / part).rglob("*.py"))
    paths = {path: path.relative_to(PACKAGE).as_posix() for path in files}
    assert {
        name: words
        for path, name in paths.items()
        if name not in EXCEPT and (words := bare(path.read_text(encoding="utf-8")))
    } == {}


def test_a_bare_word_would_be_noticed() -> None:
    text = "from a import b as told\ndef found(given, *, rows_kept):\n    self._held, rows = 1, [one for one in given]"
    assert sorted(bare(text)) == ["_held", "found", "given", "one", "told"]
