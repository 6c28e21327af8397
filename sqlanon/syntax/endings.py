"""The ends of statements, as functions take them: what stands behind REQUIRE, METHOD or AS."""

from __future__ import annotations

from sqlanon.errors import SqlanonError, UserError
from sqlanon.syntax.parser import parse_script
from sqlanon.syntax.statements import Statement

__all__ = ["statement_ending"]


def statement_ending(beginning: str, text: str, argument: str) -> Statement:
    """The statement of which an argument is the end. Raises UserError, with the argument's name, where it is none."""
    try:
        statements = parse_script(f"{beginning} {text}")
    except SqlanonError as error:
        raise UserError(f"{argument}: {error.message}", hint=error.hint) from None
    if len(statements) != 1:
        raise UserError(f"{argument}: {text!r} is more than one statement")
    if statements[0].placeholders:
        raise UserError(f"{argument}: {text!r} has a parameter", hint="write its value")
    return statements[0]
