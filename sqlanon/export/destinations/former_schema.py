"""What a schema of PostgreSQL holds: an earlier export as it was written, nothing at all, or what is never replaced."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.engines.adbc import AdbcConnection
from sqlanon.errors import InternalError, PrivacyViolation, UserError
from sqlanon.export.access import Export, files_of
from sqlanon.export.destinations.postgres_tables import CERTIFICATE, PostgresTables
from sqlanon.export.previous_export import RepeatedMemberError, certificate_content
from sqlanon.sqlgen.build.expressions import as_text
from sqlanon.sqlgen.build.names import column, literal, relation

__all__ = ["Schema"]

# What pg_class calls a table.
_TABLE = "r"


class Schema:
    """A schema by its name, which need not exist."""

    def __init__(self, connection: AdbcConnection, name: str) -> None:
        self._connection = connection
        self._name = name

    def exists(self) -> bool:
        schemas = exp.select(exp.Literal.number(1)).from_(relation(("pg_catalog", "pg_namespace")))
        return bool(self._connection.rows(schemas.where(column("nspname").eq(literal(self._name)))))

    def relations(self) -> set[str]:
        """The names of its tables, and of all else in it that pg_class lists, with the letter of its kind."""
        classes, spaces = relation(("pg_catalog", "pg_class"), "c"), relation(("pg_catalog", "pg_namespace"), "n")
        query = (
            exp.select(as_text(column("relname", "c")), as_text(column("relkind", "c")))
            .from_(classes)
            .join(spaces, on=column("oid", "n").eq(column("relnamespace", "c")))
            .where(column("nspname", "n").eq(literal(self._name)))
        )
        return {name if kind == _TABLE else f"{name} ({kind})" for name, kind in self._connection.rows(query)}

    def require_only(self, names: Collection[str]) -> None:
        """Raises InternalError where it holds anything but these tables."""
        if self.relations() != set(names):
            raise InternalError("the new schema holds something else than the release and its certificate")

    def replaceable(self, called: str, spill: Path, *, replace: bool) -> Sequence[str] | None:
        """The tables of an earlier export that may be replaced, none of an empty schema; None where there is none.

        Raises UserError where anything else is there, and for an earlier export unless it may be replaced.
        """
        if not self.exists():
            return None
        relations = self.relations()
        if not relations:
            return ()
        if (why := self._why_not(relations, spill)) is not None:
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
        return sorted(relations)

    def certificate(self) -> dict[str, Any]:
        """What the certificate in it states; empty where there is none. Raises RepeatedMemberError."""
        if CERTIFICATE not in self.relations():
            return {}
        columns = exp.select(exp.Star()).from_(relation((self._name, CERTIFICATE))).limit(2)
        rows = self._connection.rows(columns)
        return certificate_content(str(rows[0][0])) if len(rows) == 1 else {}

    def _why_not(self, relations: Collection[str], spill: Path) -> str | None:
        """What speaks against its being an earlier export, as it was written; None if nothing."""
        try:
            stated = self.certificate()
            expected = {str(entry["name"]): str(entry["sha256"]) for entry in stated["contents"]}
            tables = PostgresTables(self._connection, self._name)
            files = files_of(Export(tuple(map(Path, expected)), "postgres", stated, tables))
        except (KeyError, TypeError, ValueError, RepeatedMemberError):
            return "it has no certificate of an export"
        if others := sorted(set(relations) - {*expected, CERTIFICATE}):
            return f"{others[0]} does not belong to an earlier export"
        if set(relations) != {*expected, CERTIFICATE}:
            return "tables of the earlier export are missing"
        try:
            tables.reopen(files, {"temp_directory": str(spill)}).connection.close()
        except PrivacyViolation as error:
            return error.message
        changed = sorted(name for name, digest in expected.items() if tables.digests[name] != digest)
        return f"{changed[0]} was changed since it was exported" if changed else None
