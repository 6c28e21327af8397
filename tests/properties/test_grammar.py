"""Statements that are drawn from the published grammar are read, and read back from their texts."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from sqlanon.errors import StatementError
from sqlanon.statements.base import Statement
from sqlanon.statements.parser import parse_script
from sqlanon.statements.registry import statements
from tests.support.draws import draws
from tests.support.grammar import Words, grammar

pytestmark = pytest.mark.drawn

# The rules that the page says beside the productions.
BESIDE = re.compile(
    r"(?:stands?|occurs) twice|named twice|swept twice|given twice|required twice|exclude each other|is an ENTITY"
)


@pytest.mark.parametrize("statement", statements(), ids=lambda statement: statement.__name__)
@settings(max_examples=draws(8, long=300), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_statement_of_the_grammar_is_read(statement: type[Statement], seed: int) -> None:
    productions = grammar()
    name = statement.GRAMMAR.split()[0]
    text = productions.drawn(Random(seed), name, Words())
    try:
        [read] = parse_script(text)
    except StatementError as error:
        if BESIDE.search(error.message):
            reject()
        pytest.fail(f"{text}: {error.message}")
    assert type(read) is statement, text
    assert productions.accepts(name, text), text
    assert parse_script(read.sql()) == [read], text
    assert productions.accepts(name, read.sql()), read.sql()
