"""The published grammar is what the classes of statements say, and has every statement of the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sqlanon.errors import StatementError
from sqlanon.statements.base import PassThrough, Statement
from sqlanon.statements.parser import parse_script
from sqlanon.statements.registry import statements
from tests.support.grammar import ENDS, grammar
from tests.support.pages import ROOT, blocks
from tools.grammar import files


def documented() -> Iterator[Statement]:
    """The statements of scripts in the pages and in the examples."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = [
        block.text
        for path in pages
        for block in blocks(path.read_text(encoding="utf-8"), path.name)
        if block.language == "sql"
    ]
    texts += [path.read_text(encoding="utf-8") for path in sorted(Path(ROOT / "sql" / "examples").glob("*.sql"))]
    for text in texts:
        try:
            yield from parse_script(text)
        except StatementError:
            # A page shows what is refused, too.
            continue


def test_the_files_that_name_all_statements_are_up_to_date() -> None:
    stale = [path.name for path, text in files().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "python -m tools.grammar --write"


def test_each_production_is_there_and_used() -> None:
    productions = grammar().productions
    used = {name for node in productions.values() for name in grammar().used(node)}
    assert used - productions.keys() == set()
    assert productions.keys() - used == {statement.GRAMMAR.split()[0] for statement in statements()}
    assert {name for name, node in productions.items() if node.kind == "words"} == ENDS.keys()


def test_the_first_production_is_called_like_the_statement() -> None:
    for statement in statements():
        words = statement.GRAMMAR.split()[0].split("_")
        assert "".join(map(str.capitalize, words)) == statement.__name__


def test_statements_of_the_documentation_are_of_the_grammar() -> None:
    kinds: set[type[Statement]] = set()
    for statement in documented():
        if isinstance(statement, PassThrough):
            continue
        assert statement.parts is not None
        text = statement.parts.script[statement.parts.start : statement.parts.end]
        kinds.add(type(statement))
        assert grammar().accepts(statement.GRAMMAR.split()[0], text), text
    assert len(kinds) > 25


def test_the_grammar_is_not_everything() -> None:
    for text in ("CHECK", "CHECK r SENSITIVE", "CHECK r IN SERIES", "CHECK r IN SERIES s t", "CHECK 'a' SIGNED"):
        assert not any(grammar().accepts(statement.GRAMMAR.split()[0], text) for statement in statements()), text


def test_examples_are_statements_of_their_class() -> None:
    for statement in statements():
        for example in statement.EXAMPLES:
            [read] = parse_script(example)
            assert type(read) is statement
