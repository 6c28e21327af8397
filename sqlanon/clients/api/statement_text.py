"""The text of a statement that is made of values of a program."""

from __future__ import annotations

from sqlanon.errors import InternalError
from sqlanon.statements.base import Statement
from sqlanon.statements.parser import parse_script


def statement_text(statement: Statement) -> str:
    """The statement as text, without a semicolon, every name in quotes and every value a literal.

    It is read back before anybody runs it, so that no value of a program can become another part of a statement.
    Raises StatementError where a statement cannot say this, InternalError where it says something else.
    """
    text = statement.sql()
    if parse_script(text) != [statement]:
        raise InternalError("the text of a statement does not say what it was made of; nothing was done")
    return text
