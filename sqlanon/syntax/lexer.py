"""Splits any text into DuckDB's tokens. No text is an error here, and no character is lost.

Text that is not a complete token, such as an unterminated string, becomes an OPEN token up to the end of the text, so
that DuckDB can report the error in its own statements.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum, auto
from typing import NamedTuple

from sqlanon.domain.values import Value, written
from sqlanon.errors import Position

# The characters between tokens. DuckDB treats only these Unicode spaces as spaces;
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
    """The kind of a token. QUOTED is a quoted identifier, and OPEN a token that is never closed."""

    WORD = auto()
    QUOTED = auto()
    STRING = auto()
    NUMBER = auto()
    SYMBOL = auto()
    OPEN = auto()
    END = auto()


class Token(NamedTuple):
    """A token of a script: its text, the offset of its start, and the offset after its end."""

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
    """Yields the tokens between two offsets, without spaces and comments."""
    end = len(text) if end is None else end
    at = start
    while at < end:
        match = _TOKEN.match(text, at, end)
        assert match is not None  # a symbol matches any character
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
    """Returns the end of the comment that was opened before `at`, and whether it is closed; comments nest."""
    depth = 1
    for mark in _COMMENT_MARK.finditer(text, at, end):
        depth += 1 if mark.group() == "/*" else -1
        if not depth:
            return mark.end(), True
    return end, False


def _dollar_end(text: str, tag: str, at: int, end: int) -> tuple[int, bool]:
    """Returns the end of the $tag$ string that was opened before `at`, and whether it is closed."""
    close = text.find(tag, at, end)
    return (close + len(tag), True) if close >= 0 else (end, False)


def keyword_of(token: Token) -> str:
    """Returns the token as a keyword in upper case; empty if it cannot be a keyword."""
    # Only ASCII: some other letters, such as the dotless i, have an ASCII upper case, but DuckDB reads no keyword then.
    return token.text.upper() if token.kind is Kind.WORD and token.text.isascii() else ""


class Positions:
    """Converts offsets in a script to lines and columns."""

    def __init__(self, text: str) -> None:
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def at(self, offset: int) -> Position:
        line = bisect_right(self._lines, offset)
        return Position(line, offset - self._lines[line - 1] + 1)

    def start_of(self, position: Position) -> int:
        """Returns the offset of the first character in a position's line."""
        return self._lines[position.line - 1]


# Placeholders for values that are known only when a statement runs: ?, $1, $name, and getvariable('name').


@dataclass(frozen=True)
class Placeholder:
    """A parameter, or a variable of the session (`is_variable`), by its name; the name of ? is its number, from 1."""

    name: str
    is_variable: bool = False

    def __str__(self) -> str:
        if self.is_variable:
            return f"getvariable({written(self.name)})"
        return f"${self.name}"


class Placeholders:
    """The placeholders of a statement in the order of reading, and their values once they are known.

    If `values` is None, the statement is only checked for its form, and a stand-in replaces each value.
    """

    def __init__(self, values: Mapping[Placeholder, Value] | None = None) -> None:
        self._values = values
        self._unnamed = 0
        self.read: list[Placeholder] = []

    @property
    def are_known(self) -> bool:
        """Whether the statement is read with the values of its placeholders."""
        return self._values is not None

    def unnamed(self) -> Placeholder:
        """Returns the placeholder for the next ?, with the next number."""
        self._unnamed += 1
        return Placeholder(str(self._unnamed))

    def value(self, placeholder: Placeholder, stand_in: Value) -> Value:
        """Returns the placeholder's value, or `stand_in` if the values are not known."""
        self.read.append(placeholder)
        return stand_in if self._values is None else self._values[placeholder]


# Tokens, choices and values in words, for errors and for queries.


_MAX_SHOWN_LENGTH = 40
# The message and the hint if the text at fault may be data, because a quote is unpaired.
UNPAIRED = (
    "behind a quote the statement cannot be read: the quotes may not pair, so nothing of it is shown",
    "close each text, and write a quote inside of a text twice, as in 'O''Hara'",
)


def literal(value: Value) -> str:
    """Formats the value for a DuckDB query; a list is in brackets."""
    return f"[{', '.join(map(written, value))}]" if isinstance(value, tuple) else f"({written(value)})"


def either(*choices: str) -> str:
    """Formats the choices in words: a, b or c."""
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last


def shortened(text: str) -> str:
    """Cuts off a long part of the user's text, for errors."""
    return text if len(text) <= _MAX_SHOWN_LENGTH else text[:_MAX_SHOWN_LENGTH] + "..."


def nearest_phrase(token: Token, phrases: Sequence[str]) -> str | None:
    """Returns the phrase that the token may be a misspelling of, as a whole or in one word. Returns None if there is no
    such phrase.
    """
    if token.kind is not Kind.WORD:
        return None
    candidates = {word: phrase for phrase in phrases for word in phrase.split()} | {each: each for each in phrases}
    near = get_close_matches(token.text.upper(), candidates, n=1)
    return candidates[near[0]] if near else None


def described(token: Token) -> str:
    if token.kind is Kind.END:
        return "the end of the statement"
    text = shortened(token.text)
    if token.kind is Kind.OPEN:
        # The open token may contain other statements, with data.
        what = {'"': "a quoted name", "`": "a quoted name", "/": "a comment"}
        return f"{what.get(token.text[0], 'a string')} that is never closed"
    if token.kind is Kind.STRING:
        return "a text in quotes"
    return text if token.kind is Kind.QUOTED else f'"{text}"'


# The words that DuckDB accepts as names only in quotes, and the words that begin statements.


_WORDS = """
    all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by case cast
    check collate collation column concurrently constraint create cross default deferrable desc describe
    distinct do else end except false fetch for foreign freeze from full glob group having ilike in initially
    inner intersect into is isnull join lambda lateral leading left like limit natural not notnull null offset
    on only or order outer overlaps pivot pivot_longer pivot_wider placing positional primary qualify
    references returning right select semi show similar some summarize symmetric table tablesample then to
    trailing true union unique unpack unpivot using variadic verbose when where window with
"""
# A test compares this list with the installed DuckDB.
RESERVED = frozenset(_WORDS.split())

# The first words of statements, before which a semicolon is easily forgotten.
BEGIN = frozenset(
    "ALTER ATTACH ATTACK BEGIN CALL CHECK COMMIT COPY CREATE DELETE DESCRIBE DETACH DROP ESTIMATE EXPLAIN EXPORT FROM "
    "IMPORT INSERT INSTALL LOAD MEASURE MERGE PRAGMA ROLLBACK SELECT SET SHOW SUMMARIZE UPDATE USE VACUUM WITH".split()
)
