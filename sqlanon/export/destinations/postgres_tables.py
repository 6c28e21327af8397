"""The tables of an export in a schema of PostgreSQL, written and read as the data files of a format are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sqlglot import exp

from sqlanon.domain.identifiers import same_name
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.adbc import AdbcConnection
from sqlanon.engines.arrow_streams import batches, created_from
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.postgres_url import LONGEST_NAME
from sqlanon.errors import DataError, PrivacyViolation, UserError
from sqlanon.export.formats._copy import copied_to_memory, first_column, reading
from sqlanon.export.formats.base import ExportFile
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, in_utc, is_not_null, is_null
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.sql_files import query_file

CERTIFICATE = "certificate"

# What the driver writes and reads back as it is, and the type that it makes of it there. Any other type is text, as
# DuckDB casts it.
_TYPES = {
    "BOOLEAN": "boolean",
    "TINYINT": "smallint",
    "UTINYINT": "smallint",
    "SMALLINT": "smallint",
    "USMALLINT": "integer",
    "INTEGER": "integer",
    "UINTEGER": "bigint",
    "BIGINT": "bigint",
    "FLOAT": "real",
    "DOUBLE": "double precision",
    "VARCHAR": "text",
    "BLOB": "bytea",
    "DATE": "date",
    "TIME": "time without time zone",
    "TIMESTAMP": "timestamp without time zone",
    "TIMESTAMP WITH TIME ZONE": "timestamp with time zone",
    "INTERVAL": "interval",
    "VARCHAR[]": "text[]",
    "INTEGER[]": "integer[]",
    "BIGINT[]": "bigint[]",
    "DOUBLE[]": "double precision[]",
}
_DECIMAL = re.compile(r"DECIMAL\(\d+,(\d+)\)")
# Of these the driver makes a moment that is none.
_WITH_INFINITY = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")


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
        return column_type if column_type in _TYPES or _DECIMAL.fullmatch(column_type) else "VARCHAR"

    @staticmethod
    def columns(file: ExportFile) -> list[Column]:
        """The names of a table's columns and the types that PostgreSQL calls them by; empty for one of no export's."""
        return [(name, "numeric" if _DECIMAL.fullmatch(kind) else _TYPES.get(kind, "")) for name, kind in file.columns]

    def write(self, engine: Engine, file: ExportFile, rows: exp.Query, certificate: str) -> None:
        """Raises DataError for dates and moments that are infinite."""
        names = [name for name, kind in file.columns if kind in _WITH_INFINITY]
        if name := first_column(engine, rows, names, "isinf"):
            raise DataError(
                f"the column {name} of {file.table} has infinite dates or moments, and an export to PostgreSQL has "
                "no such value",
                hint="replace them in the source of the policy",
            )
        with batches(engine, rows) as stream:
            self._connection.ingest(file.table, stream, db_schema_name=self._schema)

    def reopen(self, files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
        """A database in memory with a copy of the rows of each table, which opens nothing.

        Raises PrivacyViolation for a table with other columns than `files` says.
        """
        return copied_to_memory(files, config, self._copy)

    def _copy(self, engine: Engine, file: ExportFile) -> None:
        self._require_exact(file)
        every_row = exp.select(exp.Star()).from_(relation((self._schema, file.table)))
        with self._connection.stream(every_row) as stream:
            if stream.schema.names != [name for name, _ in file.columns]:
                raise PrivacyViolation(f"the table {file.table} has other columns than its certificate says")
            created_from(engine, QualifiedName(("main", file.table)), stream)
        self.digests[file.table] = rows_sha256(engine, self.read(file), file.columns)

    def _require_exact(self, file: ExportFile) -> None:
        """Raises PrivacyViolation for values that say more than those of the certificate's types, which are read.

        PostgreSQL has numbers of any length in a column of the driver's, and lists of any bounds and dimensions.
        """
        inexact: list[exp.Expr] = []
        for name, kind in file.columns:
            value = column(name)
            if decimal := _DECIMAL.fullmatch(kind):
                scale, digits = f.call("scale", value.copy()), literal(int(decimal[1]))
                # Of what is no number there is no scale.
                inexact.append(exp.and_(is_not_null(value), exp.or_(is_null(scale), scale.copy() > digits)))
            elif kind.endswith("[]"):
                for bound in ("array_ndims", "array_lower"):
                    dimension = [literal(1)] if bound == "array_lower" else []
                    inexact.append(f.call(bound, value.copy(), *dimension).neq(literal(1)))
        if not inexact:
            return
        table = relation((self._schema, file.table))
        inexact_row = exp.select(exp.Literal.number(1)).from_(table).where(exp.or_(*inexact)).limit(1)
        if self._connection.rows(inexact_row):
            raise PrivacyViolation(f"the table {file.table} has values of other types than its certificate says")

    def read(self, file: ExportFile) -> exp.Query:
        return reading(file, relation(("main", file.table)))

    def header(self, file: ExportFile) -> None:
        """None: columns are read by name."""

    def carried(self, path: Path) -> Sequence[str]:
        return []

    def certificate(self, engine: Engine, file: ExportFile) -> Sequence[str]:
        return []


def rows_sha256(engine: Engine, rows: exp.Query, columns: Sequence[Column]) -> str:
    """The SHA-256 of the rows of a query with these columns, each value as DuckDB writes it as a text, moments in UTC.

    A row is the text of its values in their order, each as its number of characters, a colon and the value itself; a
    minus sign stands for NULL.
    """
    line = f.call("concat", *_parts(columns))
    lines = exp.select(alias(line, "line")).from_(rows.copy().subquery("published"))
    digest = query_file("statements", "rows_sha256").with_(identifier("snapshot"), as_=lines)
    return str(engine.rows(digest)[0][0])


def _parts(columns: Sequence[Column]) -> Iterator[exp.Expr]:
    for name, kind in columns:
        # Whoever reads it may be in another time zone than who wrote it.
        text = as_text(in_utc(name, kind))
        present = f.call("concat", f.call("length", text), literal(":"), text.copy())
        yield exp.Case(ifs=[exp.If(this=column(name).is_(exp.null()), true=literal("-"))], default=present)
