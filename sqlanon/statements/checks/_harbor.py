"""The arguments and the columns of the answer of CHECK ... FOR SAFE HARBOR, for a policy and for a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlanon.domain.values import QualifiedName, Value
from sqlanon.statements.base import Columns
from sqlanon.syntax import values
from sqlanon.syntax.texts import arguments_text

if TYPE_CHECKING:
    from sqlanon.syntax.reader import Reader

FINDINGS: Columns = tuple((name, "VARCHAR") for name in ("item", "identifier", "columns", "treated", "finding"))
REMARK = (
    "a list to sign, and no verdict: the rule also asks that nobody there knows a way to identify somebody, and "
    "free text is not read beyond patterns"
)
# The columns of each kind: as they are stored in a statement, and as grammar.
Arguments = tuple[tuple[str, Value], ...]
COLUMNS_OF_KIND = """
columns_of_kind = ( AGE | BIRTH | ZIP | DATES | STATE ) arrow
    ( identifier | "(" identifier {"," identifier} [","] ")" ) ;
"""
_NAMED = ("age", "birth", "zip", "dates", "state")


def read_arguments(reader: Reader) -> Arguments:
    """Reads FOR SAFE HARBOR [(kind => column, ...)] to the end of the statement."""
    for word in ("FOR", "SAFE", "HARBOR"):
        reader.expect(word)
    named: dict[str, Value] = {}
    if reader.sees_symbol("("):
        reader.listed(lambda: _column(reader, named))
    reader.end()
    return tuple(named.items())


def for_safe_harbor(arguments: Arguments) -> str:
    """Writes FOR SAFE HARBOR with its arguments."""
    return "FOR SAFE HARBOR" + (f" ({', '.join(arguments_text(arguments))})" if arguments else "")


def named_columns(arguments: Arguments) -> Mapping[str, Sequence[str]]:
    """Returns the names of the columns of each kind."""
    return {name: _names(value) for name, value in arguments}


def _column(reader: Reader, named: dict[str, Value]) -> None:
    token = reader.peek()
    before = len(named)
    values.named(reader, named, "argument")
    name, value = list(named.items())[-1]
    if len(named) == before or name not in _NAMED:
        raise reader.refused(f"there is no argument {name}", hint=f"there are: {', '.join(_NAMED)}", token=token)
    parts = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(part, QualifiedName) and len(part.parts) == 1 for part in parts):
        raise reader.refused(f"{name} names no column", hint="name columns, as in birth => dob", token=token)


def _names(value: Value) -> tuple[str, ...]:
    parts = value if isinstance(value, tuple) else (value,)
    return tuple(part.name for part in parts if isinstance(part, QualifiedName))
