"""The tables of a script whose rows it brings itself: labels of stored hierarchies, and regions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.portable import INFINITE
from sqlanon.errors import UserError
from sqlanon.export.warehouses.dialects import Dialect
from sqlanon.export.warehouses.sizes import sizes
from sqlanon.sql.build.expressions import cast, data_type, insert, row_alias
from sqlanon.sql.build.names import alias, column, identifier, literal

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_DAYS = ("DATE", "TIMESTAMP")


@dataclass(frozen=True)
class ListedTable:
    """A table of a script, and the sentence above it: its columns with their types, and its rows as texts.

    `of_values` says that each row is about one value of the source, its first column. Where a warehouse has no
    infinite dates, no row of the source has such a value, and the row about it is left out.
    """

    name: str
    comment: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str | None, ...], ...]
    of_values: bool = True

    @property
    def listed_name(self) -> str:
        """The table of the same rows before their texts are made comparable by their bytes."""
        return f"{self.name}_listed"


def filled(table: exp.Table, listed: ListedTable, dialect: Dialect) -> Iterator[exp.Expr]:
    """Statements that make a temporary table, and insert the rows.

    Raises UserError for a value that the dialect does not have.
    """
    columns = [exp.ColumnDef(this=identifier(name), kind=data_type(kind)) for name, kind in listed.columns]
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    schema = exp.Schema(this=table.copy(), expressions=columns)
    yield exp.Create(kind="TABLE", this=schema, properties=temporary, replace=dialect.replaces)
    rows, together = list(_tuples(listed, dialect)), sizes().rows_together
    for start in range(0, len(rows), together):
        yield insert(table.copy(), exp.Values(expressions=rows[start : start + together]))


def listed_rows(listed: ListedTable, dialect: Dialect) -> exp.Select:
    """The rows of a query. Raises UserError for a value that the dialect does not have."""
    names = [name for name, _ in listed.columns]
    rows = list(_tuples(listed, dialect))
    none = exp.Tuple(expressions=[cast(exp.Null(), kind) for _, kind in listed.columns])
    values = exp.Values(expressions=rows or [none], alias=row_alias("listed", names))
    query = exp.select(*map(column, names)).from_(values)
    return query if rows else query.where(literal(1).eq(literal(0)))


def typed_rows(table: exp.Table, listed: ListedTable, dialect: Dialect) -> exp.Select:
    """The rows in their types; texts are compared by their bytes."""
    parts = []
    for name, kind in listed.columns:
        value = dialect.by_bytes(column(name)) if kind == "VARCHAR" else cast(column(name), kind)
        parts.append(alias(value, name))
    return exp.select(*parts).from_(table)


def _tuples(listed: ListedTable, dialect: Dialect) -> Iterator[exp.Tuple]:
    for row in listed.rows:
        infinite = [
            value for value, (_, kind) in zip(row, listed.columns, strict=True) if kind in _DAYS and value in INFINITE
        ]
        if infinite and not dialect.has_infinite:
            if listed.of_values:
                continue
            raise UserError(
                f"{dialect.title} cannot make this release: a region reaches to {infinite[0]}, which is no date there"
            )
        values = [_literal(value, kind) for value, (_, kind) in zip(row, listed.columns, strict=True)]
        yield exp.Tuple(expressions=values)


def _literal(value: str | None, kind: str) -> exp.Expr:
    if value is None:
        return exp.Null()
    if kind in _WHOLE:
        return literal(int(value))
    if kind == "BOOLEAN":
        return literal(value == "true")
    return literal(value) if kind == "VARCHAR" else cast(literal(value), kind)
