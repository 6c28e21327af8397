"""A SQLite file, newly written: the release under its name, the table `certificate`, and nothing else.

SQLite has whole numbers, DOUBLE, texts and bytes; every other type is text, as DuckDB casts it. It goes through ADBC,
as streams of Arrow: DuckDB's own extension for SQLite has to be downloaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from sqlglot import exp

from sqlanon.domain.identifiers import same_name
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.adbc import AdbcConnection, open_sqlite
from sqlanon.engines.arrow_streams import STREAM, batches, created_from, require_pyarrow
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.errors import InternalError, UserError
from sqlanon.export.formats._copy import reading, seal
from sqlanon.export.formats.base import ExportFile
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import cast
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = [
    "CARRIES_CERTIFICATE",
    "SUFFIXES",
    "carried",
    "certificate",
    "header",
    "published_type",
    "read",
    "reopen",
    "require",
    "write",
]

SUFFIXES = (".sqlite", ".sqlite3")
CARRIES_CERTIFICATE = True
_CERTIFICATE = "certificate"
_PURPOSE = "FORMAT sqlite"
# Names that begin so are SQLite's own.
_RESERVED = "sqlite_"
# What stands for NULL while rows are read: the driver takes a column's type from its first values.
_WHOLE = dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), literal(0))
_STORED: Mapping[str, exp.Expr] = {
    **_WHOLE,
    **dict.fromkeys(("FLOAT", "DOUBLE"), exp.Literal(this="0.0", is_string=False)),
    "VARCHAR": literal(""),
    "BLOB": exp.HexString(this=""),
}
_CONTENTS = "SELECT type, name FROM sqlite_master"


def require(file: ExportFile) -> None:
    """Raises UserError for a name that SQLite cannot have, and where what writes the file is not installed."""
    require_pyarrow(_PURPOSE)
    if same_name(file.table, _CERTIFICATE) or file.table.lower().startswith(_RESERVED):
        raise UserError(
            f"a SQLite file cannot hold a release named {file.table} beside the table of its certificate and its own",
            hint="export it as parquet or csv, or make the snapshot under another name",
        )


def published_type(column_type: str) -> str:
    return column_type if column_type in _STORED else "VARCHAR"


def write(engine: Engine, file: ExportFile, rows: exp.Query, certificate: str) -> None:
    arrow = require_pyarrow(_PURPOSE)
    with closing(open_sqlite(file.path)) as database:
        with batches(engine, rows) as stream:
            database.ingest(file.table, stream)
        database.ingest(_CERTIFICATE, arrow.table({"json": [certificate]}))
        with database.errors():
            database.commit()


def reopen(files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
    """A database in memory with a copy of the rows of each file, which opens nothing."""
    require_pyarrow(_PURPOSE)
    engine = DuckDBEngine(open_database(":memory:", config=dict(config)))
    for file in files:
        with closing(open_sqlite(file.path, read_only=True)) as database:
            if _contents(database) != sorted(("table", name) for name in (file.table, _CERTIFICATE)):
                engine.connection.close()
                raise InternalError("the exported file holds something else than the release and its certificate")
            _copy(database, file, engine)
    seal(engine)
    return engine


def _contents(database: AdbcConnection) -> list[tuple[str, ...]]:
    return sorted(database.rows(_CONTENTS))


def _copy(database: AdbcConnection, file: ExportFile, engine: Engine) -> None:
    """The table with its columns in their types, in DuckDB's database in memory."""
    outputs: list[exp.Expr] = []
    for number, (name, kind) in enumerate(file.columns):
        # A type that SQLite does not have is not that of the file's values, and whoever asked for it compares them.
        outputs.append(alias(f.coalesce(column(name), _STORED.get(kind, literal("")).copy()), f"value_{number}"))
        outputs.append(alias(column(name).is_(exp.null()), f"is_null_{number}"))
    with database.stream(exp.select(*outputs).from_(relation(file.table))) as stream:
        types = [str(field.type) for field in stream.schema][::2]
        values = [_value(number, *named) for number, named in enumerate(zip(file.columns, types, strict=True))]
        query = exp.select(*values).from_(relation(STREAM))
        created_from(engine, QualifiedName(("main", file.table)), stream, query)


def _value(number: int, named: Column, type_: str) -> exp.Expr:
    name, kind = named
    # Of a table without rows the driver says that all columns are whole numbers, which are no bytes.
    value = exp.null() if kind == "BLOB" and type_ != "binary" else column(f"value_{number}")
    present = exp.Case(ifs=[exp.If(this=column(f"is_null_{number}").eq(0), true=cast(value, kind))])
    return alias(present, name)


def read(file: ExportFile) -> exp.Query:
    return reading(file, relation(("main", file.table)))


def header(path: Path) -> None:
    """None: columns are read by name."""


def carried(path: Path) -> Sequence[str]:
    with closing(open_sqlite(path, read_only=True)) as database:
        contents = _contents(database)
        if len(contents) != 2 or ("table", _CERTIFICATE) not in contents or {kind for kind, _ in contents} != {"table"}:
            return []
        return _certificates(database)


def certificate(engine: Engine, file: ExportFile) -> Sequence[str]:
    with closing(open_sqlite(file.path, read_only=True)) as database:
        return _certificates(database)


def _certificates(database: AdbcConnection) -> list[str]:
    return [str(text) for (text,) in database.rows(exp.select(column("json")).from_(relation(_CERTIFICATE)))]
