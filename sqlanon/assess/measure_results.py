"""Stores the results of a workload's queries in temporary tables during a measurement."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import SqlanonError, UserError
from sqlanon.estimates.query.parse import Aggregate, AggregateQuery
from sqlanon.sql.build.expressions import cast, insert, into
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select, subquery

# The most rows that one INSERT adds.
_INSERTED = 200
_KINDS = {
    **{"query_id": "BIGINT", "groups": "VARCHAR", "result": "VARCHAR", "room": "BIGINT"},
    **{"kept": "BOOLEAN", "counts": "BOOLEAN"},
}

_T = TypeVar("_T")


class Results:
    """A temporary table of the results of a workload's queries.

    If the table has a column `kept` and a query does not, `kept` is true for the rows of that query.
    """

    def __init__(self, engine: Engine, temp: TempTables, name: str, names: Sequence[str]) -> None:
        empty = [alias(cast(exp.null(), _KINDS.get(name, "DOUBLE")), name) for name in names]
        self.table = temp.growing_table(name, select(*empty, where=[exp.false()]))
        self._engine, self._names = engine, names
        self._target = into(relation(self.table), names)

    def add(self, query: exp.Query) -> None:
        """Inserts the rows of a query with the table's columns."""
        columns = [alias(exp.true(), name) if name == "kept" else column(name) for name in self._names]
        rows = select(*columns, of=subquery(query, "results"))
        self._engine.run(insert(self._target, rows))

    def forget(self, numbers: Collection[int]) -> None:
        """Deletes the rows of the queries with these numbers."""
        among = column("query_id").isin(*numbers)
        self._engine.run(exp.delete(relation(self.table), where=among))

    def add_rows(self, rows: Iterable[Sequence[object]]) -> None:
        for batch in batches(rows, _INSERTED):
            values = [exp.Tuple(expressions=[exp.Placeholder() for _ in self._names]) for _ in batch]
            rows_of_values = insert(self._target, exp.Values(expressions=values))
            self._engine.run(rows_of_values, [value for row in batch for value in row])


def results_of(number: int, query: AggregateQuery, row: Sequence[object], width: int) -> Iterator[tuple[object, ...]]:
    """Yields a row for each aggregate in a row of a query's result: query number, groups as JSON, name, and values.

    In the given row, an aggregate has `width` values, and a group has one. Each yielded row ends with the values that
    follow the groups and aggregates.
    """
    values = iter(row)
    parts = [(item, [next(values) for _ in range(width if isinstance(item, Aggregate) else 1)]) for item in query.items]
    rest = list(values)
    groups = json.dumps([part[0] for item, part in parts if not isinstance(item, Aggregate)])
    for item, part in parts:
        if isinstance(item, Aggregate):
            yield number, groups, item.name, *part, *rest


def batches(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Yields the items in lists of `size` items; the last list may be shorter."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def named(workload: str, number: int | str, error: SqlanonError) -> UserError:
    """Returns an error of a workload's query with the name of the workload and the number of the query."""
    return UserError(f"workload {workload}, query {number}: {error.message}", hint=error.hint)
