"""The statement PROFILE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import Source
from sqlanon.statements.base import Answer, Catalog, Presentation, Statement
from sqlanon.syntax import values
from sqlanon.syntax.head import source
from sqlanon.syntax.lexer import Kind
from sqlanon.syntax.reader import Reader
from sqlanon.syntax.texts import names_text, source_text, string_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine

# The beginnings of the first argument of a function besides a text and a number: (SELECT ...), [...], {...}, -1.
_OPEN_VALUES = {(Kind.SYMBOL, symbol) for symbol in "([{-+"}
# The symbols after a name that is not a column of a list: name => value, name := value, name = value, f(...).
_BEHIND_NAMES = {(Kind.SYMBOL, symbol) for symbol in ("=>", ":", "=", "(")}


@dataclass(frozen=True)
class Profile(Statement):
    """Finds the identifying columns of a table, view, file or query, and proposes a first policy.

    If there are no `columns`, all columns are profiled. If a file is named, the statements are written `into` it;
    `replace` allows it to replace an earlier script.
    """

    source: Source
    columns: tuple[str, ...] = ()
    into: str | None = None
    replace: bool = False

    OPENINGS = ("PROFILE",)
    EXAMPLES = ("PROFILE patients", "PROFILE patients (age, zip, disease)", "PROFILE patients INTO 'patients.sql'")
    GRAMMAR = """
profile = PROFILE
  ( qualified_name [columns] | table_function columns
  | identifier ["." identifier ["." identifier]] "(" values ")" [columns]
  | ( file | "(" query ")" ) [columns] ) [ INTO string [ "(" REPLACE [ TRUE | FALSE ] ")" ] ] ;
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
        into, replace = _into(reader)
        reader.end()
        return cls(profiled, tuple(columns), into, replace)

    def sql(self) -> str:
        columns = f" ({names_text(self.columns)})" if self.columns else ""
        into = "" if self.into is None else f" INTO {string_text(self.into)}"
        return f"PROFILE {source_text(self.source)}{columns}{into}{' (REPLACE true)' if self.replace else ''}"

    def title(self) -> str:
        return f"PROFILE {self.source}"

    def sources(self) -> Sequence[Source]:
        return [self.source]

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.policies._profile import profile

        return Answer(self.COLUMNS, tuple(profile(engine, self)))


def _into(reader: Reader) -> tuple[str | None, bool]:
    """Reads INTO 'file' [(REPLACE [TRUE | FALSE])]; returns the path, and whether a script there may be replaced."""
    if not reader.accept("INTO"):
        return None, False
    reader.mark("path")
    path = values.string(reader, "the path in quotes, as in 'patients.sql'")
    replace = False
    if reader.sees_symbol("("):
        reader.expect_symbol("(")
        reader.expect("REPLACE")
        replace = reader.accept("TRUE") or not reader.accept("FALSE")
        reader.expect_symbol(")")
    return path, replace


def _source(reader: Reader) -> Source:
    """Reads the source; parentheses after a name contain a list of columns or the arguments of a function.

    Columns are names. The first argument of a function is a value, or a name with its value.
    """
    ahead = 1
    while reader.sees_symbol(".", ahead):
        ahead += 2
    opens = reader.sees_symbol("(", ahead)
    return source(reader, before_list=not (opens and _begins_argument(reader, ahead + 1)))


def _begins_argument(reader: Reader, ahead: int) -> bool:
    """Whether the item that begins this many tokens ahead can only be an argument."""
    first, behind = reader.peek(ahead), reader.peek(ahead + 1)
    if first.kind in (Kind.STRING, Kind.NUMBER) or first[:2] in _OPEN_VALUES:
        return True
    # DATE '2024-01-01' is a value, too.
    return first.kind in (Kind.WORD, Kind.QUOTED) and (behind.kind is Kind.STRING or behind[:2] in _BEHIND_NAMES)
