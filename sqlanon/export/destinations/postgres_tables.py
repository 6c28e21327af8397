"""An export's tables in a PostgreSQL schema, written and read like the data files of a format."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from sqlglot import exp

from sqlanon import __version__
from sqlanon.domain.identifiers import same_name
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.adbc import AdbcConnection, batches, created_from
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.postgres_url import LONGEST_NAME
from sqlanon.errors import DataError, InternalError, PrivacyViolation, UserError
from sqlanon.export.certificate_format import Certificate, RepeatedMemberError, certificate_content, certificate_of
from sqlanon.export.formats.base import ExportFile, copied_to_memory, first_column, reading
from sqlanon.export.markdown import MARKDOWN_TITLE, to_markdown
from sqlanon.export.received import ReceivedExport, files_of
from sqlanon.export.signature import signer_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, as_text, in_utc, is_not_null, is_null, or_
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import query_file

CERTIFICATE = "certificate"

# DuckDB's types that the driver writes and reads back unchanged, with the types that it gives to the columns there. Any
# other type is text, as DuckDB casts it.
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
# Types whose infinite values the driver does not keep.
_WITH_INFINITY = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")


class PostgresTables:
    """The tables in one schema, on one connection; `digests` has the SHA-256 of the rows of each table that was
    read.
    """

    SUFFIXES: tuple[str, ...] = ()
    # The certificate is in a table of its own, beside the release's tables.
    CARRIES_CERTIFICATE: bool = False

    def __init__(self, connection: AdbcConnection, schema: str) -> None:
        self._connection = connection
        self._schema = schema
        self.digests: dict[str, str] = {}

    def require(self, file: ExportFile) -> None:
        """Raises UserError for names that PostgreSQL cannot have, or that are the name of the certificate's table."""
        if same_name(file.table, CERTIFICATE):
            raise UserError(
                f"a schema cannot hold a release named {file.table} beside the table of its certificate",
                hint="make the snapshot under another name",
            )
        for name in (file.table, *(name for name, _ in file.columns)):
            if len(name.encode()) > LONGEST_NAME or "\0" in name:
                raise UserError(
                    f"PostgreSQL would shorten the name {name}", hint="make the release under a shorter name"
                )

    def published_type(self, column_type: str) -> str:
        return column_type if column_type in _TYPES or _DECIMAL.fullmatch(column_type) else "VARCHAR"

    @staticmethod
    def columns(file: ExportFile) -> list[Column]:
        """Returns the names of a table's columns and their types in PostgreSQL; the type is "" if it cannot be in an
        export.
        """
        return [(name, "numeric" if _DECIMAL.fullmatch(kind) else _TYPES.get(kind, "")) for name, kind in file.columns]

    def write(self, engine: Engine, file: ExportFile, rows: exp.Query, certificate: str) -> None:
        """Writes the rows to a table. Raises DataError for infinite dates and timestamps."""
        names = [name for name, kind in file.columns if kind in _WITH_INFINITY]
        if name := first_column(engine, rows, names, "isinf"):
            raise DataError(
                f"the column {name} of {file.table} has infinite dates or timestamps, which an export to PostgreSQL "
                "cannot hold",
                hint="replace them in the source of the policy",
            )
        with batches(engine, rows) as stream:
            self._connection.ingest(file.table, stream, db_schema_name=self._schema)

    def reopen(self, files: Sequence[ExportFile], config: Mapping[str, str]) -> Engine:
        """Returns a database in memory with a copy of the rows of each table; this database cannot open anything.

        Raises PrivacyViolation for a table whose columns differ from `files`.
        """
        return copied_to_memory(files, config, self._copy)

    def _copy(self, engine: Engine, file: ExportFile) -> None:
        self._require_exact(file)
        every_row = select(exp.Star(), of=relation((self._schema, file.table)))
        with self._connection.stream(every_row) as stream:
            if stream.schema.names != [name for name, _ in file.columns]:
                raise PrivacyViolation(f"the table {file.table} has other columns than its certificate says")
            created_from(engine, QualifiedName(("main", file.table)), stream)
        self.digests[file.table] = rows_sha256(engine, self.read(file), file.columns)

    def _require_exact(self, file: ExportFile) -> None:
        """Raises PrivacyViolation for values that the certificate's types cannot hold, because reading would change
        them.

        A column that the driver creates holds numbers of any length, and lists of any bounds and dimensions.
        """
        inexact: list[exp.Expr] = []
        for name, kind in file.columns:
            value = column(name)
            if decimal := _DECIMAL.fullmatch(kind):
                scale, digits = f.call("scale", value), literal(int(decimal[1]))
                # NaN and infinity have no scale.
                inexact.append(and_(is_not_null(value), or_(is_null(scale), scale > digits)))
            elif kind.endswith("[]"):
                for bound in ("array_ndims", "array_lower"):
                    dimension = [literal(1)] if bound == "array_lower" else []
                    inexact.append(f.call(bound, value, *dimension).neq(literal(1)))
        if not inexact:
            return
        table = relation((self._schema, file.table))
        inexact_row = select(exp.Literal.number(1), of=table, where=[or_(*inexact)], limit=1)
        if self._connection.rows(inexact_row):
            raise PrivacyViolation(f"the table {file.table} has values of other types than its certificate says")

    def read(self, file: ExportFile) -> exp.Query:
        return reading(file, relation(("main", file.table)))

    def header(self, file: ExportFile) -> None:
        """Returns None, because columns are read by name."""

    def carried(self, path: Path) -> Sequence[str]:
        return []

    def certificate(self, engine: Engine, file: ExportFile) -> Sequence[str]:
        return []


