"""Checks the text of a query that is stored and run by itself."""

from __future__ import annotations

from sqlanon.errors import StatementError
from sqlanon.syntax.lexer import Positions
from sqlanon.syntax.reader import Reader
from sqlanon.syntax.script import split


def query_text(text: str) -> str:
    """Returns the text of a self-contained query, without comments and spaces around it.

    Raises StatementError unless the text is one query that begins with a query's first word and closes all its
    parentheses and quotes, so that `(` text `)` is that query and nothing else.
    """
    pieces = list(split(text))
    inside = f"({pieces[0].text}\n)" if len(pieces) == 1 else ""
    reader = Reader(inside, Positions(inside), 0, len(inside), label="query", form="SELECT * FROM patients")
    try:
        if not reader.sees_query():
            raise reader.expected("one query")
        query = reader.query()
        reader.end()
    except StatementError as error:
        error.position = error.excerpt = None  # the text is not part of a script
        raise
    if reader.placeholders.read:
        raise StatementError("a query outside a script has no parameters", hint="write their values into it")
    return query
