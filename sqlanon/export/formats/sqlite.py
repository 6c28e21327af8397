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
from sqlanon.engines.adbc import AdbcConnection
from sqlanon.engines.arrow_streams import batches, require_pyarrow
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.sqlite import STORED, copied_from_sqlite, open_sqlite
from sqlanon.errors import InternalError, UserError
from sqlanon.export.formats._copy import reading, seal
from sqlanon.export.formats.base import ExportFile
from sqlanon.sqlgen.build.names import column, relation

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
    return column_type if column_type in STORED else "VARCHAR"


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
            copied_from_sqlite(database, file.table, file.columns, engine, QualifiedName(("main", file.table)))
    seal(engine)
    return engine


def _contents(database: AdbcConnection) -> list[tuple[str, ...]]:
    return sorted(database.rows(_CONTENTS))


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