def rows_sha256(engine: Engine, rows: exp.Query, columns: Sequence[Column]) -> str:
    """Returns the SHA-256 of a query's rows, which have these columns; values are hashed as DuckDB writes them, with
    timestamps in UTC.

    A row's text joins its values in their order, each written as its number of characters, a colon and the value
    itself; a minus sign represents NULL.
    """
    line = f.call("concat", *_parts(columns))
    lines = select(alias(line, "line"), of=subquery(rows, "published"))
    digest = query_file("statements", "rows_sha256").with_(identifier("snapshot"), as_=lines)
    return str(engine.rows(digest)[0][0])


def _parts(columns: Sequence[Column]) -> Iterator[exp.Expr]:
    for name, kind in columns:
        # A reader and the writer may have different time zones.
        text = as_text(in_utc(name, kind))
        present = f.call("concat", f.call("length", text), literal(":"), text)
        yield exp.Case(ifs=[exp.If(this=column(name).is_(exp.null()), true=literal("-"))], default=present)


# Statements of PostgreSQL without trees in sqlglot: texts with names and literals that sqlglot has quoted.


# Names are looked up in none of the user's schemas. A reader that never ends does not block the export for ever:
# PGOPTIONS may set a shorter timeout. A row-level policy that hides rows is an error. Views are not read if the server
# supports this, because a view would run its owner's functions with the rights of the reader.
SETTINGS = (
    "SET LOCAL search_path = pg_catalog",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL row_security = off",
    "SELECT set_config(name, 'view, foreign-table', true) FROM pg_settings "
    "WHERE name = 'restrict_nonsystem_relation_kind'",
    "SELECT set_config('lock_timeout', '60s', true) WHERE current_setting('lock_timeout') = '0'",
)
READ_ONLY = "SET TRANSACTION READ ONLY"
# The modes of locks until the end of the transaction: others may do anything but alter and drop the tables, or may only
# read them. Two exports get the latter lock one after the other, and then the DROP waits for readers alone.
READING = "ACCESS SHARE"
REPLACING = "SHARE ROW EXCLUSIVE"


def create_schema(name: str) -> str:
    return "CREATE SCHEMA " + _quoted(identifier(name))


def drop_schema(name: str) -> str:
    """Returns DROP SCHEMA ... RESTRICT, which fails for a schema that is not empty."""
    return "DROP SCHEMA " + _quoted(identifier(name)) + " RESTRICT"


def drop_table(schema: str, name: str) -> str:
    """Returns DROP TABLE ... RESTRICT, which fails if an object, such as a view, depends on the table."""
    return "DROP TABLE " + _quoted(relation((schema, name))) + " RESTRICT"


def lock_tables(schema: str, names: Sequence[str], mode: str) -> str:
    """Returns LOCK TABLE, which waits for the locks; names are resolved when the statement runs."""
    return "LOCK TABLE ONLY " + ", ONLY ".join(_quoted(relation((schema, name))) for name in names) + f" IN {mode} MODE"


def rename_schema(name: str, new: str) -> str:
    return "ALTER SCHEMA " + _quoted(identifier(name)) + " RENAME TO " + _quoted(identifier(new))


def comment(kind: str, what: exp.Expr, text: str) -> str:
    """Returns COMMENT ON SCHEMA, TABLE or COLUMN."""
    return "COMMENT ON " + kind + " " + _quoted(what) + " IS " + _quoted(exp.Literal.string(text))


