"""Other databases by ADBC (Arrow Database Connectivity): statements in their own SQL, and rows as streams of Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.errors import SqlanonError, UserError

if TYPE_CHECKING:
    import pyarrow

Said = Callable[[Any], SqlanonError]


class AdbcConnection:
    """A connection in a transaction that lasts until `commit`, and is rolled back where it is closed before.

    `said` makes an error of sqlanon's of one of the driver's, and keeps to itself what the driver says of values.
    """

    def __init__(self, connection: Any, dialect: str, said: Said) -> None:
        self._connection = connection
        self._dialect = dialect
        self._said = said

    def run(self, statement: exp.Expr | str) -> None:
        """Runs a statement and drops its result. Raises as `said` says."""
        with self.errors(), closing(self._connection.cursor()) as cursor:
            cursor.execute(self._text(statement))

    def rows(self, query: exp.Expr | str) -> list[tuple[Any, ...]]:
        """The rows of a query; for counts, names and texts of the catalog, never for rows of people."""
        with self.errors(), closing(self._connection.cursor()) as cursor:
            cursor.execute(self._text(query))
            return list(cursor.fetchall())

    @contextmanager
    def stream(self, query: exp.Expr | str) -> Iterator[pyarrow.RecordBatchReader]:
        """The rows of a query as a stream of Arrow batches. Raises as `said` says, within the block too."""
        with self.errors(), closing(self._connection.cursor()) as cursor:
            cursor.execute(self._text(query))
            yield cursor.fetch_record_batch()

    def ingest(self, table: str, stream: pyarrow.RecordBatchReader | pyarrow.Table, **schema: str) -> None:
        """Makes a table of a stream's rows, in the schema that `schema` names for drivers that have any."""
        with self.errors(), closing(self._connection.cursor()) as cursor:
            cursor.adbc_ingest(table, stream, mode="create", **schema)

    def commit(self) -> None:
        """Raises the driver's own error where nobody can tell whether it has happened."""
        self._connection.commit()

    def close(self) -> None:
        """Ends the connection, and what has not been committed is as if it had never been."""
        with suppress(Exception):
            self._connection.rollback()
        with suppress(Exception):
            self._connection.close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """The driver's errors as those of sqlanon."""
        from adbc_driver_manager import Error

        try:
            yield
        except Error as error:
            raise self._said(error) from None

    def _text(self, statement: exp.Expr | str) -> str:
        return statement if isinstance(statement, str) else statement.sql(dialect=self._dialect, identify=True)


@contextmanager
def require_driver(package: str, extra: str, purpose: str) -> Iterator[None]:
    """Raises UserError where what is imported within is not installed."""
    try:
        yield
    except ImportError:
        raise UserError(f"{purpose} need {package}", hint=f"pip install 'sqlanon[{extra}]'") from None
