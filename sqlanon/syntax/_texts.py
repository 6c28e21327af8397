"""Names, literals and arguments as a statement has them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from sqlanon.domain.values import UNNAMED, QualifiedName, Value
from sqlanon.errors import StatementError
from sqlanon.syntax._reserved import RESERVED

__all__ = ["arguments_text", "decimal_text", "name_text", "qualified_text", "string_text", "value_text", "word_text"]

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


def arguments_text(arguments: Iterable[tuple[str, Value]]) -> list[str]:
    return [
        value_text(value) if name == UNNAMED else f"{_argument_text(name)} => {value_text(value)}"
        for name, value in arguments
    ]


def _argument_text(name: str) -> str:
    """The name of an argument: before => a reserved word needs no quotes."""
    return name if _PLAIN.fullmatch(name) else name_text(name)


def value_text(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return string_text(value)
        case QualifiedName():
            return qualified_text(value)
        case Decimal():
            return decimal_text(value)
        case int():
            return str(value)
        case tuple():
            return f"({', '.join(map(value_text, value))})"


def decimal_text(value: Decimal) -> str:
    """A Decimal so that it is read as one again: 4 as 4.0."""
    if not value.is_finite():
        raise StatementError(f"{value} is not a number", hint="write a finite number")
    text = str(value)
    return text if set(text) & {".", "E"} else f"{text}.0"


def word_text(name: str) -> str:
    """A name that is ours (a model, a method, an argument): bare where it can be."""
    return name if _PLAIN.fullmatch(name) and name not in RESERVED else name_text(name)


def name_text(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def qualified_text(name: QualifiedName) -> str:
    return ".".join(map(name_text, name.parts))


def string_text(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"
