"""Copies a table of another database into this one, so that a policy can use it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.adbc import (
    STREAM,
    AdbcConnection,
    copied_from_sqlite,
    created_from,
    open_postgres,
    open_sqlite,
    require_pyarrow,
)
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.postgres_url import database_url, is_database_url, require_no_url
from sqlanon.errors import WITHHELD, DataError, EngineError, UserError
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.source import qualified
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast, not_, or_
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select
from sqlanon.sql.build.render import drop

# All queries see one state of the database, and nothing is changed.
_READING = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
# Whole numbers up to this one are exact as a DOUBLE.
_WHOLE = 2**53
# SQLite's types of values, the narrowest first, with the types here. A column has the widest type of its values.
_KINDS = {"integer": "BIGINT", "real": "DOUBLE", "text": "VARCHAR", "blob": "BLOB"}


def imported(engine: Engine, source: str, table: QualifiedName, name: QualifiedName, *, replace: bool) -> int:
    """Copies a table of another database into a new table of this database; returns its number of rows.

    The source is the URL of a PostgreSQL database or the path of a SQLite file. The rows are transferred as Arrow
    streams, either all or none. Raises UserError if there is no such table, for a URL with a password, and if a table
    of the new name exists and is not to be replaced, and DataError for columns and values that cannot be copied
    unchanged.
    """
    require_pyarrow("an import")
    if is_database_url(source):
        database_url(source)
    else:
        require_no_url(source, hint="write postgresql://host/database, or the path of a SQLite file")
    target = qualified(engine, name)
    with engine.transaction():
        existing_relation = find_relation(engine, target)
        if existing_relation is not None:
            if existing_relation[0] != "table" or not replace:
                raise UserError(
                    f"there is a {existing_relation[0]} {target}",
                    hint="name another one, or replace a table by --replace",
                )
            engine.run(drop("TABLE", relation(target)))
        copy = _from_postgres if is_database_url(source) else _from_sqlite
        try:
            copy(source, table, engine, target)
        except EngineError as error:
            if WITHHELD not in error.message:
                raise
            raise DataError(
                f"a value of {table} cannot be read with its type",
                hint="look for texts that are not UTF-8, and for values that a view fails to compute",
            ) from None
        return int(engine.rows(select(f.count(), of=relation(target)))[0][0])


def _from_postgres(source: str, table: QualifiedName, engine: Engine, target: QualifiedName) -> None:
    url = database_url(source)
    if url.schemas and len(table.parts) == 1:
        table = QualifiedName((url.schemas[0], table.name))
    with closing(open_postgres(url.uri, url.called, imports=True)) as database:
        database.run(_READING)
        columns = postgres_columns(database, table)
        _require_names(table, [part.name for part in columns])
        require_readable(database, table, columns)
        with database.stream(select(*(part.output for part in columns), of=relation(table))) as stream:
            here = select(*(part.here for part in columns), of=relation(STREAM))
            created_from(engine, target, stream, here)


def _require_names(table: QualifiedName, names: Sequence[str]) -> None:
    """Raises DataError for column names that a table of this database cannot have, because DuckDB would rename one of
    them.
    """
    former: dict[str, str] = {}
    for name in names:
        if not name:
            raise DataError(f"a column of {table} has the empty name", hint="give it a name in a view there")
        if fold(name) in former:
            raise DataError(
                f"the columns {former[fold(name)]} and {name} of {table} have the same name in DuckDB, which ignores "
                "case",
                hint="give one of them another name in a view there",
            )
        former[fold(name)] = name


def _from_sqlite(source: str, table: QualifiedName, engine: Engine, target: QualifiedName) -> None:
    if len(table.parts) > 1:
        raise UserError("a table of SQLite has no schema", hint=f"write {table.name}")
    with closing(open_sqlite(Path(source).expanduser(), read_only=True)) as database:
        copied_from_sqlite(database, table.name, list(_sqlite_columns(database, table.name)), engine, target)


def _sqlite_columns(database: AdbcConnection, table: str) -> Iterator[Column]:
    """Yields the columns with a type that fits all their values, because SQLite keeps values of any type in any column.

    Raises DataError for a column with both bytes and other values, or with both fractions and large whole numbers,
    because no type fits both.
    """
    # Computed columns too, but no hidden columns of virtual tables.
    of_table = exp.Table(this=f.call("pragma_table_xinfo", literal(table)))
    names_query = select(column("name"), of=of_table, where=[column("hidden").neq(literal(1))])
    names = [str(name) for (name,) in database.rows(names_query)]
    if not names:
        raise UserError(f"there is no table {table} in the file")
    _require_names(QualifiedName((table,)), names)
    for name in names:
        kinds = select(f.call("typeof", column(name)), distinct=True, of=relation(table))
        value_kinds = {str(kind) for (kind,) in database.rows(kinds)} - {"null"}
        if "blob" in value_kinds and len(value_kinds) > 1:
            raise DataError(f"the column {name} of {table} has bytes beside other values", hint="convert them there")
        if value_kinds == {"integer", "real"} and _has_large_numbers(database, table, name):
            raise DataError(
                f"the column {name} of {table} has fractions beside whole numbers of more digits than fractions have",
                hint="cast it to text in a view there",
            )
        widest = next((kind for kind in ("blob", "text", "real", "integer") if kind in value_kinds), "text")
        yield name, _KINDS[widest]


def _has_large_numbers(database: AdbcConnection, table: str, name: str) -> bool:
    """Whether a column has a whole number that may change when it becomes a fraction."""
    is_large = or_(column(name) > literal(_WHOLE), column(name) < literal(-_WHOLE))
    large = select(f.count(), of=relation(table))
    kind = f.call("typeof", column(name))
    return bool(database.rows(extend(large, where=[kind.eq(literal("integer")), is_large]))[0][0])


# The columns of a PostgreSQL table: read with the same values, as text, or not at all.

_NUMERIC = re.compile(r"numeric\((\d+),(\d+)\)")
_WIDEST = 38
# The types, as format_type writes them, whose values the driver and DuckDB keep unchanged.
_PLAIN = r"boolean|smallint|integer|bigint|real|double precision|text|(?:character(?: varying)?|bpchar)(?:\(\d+\))?"
_TIMESTAMP = re.compile(r"timestamp(?:\(\d\))? with(?:out)? time zone")
_SAME = re.compile(rf"{_PLAIN}|name|uuid|bytea|jsonb?|date|time(?:\(\d\))? without time zone|{_TIMESTAMP.pattern}")
_SAME_LIST = re.compile(rf"(?:{_PLAIN})\[\]")
_INTERVAL = re.compile(r"interval\b.*")
_MONEY = re.compile(r"money(?:\[\])?")
# The first hour of an interval, and the first timestamp, that are beyond the range of DuckDB or the driver.
_HOURS = 2_562_047
_TOO_LATE = "294247-01-01"


@dataclass(frozen=True)
class PostgresColumn:
    """A column with its PostgreSQL type; a domain is replaced by its base type."""

    name: str
    kind: str

    @property
    def decimal(self) -> str | None:
        """The DECIMAL type that fits the column's numbers, which arrive as texts; None for other types."""
        numeric = _NUMERIC.fullmatch(self.kind)
        if numeric and int(numeric[2]) <= int(numeric[1]) <= _WIDEST:
            return f"DECIMAL({numeric[1]},{numeric[2]})"
        return None

    @property
    def is_list(self) -> bool:
        return self.kind.endswith("[]")

    @property
    def output(self) -> exp.Expr:
        """Returns the column's expression in PostgreSQL; types that may differ in this database are read as text."""
        if any(kind.fullmatch(self.kind) for kind in (_SAME, _SAME_LIST, _INTERVAL)):
            return column(self.name)
        value = cast(column(self.name), "VARCHAR[]") if self.is_list else as_text(column(self.name))
        return alias(value, self.name)

    @property
    def here(self) -> exp.Expr:
        """Returns the expression that converts the stream's column to the new table's type."""
        return alias(cast(column(self.name), self.decimal), self.name) if self.decimal else column(self.name)

    @property
    def unreadable(self) -> tuple[exp.Expr, str] | None:
        """Returns a condition for values that would change in this database, and their name in errors; None if there
        are no such values.
        """
        value = column(self.name)
        if self.is_list:
            is_nested = f.call("array_ndims", value) > literal(1)
            begins_elsewhere = f.call("array_lower", value, literal(1)).neq(literal(1))
            return is_nested.or_(begins_elsewhere), "lists of lists, or lists that do not begin at 1"
        if self.kind == "date":
            return not_(f.call("isfinite", value)), "infinite dates"
        if _TIMESTAMP.fullmatch(self.kind):
            is_late = value >= literal(_TOO_LATE)
            return not_(f.call("isfinite", value)).or_(
                is_late
            ), f"infinite timestamps, or such as are after {_TOO_LATE}"
        if _INTERVAL.fullmatch(self.kind):
            hours = f.call("abs", f.call("date_part", literal("hour"), value))
            return hours >= literal(_HOURS), f"intervals of more than {_HOURS:,} hours"
        if self.decimal:
            return value.eq(literal("NaN")), "numbers that are NaN"
        return None


