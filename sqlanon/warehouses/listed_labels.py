"""The tables of a script that hold the labels of stored hierarchies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.engines.portable import INFINITE
from sqlanon.sqlgen.build.expressions import cast, data_type, insert, row_alias
from sqlanon.sqlgen.build.names import alias, column, identifier, literal
from sqlanon.warehouses.dialects import Dialect
from sqlanon.warehouses.mappings import Mapping
from sqlanon.warehouses.sizes import sizes

__all__ = ["filled", "listed_rows", "typed_labels"]

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")


def filled(table: exp.Table, bound: BoundAttribute, mapping: Mapping, dialect: Dialect) -> Iterator[exp.Expr]:
    """Statements that make a temporary table, and insert the values with their labels."""
    kinds = [data_type(kind) for kind in (bound.published_type, "VARCHAR")][: _width(mapping)]
    columns = [
        exp.ColumnDef(this=identifier(part), kind=kind) for part, kind in zip(("value", "label"), kinds, strict=False)
    ]
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    schema = exp.Schema(this=table.copy(), expressions=columns)
    yield exp.Create(kind="TABLE", this=schema, properties=temporary, replace=dialect.replaces)
    rows, together = list(_tuples(bound, mapping, dialect)), sizes().rows_together
    for start in range(0, len(rows), together):
        yield insert(table.copy(), exp.Values(expressions=rows[start : start + together]))


def listed_rows(bound: BoundAttribute, mapping: Mapping, dialect: Dialect) -> exp.Select:
    """The values with their labels as the rows of a query."""
    names = ["value", "label"][: _width(mapping)]
    values = exp.Values(expressions=list(_tuples(bound, mapping, dialect)), alias=row_alias("listed", names))
    return exp.select(*map(column, names)).from_(values)


def typed_labels(listed: exp.Table, bound: BoundAttribute, mapping: Mapping, dialect: Dialect) -> exp.Select:
    """value, and label if the level has one, in their types; texts are compared by their bytes."""
    text = bound.published_type == "VARCHAR"
    value = dialect.by_bytes(column("value")) if text else cast(column("value"), bound.published_type)
    parts = [alias(value, "value"), alias(dialect.by_bytes(column("label")), "label")]
    return exp.select(*parts[: _width(mapping)]).from_(listed)


def _width(mapping: Mapping) -> int:
    """Labels of level 0 are the values."""
    return 2 if mapping.level else 1


def _tuples(bound: BoundAttribute, mapping: Mapping, dialect: Dialect) -> Iterator[exp.Tuple]:
    for value, label in mapping.rows:
        if value in INFINITE and bound.published_type in ("DATE", "TIMESTAMP") and dialect.name != "postgres":
            # No date is infinite there.
            continue
        parts: Sequence[exp.Expr] = (_literal(value, bound.published_type), exp.convert(label))
        yield exp.Tuple(expressions=list(parts[: _width(mapping)]))


def _literal(value: str | None, kind: str) -> exp.Expr:
    if value is None:
        return exp.Null()
    if kind in _WHOLE:
        return literal(int(value))
    if kind == "BOOLEAN":
        return literal(value == "true")
    return literal(value) if kind == "VARCHAR" else cast(literal(value), kind)
