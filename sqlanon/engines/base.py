"""The protocol of a database that sqlanon works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sqlglot import exp

from sqlanon.domain.values import QualifiedName, Source
from sqlanon.errors import UserError
from sqlanon.sql.build.render import create_temporary

if TYPE_CHECKING:
    from numpy.typing import NDArray

Query = str | exp.Expr
Column = tuple[str, str]


# The hint for a summary with more rows than may be copied between engines.
RAISE_BOUND = "raise the bound: summary_rows => ... of connect()"


class TooManyRows(UserError):
    """Raised for a table with more rows than may be copied from one engine to another."""


class Reading(NamedTuple):
    """A relation that a query reads, by its full name.

    `kind` is 'table', 'view', or 'other' for a relation outside of the database: a file, or a data frame of Python.
    `steady` is true if a permanent view of the query, in the schema main, reads the same relation with every search
    path of a session.
    """

    kind: str
    name: QualifiedName
    steady: bool = True


class Calls(NamedTuple):
    """The calls in a query: folded names of functions and operators, and the macros with these names."""

    functions: frozenset[str]
    macros: tuple[QualifiedName, ...]


class Engine(Protocol):
    """The interface of a database that runs sqlanon's portable SQL.

    A query is a tree or a text; the text is a user's or comes from a file under sql/.
    """

    @property
    def connection(self) -> Any:
        """The driver's own connection."""
        ...

    def rows(self, query: Query, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Returns the rows of a query to Python.

        Only counts, names and settings are read in this way, never the user's rows.
        """
        ...

    def arrays(self, query: exp.Query) -> dict[str, NDArray[Any]]:
        """Returns the columns of a query of numbers without NULL as arrays, by name.

        Counts and codes are read in this way, and the numbers that microaggregation and streams compare.
        """
        ...

    def readable(self, name: str, columns: Mapping[str, NDArray[Any]]) -> AbstractContextManager[None]:
        """Makes arrays of one length the columns of a temporary view until the block ends, without copying them."""
        ...

    def run(self, query: Query, parameters: Sequence[object] = ()) -> None:
        """Runs a statement and drops its result."""
        ...

    def columns(self, query: Query) -> list[Column]:
        """Returns the names and types of a query's columns."""
        ...

    @property
    def distributed(self) -> bool:
        """Whether the rows are on Spark, while the catalog and the summaries that methods work on are in DuckDB."""
        ...

    @property
    def reads_in_place(self) -> bool:
        """Whether rows are in the same place as the catalog and the temporary tables, so that a query may join them.

        Otherwise rows are counted once on their own engine, and the counts are collected.
        """
        ...

    @property
    def numbers_rows(self) -> bool:
        """Whether the rows of a table have row numbers and are read in the order of these numbers."""
        ...

    @property
    def shares_names(self) -> bool:
        """Whether the name of a source refers to an object of the database that holds the catalog."""
        ...

    @property
    def releases_are_files(self) -> bool:
        """Whether the tables of a release are folders of Parquet files, which an export copies."""
        ...

    def copy_rows(self, name: str, query: exp.Query) -> str:
        """Creates a temporary relation of this name with the rows of a query, which has at most as many rows as a
        source.

        The rows stay on the engine that has the query's rows; for small results, which methods read, use `run`. Random
        numbers in the query are generated only once, even if the relation is read several times. Returns the relation's
        kind, TABLE or VIEW.
        """
        ...

    def declare(self, source: Source) -> Source:
        """Returns the source under its name on this engine; the name differs if the rows are on another engine.

        Raises UserError if the name is ambiguous, or if no relation has it.
        """
        ...

    def native_function(self, name: str) -> str | None:
        """Returns the engine's own name for a function of `udfs/`; None for a function that has to be registered."""
        ...

    def copy_files(self, table: QualifiedName, folder: Path, named: Callable[[int], str]) -> list[str]:
        """Copies the Parquet files of a table to a local folder; returns their names.

        `named` returns the name of the file with a number, from 0. A table of any other kind has no files.
        """
        ...

    def fingerprint(self, rows: exp.Query) -> str | None:
        """Returns a text that identifies the rows of a query in any order; None if DuckDB's hashes are used for it."""
        ...

    def reads(self, query: str) -> list[Reading]:
        """Returns the tables and views that a user's query reads, also through views and macros.

        Raises UserError if they cannot be determined.
        """
        ...

    def calls(self, query: str) -> Calls:
        """Returns the functions and macros that a user's query calls, also through views and macros.

        Raises UserError if they cannot be determined.
        """
        ...

    def tables_of(self, query: str) -> list[QualifiedName]:
        """Returns the tables that a query reads, by their full names, and the files and data frames."""
        ...

    def in_transaction(self) -> bool:
        """Whether the user has begun a transaction."""
        ...

    def shadowing_macros(self) -> list[str]:
        """Returns the names of macros that replace a built-in function of the same name."""
        ...

    def end_statement(self) -> None:
        """Called at the end of each statement of sqlanon."""
        ...

    def version(self) -> str:
        """The engine's name and version."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Runs the block in a transaction; joins a transaction that is already open."""
        ...


# An engine that holds its rows, its catalog and its summaries in one place.


class SingleEngine:
    """Answers the protocol's questions about distributed rows, for an engine that holds all rows itself."""

    distributed = False
    reads_in_place = True
    numbers_rows = True
    shares_names = True
    releases_are_files = False

    def run(self, query: Query, parameters: Sequence[object] = ()) -> None:
        """Runs a statement and drops its result."""
        raise NotImplementedError

    def arrays(self, query: exp.Query) -> dict[str, NDArray[Any]]:
        """Returns the columns of a query of numbers as arrays, by name."""
        raise NotImplementedError

    def readable(self, name: str, columns: Mapping[str, NDArray[Any]]) -> AbstractContextManager[None]:
        """Makes arrays the columns of a temporary view until the block ends."""
        raise NotImplementedError

    def copy_rows(self, name: str, query: exp.Query) -> str:
        """Copies the rows of a query into a temporary table; returns "TABLE"."""
        self.run(create_temporary("TABLE", name, query))
        return "TABLE"

    def declare(self, source: Source) -> Source:
        """Returns the source itself, because its relations have the same names here."""
        return source

    def native_function(self, name: str) -> str | None:
        """Returns None: this engine has each function of `udfs/` only after it was registered."""
        return None

    def copy_files(self, table: QualifiedName, folder: Path, named: Callable[[int], str]) -> list[str]:
        """Returns an empty list, because no table consists of files."""
        return []

    def shadowing_macros(self) -> list[str]:
        """Returns an empty list, because the engine has no macros."""
        return []

    def end_statement(self) -> None:
        """Does nothing, because the engine does not record anything about a statement."""
