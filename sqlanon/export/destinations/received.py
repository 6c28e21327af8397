"""An export in a schema of PostgreSQL, where its receiver reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sqlanon.engines.adbc import AdbcConnection
from sqlanon.engines.arrow_streams import require_pyarrow
from sqlanon.engines.base import Engine
from sqlanon.engines.postgres import open_postgres
from sqlanon.engines.postgres_url import SchemaUrl, schema_url
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.export.destinations.former_schema import Schema
from sqlanon.export.destinations.postgres_sql import READ_ONLY, READING, SETTINGS
from sqlanon.export.destinations.postgres_tables import PostgresTables
from sqlanon.export.formats.base import ExportFile
from sqlanon.export.received import ReceivedExport


def export_in_schema(path: str) -> ReceivedExport:
    """The export in the schema that a URL names, by its certificate; its rows are read when they are asked for.

    Raises UserError where there is none, PrivacyViolation where it is not as it was exported, EngineError where the
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
            f"{url.called} is not as it was exported: {error.message}",
            hint="ask who published it for the export again",
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
    """The tables of a certificate that names the SHA-256 of their rows, each time on a connection of its own."""

    def __init__(self, connection: AdbcConnection, url: SchemaUrl, export: ReceivedExport) -> None:
        super().__init__(connection, url.schema)
        self._url = url
        self._export = export

    def reopen(self, files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
        """The tables, read anew. Raises PrivacyViolation for rows that are not those of the certificate."""
        with _connected(self._url) as connection:
            # What has the name now may be another schema, or no longer as it was.
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
                    hint="it was changed since it was exported: ask who published it",
                )
        return engine
