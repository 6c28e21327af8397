"""The tables of an export in a schema of PostgreSQL, written and read as the data files of a format are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlglot import exp

from sqlanon.domain.identifiers import same_name
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.adbc import AdbcConnection
from sqlanon.engines.arrow_streams import batches, created_from
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb import DuckDBEngine, open_database
from sqlanon.engines.postgres_url import LONGEST_NAME
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.export.destinations.rows_digest import rows_sha256
from sqlanon.export.formats._copy import reading, seal
from sqlanon.export.formats.base import ExportFile
from sqlanon.sqlgen.build.names import relation

__all__ = ["CERTIFICATE", "PostgresTables"]

CERTIFICATE = "certificate"

# What the driver writes and reads back as it is. Any other type is text, as DuckDB casts it.
_TYPES = re.compile(
    r"(?:BOOLEAN|U?(?:TINYINT|SMALLINT|INTEGER)|BIGINT|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|BLOB"
    r"|DATE|TIME|TIMESTAMP|TIMESTAMP WITH TIME ZONE|INTERVAL|(?:VARCHAR|INTEGER|BIGINT|DOUBLE)\[\])"
)


class PostgresTables:
    """The tables in one schema, on one connection; `digests` has the SHA-256 of the rows of those that were read."""

    SUFFIXES: tuple[str, ...] = ()
    # It is in a table of its own, beside those of the release.
    CARRIES_CERTIFICATE: bool = False

    def __init__(self, connection: AdbcConnection, schema: str) -> None:
        self._connection = connection
        self._schema = schema
        self.digests: dict[str, str] = {}

    def require(self, file: ExportFile) -> None:
        """Raises UserError for names that PostgreSQL cannot hold, or that the certificate's table has."""
        if same_name(file.table, CERTIFICATE):
            raise UserError(
                f"a schema cannot hold a release named {file.table} beside the table of its certificate",
                hint="make the snapshot under another name",
            )
        for name in (file.table, *(name for name, _ in file.columns)):
            if len(name.encode()) > LONGEST_NAME or "\0" in name:
                raise UserError(
                    f"PostgreSQL does not keep the name {name} whole", hint="release it under a shorter one"
                )

    def published_type(self, column_type: str) -> str:
        return column_type if _TYPES.fullmatch(column_type) else "VARCHAR"

    def write(self, engine: Engine, file: ExportFile, rows: exp.Query, certificate: str) -> None:
        with batches(engine, rows) as stream:
            self._connection.ingest(file.table, stream, db_schema_name=self._schema)

    def reopen(self, files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
        """A database in memory with a copy of the rows of each table, which opens nothing.

        Raises PrivacyViolation for a table with other columns than `files` says.
        """
        engine = DuckDBEngine(open_database(":memory:", config=dict(config)))
        try:
            for file in files:
                self._copy(engine, file)
        except BaseException:
            engine.connection.close()
            raise
        seal(engine)
        return engine

    def _copy(self, engine: Engine, file: ExportFile) -> None:
        every_row = exp.select(exp.Star()).from_(relation((self._schema, file.table)))
        with self._connection.stream(every_row) as stream:
            if stream.schema.names != [name for name, _ in file.columns]:
                raise PrivacyViolation(f"the table {file.table} has other columns than its certificate says")
            created_from(engine, QualifiedName(("main", file.table)), stream)
        self.digests[file.table] = rows_sha256(engine, self.read(file), file.columns)

    def read(self, file: ExportFile) -> exp.Query:
        return reading(file, relation(("main", file.table)))

    def header(self, path: Path) -> None:
        """None: columns are read by name."""

    def carried(self, path: Path) -> Sequence[str]:
        return []

    def certificate(self, engine: Engine, file: ExportFile) -> Sequence[str]:
        return []
