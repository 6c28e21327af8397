"""An export in a schema of PostgreSQL, where its receiver reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlanon.engines.adbc import AdbcConnection
from sqlanon.engines.arrow_streams import require_pyarrow
from sqlanon.engines.base import Engine
from sqlanon.engines.postgres import open_postgres
from sqlanon.engines.postgres_url import SchemaUrl, schema_url
from sqlanon.errors import PrivacyViolation, UserError
from sqlanon.export.access import Export
from sqlanon.export.destinations.former_schema import Schema
from sqlanon.export.destinations.postgres_sql import READ_ONLY
from sqlanon.export.destinations.postgres_tables import PostgresTables
from sqlanon.export.formats.base import ExportFile
from sqlanon.export.previous_export import RepeatedMemberError

__all__ = ["export_in_schema"]


def export_in_schema(path: str) -> Export:
    """The export in the schema that a URL names, by its certificate; its rows are read when they are asked for.

    Raises UserError where there is none, EngineError where the database cannot be reached.
    """
    require_pyarrow("an export in PostgreSQL")
    url = schema_url(path)
    with _connected(url) as connection:
        try:
            stated = Schema(connection, url.schema).certificate()
            contents = {str(entry["name"]): str(entry["sha256"]) for entry in stated["contents"]}
        except RepeatedMemberError:
            raise PrivacyViolation(
                f"the certificate in {url.called} says something twice in one object",
                hint="ask who published it for the export again",
            ) from None
        except (KeyError, TypeError, ValueError):
            raise UserError(f"{url.called} has no certificate of an export") from None
        return Export(tuple(map(Path, contents)), "postgres", stated, _ReceivedTables(connection, url, contents))


@contextmanager
def _connected(url: SchemaUrl) -> Iterator[AdbcConnection]:
    connection = open_postgres(url.uri, url.called)
    try:
        connection.run(READ_ONLY)
        yield connection
    finally:
        connection.close()


class _ReceivedTables(PostgresTables):
    """The tables of a certificate that names the SHA-256 of their rows, each time on a connection of its own."""

    def __init__(self, connection: AdbcConnection, url: SchemaUrl, contents: Mapping[str, str]) -> None:
        super().__init__(connection, url.schema)
        self._url = url
        self._contents = contents

    def reopen(self, files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
        """The tables, read anew. Raises PrivacyViolation for rows that are not those of the certificate."""
        with _connected(self._url) as connection:
            tables = PostgresTables(connection, self._url.schema)
            engine = tables.reopen(files, config)
        for name, digest in tables.digests.items():
            if digest != self._contents.get(name):
                engine.connection.close()
                raise PrivacyViolation(
                    f"{name} has other rows than the certificate in {self._url.called} certifies",
                    hint="it was changed since it was exported: ask who published it",
                )
        return engine
