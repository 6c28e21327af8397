"""PROFILE: who can be found in a table, and a policy to begin with."""

from __future__ import annotations

from sqlanon.domain.values import Source
from sqlanon.errors import Position
from sqlanon.syntax._lexer import Kind
from sqlanon.syntax._reader import Reader
from sqlanon.syntax._source import source
from sqlanon.syntax.statements import Profile

__all__ = ["profile"]

# What the first argument of a function may begin with besides a text and a number: (SELECT ...), [...], {...}, -1.
_OPEN_VALUES = {(Kind.SYMBOL, symbol) for symbol in "([{-+"}
# What stands behind a name that is no column of a list: name => value, name := value, name = value, f(...).
_BEHIND_NAMES = {(Kind.SYMBOL, symbol) for symbol in ("=>", ":", "=", "(")}


def profile(reader: Reader, position: Position) -> Profile:
    """PROFILE source [(column, ...)]; the source is any table, view, 'file', table function or (SELECT ...)."""
    reader.expect("PROFILE")
    reader.mark("source")
    profiled = _source(reader)
    columns: list[str] = []
    if reader.sees_symbol("("):
        reader.listed(lambda: columns.append(reader.named("a column", "columns")))
    reader.end()
    return Profile(profiled, tuple(columns), position=position)


def _source(reader: Reader) -> Source:
    """The source, where a pair of parentheses behind a name may be a list of columns or the arguments of a function.

    Columns are names, and the first argument of a function that reads anything is a value, or a name with its value.
    """
    ahead = 1
    while reader.sees_symbol(".", ahead):
        ahead += 2
    opens = reader.sees_symbol("(", ahead)
    return source(reader, before_list=not (opens and _begins_argument(reader, ahead + 1)))


def _begins_argument(reader: Reader, ahead: int) -> bool:
    """Whether the item so many tokens ahead can only be an argument."""
    first, behind = reader.peek(ahead), reader.peek(ahead + 1)
    if first.kind in (Kind.STRING, Kind.NUMBER) or first[:2] in _OPEN_VALUES:
        return True
    # DATE '2024-01-01' is a value, too.
    return first.kind in (Kind.WORD, Kind.QUOTED) and (behind.kind is Kind.STRING or behind[:2] in _BEHIND_NAMES)
