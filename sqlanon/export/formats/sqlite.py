"""A SQLite file, newly written: the release under its name, the table `certificate`, and nothing else.

SQLite has whole numbers, DOUBLE, texts and bytes; every other type is text, as DuckDB casts it. Rows are copied by ADBC
as Arrow streams, because DuckDB's own extension for SQLite has to be downloaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from sqlglot import exp

from sqlanon.domain.identifiers import same_name
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.adbc import STORED, AdbcConnection, batches, copied_from_sqlite, open_sqlite, require_pyarrow
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.duckdb import SQLITE_LOGS
from sqlanon.errors import DataError, PrivacyViolation, UserError
from sqlanon.export.formats.base import (
    ExportFile,
    copied_to_memory,
    first_column,
    holds_more,
    reading,
    require_no_log,
    require_stated,
)
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import or_
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import select

SUFFIXES = (".sqlite", ".sqlite3")
CARRIES_CERTIFICATE = True
_CERTIFICATE = "certificate"
_PURPOSE = "FORMAT sqlite"
# The prefix of SQLite's own names.
_RESERVED = "sqlite_"
# A virtual table, a view and a trigger have no root page.
_CONTENTS = "SELECT CASE WHEN rootpage = 0 THEN 'no table' ELSE type END, name FROM sqlite_master"
# SQLite's names of the types of values.
_VALUES = {"VARCHAR": "text", "BLOB": "blob", "DOUBLE": "real", "FLOAT": "real"}


def require(file: ExportFile) -> None:
    """Raises UserError for a name that is invalid in SQLite, and if pyarrow is not installed."""
    require_pyarrow(_PURPOSE)
    if same_name(file.table, _CERTIFICATE) or file.table.lower().startswith(_RESERVED):
        raise UserError(
            f"a SQLite file cannot hold a release named {file.table} beside the table of its certificate and its own",
            hint="export it as parquet or csv, or make the snapshot under another name",
        )


def published_type(column_type: str) -> str:
    return column_type if column_type in STORED else "VARCHAR"


def write(engine: Engine, file: ExportFile, rows: exp.Query, certificate: str) -> None:
    arrow = require_pyarrow(_PURPOSE)
    _require_numbers(engine, file, rows)
    with closing(open_sqlite(file.path)) as database:
        with batches(engine, rows) as stream:
            database.ingest(file.table, stream)
        database.ingest(_CERTIFICATE, arrow.table({"json": [certificate]}))
        with database.errors():
            database.commit()


def _require_numbers(engine: Engine, file: ExportFile, rows: exp.Query) -> None:
    """Raises DataError for a NaN, which SQLite would store as NULL."""
    names = [name for name, kind in file.columns if kind in ("FLOAT", "DOUBLE")]
    if name := first_column(engine, rows, names, "isnan"):
        raise DataError(
            f"the column {name} has NaN, and SQLite stores NULL in its place; nothing was exported",
            hint="export it as parquet, arrow or duckdb, or have NULL in the source",
        )


def reopen(files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
    """Returns a database in memory with a copy of the rows of each file; this database cannot open anything."""
    require_pyarrow(_PURPOSE)
    return copied_to_memory(files, config, _copy)


def _copy(engine: Engine, file: ExportFile) -> None:
    with _opened(file.path) as database:
        _require_exact(database, file)
        copied_from_sqlite(database, file.table, file.columns, engine, QualifiedName(("main", file.table)))


@contextmanager
def _opened(path: Path) -> Iterator[AdbcConnection]:
    """Yields the opened file, without applying a log. Raises PrivacyViolation if readers would apply a log."""
    require_no_log(path, SQLITE_LOGS)
    with closing(open_sqlite(path, read_only=True, immutable=True)) as database:
        yield database


def _contents(database: AdbcConnection) -> list[tuple[str, ...]]:
    return sorted(database.rows(_CONTENTS))


def _columns(database: AdbcConnection, table: str) -> list[str]:
    """Returns the names of a table's columns, including columns that SELECT * does not show."""
    of_table = exp.Table(this=f.call("pragma_table_xinfo", literal(table)))
    return [str(name) for (name,) in database.rows(select(column("name"), of=of_table, order_by=[column("cid")]))]


def _require_exact(database: AdbcConnection, file: ExportFile) -> None:
    """Raises PrivacyViolation unless the file holds the release's columns with values of their types, and no more."""
    if _contents(database) != sorted(("table", name) for name in (file.table, _CERTIFICATE)):
        raise holds_more(file.path)
    if _columns(database, _CERTIFICATE) != ["json"]:
        raise holds_more(file.path)
    if _columns(database, file.table) != [name for name, _ in file.columns]:
        raise PrivacyViolation(
            f"{file.path.name} has other columns than its certificate says",
            hint="use the files and the certificate of the same export",
        )
    # In SQLite any column can hold values of any type, and a text that is read as a number is 0.
    others = or_(*(_is_other(part) for part in file.columns))
    if database.rows(select(literal(1), of=relation(file.table), where=[others], limit=1)):
        raise PrivacyViolation(
            f"{file.path.name} has values of other types than its certificate says",
            hint="use the files and the certificate of the same export",
        )


def _is_other(part: Column) -> exp.Expr:
    name, kind = part
    expected = _VALUES.get(kind, "integer" if kind in STORED else "text")
    return f.call("typeof", column(name)).isin(literal(expected), literal("null")).not_()


def read(file: ExportFile) -> exp.Query:
    return reading(file, relation(("main", file.table)))


def header(file: ExportFile) -> None:
    """Returns None, because columns are read by name."""


def carried(path: Path) -> Sequence[str]:
    with _opened(path) as database:
        contents = _contents(database)
        if ("table", _CERTIFICATE) not in contents:
            return []
        tables = [name for kind, name in contents if (kind, name) != ("table", _CERTIFICATE)]
        are_tables = {kind for kind, _ in contents} == {"table"}
        if len(tables) != 1 or not are_tables or _columns(database, _CERTIFICATE) != ["json"]:
            raise holds_more(path)
        certificates = _certificates(database)
        require_stated(path, certificates, tables[0], _columns(database, tables[0]))
        return certificates


def certificate(engine: Engine, file: ExportFile) -> Sequence[str]:
    with _opened(file.path) as database:
        return _certificates(database)


def _certificates(database: AdbcConnection) -> list[str]:
    return [str(text) for (text,) in database.rows(select(column("json"), of=relation(_CERTIFICATE)))]
