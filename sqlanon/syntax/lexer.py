"""Tokens as DuckDB cuts them, for any text: nothing is an error here, and no character is lost.

What is not a token of its own (an unterminated string, say) is an OPEN token up to the
end of the text, so that DuckDB can say what is wrong with its own statements.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from sqlanon.errors import Position

# The characters between tokens. DuckDB takes just these Unicode spaces for spaces;
# every other character above ASCII is part of a word, emoji included.
_SPACE = r"\t\n\v\f\r \u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff"
_LETTER = rf"(?![{_SPACE}])[A-Za-z_\u0080-\U0010ffff]"
_DIGITS = r"\d++(?:_\d++)*+"

# Quantifiers are possessive (*+, ++): they never give back, so that a text without
# a closing quote is read once, not once for every character in it.
_TOKEN = re.compile(
    rf"""
      (?P<gap>     [{_SPACE}]++ | --[^\n\r]*+ )
    | (?P<comment> /\* )
    | (?P<string>  '[^']*+(?:''[^']*+)*+' | [eE]'(?:[^'\\]|\\.|'')*+' )
    | (?P<quoted>  "[^"]*+(?:""[^"]*+)*+" | `[^`]*+(?:``[^`]*+)*+` )
    | (?P<open>    [eE]?' | ["`] )
    | (?P<dollar>  \$(?:{_LETTER}(?:{_LETTER}|[0-9])*+)?\$ )
    | (?P<number>  (?:{_DIGITS}(?:\.(?:{_DIGITS})?+)?+|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?+ )
    | (?P<word>    {_LETTER}(?:{_LETTER}|[0-9$])*+ )
    | (?P<symbol>  => | . )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")


class Kind(Enum):
    """What a token is. QUOTED is a quoted identifier, OPEN one that is never closed."""

    WORD = auto()
    QUOTED = auto()
    STRING = auto()
    NUMBER = auto()
    SYMBOL = auto()
    OPEN = auto()
    END = auto()


class Token(NamedTuple):
    """A token as it stands in the script: its text and its offsets, the end one behind."""

    kind: Kind
    text: str
    start: int
    end: int


_KINDS = {
    "string": Kind.STRING,
    "quoted": Kind.QUOTED,
    "number": Kind.NUMBER,
    "word": Kind.WORD,
    "symbol": Kind.SYMBOL,
    "open": Kind.OPEN,
}


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens between two offsets, without spaces and comments."""
    end = len(text) if end is None else end
    at = start
    while at < end:
        match = _TOKEN.match(text, at, end)
        assert match is not None  # the symbol takes any character
        group, begin, at = match.lastgroup or "symbol", at, match.end()
        if group == "gap":
            continue
        if group == "comment":
            at, closed = _comment_end(text, at, end)
            if closed:
                continue
            kind = Kind.OPEN
        elif group == "dollar":
            at, closed = _dollar_end(text, match.group(), at, end)
            kind = Kind.STRING if closed else Kind.OPEN
        else:
            kind = _KINDS[group]
            at = end if kind is Kind.OPEN else at
        yield Token(kind, text[begin:at], begin, at)


def _comment_end(text: str, at: int, end: int) -> tuple[int, bool]:
    """Where the comment ends that was opened before `at`, and whether it is closed; comments nest."""
    depth = 1
    for mark in _COMMENT_MARK.finditer(text, at, end):
        depth += 1 if mark.group() == "/*" else -1
        if not depth:
            return mark.end(), True
    return end, False


def _dollar_end(text: str, tag: str, at: int, end: int) -> tuple[int, bool]:
    """Where the $tag$ string ends that was opened before `at`, and whether it is closed."""
    close = text.find(tag, at, end)
    return (close + len(tag), True) if close >= 0 else (end, False)


def keyword_of(token: Token) -> str:
    """The token as a keyword, which is in upper case; empty if it can be none."""
    # Only ASCII: some other letters have an ASCII upper case (dotless i), which DuckDB does not take for a keyword.
    return token.text.upper() if token.kind is Kind.WORD and token.text.isascii() else ""


class Positions:
    """Offsets of one script as lines and columns."""

    def __init__(self, text: str) -> None:
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def at(self, offset: int) -> Position:
        line = bisect_right(self._lines, offset)
        return Position(line, offset - self._lines[line - 1] + 1)

    def start_of(self, position: Position) -> int:
        """The offset of the first character of a position's line."""
        return self._lines[position.line - 1]
