"""Errors, split by whose fault they are; each says what to do about it.

No error carries source rows. Names of objects, columns and hierarchy values may
appear, since the user has to act on them.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CatalogError",
    "DataError",
    "EngineError",
    "InternalError",
    "PolicyError",
    "Position",
    "PrivacyViolation",
    "SqlanonError",
    "StatementError",
    "UserError",
]


@dataclass(frozen=True)
class Position:
    """Where a statement or a part of it stands in the script, counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"

    def within(self, text: Position) -> Position:
        """The position in a script, of a text's position, where the text begins at `text`."""
        column = self.column + text.column - 1 if self.line == 1 else self.column
        return Position(self.line + text.line - 1, column)


class SqlanonError(Exception):
    """The base of every error that sqlanon raises.

    `message` is what is wrong, `hint` what to change, `position` the place in the
    script where known, `query` (for a failed check) the SELECT that returns the
    offending classes. `exit_code` is what the command line returns.
    """

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        position: Position | None = None,
        query: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.position = position
        self.query = query

    def at(self, position: Position | None) -> SqlanonError:
        """Gives the error a place in the script unless it has one, and returns it."""
        if self.position is None:
            self.position = position
        return self

    def __str__(self) -> str:
        index = f"{self.position}: " if self.position else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{index}{self.message}{hint}"


class UserError(SqlanonError):
    """The user asked for something that cannot be done as written."""

    exit_code = 2


class StatementError(UserError):
    """The text of a statement is wrong."""


class PolicyError(UserError):
    """A policy or a hierarchy contradicts itself, its catalog or its source."""


class DataError(UserError):
    """The data does not fit what the policy says of it, such as a value that a hierarchy lacks."""


class CatalogError(UserError):
    """The catalog in schema anon is older, newer or was changed."""


class PrivacyViolation(SqlanonError):
    """A guarantee is not met, or cannot be met: nothing was published."""

    exit_code = 1


class EngineError(SqlanonError):
    """The database refused what sqlanon sent to it."""

    exit_code = 3


class InternalError(SqlanonError):
    """A promise that sqlanon makes to itself is broken: a defect to report."""

    exit_code = 3
