"""SQLite files by ADBC, and their tables as DuckDB's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.adbc import AdbcConnection, require_driver
from sqlanon.engines.arrow_streams import STREAM, created_from
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import EngineError, SqlanonError, UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast
from sqlanon.sql.build.names import alias, column, literal, relation

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
# The types that SQLite has, and what stands for NULL while rows are read: the driver takes the type of a column from
# its first values.
STORED: Mapping[str, exp.Expr] = {
    **dict.fromkeys(_WHOLE, literal(0)),
    **dict.fromkeys(("FLOAT", "DOUBLE"), exp.Literal(this="0.0", is_string=False)),
    "VARCHAR": literal(""),
    "BLOB": exp.HexString(this=""),
}


def open_sqlite(path: Path, *, read_only: bool = False, immutable: bool = False) -> AdbcConnection:
    """A SQLite file, made where there is none.

    One that is opened as immutable is read as it is: no log beside it is applied, and no file is made there.

    Raises UserError where the driver is not installed or there is no such file to read, EngineError for another file.
    """
    with require_driver("adbc-driver-sqlite", "sqlite", "SQLite files"):
        from adbc_driver_manager import Error
        from adbc_driver_sqlite import dbapi
    if read_only and not path.is_file():
        raise UserError(f"there is no file {path}")
    # In a URI other characters than letters mean something.
    uri = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}{'&immutable=1' if immutable else ''}"
    try:
        connection = dbapi.connect(uri)
    except Error as error:
        raise _said_by_sqlite(error) from None
    return AdbcConnection(connection, "sqlite", _said_by_sqlite)


def _said_by_sqlite(error: Any) -> SqlanonError:
    said = str(error).splitlines()[0]
    if "file is not a database" in said:
        return UserError("the file is no SQLite database")
    if "no such table" in said:
        return UserError(f"SQLite: {said.rpartition(': ')[2]} is no table of the file")
    return EngineError(f"SQLite: {said}", hint="is there room on the disk, and may the file be written?")


def copied_from_sqlite(
    database: AdbcConnection, table: str, columns: Sequence[Column], engine: Engine, name: QualifiedName
) -> None:
    """Makes a table of DuckDB's of one of SQLite's, with these columns in these types, which are SQLite's own."""
    outputs: list[exp.Expr] = []
    for number, (part, kind) in enumerate(columns):
        value = as_text(column(part)) if kind == "VARCHAR" else column(part)
        value = cast(value, "DOUBLE") if kind in ("FLOAT", "DOUBLE") else value
        # A type that SQLite does not have is not that of the file's values, and whoever asks for it compares them.
        outputs.append(alias(f.coalesce(value, STORED.get(kind, literal("")).copy()), f"value_{number}"))
        outputs.append(alias(column(part).is_(exp.null()), f"is_null_{number}"))
    with database.stream(exp.select(*outputs).from_(relation(table))) as stream:
        types = [str(field.type) for field in stream.schema][::2]
        query = exp.select(*_values(columns, types)).from_(relation(STREAM))
        created_from(engine, name, stream, query)


def _values(columns: Sequence[Column], types: Sequence[str]) -> Iterator[exp.Expr]:
    for number, ((name, kind), type_) in enumerate(zip(columns, types, strict=True)):
        # Of a table without rows the driver says that all columns are whole numbers, which are no bytes.
        value = exp.null() if kind == "BLOB" and type_ != "binary" else column(f"value_{number}")
        present = exp.Case(ifs=[exp.If(this=column(f"is_null_{number}").eq(0), true=cast(value, kind))])
        yield alias(present, name)
