"""A DuckDB file that readers query: it is opened for reading and locked, and answers come in Arrow batches.

A worker process imports this module and little else, so that a killed worker is replaced in a moment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import duckdb

from sqlanon.assets import read
from sqlanon.errors import EngineError, UserError

if TYPE_CHECKING:
    import pyarrow

# The values of a statement's parameters, in their order or by name.
Parameters = Sequence[object] | Mapping[str, object]
# The name by which a statement may call the database of its room: DuckDB takes it from the name of the file.
ROOM = "released"
_LONGEST_ERROR = 300
# A path of the machine, and the names that DuckDB suggests, which are never shown.
_PATH = re.compile(r"(?<![\w/])(?:/[^\s/'\"]+){2,}/?")
_SUGGESTION = re.compile(r"\s*(?:Did you mean|Candidate).*", re.DOTALL)
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    # Nothing is written beside the room, so a query that does not fit into memory fails.
    "temp_directory": "",
    "python_enable_replacements": False,
    "python_scan_all_frames": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}


class RoomReader:
    """The open file of a room. `memory` is DuckDB's own limit in bytes; unlike the limit of the process, it is not
    strict.
    """

    def __init__(self, path: str, *, memory: int, threads: int) -> None:
        self.path = path
        try:
            self._connection = duckdb.connect(
                path, read_only=True, config={**_SETTINGS, "memory_limit": f"{memory}B", "threads": threads}
            )
            # Each statement has a connection of its own, for which only global settings count.
            for setting in ("TimeZone = 'UTC'", "enable_external_access = false"):
                self._connection.execute(f"SET GLOBAL {setting}")
            self._connection.execute("SET lock_configuration = true")
        except duckdb.Error as error:
            raise EngineError(reader_text(error)) from None

    def tables(self) -> list[tuple[str, str, str, str]]:
        """Returns schema, table, column and type of each column. Raises EngineError if the file has other objects."""
        try:
            if self._connection.execute(read("sql", "serve", "room_extras.sql")).fetchall():
                raise EngineError("the room holds other objects than tables")
            return self._connection.execute(read("sql", "serve", "room_tables.sql")).fetchall()
        except duckdb.Error as error:
            raise EngineError(reader_text(error)) from None

    def parameters(self, sql: str) -> int:
        """Returns the number of parameters of a statement. Raises UserError unless it is one statement that parses."""
        try:
            [statement] = self._connection.extract_statements(sql)
        except duckdb.Error as error:
            raise UserError(reader_text(error)) from None
        except ValueError:
            raise UserError("a request must be one statement") from None
        return len(statement.named_parameters)

    def schema(self, sql: str, parameters: Parameters) -> pyarrow.Schema:
        """Returns the Arrow schema of a query's answer without running the query.

        Of several columns with one name all but the first are renamed, as in a table that DuckDB makes of them.
        """
        with self.session() as session:
            return _relation_of(session, sql, parameters).limit(0).to_arrow_reader(1).schema

    def batches(self, sql: str, parameters: Parameters, rows: int) -> pyarrow.RecordBatchReader:
        """Returns the answer of a query as a stream of batches, each of at most `rows` rows, with the names of
        `schema`.
        """
        with self.session() as session:
            answer = _relation_of(session, sql, parameters)
            names = answer.columns
            if len({name.casefold() for name in names}) < len(names):
                return _renamed(answer.to_arrow_reader(rows), answer.limit(0).columns)
            return answer.to_arrow_reader(rows)

    def session(self) -> _Session:
        """Returns a context that yields a new connection to the room, for one statement."""
        return _Session(self._connection.cursor())


class _Session:
    """The connection of one statement. It ends with the statement, so no other statement sees its temporary state."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def __enter__(self) -> duckdb.DuckDBPyConnection:
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, duckdb.Error):
            raise UserError(reader_text(error)) from None


def _relation_of(session: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters) -> duckdb.DuckDBPyRelation:
    if not parameters:
        return session.sql(sql)
    return session.sql(sql, params=dict(parameters) if isinstance(parameters, Mapping) else list(parameters))


def _renamed(answer: pyarrow.RecordBatchReader, names: Sequence[str]) -> pyarrow.RecordBatchReader:
    import pyarrow

    schema = pyarrow.schema([field.with_name(name) for field, name in zip(answer.schema, names, strict=True)])
    return pyarrow.RecordBatchReader.from_batches(schema, (batch.rename_columns(names) for batch in answer))


def is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError | duckdb.OutOfMemoryException)


def reader_text(error: BaseException) -> str:
    """Returns an error as a reader may see it: its first line, without paths and without the names that the error
    suggests.
    """
    lines = str(error).strip().splitlines()
    text = _SUGGESTION.sub("", lines[0]) if lines else type(error).__name__
    return _PATH.sub("...", text)[:_LONGEST_ERROR]