def _quoted(tree: exp.Expr) -> str:
    return tree.sql(dialect="postgres")


# The contents of a schema of PostgreSQL: an export as it was written, nothing, or anything else.


_CERTIFICATE_COLUMNS = (("json", "text"), ("markdown", "text"))
_NO_CERTIFICATE = (LookupError, TypeError, ValueError, AttributeError)


class Schema:
    """A schema by its name; the schema need not exist."""

    def __init__(self, connection: AdbcConnection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._contents = SchemaContents(connection, name)

    def require_written(self, certificate: Certificate) -> None:
        """Raises InternalError if the schema differs from the tables of this certificate as they were written."""
        if (why := self._why_not(_tables(certificate))) is not None:
            raise InternalError(f"the new schema is not as it was to be written: {why}")

    def replaceable(self, called: str, spill: Path, *, replace: bool) -> Sequence[str] | None:
        """Returns the tables of an earlier export that may be replaced: () in an empty schema, None if the schema has
        tables of something else.

        If `replace` is true, nobody else can change the tables until the end of the transaction. Raises UserError if
        the schema holds anything else, and for an earlier export unless `replace`.
        """
        if not self._contents.exists():
            return None
        if not self._contents.relations():
            return ()
        try:
            export = self.export(REPLACING if replace else READING)
            why = "it has no certificate of an export" if export is None else self._changed(export, spill)
        except PrivacyViolation as error:
            export, why = None, error.message
        if export is None or why is not None:
            raise UserError(
                f"{called} is taken: {why}; nothing but an earlier export is replaced",
                hint="name another schema, or remove what is there yourself",
            )
        if not replace:
            raise UserError(
                f"{called} exists already",
                hint="it is an earlier export: name another schema, or replace it with (REPLACE true), on the command "
                "line with --replace",
            )
        # In the order of locking: an exporter that waits for the first table has locked none of the others.
        return (CERTIFICATE, *sorted(map(str, export.data)))

    def export(self, lock: str) -> ReceivedExport | None:
        """Returns the schema's export by its certificate, with its tables locked; None if there is no certificate.

        Before rows are read, the server's catalog is checked: the schema must hold the export's tables as an export
        writes them, and nothing else. Otherwise raises PrivacyViolation.
        """
        if CERTIFICATE not in self._contents.relations():
            return None
        _require(self._contents.why_not_table(CERTIFICATE))
        self._lock([CERTIFICATE], lock)
        _require(self._contents.why_not_table(CERTIFICATE))
        _require(self._contents.why_not_columns({CERTIFICATE: _CERTIFICATE_COLUMNS}))
        try:
            content, markdown = self._certificate()
            certificate = certificate_of(content)
            files = _tables(certificate)
        except RepeatedMemberError:
            raise PrivacyViolation("its certificate has a repeated key in a JSON object") from None
        except _NO_CERTIFICATE:
            return None
        names = sorted(file.table for file in files)
        _require(self._contents.why_not_tables({*names, CERTIFICATE}))
        self._lock(names, lock)
        _require(self._why_not(files))
        _require(_why_not_markdown(certificate, content, markdown))
        tables = PostgresTables(self._connection, self._name)
        return ReceivedExport(self._name, tuple(file.path for file in files), "postgres", tables, content)

    def _certificate(self) -> tuple[dict[str, object], str]:
        """Returns a certificate's members, and its text in words.

        Raises ValueError unless the table has one row, and RepeatedMemberError for a repeated member.
        """
        query = select(column("json"), column("markdown"), of=relation((self._name, CERTIFICATE)), limit=2)
        ((text, markdown),) = self._connection.rows(query)
        return certificate_content(str(text)), str(markdown)

    def _lock(self, names: Sequence[str], mode: str) -> None:
        self._connection.run(lock_tables(self._name, names, mode))

    def _why_not(self, files: Sequence[ExportFile]) -> str | None:
        """Explains how the schema differs from these tables and the certificate as written; None if it does not
        differ.
        """
        tables = {file.table: PostgresTables.columns(file) for file in files}
        names = {*tables, CERTIFICATE}
        return self._contents.why_not_tables(names) or self._contents.why_not_columns(
            {**tables, CERTIFICATE: _CERTIFICATE_COLUMNS}
        )

    def _changed(self, export: ReceivedExport, spill: Path) -> str | None:
        """Names the table whose rows have changed since the export; None if no table has changed. Raises the errors of
        `reopen`.
        """
        tables = PostgresTables(self._connection, self._name)
        tables.reopen(export.files, {"temp_directory": str(spill)}).connection.close()
        contents = export.certificate.contents or ()
        changed = (entry.name for entry in contents if tables.digests[entry.name] != entry.sha256)
        return next((f"{name} was changed since it was exported" for name in sorted(changed)), None)


def _tables(certificate: Certificate) -> tuple[ExportFile, ...]:
    """Returns the tables of a certificate. Raises ValueError if it has digests of other tables than it describes."""
    digests = [entry.name for entry in certificate.contents or ()]
    files = files_of(certificate, list(map(Path, digests)))
    if [(file.table, file.partition) for file in files] != [(name, None) for name in digests]:
        raise ValueError("it names other tables than it describes")
    return files


def _require(why_not: str | None) -> None:
    if why_not is not None:
        raise PrivacyViolation(why_not)


def _why_not_markdown(certificate: Certificate, content: dict[str, object], markdown: str) -> str | None:
    """Explains why a text is not the certificate in words; None if it is that text.

    Because another version may word the certificate differently, only the title of such a text is checked.
    """
    try:
        if certificate.versions.exported_with.sqlanon != __version__:
            return None if markdown.startswith(MARKDOWN_TITLE) else "its certificate in Markdown is none"
        signer = signer_of(content)
        if markdown == to_markdown(certificate, None if signer is None else signer.fingerprint):
            return None
    except (*_NO_CERTIFICATE, ArithmeticError):
        pass
    return "its certificate in Markdown is not the one in JSON in other words"


class SchemaContents:
    """Reads the current contents of a schema; a schema that does not exist is empty."""

    def __init__(self, connection: AdbcConnection, name: str) -> None:
        self._connection = connection
        self._name = name

    def exists(self) -> bool:
        schemas = select(exp.Literal.number(1), of=relation(("pg_catalog", "pg_namespace")))
        return bool(self._connection.rows(extend(schemas, where=[column("nspname").eq(literal(self._name))])))

    def relations(self) -> dict[str, str | None]:
        """Returns all relations of the schema in pg_class, including views, sequences and indexes.

        Each relation comes with the reason why it does not look like a table of an export, or with None if it looks
        like one.
        """
        return {str(name): oddity for name, oddity in self._rows("relations", "name", "oddity")}

    def why_not_tables(self, names: Collection[str]) -> str | None:
        """Explains why the schema holds anything but these tables, each with its own rows; None if it does not hold
        anything else.
        """
        relations = self.relations()
        others = sorted(set(relations) - set(names)) or sorted(str(name) for (name,) in self._rows("others"))
        if others:
            return f"{others[0]} does not belong to the export"
        if missing := sorted(set(names) - set(relations)):
            return f"the table {missing[0]} of the export is missing"
        return next((self._odd(name, oddity) for name, oddity in sorted(relations.items()) if oddity), None)

    def why_not_table(self, name: str) -> str | None:
        """Explains why the relation is not a table with its own rows; None if it is one or does not exist."""
        oddity = self.relations().get(name)
        return self._odd(name, oddity) if oddity else None

    def why_not_columns(self, tables: Mapping[str, Sequence[Column]]) -> str | None:
        """Explains why these tables do not have exactly these columns, with PostgreSQL's types; None if they do."""
        columns: dict[str, list[Column]] = {}
        for table, name, kind in self._rows("columns", "table_name", "name", "kind"):
            columns.setdefault(str(table), []).append((str(name), str(kind)))
        for table, expected in tables.items():
            own_columns = columns.get(table, [])
            if [name for name, _ in own_columns] != [name for name, _ in expected]:
                return f"the table {table} has other columns than its certificate says"
            for (name, kind), (_, written) in zip(own_columns, expected, strict=True):
                if kind != written:
                    return f"{name} of the table {table} is of another type than its certificate says"
        return None

    def _odd(self, name: str, oddity: str) -> str:
        return f"{name} {oddity}, and an export writes no such table"

    def _rows(self, query: str, *names: str) -> list[tuple[str | None, ...]]:
        """Returns columns of a catalog query, by default `name`, only for this schema, in the query's order."""
        contents = query_file("schemas", query)
        parts = {part.alias: part.this for part in contents.selects}
        outputs = [alias(as_text(parts[name]), name) for name in names or ("name",)]
        of_this = parts["schema_name"].eq(literal(self._name))
        return self._connection.rows(contents.select(*outputs, append=False).where(of_this))
