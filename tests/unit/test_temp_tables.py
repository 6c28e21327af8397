"""Temporary tables of a statement: those that grow keep what they get, whatever DuckDB does with empty ones."""

from __future__ import annotations

import duckdb
import pytest
from sqlglot import exp

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.sql.build.expressions import insert
from sqlanon.sql.build.names import column, relation

# More rows than a part of a table has, and several such parts in the table that they come from: threads write them.
MANY, ALL = 130_000, 400_000


def numbers(count: int) -> exp.Select:
    return exp.select(column("i")).from_(relation("numbers")).where(column("i") < count)


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("first", [0, 1])
def test_a_growing_table_keeps_many_rows_after_none(first: int, before: int) -> None:
    engine = DuckDBEngine(duckdb.connect(config={"threads": 2}))
    engine.run(f"CREATE TABLE numbers AS SELECT range AS i FROM range({ALL})")
    with engine.transaction(), TempTables(engine) as temp:
        table = temp.growing_table("growing", numbers(first))
        for count in (before, MANY, 0, MANY):
            engine.run(insert(relation(table), numbers(count)))
        query = exp.select(exp.func("sum", column("i"))).from_(relation(table))
        assert engine.rows(query) == [(MANY * (MANY - 1),)]
