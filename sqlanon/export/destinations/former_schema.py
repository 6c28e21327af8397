"""What a schema of PostgreSQL holds: an export as it was written, nothing at all, or what is none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from sqlglot import exp

from sqlanon import __version__
from sqlanon.engines.adbc import AdbcConnection
from sqlanon.engines.base import Column
from sqlanon.errors import InternalError, PrivacyViolation, UserError
from sqlanon.export.certificate_format import Certificate, RepeatedMemberError, certificate_content, certificate_of
from sqlanon.export.destinations.postgres_sql import READING, REPLACING, lock_tables
from sqlanon.export.destinations.postgres_tables import CERTIFICATE, PostgresTables
from sqlanon.export.formats.base import ExportFile
from sqlanon.export.markdown import MARKDOWN_TITLE, to_markdown
from sqlanon.export.received import ReceivedExport, files_of
from sqlanon.export.signature import signer_of
from sqlanon.sql.build.expressions import as_text
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.sql_files import query_file

_CERTIFICATE_COLUMNS = (("json", "text"), ("markdown", "text"))
_NO_CERTIFICATE = (LookupError, TypeError, ValueError, AttributeError)


class Schema:
    """A schema by its name, which need not exist."""

    def __init__(self, connection: AdbcConnection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._contents = SchemaContents(connection, name)

    def require_written(self, certificate: Certificate) -> None:
        """Raises InternalError where it holds anything but the tables of this certificate, as they were written."""
        if (why := self._why_not(_tables(certificate))) is not None:
            raise InternalError(f"the new schema is not as it was to be written: {why}")

    def replaceable(self, called: str, spill: Path, *, replace: bool) -> Sequence[str] | None:
        """The tables of an earlier export that may be replaced, none of an empty schema; None where there is none.

        From now on nobody changes them, if they may be replaced. Raises UserError where anything else is there, and for
        an earlier export unless it may be replaced.
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
        # In the order in which they were locked: whoever waits for the first of them has none of the others.
        return (CERTIFICATE, *sorted(map(str, export.data)))

    def export(self, lock: str) -> ReceivedExport | None:
        """The export in it, by its certificate, whose tables are locked; None where there is no certificate.

        The server's catalog has said before any row is read that it holds the tables of the export, as an export writes
        them, and nothing else. Raises PrivacyViolation where it does not.
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
            raise PrivacyViolation("its certificate says something twice in one object") from None
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
        """Its members, and its text in words. Raises RepeatedMemberError, and ValueError unless it is one row."""
        query = exp.select(column("json"), column("markdown")).from_(relation((self._name, CERTIFICATE))).limit(2)
        ((text, markdown),) = self._connection.rows(query)
        return certificate_content(str(text)), str(markdown)

    def _lock(self, names: Sequence[str], mode: str) -> None:
        self._connection.run(lock_tables(self._name, names, mode))

    def _why_not(self, files: Sequence[ExportFile]) -> str | None:
        """What speaks against its holding these tables and the certificate alone, as they were written."""
        tables = {file.table: PostgresTables.columns(file) for file in files}
        names = {*tables, CERTIFICATE}
        return self._contents.why_not_tables(names) or self._contents.why_not_columns(
            {**tables, CERTIFICATE: _CERTIFICATE_COLUMNS}
        )

    def _changed(self, export: ReceivedExport, spill: Path) -> str | None:
        """Which table has other rows than when it was exported; None if none. Raises PrivacyViolation as `reopen`."""
        tables = PostgresTables(self._connection, self._name)
        tables.reopen(export.files, {"temp_directory": str(spill)}).connection.close()
        contents = export.certificate.contents or ()
        changed = (entry.name for entry in contents if tables.digests[entry.name] != entry.sha256)
        return next((f"{name} was changed since it was exported" for name in sorted(changed)), None)


def _tables(certificate: Certificate) -> tuple[ExportFile, ...]:
    """The tables of a certificate. Raises ValueError where it has digests of other tables than it describes."""
    digests = [entry.name for entry in certificate.contents or ()]
    files = files_of(certificate, list(map(Path, digests)))
    if [(file.table, file.partition) for file in files] != [(name, None) for name in digests]:
        raise ValueError("it names other tables than it describes")
    return files


def _require(why_not: str | None) -> None:
    if why_not is not None:
        raise PrivacyViolation(why_not)


def _why_not_markdown(certificate: Certificate, content: dict[str, object], markdown: str) -> str | None:
    """What speaks against a text's being the certificate in words; None if nothing.

    Another version may have other words for the same: of such a text only the title is known.
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
    """The contents of a schema by its name, each time as they are now; a schema that does not exist holds nothing."""

    def __init__(self, connection: AdbcConnection, name: str) -> None:
        self._connection = connection
        self._name = name

    def exists(self) -> bool:
        schemas = exp.select(exp.Literal.number(1)).from_(relation(("pg_catalog", "pg_namespace")))
        return bool(self._connection.rows(schemas.where(column("nspname").eq(literal(self._name)))))

    def relations(self) -> dict[str, str | None]:
        """All that pg_class lists in it, and what speaks against its being a table as an export makes it, if anything.

        Tables, but views, sequences and indexes too.
        """
        return {str(name): oddity for name, oddity in self._rows("relations", "name", "oddity")}

    def why_not_tables(self, names: Collection[str]) -> str | None:
        """What speaks against its holding these tables, each with its own rows, and nothing else; None if nothing."""
        relations = self.relations()
        others = sorted(set(relations) - set(names)) or sorted(str(name) for (name,) in self._rows("others"))
        if others:
            return f"{others[0]} does not belong to the export"
        if missing := sorted(set(names) - set(relations)):
            return f"the table {missing[0]} of the export is missing"
        return next((self._odd(name, oddity) for name, oddity in sorted(relations.items()) if oddity), None)

    def why_not_table(self, name: str) -> str | None:
        """What speaks against this one's being a table with its own rows; None if nothing, or if it is not there."""
        oddity = self.relations().get(name)
        return self._odd(name, oddity) if oddity else None

    def why_not_columns(self, tables: Mapping[str, Sequence[Column]]) -> str | None:
        """What speaks against these tables' having exactly these columns, of PostgreSQL's types; None if nothing."""
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
        """These columns of a query of the catalog, or its `name`, of this schema alone and in the query's order."""
        contents = query_file("schemas", query)
        parts = {part.alias: part.this for part in contents.selects}
        outputs = [alias(as_text(parts[name].copy()), name) for name in names or ("name",)]
        of_this = parts["schema_name"].copy().eq(literal(self._name))
        return self._connection.rows(contents.select(*outputs, append=False).where(of_this))
