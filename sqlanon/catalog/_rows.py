"""Rows of the catalog's tables, found by name as DuckDB finds its own objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.domain.identifiers import UPPER, fold
from sqlanon.engines.base import Engine
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import ascending
from sqlanon.sqlgen.build.names import column, identifier, relation

__all__ = ["delete", "insert", "read"]

# Drawn at random, not named: equal where the text is.
_IDENTIFIERS = ("release_id",)


def _named(key: str) -> exp.Expr:
    """The condition that the column `key` is a name that folds to the parameter, or the same identifier."""
    if key in _IDENTIFIERS:
        return column(key).eq(exp.Placeholder())
    return f.call("translate", column(key), UPPER, UPPER.lower()).eq(exp.Placeholder())


def _where(names: Mapping[str, str]) -> exp.Expr:
    return exp.and_(*(_named(key) for key in names))


def _parameters(names: Mapping[str, str]) -> list[str]:
    return [name if key in _IDENTIFIERS else fold(name) for key, name in names.items()]


def read(
    engine: Engine,
    table: str,
    columns: Sequence[str],
    names: Mapping[str, str] | None = None,
    order: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """The rows of `anon.table` whose columns are these names, as a dictionary each.

    NULLs come last in the order, and rows that are equal in it as they were inserted.
    """
    query = exp.select(*(column(name) for name in columns)).from_(relation(("anon", table)), copy=False)
    if names:
        query = query.where(_where(names), copy=False)
    query = query.order_by(*(ascending(column(key)) for key in (*order, "rowid")), copy=False)
    rows = engine.rows(query, _parameters(names or {}))
    return [dict(zip(columns, row, strict=True)) for row in rows]


def insert(engine: Engine, table: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Inserts rows that have the same columns into `anon.table`."""
    for row in rows:
        values = exp.values([tuple(exp.Placeholder() for _ in row)])
        names = [identifier(name) for name in row]
        engine.run(exp.insert(values, relation(("anon", table)), columns=names), list(row.values()))


def delete(engine: Engine, table: str, names: Mapping[str, str]) -> None:
    """Deletes the rows of `anon.table` whose columns are these names."""
    engine.run(exp.delete(relation(("anon", table)), where=_where(names)), _parameters(names))
