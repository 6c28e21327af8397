"""A table of another database, copied into this one, where a policy can be on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.adbc import AdbcConnection
from sqlanon.engines.arrow_streams import STREAM, created_from, require_pyarrow
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.postgres import open_postgres
from sqlanon.engines.postgres_url import database_url, is_database_url
from sqlanon.engines.sqlite import copied_from_sqlite, open_sqlite
from sqlanon.errors import DataError, UserError
from sqlanon.inputs.source import find_relation, qualified
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, cast
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["imported"]

# One state of the database, and no change to it.
_READING = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_NUMERIC = re.compile(r"numeric\((\d+),(\d+)\)")
_WIDEST = 38
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
# The types of SQLite's own values, and what they are here. Whole numbers among others become such.
_KINDS = {"integer": "BIGINT", "real": "DOUBLE", "text": "VARCHAR", "blob": "BLOB"}


def imported(engine: Engine, source: str, table: QualifiedName, name: QualifiedName, *, replace: bool) -> int:
    """Copies a table of another database into a new one of this database, and says how many rows it has.

    The source is the URL of a PostgreSQL database or the path of a SQLite file. The rows go from the one to the other
    as streams of Arrow. All of it happens, or nothing.

    Raises UserError where there is no such table, for a URL with a password, and where there is a table of the new name
    unless it is to be replaced.
    """
    require_pyarrow("an import")
    if is_database_url(source):
        database_url(source)
    elif _REMOTE.match(source):
        raise UserError(
            f"{source} is neither a PostgreSQL database nor a file", hint="write postgresql://host/database"
        )
    target = qualified(engine, name)
    with engine.transaction():
        existing_relation = find_relation(engine, target)
        if existing_relation is not None:
            if existing_relation[0] != "table" or not replace:
                raise UserError(
                    f"there is a {existing_relation[0]} {target}",
                    hint="name another one, or replace a table by --replace",
                )
            engine.run(exp.Drop(kind="TABLE", tables=[relation(target)]))
        copy = _from_postgres if is_database_url(source) else _from_sqlite
        copy(source, table, engine, target)
        return int(engine.rows(exp.select(f.count()).from_(relation(target)))[0][0])


def _from_postgres(source: str, table: QualifiedName, engine: Engine, target: QualifiedName) -> None:
    """The driver has numbers of the type numeric as texts: those of known digits become decimals again."""
    url = database_url(source)
    if url.schemas and len(table.parts) == 1:
        table = QualifiedName((url.schemas[0], table.name))
    with closing(open_postgres(url.uri, url.called)) as database:
        database.run(_READING)
        decimals = _decimals(database, table)
        with database.stream(exp.select(exp.Star()).from_(relation(table))) as stream:
            outputs = [
                alias(cast(column(part), decimals[part]), part) if part in decimals else column(part)
                for part in stream.schema.names
            ]
            created_from(engine, target, stream, exp.select(*outputs).from_(relation(STREAM)))


def _decimals(database: AdbcConnection, table: QualifiedName) -> dict[str, str]:
    """The columns of numbers with so many digits, and their types here."""
    attributes = relation(("pg_catalog", "pg_attribute"))
    types = f.call("format_type", column("atttypid"), column("atttypmod"))
    table_id = exp.Cast(this=literal(relation(table).sql("postgres")), to=exp.DataType.build("regclass", udt=True))
    query = (
        exp.select(as_text(column("attname")), types)
        .from_(attributes)
        .where(column("attrelid").eq(table_id), column("attnum") > literal(0))
    )
    matched = ((name, _NUMERIC.fullmatch(kind)) for name, kind in database.rows(query))
    return {
        name: f"DECIMAL({numeric[1]},{numeric[2]})"
        for name, numeric in matched
        if numeric and int(numeric[2]) <= int(numeric[1]) <= _WIDEST
    }


def _from_sqlite(source: str, table: QualifiedName, engine: Engine, target: QualifiedName) -> None:
    if len(table.parts) > 1:
        raise UserError("a table of SQLite has no schema", hint=f"write {table.name}")
    with closing(open_sqlite(Path(source).expanduser(), read_only=True)) as database:
        copied_from_sqlite(database, table.name, list(_sqlite_columns(database, table.name)), engine, target)


def _sqlite_columns(database: AdbcConnection, table: str) -> Iterator[Column]:
    """The columns in the types that their values have: SQLite keeps values of any type in any column.

    Raises DataError for a column with bytes beside other values, which no type has both of.
    """
    of_table = exp.Table(this=f.call("pragma_table_info", literal(table)))
    names = [str(name) for (name,) in database.rows(exp.select(column("name")).from_(of_table))]
    if not names:
        raise UserError(f"there is no table {table} in the file")
    for name in names:
        kinds = exp.select(f.call("typeof", column(name))).distinct().from_(relation(table))
        value_kinds = {str(kind) for (kind,) in database.rows(kinds)} - {"null"}
        if "blob" in value_kinds and len(value_kinds) > 1:
            raise DataError(f"the column {name} of {table} has bytes beside other values", hint="convert them there")
        widest = next((kind for kind in ("blob", "text", "real", "integer") if kind in value_kinds), "text")
        yield name, _KINDS[widest]
