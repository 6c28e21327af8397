"""The text of a statement that is made of values of a program."""

from __future__ import annotations

from sqlanon.errors import InternalError
from sqlanon.syntax.parser import parse_script
from sqlanon.syntax.render import to_sql
from sqlanon.syntax.statements import Statement

__all__ = ["statement_text"]


def statement_text(statement: Statement) -> str:
    """The statement as text, without a semicolon, every name in quotes and every value a literal.

    It is read back before anybody runs it, so that no value of a program can become another part of a statement.
    Raises StatementError where a statement cannot say this, InternalError where it says something else.
    """
    text = to_sql(statement)
    if parse_script(text) != [statement]:
        raise InternalError("the text of a statement does not say what it was made of; nothing was done")
    return text
