"""Splits a script into its statements, each in the user's own words."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from sqlanon.errors import Position
from sqlanon.syntax.lexer import Kind, Positions, Token, keyword_of, tokens


@dataclass(frozen=True)
class Piece:
    """The text of one statement, from its first token to its last.

    Comments inside it are kept; comments around it and the semicolon are left out. `start` is its offset in the script,
    and `position` its line and column.
    """

    text: str
    start: int
    position: Position

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def split(text: str) -> Iterator[Piece]:
    """Yields the statements of a script in order, split as DuckDB splits them.

    Semicolons in strings, quoted names, `$$` bodies and comments do not split; empty statements are left out. It never
    fails, because a string that is never closed extends to the end.
    """
    positions = Positions(text)
    first: Token | None = None
    last: Token | None = None
    for token in chain(tokens(text), [Token(Kind.SYMBOL, ";", len(text), len(text))]):
        if not _is_semicolon(token):
            first, last = first or token, token
        elif first and last:
            yield Piece(text[first.start : last.end], first.start, positions.at(first.start))
            first = last = None


def is_complete(text: str) -> bool:
    """Whether a shell may run the text: its last statement ends with a semicolon, or there is none.

    Returns false while a string, a quoted name, a `$$` body or a comment is open.
    """
    last = deque(tokens(text), maxlen=1)
    return all(_is_semicolon(token) for token in last)


def first_keyword(text: str) -> str | None:
    """Returns a statement's first token as a keyword, in upper case; empty if the token is not a word, None if there
    are no tokens.
    """
    return next((keyword_of(token) for token in tokens(text)), None)


def first_word(text: str) -> str:
    """Returns the first word of a statement, in upper case, after any other tokens; empty if there is no word."""
    return next(filter(None, map(keyword_of, tokens(text))), "")


def after_as(text: str) -> str:
    """Returns the query of a CREATE VIEW as DuckDB writes it: the text after AS; empty if there is no AS."""
    # The word AS is reserved, so DuckDB quotes it as a name.
    start = next((token.end for token in tokens(text) if keyword_of(token) == "AS"), len(text))
    return next((piece.text for piece in split(text[start:])), "")


def _is_semicolon(token: Token) -> bool:
    return token.kind is Kind.SYMBOL and token.text == ";"


def quoted_texts(text: str) -> Iterator[str]:
    """Yields the contents of texts and quoted names in a statement; texts joined by `||` are one."""
    together = ""
    for token in tokens(text):
        if token.kind in (Kind.STRING, Kind.QUOTED, Kind.OPEN):
            together += token.text[1:] if token.kind is Kind.OPEN else token.text[1:-1]
        elif token.text != "|":
            yield together
            together = ""
    yield together
