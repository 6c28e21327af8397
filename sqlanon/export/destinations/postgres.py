"""An export to a PostgreSQL database: a schema with the release's tables and the certificate, and nothing else.

All this happens in one transaction. The tables are created in a new schema, read back and checked there; then the
schema gets its final name, in place of the earlier export. If a process, a server or a connection ends earlier, the
database stays as it was.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex

from msgspec import structs
from sqlglot import exp

from sqlanon.engines.adbc import AdbcConnection, commit_errors, open_postgres, require_pyarrow
from sqlanon.engines.base import Engine
from sqlanon.engines.postgres_url import SchemaUrl, schema_url
from sqlanon.errors import InternalError, PrivacyViolation, UserError
from sqlanon.export.certificate import meanings
from sqlanon.export.certificate_format import Certificate, ContentEntry, to_json
from sqlanon.export.destinations.postgres_tables import (
    CERTIFICATE,
    READ_ONLY,
    READING,
    SETTINGS,
    PostgresTables,
    Schema,
    comment,
    create_schema,
    drop_schema,
    drop_table,
    rename_schema,
)
from sqlanon.export.formats.base import ExportFile
from sqlanon.export.markdown import to_markdown
from sqlanon.export.received import ReceivedExport
from sqlanon.sql.build.names import column, identifier, relation
from sqlanon.sql.build.queries import select

_UNFINISHED = "__sqlanon_"


@dataclass(frozen=True)
class _StagedSchema:
    """A new schema within an open transaction; `former` are the tables of the export that it replaces."""

    connection: AdbcConnection
    kind: PostgresTables
    schema: str
    target: str
    tables: tuple[str, ...]
    former: Sequence[str] | None
    spill: Path

    @property
    def paths(self) -> Sequence[Path]:
        return list(map(Path, self.tables))

    def with_digests(self, files: Sequence[ExportFile], certificate: Certificate) -> Certificate:
        """Returns the certificate with the SHA-256 of each table's rows as they were read back."""
        digests = self.kind.digests
        return structs.replace(
            certificate, contents=tuple(ContentEntry(name=f.table, sha256=digests[f.table]) for f in files)
        )

    def certify(self, certificate: Certificate, signer: str | None) -> None:
        """Writes the certificate as a table of one row, and comments on the schema, its tables and their columns."""
        texts = {"json": [to_json(certificate)], "markdown": [to_markdown(certificate, signer)]}
        arrow = require_pyarrow("FORMAT postgres")
        self.connection.ingest(CERTIFICATE, arrow.table(texts), db_schema_name=self.schema)
        written = select(column("json"), column("markdown"), of=relation((self.schema, CERTIFICATE)))
        if self.connection.rows(written) != [(texts["json"][0], texts["markdown"][0])]:
            raise InternalError("the certificate reads back as another text; nothing was exported")
        summary = f"The anonymized release {certificate.release}; the table {CERTIFICATE} says what it promises."
        self.connection.run(comment("SCHEMA", identifier(self.schema), summary))
        for table in self.tables:
            self.connection.run(comment("TABLE", relation((self.schema, table)), summary))
        for meaning in meanings(certificate):
            name = exp.Dot.build([identifier(part) for part in (self.schema, meaning.table, meaning.column)])
            self.connection.run(comment("COLUMN", name, meaning.sentence))
        Schema(self.connection, self.schema).require_written(certificate)

    def put(self) -> None:
        for table in self.former or ():
            self.connection.run(drop_table(self.target, table))
        if self.former is not None:
            self.connection.run(drop_schema(self.target))
        self.connection.run(rename_schema(self.schema, self.target))
        self.connection.commit()


@dataclass(frozen=True)
class PostgresDestination:
    """The schema that a URL names, as the destination of tables; `replace` allows an earlier export to be replaced."""

    url: SchemaUrl
    tables: tuple[str, ...]
    replace: bool
    format: str = "postgres"
    partition: tuple[str, ...] | None = None

    @property
    def certificate(self) -> str:
        return f"{self.url.called}#{CERTIFICATE}"

    def former(self) -> None:
        """Returns None, because the earlier export is examined only when it is replaced."""

    def path_of(self, table: int) -> str:
        return f"{self.url.called}#{self.tables[table]}"

    @contextmanager
    def errors(self) -> Iterator[None]:
        with commit_errors(self.url.called):
            yield

    @contextmanager
    def staged(self, engine: Engine) -> Iterator[_StagedSchema]:
        require_pyarrow("FORMAT postgres")
        connection = open_postgres(self.url.uri, self.url.called)
        schema = _UNFINISHED + token_hex(8)
        try:
            for setting in SETTINGS:
                connection.rows(setting) if setting.startswith("SELECT") else connection.run(setting)
            with tempfile.TemporaryDirectory(prefix="sqlanon-") as folder:
                spill, target = Path(folder), Schema(connection, self.url.schema)
                former = target.replaceable(self.url.called, spill, replace=self.replace)
                connection.run(create_schema(schema))
                kind = PostgresTables(connection, schema)
                yield _StagedSchema(connection, kind, schema, self.url.schema, self.tables, former, spill)
        finally:
            connection.close()


# An export in a schema of PostgreSQL, as its receiver reads it.


def export_in_schema(path: str) -> ReceivedExport:
    """Returns the export in the schema that a URL names, by its certificate; its rows are read later.

    Raises UserError if there is no export, PrivacyViolation if it differs from its certificate, and EngineError if the
    database cannot be reached.
    """
    require_pyarrow("an export in PostgreSQL")
    url = schema_url(path)
    with _connected(url) as connection:
        export = _export(connection, url)
        return replace(export, kind=_ReceivedTables(connection, url, export))


def _export(connection: AdbcConnection, url: SchemaUrl) -> ReceivedExport:
    try:
        export = Schema(connection, url.schema).export(READING)
    except PrivacyViolation as error:
        raise PrivacyViolation(
            f"{url.called} was changed after it was exported: {error.message}",
            hint="ask the publisher for the export again",
        ) from None
    if export is None:
        raise UserError(f"{url.called} has no certificate of an export")
    return replace(export, called=url.called)


@contextmanager
def _connected(url: SchemaUrl) -> Iterator[AdbcConnection]:
    connection = open_postgres(url.uri, url.called)
    try:
        connection.run(READ_ONLY)
        for setting in SETTINGS:
            connection.rows(setting) if setting.startswith("SELECT") else connection.run(setting)
        yield connection
    finally:
        connection.close()


class _ReceivedTables(PostgresTables):
    """The tables of a certificate that has the SHA-256 of their rows; each reading opens its own connection."""

    def __init__(self, connection: AdbcConnection, url: SchemaUrl, export: ReceivedExport) -> None:
        super().__init__(connection, url.schema)
        self._url = url
        self._export = export

    def reopen(self, files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
        """Reads the tables again. Raises PrivacyViolation for rows whose digests differ from the certificate."""
        with _connected(self._url) as connection:
            # Meanwhile the schema may have changed, or another schema may have its name.
            if _export(connection, self._url).content != self._export.content:
                raise PrivacyViolation(f"{self._url.called} was replaced while it was read", hint="check it again")
            tables = PostgresTables(connection, self._url.schema)
            engine = tables.reopen(files, config)
        contents = {entry.name: entry.sha256 for entry in self._export.certificate.contents or ()}
        for name, digest in tables.digests.items():
            if digest != contents.get(name):
                engine.connection.close()
                raise PrivacyViolation(
                    f"{name} has other rows than the certificate in {self._url.called} certifies",
                    hint="it was changed after it was exported: ask the publisher",
                )
        return engine
