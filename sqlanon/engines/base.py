"""The protocol of a database that sqlanon works with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


# What can be done about a summary that is too large to go from one engine to the other.
RAISE_BOUND = "raise the bound: summary_rows => ... of connect()"


class TooManyRows(UserError):
    """A table has more rows than may be copied from one engine to the other."""


class Reading(NamedTuple):
    """A relation that a query reads, by its full name.

    `kind` is 'table', 'view', or 'other' for what is not in the database: a file, or a frame of Python's. `steady` is
    whether a lasting view of the query, in the schema main, reads it whatever the search path of a session is.
    """

    kind: str
    name: QualifiedName
    steady: bool = True


class Calls(NamedTuple):
    """The calls in a query: folded names of functions and operators, and the macros with these names."""

    functions: frozenset[str]
    macros: tuple[QualifiedName, ...]


class Engine(Protocol):
    """A database that runs portable SQL; a query is a tree, or a text of the user's or of a file under sql/."""

    @property
    def connection(self) -> Any:
        """The driver's own connection."""
        ...

    def rows(self, query: Query, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query; for counts, names and settings, never for the user's rows."""
        ...

    def arrays(self, query: exp.Query) -> dict[str, NDArray[Any]]:
        """Returns the columns of a query of numbers without NULL as arrays, by name; for counts, as `rows` is."""
        ...

    def run(self, query: Query, parameters: Sequence[object] = ()) -> None:
        """Runs a statement and drops its result."""
        ...

    def columns(self, query: Query) -> list[Column]:
        """The names and types of a query's columns."""
        ...

    @property
    def distributed(self) -> bool:
        """Whether rows lie on another engine, Spark, than the catalog and the summaries that methods work on."""
        ...

    @property
    def reads_in_place(self) -> bool:
        """Whether rows are where the catalog and the temporary tables are, so that a query may join them.

        Otherwise rows are counted where they lie, once, and the counts are collected.
        """
        ...

    @property
    def numbers_rows(self) -> bool:
        """Whether the rows of a table have row numbers and are read in their order."""
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
        """Makes a temporary relation of this name for the rows of a query, which may be as many as a source has.

        The rows stay on the engine that has the query's rows; `run` is for small results, which methods read. Random
        numbers in the query are drawn once, however often the relation is read. Returns its kind, TABLE or VIEW.
        """
        ...

    def declare(self, source: Source) -> Source:
        """The source by the name that it has here, which may be another one where its rows lie on another engine.

        Raises UserError where it cannot be told which relation is meant, or where none can be meant.
        """
        ...

    def native_function(self, name: str) -> str | None:
        """Returns the engine's own name for a function of `udfs/`; None for a function that has to be registered."""
        ...

    def copy_files(self, table: QualifiedName, folder: Path, named: Callable[[int], str]) -> list[str]:
        """Copies the files of a table that is one of Parquet files to a folder of this machine; returns their names.

        `named` names the file of each number, from 0. A table of any other kind has none.
        """
        ...

    def fingerprint(self, rows: exp.Query) -> str | None:
        """A text that identifies the rows of a query in any order; None where DuckDB's hashes make one."""
        ...

    def reads(self, query: str) -> list[Reading]:
        """The tables and views that a user's query reads, through views and macros too.

        Raises UserError where it cannot be told.
        """
        ...

    def calls(self, query: str) -> Calls:
        """The functions and macros that a user's query calls, through views and macros too.

        Raises UserError where it cannot be told.
        """
        ...

    def tables_of(self, query: str) -> list[QualifiedName]:
        """Returns the tables that a query reads, by their full names, and the files and frames."""
        ...

    def in_transaction(self) -> bool:
        """Whether the user has begun a transaction."""
        ...

    def shadowing_macros(self) -> list[str]:
        """Returns the names of macros that replace a built-in function of the same name."""
        ...

    def end_statement(self) -> None:
        """Called at the end of each statement of sqlanon's."""
        ...

    def version(self) -> str:
        """The engine's name and version."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Runs the block in a transaction; joins a transaction that is already open."""
        ...


# An engine that has its rows, its catalog and its summaries in one place.


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
        """The columns of a query of numbers."""
        raise NotImplementedError

    def copy_rows(self, name: str, query: exp.Query) -> str:
        """Copies the rows of a query into a temporary table; returns "TABLE"."""
        self.run(create_temporary("TABLE", name, query))
        return "TABLE"

    def declare(self, source: Source) -> Source:
        """Returns the source itself: its relations are known by their names already."""
        return source

    def native_function(self, name: str) -> str | None:
        """Returns None: the engine has no function of `udfs/` before it is registered."""
        return None

    def copy_files(self, table: QualifiedName, folder: Path, named: Callable[[int], str]) -> list[str]:
        """Returns an empty list: no table consists of files."""
        return []

    def shadowing_macros(self) -> list[str]:
        """Returns an empty list: the engine has no macros."""
        return []

    def end_statement(self) -> None:
        """Does nothing: the engine notes nothing of a statement."""
