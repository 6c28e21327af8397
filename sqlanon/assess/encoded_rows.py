"""Encodes the values of a table as integers, which are grouped faster than texts."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines.temp_tables import Scratch
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, case, cast, identical, is_not_null, order_by, window
from sqlanon.sql.build.names import alias, column, relation


def encoded(scratch: Scratch, rows: exp.Table | exp.Subquery, names: Sequence[str], *, number_nulls: bool) -> str:
    """Makes a table with a row for each combination of some columns: `value_0`, `value_1` and so on, and `n`.

    `rows` is a relation with the columns `names`. A value becomes an integer from 1 on, in the order of the values; `n`
    is the number of rows with the combination. NULL gets the last integer if `number_nulls`, otherwise it stays NULL.
    Returns the name of the table.
    """
    whole = exp.select(*(alias(column(name), f"value_{i}") for i, name in enumerate(names)), alias(f.count(), "n"))
    whole = whole.from_(rows).group_by(*(column(name) for name in names))
    source = scratch.table("combination", whole)
    codes = exp.select(column("n", "combination")).from_(relation(source, as_="combination"))
    for i in range(len(names)):
        value = column(f"value_{i}")
        number: exp.Expr = cast(window(f.row_number(), order=order_by(ascending(value.copy()))), "INTEGER")
        if not number_nulls:
            number = case((is_not_null(value.copy()), number))
        values = exp.select(value, alias(number, "code")).from_(
            exp.select(value.copy()).from_(relation(source)).distinct().subquery("value")
        )
        same = identical(column(f"value_{i}", "combination"), column(f"value_{i}", f"code_{i}"))
        codes = codes.join(values.subquery(f"code_{i}"), on=same, copy=False)
        codes = codes.select(alias(column("code", f"code_{i}"), f"value_{i}"), copy=False)
    return scratch.table("code", codes)
