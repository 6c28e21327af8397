"""PROFILE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import Source
from sqlanon.statements.base import Answer, Catalog, Presentation, Statement
from sqlanon.syntax.lexer import Kind
from sqlanon.syntax.reader import Reader
from sqlanon.syntax.source import source
from sqlanon.syntax.texts import names_text, source_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine

# The beginnings of the first argument of a function besides a text and a number: (SELECT ...), [...], {...}, -1.
_OPEN_VALUES = {(Kind.SYMBOL, symbol) for symbol in "([{-+"}
# The symbols behind a name that is no column of a list: name => value, name := value, name = value, f(...).
_BEHIND_NAMES = {(Kind.SYMBOL, symbol) for symbol in ("=>", ":", "=", "(")}


@dataclass(frozen=True)
class Profile(Statement):
    """Says who can be found in a table, view, file or query, and proposes a policy to begin with.

    Without `columns` all columns are meant.
    """

    source: Source
    columns: tuple[str, ...] = ()

    OPENINGS = ("PROFILE",)
    EXAMPLES = ("PROFILE patients", "PROFILE patients (age, zip, disease)")
    GRAMMAR = """
profile = PROFILE
  ( qualified_name [columns] | table_function columns
  | identifier ["." identifier ["." identifier]] "(" values ")" [columns]
  | ( file | "(" query ")" ) [columns] ) ;
values = ? arguments of a function of DuckDB's, the first of which is a value or has a name and a value ? ;
"""
    PRESENTATION = Presentation.PROFILE
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.NONE
    COLUMNS = (
        ("part", "VARCHAR"),
        ("subject", "VARCHAR"),
        ("distinct", "BIGINT"),
        ("missing", "DOUBLE"),
        ("distinction", "DOUBLE"),
        ("separation", "DOUBLE"),
        ("unique_rows", "DOUBLE"),
        ("proposal", "VARCHAR"),
        ("why", "VARCHAR"),
    )

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("PROFILE")
        reader.mark("source")
        profiled = _source(reader)
        columns: list[str] = []
        if reader.sees_symbol("("):
            reader.listed(lambda: columns.append(reader.column("columns")))
        reader.end()
        return cls(profiled, tuple(columns))

    def sql(self) -> str:
        columns = f" ({names_text(self.columns)})" if self.columns else ""
        return f"PROFILE {source_text(self.source)}{columns}"

    def title(self) -> str:
        return f"PROFILE {self.source}"

    def sources(self) -> Sequence[Source]:
        return [self.source]

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.policies._profile import profile

        return Answer(self.COLUMNS, tuple(profile(engine, self)))


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