def postgres_columns(database: AdbcConnection, table: QualifiedName) -> Sequence[PostgresColumn]:
    """Returns the columns of a table. Raises DataError for a column whose values do not fit any type of this
    database.
    """
    attributes = relation(("pg_catalog", "pg_attribute"), "a")
    kinds = relation(("pg_catalog", "pg_type"), "t")
    is_domain = column("typtype", "t").eq(literal("d"))
    kind = exp.Case(ifs=[exp.If(this=is_domain, true=column("typbasetype", "t"))], default=column("atttypid", "a"))
    digits = exp.Case(ifs=[exp.If(this=is_domain.copy(), true=column("typtypmod", "t"))], default=column("atttypmod"))
    table_id = exp.Cast(this=literal(relation(table).sql("postgres")), to=exp.DataType.build("regclass", udt=True))
    query = select(
        as_text(column("attname")),
        f.call("format_type", kind, digits),
        of=attributes,
        joins=[inner_join(kinds, column("oid", "t").eq(column("atttypid", "a")))],
        where=[column("attrelid").eq(table_id), column("attnum") > literal(0), not_(column("attisdropped"))],
        order_by=[column("attnum")],
    )
    columns = [PostgresColumn(str(name), str(kind)) for name, kind in database.rows(query)]
    if not columns:
        raise UserError(f"{table} has no columns")
    for part in columns:
        if _MONEY.fullmatch(part.kind):
            raise DataError(
                f"the column {part.name} of {table} is money, whose currency depends on a setting",
                hint="cast it to numeric in a view there",
            )
    return columns


def require_readable(database: AdbcConnection, table: QualifiedName, columns: Sequence[PostgresColumn]) -> None:
    """Raises DataError for a column with a value that would change in this database."""
    checks: Mapping[str, tuple[exp.Expr, str]] = dict(_checks(columns))
    if not checks:
        return
    any_odd = [f.call("bool_or", condition) for condition, _ in checks.values()]
    (are_odd,) = database.rows(select(*any_odd, of=relation(table)))
    for (name, (_, what)), is_odd in zip(checks.items(), are_odd, strict=True):
        if is_odd:
            raise DataError(
                f"the column {name} of {table} has {what}, which are not read as they are there",
                hint="leave them out, or cast the column to text, in a view there",
            )


def _checks(columns: Sequence[PostgresColumn]) -> Iterator[tuple[str, tuple[exp.Expr, str]]]:
    for part in columns:
        if part.unreadable:
            yield part.name, part.unreadable
