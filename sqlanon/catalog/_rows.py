"""Reads and writes rows of the catalog's tables; names are compared as DuckDB compares identifiers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from sqlglot import exp

from sqlanon.domain.identifiers import UPPER, fold
from sqlanon.engines.base import Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, exists, not_
from sqlanon.sql.build.names import column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.render import RepeatedQuery, repeated

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# A dataclass whose fields are columns of a table.
Row = TypeVar("Row", bound="DataclassInstance")

# Chosen at random, without a name: equal if the text is.
_IDENTIFIERS = ("release_id", "series_id", "stream_id", "budget_id", "reader_id")
# The number of rows that are inserted at a time.
_INSERTED_TOGETHER = 50


def _name_equals(key: str) -> exp.Expr:
    """Returns the condition that the column `key` equals the parameter as an identifier."""
    if key in _IDENTIFIERS:
        return column(key).eq(exp.Placeholder())
    return _folded(key).eq(exp.Placeholder())


def _folded(key: str) -> exp.Expr:
    return f.call("translate", column(key), UPPER, UPPER.lower())


def _where(keys: Sequence[str]) -> exp.Expr:
    return and_(*map(_name_equals, keys))


def _parameters(names: Mapping[str, str]) -> list[str]:
    return [name if key in _IDENTIFIERS else fold(name) for key, name in names.items()]


def columns_of(row: type[DataclassInstance]) -> tuple[str, ...]:
    """Returns the names of the fields of a row type."""
    return tuple(field.name for field in fields(row))


def read(
    engine: Engine,
    table: str,
    row: type[Row],
    names: Mapping[str, str] | None = None,
    order: Sequence[str] = (),
) -> list[Row]:
    """Reads the rows of `anon.table` whose columns have these names as values.

    Rows are sorted by `order`, with NULLs last, and then by insertion.
    """
    keys = (*order, "rowid")
    query = _reading(table, (*keys, *columns_of(row)), tuple(names or ()))
    rows = engine.rows(query, _parameters(names or {}))
    return [row(*values[len(keys) :]) for values in in_order(rows, len(keys))]


def in_order(rows: Iterable[tuple[Any, ...]], count: int) -> list[tuple[Any, ...]]:
    """Sorts rows by their first `count` columns, with NULLs last.

    For a few rows, this is faster than ORDER BY, which takes DuckDB up to half a millisecond to plan.
    """
    return sorted(rows, key=lambda row: [(value is None, value) for value in row[:count]])


def read_names(engine: Engine, table: str, key: str, names: Mapping[str, str] | None = None) -> list[str]:
    """Reads the column `key` of the rows of `anon.table` that match `names`, in the order of insertion."""
    query = _reading(table, ("rowid", key), tuple(names or ()))
    return [str(name) for _, name in in_order(engine.rows(query, _parameters(names or {})), 1)]


def read_all(engine: Engine, table: str, row: type[Row], key: str, names: Collection[str]) -> dict[str, list[Row]]:
    """Reads the rows of `anon.table` whose column `key` is one of these names, grouped by the folded name."""
    rows: dict[str, list[Row]] = {fold(name): [] for name in names}
    if rows:
        read_rows = engine.rows(_reading_all(table, columns_of(row), key, len(rows)), list(rows))
        for _, folded, *values in in_order(read_rows, 1):
            rows[folded].append(row(*values))
    return rows


@cache
def _reading_all(table: str, columns: tuple[str, ...], key: str, count: int) -> RepeatedQuery:
    query = select(column("rowid"), _folded(key), *map(column, columns), of=relation(("anon", table)))
    return repeated(extend(query, where=[_folded(key).isin(*(exp.Placeholder() for _ in range(count)))]))


class Parts:
    """The rows of one query over several tables; the third column names the table ("part") to which a row belongs.

    Rows are sorted by the first two columns; `columns` are the other columns.
    """

    def __init__(self, engine: Engine, query: RepeatedQuery, columns: Sequence[str], parameter: str) -> None:
        self._columns = columns
        self._rows: dict[str, list[Sequence[object]]] = defaultdict(list)
        for _, _, part, *values in in_order(engine.rows(query, [parameter]), 2):
            self._rows[part].append(values)

    def of(self, part: str, row: type[Row]) -> list[Row]:
        """Returns the rows of a part."""
        indexes = [self._columns.index(name) for name in columns_of(row)]
        return [row(*(values[index] for index in indexes)) for values in self._rows[part]]


@cache
def _reading(table: str, columns: tuple[str, ...], names: tuple[str, ...]) -> RepeatedQuery:
    query = select(*map(column, columns), of=relation(("anon", table)))
    if names:
        query = extend(query, where=[_where(names)])
    return repeated(query)


def insert(engine: Engine, table: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Inserts rows that have the same columns into `anon.table`."""
    for first in range(0, len(rows), _INSERTED_TOGETHER):
        together = rows[first : first + _INSERTED_TOGETHER]
        values = [value for row in together for value in row.values()]
        engine.run(_inserting(table, tuple(together[0]), len(together)), values)


@cache
def _inserting(table: str, columns: tuple[str, ...], rows: int) -> RepeatedQuery:
    values = exp.values([tuple(exp.Placeholder() for _ in columns) for _ in range(rows)])
    return repeated(exp.insert(values, relation(("anon", table)), columns=[identifier(name) for name in columns]))


def insert_new(engine: Engine, table: str, row: Mapping[str, object], names: Sequence[str]) -> bool:
    """Inserts a row into `anon.table`; returns False, and inserts nothing, if a row with these `names` exists."""
    query = _inserting_new(table, tuple(row), tuple(names))
    taken = _parameters({name: str(row[name]) for name in names})
    return bool(engine.rows(query, [*row.values(), *taken])[0][0])


@cache
def _inserting_new(table: str, columns: tuple[str, ...], names: tuple[str, ...]) -> RepeatedQuery:
    target = relation(("anon", table))
    row = select(*(exp.Placeholder() for _ in columns))
    taken = select(literal(1), of=target, where=[_where(names)])
    query = extend(row, where=[not_(exists(taken))])
    return repeated(exp.insert(query, target, columns=[identifier(name) for name in columns]))


def update(engine: Engine, table: str, values: Mapping[str, object], names: Mapping[str, str]) -> None:
    """Sets columns of the rows of `anon.table` that match `names`."""
    engine.run(_updating(table, tuple(values), tuple(names)), [*values.values(), *_parameters(names)])


@cache
def _updating(table: str, columns: tuple[str, ...], names: tuple[str, ...]) -> RepeatedQuery:
    values: dict[str, object] = {name: exp.Placeholder() for name in columns}
    return repeated(exp.update(relation(("anon", table)), values, where=_where(names)))


def delete(engine: Engine, table: str, names: Mapping[str, str]) -> None:
    """Deletes the rows of `anon.table` that match `names`."""
    engine.run(_deleting(table, tuple(names)), _parameters(names))


@cache
def _deleting(table: str, names: tuple[str, ...]) -> RepeatedQuery:
    return repeated(exp.delete(relation(("anon", table)), where=_where(names)))
