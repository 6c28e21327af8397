"""The rows of the join of two tables, counted by X and Y; the join itself is never made (Wang and Fung 2006)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import entry, identical, numbered, window
from sqlanon.sql.build.names import alias, column, identifier


def key_of_join(index: int) -> str:
    """The column with the text of a shared column, by which both sides are joined."""
    return f"shared_{index}"


def counted_columns(keys: Sequence[exp.Expr], values: Sequence[exp.Expr], n: exp.Expr) -> tuple[list[exp.Expr], ...]:
    """The columns of one side of a join, and what it is grouped by: the shared columns, those that it has, and n."""
    parts = [alias(key, key_of_join(index)) for index, key in enumerate(keys)]
    parts += [alias(value, f"own_{index}") for index, value in enumerate(values)]
    return [*parts, alias(n, "n")], [part.this.copy() for part in parts]


def joined(sides: Sequence[exp.Query], keys: int, x: Sequence[tuple[int, int]], y: tuple[int, int]) -> exp.Select:
    """joined(x, y, n): how many rows of the join of two sides have each combination of X and Y; X is a number.

    The sides have `keys` shared columns. X and Y are named by their side and their place among its own columns. Values
    of X that the other side cannot tell apart come to the same, and one stands for all of them.
    """
    without_y = 1 - y[0]
    columns_of_x = sum(side == without_y for side, _ in x)
    sides = [_alike(query, keys, columns_of_x) if side == without_y else query for side, query in enumerate(sides)]
    x = [(without_y, 0), *((side, number) for side, number in x if side != without_y)]
    same = [
        identical(column(key_of_join(index), "side_0"), column(key_of_join(index), "side_1")) for index in range(keys)
    ]
    values = [column(f"own_{number}", f"side_{side}") for side, number in (*x, y)]
    together = exp.select(
        *(alias(value, f"value_{index}") for index, value in enumerate(values)),
        alias(f.sum(column("n", "side_0") * column("n", "side_1")), "n"),
    )
    together = together.from_(sides[0].subquery("side_0"))
    together = together.join(sides[1].subquery("side_1"), on=exp.and_(exp.true(), *same))
    together = together.group_by(*(value.copy() for value in values))
    number = numbered([column(f"value_{index}") for index in range(len(x))])
    columns = [alias(number, "x"), alias(column(f"value_{len(x)}"), "y"), column("n")]
    return exp.select(*columns).from_(together.subquery("together"))


def _alike(side: exp.Query, keys: int, columns: int) -> exp.Select:
    """A side whose own columns, so many, are of X: one number stands for all values that match the same rows."""
    names = [*(key_of_join(index) for index in range(keys)), "n"]
    row = exp.Struct(expressions=[entry(name, column(name)) for name in names])
    each = exp.select(alias(f.call("list_sort", f.list_(row)), "rows")).from_(side.subquery("side"))
    own_columns = [column(f"own_{number}") for number in range(columns)]
    different = exp.select(column("rows")).distinct().from_(each.group_by(*own_columns).subquery("each"))
    number = alias(window(f.row_number()), "own_0")
    numbered_rows = exp.select(number, column("rows")).from_(different.subquery("different"))
    parts = exp.select(column("own_0"), alias(f.unnest(column("rows")), "part")).from_(numbered_rows.subquery("alike"))
    fields = [alias(exp.Dot(this=column("part"), expression=identifier(name)), name) for name in names]
    return exp.select(column("own_0"), *fields).from_(parts.subquery("parts"))
