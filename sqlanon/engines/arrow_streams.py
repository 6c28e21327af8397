"""Rows as streams of Arrow: from DuckDB to files and other databases, and back. No row becomes one of Python's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.translated import translated
from sqlanon.errors import UserError
from sqlanon.sql.build.ddl import create_table
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import to_sql

if TYPE_CHECKING:
    import pyarrow

# So many rows are in a batch.
_ROWS = 100_000
# The name of a stream while a table is made of it.
STREAM = "__sqlanon_stream"


def require_pyarrow(purpose: str) -> Any:
    """The module pyarrow. Raises UserError, which says that the purpose needs it, where it is not installed, or where
    another NumPy is than it was built for.
    """
    pyarrow = installed_pyarrow()
    if pyarrow is None:
        raise UserError(f"{purpose} needs pyarrow", hint="pip install 'sqlanon[arrow]'")
    return pyarrow


def installed_pyarrow() -> Any:
    """The module pyarrow, None where it is not installed. Raises UserError where it does not fit the NumPy there is."""
    try:
        import pyarrow
    except ModuleNotFoundError:
        return None
    except ImportError:
        raise UserError(
            f"pyarrow {_version('pyarrow')} is installed, and cannot be imported beside NumPy {_version('numpy')}, "
            "which may be older than it needs",
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
    """The rows of a query on DuckDB as a stream, which has to be read before the connection is used again.

    Raises EngineError for what DuckDB refuses while the stream is read.
    """
    text = to_sql(query)
    try:
        with closing(engine.connection.sql(text).to_arrow_reader(_ROWS)) as reader:
            yield reader
    except duckdb.Error as error:
        raise translated(error, text) from None


def created_from(engine: Engine, name: QualifiedName, stream: object, query: exp.Query | None = None) -> None:
    """Makes a table of DuckDB's of a stream's rows; with a `query` of what that makes of the relation `STREAM`.

    Raises EngineError for what DuckDB refuses.
    """
    connection = engine.connection
    try:
        connection.register(STREAM, stream)
        engine.run(create_table(name, exp.select(exp.Star()).from_(relation(STREAM)) if query is None else query))
    except duckdb.Error as error:
        raise translated(error) from None
    finally:
        # After an error the transaction is aborted, and the name goes with it.
        with suppress(duckdb.Error):
            connection.unregister(STREAM)
