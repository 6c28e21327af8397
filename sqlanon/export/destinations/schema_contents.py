"""What a schema of PostgreSQL holds by the server's catalog: no row is read for it, and no code in the schema runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from sqlanon.engines.adbc import AdbcConnection
from sqlanon.engines.base import Column
from sqlanon.sql.build.expressions import as_text
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.sql_files import query_file


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
