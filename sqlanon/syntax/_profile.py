"""PROFILE: who can be found in a table, and a policy to begin with."""

from __future__ import annotations

from sqlanon.errors import Position
from sqlanon.syntax._policy import source
from sqlanon.syntax._reader import Reader
from sqlanon.syntax.statements import Profile

__all__ = ["profile"]


def profile(reader: Reader, position: Position) -> Profile:
    """PROFILE source [(column, ...)]; the source is any table, view, 'file' or (SELECT ...)."""
    reader.expect("PROFILE")
    reader.mark("source")
    profiled = source(reader)
    columns: list[str] = []
    if reader.sees_symbol("("):
        reader.listed(lambda: columns.append(reader.named("a column", "columns")))
    reader.end()
    return Profile(profiled, tuple(columns), position=position)
