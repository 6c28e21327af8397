"""What sqlanon needs of a database."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from sqlglot import exp

from sqlanon.domain.values import QualifiedName

__all__ = ["Column", "Engine", "Query", "Reading"]

Query = str | exp.Expr
Column = tuple[str, str]


class Reading(NamedTuple):
    """Something that a query reads, by its full name.

    `kind` is 'table', 'view', or 'other' for what is not in the database: a file, or a frame of Python's.
    """

    kind: str
    name: QualifiedName


class Engine(Protocol):
    """A database that runs portable SQL. Queries are trees, or text that a user or a file of ours wrote."""

    @property
    def connection(self) -> Any:
        """The driver's own connection."""
        ...

    def rows(self, query: Query, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query; for counts, names and settings, never for the user's rows."""
        ...

    def run(self, query: Query, parameters: Sequence[object] = ()) -> None:
        """Runs a statement and drops its result."""
        ...

    def columns(self, query: Query) -> list[Column]:
        """The names and types of a query's columns."""
        ...

    def reads(self, query: str) -> list[Reading]:
        """The tables and views that a user's query reads, through views and macros too.

        Raises UserError where it cannot be told.
        """
        ...

    def tables_of(self, query: str) -> list[QualifiedName]:
        """The tables among them, and what is not in the database; tables by their full names."""
        ...

    def in_transaction(self) -> bool:
        """Whether the user has begun a transaction."""
        ...

    def version(self) -> str:
        """The engine's name and version."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside happens, or nothing; joins a transaction that is already open."""
        ...
