"""The columns of a table of PostgreSQL as they are read here: with the same values, as text, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.engines.adbc import AdbcConnection
from sqlanon.errors import DataError, UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast, not_
from sqlanon.sql.build.names import alias, column, literal, relation

_NUMERIC = re.compile(r"numeric\((\d+),(\d+)\)")
_WIDEST = 38
# The types, as format_type writes them, whose values the driver and DuckDB have as they are.
_PLAIN = r"boolean|smallint|integer|bigint|real|double precision|text|(?:character(?: varying)?|bpchar)(?:\(\d+\))?"
_MOMENT = re.compile(r"timestamp(?:\(\d\))? with(?:out)? time zone")
_SAME = re.compile(rf"{_PLAIN}|name|uuid|bytea|jsonb?|date|time(?:\(\d\))? without time zone|{_MOMENT.pattern}")
_SAME_LIST = re.compile(rf"(?:{_PLAIN})\[\]")
_INTERVAL = re.compile(r"interval\b.*")
_MONEY = re.compile(r"money(?:\[\])?")
# The last hour of an interval, and the first moment, that are more than DuckDB or the driver have.
_HOURS = 2_562_047
_TOO_LATE = "294247-01-01"


@dataclass(frozen=True)
class PostgresColumn:
    """A column with its type there, below which a domain is that which it is of."""

    name: str
    kind: str

    @property
    def decimal(self) -> str | None:
        """The type here of numbers with so many digits, which come as texts."""
        numeric = _NUMERIC.fullmatch(self.kind)
        if numeric and int(numeric[2]) <= int(numeric[1]) <= _WIDEST:
            return f"DECIMAL({numeric[1]},{numeric[2]})"
        return None

    @property
    def is_list(self) -> bool:
        return self.kind.endswith("[]")

    @property
    def output(self) -> exp.Expr:
        """The column as PostgreSQL is asked for it. What is not known to be the same here is text."""
        if any(kind.fullmatch(self.kind) for kind in (_SAME, _SAME_LIST, _INTERVAL)):
            return column(self.name)
        value = cast(column(self.name), "VARCHAR[]") if self.is_list else as_text(column(self.name))
        return alias(value, self.name)

    @property
    def here(self) -> exp.Expr:
        """The column of the stream as the new table has it."""
        return alias(cast(column(self.name), self.decimal), self.name) if self.decimal else column(self.name)

    @property
    def unreadable(self) -> tuple[exp.Expr, str] | None:
        """Which of its values would be others here, and what the error calls them; None if none can be."""
        value = column(self.name)
        if self.is_list:
            is_nested = f.call("array_ndims", value) > literal(1)
            begins_elsewhere = f.call("array_lower", value.copy(), literal(1)).neq(literal(1))
            return is_nested.or_(begins_elsewhere), "lists of lists, or lists that do not begin at 1"
        if self.kind == "date":
            return not_(f.call("isfinite", value)), "infinite dates"
        if _MOMENT.fullmatch(self.kind):
            is_late = value.copy() >= literal(_TOO_LATE)
            return not_(f.call("isfinite", value)).or_(is_late), f"infinite moments, or such as are after {_TOO_LATE}"
        if _INTERVAL.fullmatch(self.kind):
            hours = f.call("abs", f.call("date_part", literal("hour"), value))
            return hours >= literal(_HOURS), f"intervals of more than {_HOURS:,} hours"
        if self.decimal:
            return value.eq(literal("NaN")), "numbers that are NaN"
        return None


def postgres_columns(database: AdbcConnection, table: QualifiedName) -> Sequence[PostgresColumn]:
    """The columns of a table. Raises DataError for one whose values no type here has."""
    attributes = relation(("pg_catalog", "pg_attribute"), "a")
    kinds = relation(("pg_catalog", "pg_type"), "t")
    is_domain = column("typtype", "t").eq(literal("d"))
    kind = exp.Case(ifs=[exp.If(this=is_domain, true=column("typbasetype", "t"))], default=column("atttypid", "a"))
    digits = exp.Case(ifs=[exp.If(this=is_domain.copy(), true=column("typtypmod", "t"))], default=column("atttypmod"))
    table_id = exp.Cast(this=literal(relation(table).sql("postgres")), to=exp.DataType.build("regclass", udt=True))
    query = (
        exp.select(as_text(column("attname")), f.call("format_type", kind, digits))
        .from_(attributes)
        .join(kinds, on=column("oid", "t").eq(column("atttypid", "a")))
        .where(column("attrelid").eq(table_id), column("attnum") > literal(0), not_(column("attisdropped")))
        .order_by(column("attnum"))
    )
    columns = [PostgresColumn(str(name), str(kind)) for name, kind in database.rows(query)]
    if not columns:
        raise UserError(f"{table} has no columns")
    for part in columns:
        if _MONEY.fullmatch(part.kind):
            raise DataError(
                f"the column {part.name} of {table} is money, whose currency is that of a setting",
                hint="cast it to numeric in a view there",
            )
    return columns


def require_readable(database: AdbcConnection, table: QualifiedName, columns: Sequence[PostgresColumn]) -> None:
    """Raises DataError for a column with a value that would be another one here."""
    checks: Mapping[str, tuple[exp.Expr, str]] = dict(_checks(columns))
    if not checks:
        return
    any_odd = [f.call("bool_or", condition) for condition, _ in checks.values()]
    (are_odd,) = database.rows(exp.select(*any_odd).from_(relation(table)))
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
