"""What is typed on a command line: scripts, names of releases, variables."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import UserError

__all__ = ["read_script", "release_name", "set_variables"]

_PART = re.compile(r'"(?:[^"]|"")+"|[^".]+')
_DOTTED = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")


def read_script(script: str) -> tuple[str, str]:
    """The name of a script in messages and its text; `-` is standard input.

    Raises UserError when it cannot be read or is not UTF-8.
    """
    name = "<stdin>" if script == "-" else script
    try:
        read = sys.stdin.buffer.read() if script == "-" else Path(script).read_bytes()
        return name, read.decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"the script {name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"the script {name} is not UTF-8 text", hint="save it as UTF-8") from None


def set_variables(connection: Any, settings: Sequence[str]) -> None:
    """Sets variables of the session from NAME=VALUE; a value that is a number is one. Raises UserError for others."""
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.isidentifier():
            raise UserError(f"--set {setting} is no NAME=VALUE", hint="write --set k=5")
        connection.duckdb.execute(f"SET VARIABLE {name} = ?", [_typed(value)])


def _typed(value: str) -> int | float | str:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value


def release_name(text: str) -> QualifiedName:
    """A name as typed on a command line: `release`, `schema.release`, or with quotes as in SQL.

    Anything else is taken for the name itself, so that hostile names need no second kind of quotes.
    """
    if not _DOTTED.fullmatch(text):
        return QualifiedName((text,))
    parts = _PART.findall(text)
    return QualifiedName(tuple(part[1:-1].replace('""', '"') if part[0] == '"' else part for part in parts))
