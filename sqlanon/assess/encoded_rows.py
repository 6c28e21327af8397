"""Encodes the values of a table as integers, which are grouped faster than texts."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines.temp_tables import TempTables
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, case, cast, identical, is_not_null, order_by, window
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery


def encoded(temp: TempTables, rows: exp.Table | exp.Subquery, names: Sequence[str], *, number_nulls: bool) -> str:
    """Makes a table with a row for each combination of some columns: `value_0`, `value_1` and so on, and `n`.

    `rows` is a relation with the columns `names`. A value becomes an integer from 1 on, in the order of the values; `n`
    is the number of rows with the combination. NULL gets the last integer if `number_nulls` is true, otherwise it stays
    NULL. Returns the name of the table.
    """
    whole = select(*(alias(column(name), f"value_{i}") for i, name in enumerate(names)), alias(f.count(), "n"))
    whole = extend(whole, of=rows, group_by=(column(name) for name in names))
    source = temp.table("combination", whole)
    codes = select(column("n", "combination"), of=relation(source, as_="combination"))
    for i in range(len(names)):
        value = column(f"value_{i}")
        number: exp.Expr = cast(window(f.row_number(), order=order_by(ascending(value))), "INTEGER")
        if not number_nulls:
            number = case((is_not_null(value), number))
        values = select(
            value, alias(number, "code"), of=subquery(select(value, of=relation(source), distinct=True), "value")
        )
        same = identical(column(f"value_{i}", "combination"), column(f"value_{i}", f"code_{i}"))
        codes = extend(codes, joins=[inner_join(subquery(values, f"code_{i}"), same)])
        codes = extend(codes, alias(column("code", f"code_{i}"), f"value_{i}"))
    return temp.table("code", codes)
