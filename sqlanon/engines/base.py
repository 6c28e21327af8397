"""What sqlanon asks of a database."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlglot import exp

from sqlanon.domain.values import QualifiedName

__all__ = ["Column", "Engine", "Query"]

Query = str | exp.Expr
Column = tuple[str, str]


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

    def tables_of(self, query: str) -> list[QualifiedName]:
        """The tables that a user's query reads, through views too."""
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
