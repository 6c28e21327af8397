"""Pivots without a list of values, such as `PIVOT r ON city`: DuckDB cannot serialize them, so each gets a list of
values before the statement is parsed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.engines.parse_trees import Token

# The value that is put into each list: a number that the statement does not have.
_VALUES = tuple(b"90417%05d" % number for number in range(16))
# Words that end the columns of a pivot.
_ENDS = frozenset(
    (b"using", b"group", b"order", b"limit", b"offset", b"where", b"union", b"except", b"intersect", b";")
)
_OPENING, _CLOSING = frozenset((b"(", b"[", b"{")), frozenset((b")", b"]", b"}"))
_PIVOT = frozenset((b"pivot", b"pivot_wider"))


@dataclass(frozen=True)
class Completed:
    """A statement in which each pivot has a list of values, only for the parser.

    `entry` is the constant of each list that was put in, as in the parse tree, and `count` is the number of lists.
    """

    sql: str
    entry: tuple[str, str]
    count: int


def completed(statement: str, tokens: Sequence[Token]) -> Completed | None:
    """Returns the statement with `IN (value)` after each column of a pivot that has no list; None if it has no such
    column.

    `tokens` are the statement's tokens without comments. The added text has no quote and no sign of a comment, so that
    the rest of the text is read as before.
    """
    encoded = statement.encode()
    value = next((value for value in _VALUES if value not in encoded), None)
    words = [token.text.lower() for token in tokens]
    columns = sorted({column for at, word in enumerate(words) if word in _PIVOT for column in _columns(words, at)})
    if value is None or not columns:
        return None
    parts, done = [], 0
    for first, last in columns:
        start, end = tokens[first].start, tokens[last].start + len(tokens[last].text)
        # A column of several words needs brackets: IN would bind closer than its operators.
        parts += [encoded[done:start], b" (", encoded[start:end], b") IN (", value, b") "]
        done = end
    sql = b"".join([*parts, encoded[done:]]).decode()
    return Completed(sql, ("INTEGER", value.decode()), len(columns))


def _columns(words: Sequence[bytes], at: int) -> list[tuple[int, int]]:
    """Returns the first and the last token of each column without a list in the pivot that begins at a token."""
    columns: list[tuple[int, int]] = []
    depth, first, has_list = 0, 0, False
    for index, word in enumerate([*words[at + 1 :], b";"], at + 1):
        ends = depth == 0 and (word in _ENDS or word[:1] in _CLOSING)
        if first and depth == 0 and (ends or word == b","):
            if not has_list and first < index:
                columns.append((first, index - 1))
            first, has_list = index + 1, False
        if ends:
            break
        if depth == 0 and word == b"on":
            first = index + 1
        elif depth == 0 and word == b"in":
            has_list = True
        depth += (word[:1] in _OPENING) - (word[:1] in _CLOSING)
    return columns
