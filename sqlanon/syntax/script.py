"""A script as the statements it is made of, each in the user's own words."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from sqlanon.errors import Position
from sqlanon.syntax.lexer import Kind, Positions, Token, keyword_of, tokens


@dataclass(frozen=True)
class Piece:
    """One statement's text, from its first token to its last.

    Comments inside it are kept, comments around it and the semicolon are not. `start`
    is its offset in the script, `position` the same as line and column.
    """

    text: str
    start: int
    position: Position

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def split(text: str) -> Iterator[Piece]:
    """The statements of a script, in order, where DuckDB itself would cut.

    Semicolons in strings, quoted names, `$$` bodies and comments do not cut; empty
    statements are left out. Never fails: a string that is never closed reaches to the end.
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
    """Whether a shell may run the text: the last statement has its semicolon, or there is none.

    False while a string, a quoted name, a `$$` body or a comment is open.
    """
    last = deque(tokens(text), maxlen=1)
    return all(_is_semicolon(token) for token in last)


def first_keyword(text: str) -> str | None:
    """The word that a statement begins with, in upper case; None for one that begins with something else."""
    return next((keyword_of(token) for token in tokens(text)), None)


def first_word(text: str) -> str:
    """The first word of a statement, in upper case, whatever stands before it; empty if it has none."""
    return next(filter(None, map(keyword_of, tokens(text))), "")


def after_as(text: str) -> str:
    """The query of a CREATE VIEW as DuckDB writes it: what follows AS, up to the semicolon; empty without an AS."""
    # As a name it is quoted, because it is reserved.
    start = next((token.end for token in tokens(text) if keyword_of(token) == "AS"), len(text))
    return next((piece.text for piece in split(text[start:])), "")


def _is_semicolon(token: Token) -> bool:
    return token.kind is Kind.SYMBOL and token.text == ";"


def quoted_texts(text: str) -> Iterator[str]:
    """The texts and the quoted names in a statement, as they are written; those that `||` puts together are one."""
    together = ""
    for token in tokens(text):
        if token.kind in (Kind.STRING, Kind.QUOTED, Kind.OPEN):
            together += token.text[1:] if token.kind is Kind.OPEN else token.text[1:-1]
        elif token.text != "|":
            yield together
            together = ""
    yield together
