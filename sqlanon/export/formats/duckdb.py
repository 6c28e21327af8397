"""A DuckDB file, newly written: the release under its name, the table `certificate`, and nothing else.

It is never the snapshot's own file, whose freed blocks still hold the source. Its storage version is that of DuckDB
1.0, which later versions can read, too.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.domain.identifiers import same_name
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DUCKDB_LOGS, DuckDBEngine, open_database
from sqlanon.errors import EngineError, UserError
from sqlanon.export.formats.base import ExportFile, holds_more, reading, require_no_log, require_stated, seal
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import create_table
from sqlanon.sql.build.sql_files import sql_file

SUFFIXES = (".duckdb", ".db")
CARRIES_CERTIFICATE = True
_CERTIFICATE = "certificate"
_STORAGE_VERSION = "v1.0.0"

# Types that are newer than the storage version.
_UNKNOWN = re.compile(r"\b(?:VARIANT|GEOMETRY|BIGNUM|TIME_NS)\b", re.IGNORECASE)


def require(file: ExportFile) -> None:
    """Raises UserError for a release named like the certificate's table, and for a path that ATTACH reads
    differently.
    """
    if same_name(file.table, _CERTIFICATE):
        raise UserError(
            f"a DuckDB file cannot hold a release named {file.table} beside the table of its certificate",
            hint="export it as parquet or csv, or make the snapshot under another name",
        )
    if set(str(file.path)) & {"?", "\\"}:
        raise UserError(
            "DuckDB cannot write a database where the path holds a question mark or a backslash",
            hint="choose another folder, or FORMAT parquet",
        )


def published_type(column_type: str) -> str:
    return "VARCHAR" if _UNKNOWN.search(column_type) else column_type


def write(engine: Engine, file: ExportFile, rows: exp.Query, certificate: str) -> None:
    with _attached(engine, file) as database, engine.transaction():
        engine.run(create_table(QualifiedName((database, "main", file.table)), rows))
        text = select(alias(exp.Placeholder(), "json"))
        engine.run(create_table(QualifiedName((database, "main", _CERTIFICATE)), text), [certificate])


@contextmanager
def _attached(engine: Engine, file: ExportFile) -> Iterator[str]:
    """Attaches the new file to the user's connection; yields its name, which no other database has."""
    name = "sqlanon_export_" + secrets.token_hex(8)
    options = [
        exp.AttachOption(this=exp.var("READ_WRITE")),
        exp.AttachOption(this=exp.var("STORAGE_VERSION"), expression=literal(_STORAGE_VERSION)),
    ]
    attach = exp.Attach(this=exp.Alias(this=exp.Placeholder(), alias=identifier(name)), expressions=options)
    detach = exp.Detach(this=identifier(name))
    engine.run(attach, [str(file.path)])
    try:
        yield name
    except BaseException:
        with suppress(EngineError):
            engine.run(detach)
        raise
    # This also writes the log into the file and removes it.
    engine.run(detach)


def header(file: ExportFile) -> None:
    """Returns None, because columns are read by name."""


def carried(path: Path) -> Sequence[str]:
    reader = _sealed(path, {})
    try:
        contents = _contents(reader)
        if ("main", "table", _CERTIFICATE) not in contents:
            return []
        tables = [name for schema, kind, name in contents if (schema, kind, name) != ("main", "table", _CERTIFICATE)]
        are_tables = {kind for _, kind, _ in contents} == {"table"}
        if len(tables) != 1 or not are_tables or _columns(reader, _CERTIFICATE) != ["json"]:
            raise holds_more(path)
        certificates = certificate(reader, ExportFile(path, "", ()))
        require_stated(path, certificates, tables[0], _columns(reader, tables[0]))
        return certificates
    finally:
        reader.connection.close()


def reopen(files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
    """Returns the file as a read-only database, without external access and with its configuration locked.

    Raises UserError for several files, and PrivacyViolation for a file that holds more than an export, or that has a
    log beside it.
    """
    if len(files) > 1:
        raise UserError(
            f"the tables of this export are in {len(files)} files of the format duckdb",
            hint="ask for an export as parquet or csv",
        )
    (file,) = files
    engine = _sealed(file.path, config)
    if _contents(engine) != sorted(("main", "table", name) for name in (file.table, _CERTIFICATE)):
        engine.connection.close()
        raise holds_more(file.path)
    return engine


def _sealed(path: Path, config: Mapping[str, str]) -> Engine:
    require_no_log(path, DUCKDB_LOGS)
    engine = DuckDBEngine(open_database(str(path), read_only=True, config=dict(config)))
    seal(engine)
    return engine


def _columns(engine: Engine, table: str) -> list[str]:
    return [name for name, _ in engine.columns(select(exp.Star(), of=relation(("main", table))))]


def _contents(engine: Engine) -> list[tuple[Any, ...]]:
    """Returns the schema, kind and name of everything in the file."""
    return sorted(engine.rows(sql_file("statements", "database_contents")))


def read(file: ExportFile) -> exp.Query:
    return reading(file, relation(("main", file.table)))


def certificate(engine: Engine, file: ExportFile) -> Sequence[str]:
    return [str(text) for (text,) in engine.rows(select(column("json"), of=relation(("main", _CERTIFICATE))))]
