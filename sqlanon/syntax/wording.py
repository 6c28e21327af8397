"""Tokens, choices and values in words, for errors and for queries."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from sqlanon.domain.values import Value, written
from sqlanon.syntax.lexer import Kind, Token

_MAX_SHOWN_LENGTH = 40
# Message and hint where what stands at fault may be data that a quote set free.
UNPAIRED = (
    "behind a quote the statement cannot be read: the quotes may not pair, so nothing of it is shown",
    "close each text, and write a quote inside of a text twice, as in 'O''Hara'",
)


def literal(value: Value) -> str:
    """The value in a query of DuckDB's, where a list stands in brackets."""
    return f"[{', '.join(map(written, value))}]" if isinstance(value, tuple) else f"({written(value)})"


def either(*choices: str) -> str:
    """The choices in words: a, b or c."""
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last


def shortened(text: str) -> str:
    """A part of the user's text that an error quotes, cut off where it gets long."""
    return text if len(text) <= _MAX_SHOWN_LENGTH else text[:_MAX_SHOWN_LENGTH] + "..."


def nearest_phrase(token: Token, phrases: Sequence[str]) -> str | None:
    """The phrase that the token may be a misspelling of, or of a word of it."""
    if token.kind is not Kind.WORD:
        return None
    candidates = {word: phrase for phrase in phrases for word in (*phrase.split(), phrase)}
    near = get_close_matches(token.text.upper(), candidates, n=1)
    return candidates[near[0]] if near else None


def described(token: Token) -> str:
    if token.kind is Kind.END:
        return "the end of the statement"
    text = shortened(token.text)
    if token.kind is Kind.OPEN:
        # What stands in it may be other statements, with data.
        what = {'"': "a quoted name", "`": "a quoted name", "/": "a comment"}
        return f"{what.get(token.text[0], 'a string')} that is never closed"
    if token.kind is Kind.STRING:
        return "a text in quotes"
    return text if token.kind is Kind.QUOTED else f'"{text}"'
