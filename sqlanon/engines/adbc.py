"""Connects to other databases by ADBC (Arrow Database Connectivity): SQL in their dialects, rows as Arrow streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.translated import translated
from sqlanon.errors import DataError, EngineError, SqlanonError, UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import create_table, to_sql

if TYPE_CHECKING:
    import pyarrow


ErrorConversion = Callable[[Any], SqlanonError]


class AdbcConnection:
    """A connection in a transaction. The transaction lasts until `commit`; without it, `close` rolls back.

    `without_values` converts an error of the driver to an error of sqlanon without the values that the driver quotes.
    """

    def __init__(self, connection: Any, dialect: str, without_values: ErrorConversion) -> None:
        self._connection = connection
        self._dialect = dialect
        self._without_values = without_values

    def run(self, statement: exp.Expr | str) -> None:
        """Runs a statement and drops its result. Raises the driver's error as `without_values` converts it."""
        with self.errors(), closing(self._connection.cursor()) as cursor:
            cursor.execute(self._text(statement))

    def rows(self, query: exp.Expr | str) -> list[tuple[Any, ...]]:
        """Returns the rows of a query to Python. Only counts, names and texts of the catalog are read in this way."""
        with self.errors(), closing(self._connection.cursor()) as cursor:
            cursor.execute(self._text(query))
            return list(cursor.fetchall())

    @contextmanager
    def stream(self, query: exp.Expr | str) -> Iterator[pyarrow.RecordBatchReader]:
        """Yields a query's rows as a stream of Arrow batches. Raises an error as `without_values` converts it."""
        with self.errors(), closing(self._connection.cursor()) as cursor:
            cursor.execute(self._text(query))
            yield cursor.fetch_record_batch()

    def ingest(self, table: str, stream: pyarrow.RecordBatchReader | pyarrow.Table, **schema: str) -> None:
        """Creates a table with a stream's rows, in the schema that `schema` gives, if the driver has schemas."""
        with self.errors(), closing(self._connection.cursor()) as cursor:
            cursor.adbc_ingest(table, stream, mode="create", **schema)

    def commit(self) -> None:
        """Commits. Raises the driver's own error, after which it is unknown whether the commit happened."""
        self._connection.commit()

    def close(self) -> None:
        """Closes the connection; changes that were not committed are rolled back."""
        with suppress(Exception):
            self._connection.rollback()
        with suppress(Exception):
            self._connection.close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Converts errors of the driver within the block to errors of sqlanon."""
        from adbc_driver_manager import Error

        try:
            yield
        except Error as error:
            raise self._without_values(error) from None

    def _text(self, statement: exp.Expr | str) -> str:
        return statement if isinstance(statement, str) else statement.sql(dialect=self._dialect, identify=True)


@contextmanager
def require_driver(package: str, extra: str, purpose: str) -> Iterator[None]:
    """Raises UserError if a package that the block imports is not installed."""
    try:
        yield
    except ImportError:
        raise UserError(f"{purpose} need {package}", hint=f"pip install 'sqlanon[{extra}]'") from None


# Rows as Arrow streams, between DuckDB and files or other databases. No row becomes a Python object.


# The number of rows of a batch.
_ROWS = 100_000
# The name of a stream while a table is created from it.
STREAM = "__sqlanon_stream"


def require_pyarrow(purpose: str) -> Any:
    """Returns the module pyarrow. Raises UserError, which names the purpose, if it is not installed or does not fit
    NumPy.
    """
    pyarrow = installed_pyarrow()
    if pyarrow is None:
        raise UserError(f"{purpose} needs pyarrow", hint="pip install 'sqlanon[arrow]'")
    return pyarrow


def installed_pyarrow() -> Any:
    """Returns the module pyarrow; None if it is not installed. Raises UserError if it does not fit NumPy."""
    try:
        import pyarrow
    except ModuleNotFoundError:
        return None
    except ImportError:
        raise UserError(
            f"pyarrow {_version('pyarrow')} is installed, but cannot be imported with NumPy {_version('numpy')}, "
            "which may be too old for it",
            hint="pip install --upgrade numpy pyarrow",
        ) from None
    return pyarrow


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of an unknown version"


@contextmanager
def batches(engine: Engine, query: exp.Query) -> Iterator[pyarrow.RecordBatchReader]:
    """Yields the rows of a query on DuckDB as a stream, which has to be read before the connection is used again.

    Raises EngineError for an error of DuckDB while the stream is read.
    """
    text = to_sql(query)
    try:
        with closing(engine.connection.sql(text).to_arrow_reader(_ROWS)) as reader:
            yield reader
    except duckdb.Error as error:
        raise translated(error, text) from None


def created_from(engine: Engine, name: QualifiedName, stream: object, query: exp.Query | None = None) -> None:
    """Creates a table of DuckDB from a stream's rows, or from a `query` that reads them as the relation `STREAM`.

    Raises EngineError for an error of DuckDB.
    """
    connection = engine.connection
    try:
        connection.register(STREAM, stream)
        engine.run(create_table(name, select(exp.Star(), of=relation(STREAM)) if query is None else query))
    except duckdb.Error as error:
        raise translated(error) from None
    finally:
        # After an error the transaction is aborted, and the name disappears with it.
        with suppress(duckdb.Error):
            connection.unregister(STREAM)


# SQLite files by ADBC, and copies of their tables in DuckDB.


_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
# SQLite's types, each with a value in place of NULL: the driver infers a column's type from its first values.
STORED: Mapping[str, exp.Expr] = {
    **dict.fromkeys(_WHOLE, literal(0)),
    **dict.fromkeys(("FLOAT", "DOUBLE"), exp.Literal(this="0.0", is_string=False)),
    "VARCHAR": literal(""),
    "BLOB": exp.HexString(this=""),
}


def open_sqlite(path: Path, *, read_only: bool = False, immutable: bool = False) -> AdbcConnection:
    """Opens a SQLite file; creates it if it does not exist.

    If `immutable` is true, no log beside the file is applied, and no other file is created beside it.

    Raises UserError if the driver is not installed or the file that is read does not exist, and EngineError for a file
    that is not a SQLite database.
    """
    with require_driver("adbc-driver-sqlite", "sqlite", "SQLite files"):
        from adbc_driver_manager import Error
        from adbc_driver_sqlite import dbapi
    if read_only and not path.is_file():
        raise UserError(f"there is no file {path}")
    # In a URI characters other than letters have a meaning.
    uri = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}{'&immutable=1' if immutable else ''}"
    try:
        connection = dbapi.connect(uri)
    except Error as error:
        raise _said_by_sqlite(error) from None
    return AdbcConnection(connection, "sqlite", _said_by_sqlite)


def _said_by_sqlite(error: Any) -> SqlanonError:
    message = str(error).splitlines()[0]
    if "file is not a database" in message:
        return UserError("the file is not a SQLite database")
    if "no such table" in message:
        return UserError(f"SQLite: {message.rpartition(': ')[2]} is not a table of the file")
    return EngineError(f"SQLite: {message}", hint="check that the disk has free space and that you may write the file")


def copied_from_sqlite(
    database: AdbcConnection, table: str, columns: Sequence[Column], engine: Engine, name: QualifiedName
) -> None:
    """Creates a table of DuckDB from a SQLite table with these columns, whose types must exist in SQLite, too."""
    outputs: list[exp.Expr] = []
    for number, (part, kind) in enumerate(columns):
        value = as_text(column(part)) if kind == "VARCHAR" else column(part)
        value = cast(value, "DOUBLE") if kind in ("FLOAT", "DOUBLE") else value
        # A column of a type that SQLite lacks is read as text; the caller compares the types.
        outputs.append(alias(f.coalesce(value, STORED.get(kind, literal(""))), f"value_{number}"))
        outputs.append(alias(column(part).is_(exp.null()), f"is_null_{number}"))
    with database.stream(select(*outputs, of=relation(table))) as stream:
        types = [str(field.type) for field in stream.schema][::2]
        query = select(*_values(columns, types), of=relation(STREAM))
        created_from(engine, name, stream, query)


def _values(columns: Sequence[Column], types: Sequence[str]) -> Iterator[exp.Expr]:
    for number, ((name, kind), type_) in enumerate(zip(columns, types, strict=True)):
        # For a table without rows the driver reports whole numbers in all columns; these cannot be cast to BLOB.
        value = exp.null() if kind == "BLOB" and type_ != "binary" else column(f"value_{number}")
        present = exp.Case(ifs=[exp.If(this=column(f"is_null_{number}").eq(0), true=cast(value, kind))])
        yield alias(present, name)


# PostgreSQL by ADBC. The driver is libpq: the password comes from the environment, a service or ~/.pgpass.


# Classes of SQLSTATE whose messages quote no value: errors of names and syntax, of transactions and rights, of
# resources, and of the server.
_VALUELESS = ("08", "0A", "25", "28", "2B", "3D", "3F", "40", "42", "53", "54", "55", "57", "58")
# How libpq's messages begin after it has parsed the URL.
_ANSWERS = ("connection to server", "could not translate host name", "definition of service")
_SPELT = "is each option behind the ? one of libpq's, and its value one that it can have?"
_REFUSED = ("password authentication failed", "no password supplied", "does not exist", "no pg_hba.conf entry")


def open_postgres(uri: str, called: str, *, imports: bool = False) -> AdbcConnection:
    """Connects to the database of a URI without a password, and begins a transaction; errors call the database
    `called`.

    If `imports` is true, the connection reads source tables; otherwise it writes or reads an export. The hints of
    errors differ.

    Raises UserError if the driver is not installed or the server refuses the user, and EngineError if the server cannot
    be reached.
    """
    with require_driver("adbc-driver-postgresql", "postgres", "exports to PostgreSQL and imports from it"):
        from adbc_driver_manager import Error
        from adbc_driver_postgresql import dbapi
    try:
        connection = dbapi.connect(uri)
    except Error as error:
        raise _not_connected(error, called) from None
    return AdbcConnection(connection, "postgres", partial(_said_of_source if imports else _without_values, called))


@contextmanager
def commit_errors(called: str) -> Iterator[None]:
    """Converts an error of the driver during COMMIT, after which it is unknown whether the commit happened."""
    try:
        from adbc_driver_manager import Error
    except ImportError:
        # If the driver is missing, no connection can have been opened.
        yield
        return
    try:
        yield
    except Error as error:
        raise EngineError(
            f"{called}: the connection ended while the export was committed ({_state(error)}): the export is either "
            "complete or absent",
            hint=f"CHECK '{called}' shows which; assume that others may have read the export",
        ) from None


def _not_connected(error: Any, called: str) -> SqlanonError:
    message = _first_line(error)
    if not message.removeprefix("Failed to connect: ").startswith(_ANSWERS):
        # libpq's message about the URL itself quotes the URL.
        return UserError(f"{called}: libpq cannot use the URL or the settings in the environment", hint=_SPELT)
    if any(refused in message for refused in _REFUSED):
        return UserError(
            f"{called}: {message}",
            hint="the URL or PGUSER gives the user, and PGPASSWORD, PGSERVICE or ~/.pgpass the password",
        )
    return EngineError(f"{called}: {message}", hint="check that the server is running and listens there")


def _said_of_source(called: str, error: Any) -> SqlanonError:
    """Converts an error of reading a source table to an error of sqlanon.

    The driver's message may be shown, because it does not quote values of a release.
    """
    state = _state(error)
    if state.startswith(("22", "P0")):
        return DataError(
            f"{called}: PostgreSQL cannot compute a value of the table ({state})",
            hint="a view or a computed column fails in PostgreSQL: query the table there to see where",
        )
    if state == "42501":
        return UserError(f"{called}: {_first_line(error)} ({state})", hint="the user needs SELECT on the table")
    return _without_values(called, error)


def _without_values(called: str, error: Any) -> SqlanonError:
    """Converts an error of the server; the message is left out if it may quote a value."""
    state = _state(error)
    message = f"{called}: PostgreSQL refuses it ({state})"
    if state[:2] in _VALUELESS:
        message = f"{called}: {_first_line(error)} ({state})"
    if state.startswith("22"):
        return DataError(
            f"{called}: PostgreSQL cannot store a value of the release ({state})",
            hint="for example, a text with the character NUL: replace such values in the source of the policy",
        )
    match state:
        case "42501":
            return UserError(
                message,
                hint="a reader needs USAGE on the schema and SELECT on its tables; an exporter needs CREATE on the "
                "database, and must own the schema that it replaces",
            )
        case "55P03":
            return EngineError(
                message, hint="a long query is reading the earlier export: try again, or set a longer lock_timeout"
            )
        case "40P01" | "42P06":
            return EngineError(
                message, hint="another export to the same schema was running: try again when it has ended"
            )
        case "2BP01":
            return UserError(
                message, hint="an object outside, such as a view, depends on the earlier export: drop that object first"
            )
    return EngineError(message)


def _state(error: Any) -> str:
    return str(getattr(error, "sqlstate", None) or "no SQLSTATE")


def _first_line(error: Any) -> str:
    text = str(error).splitlines()[0]
    for prefix in ("IO: ", "INTERNAL: ", "[libpq] "):
        text = text.partition(prefix)[2] or text
    return text
