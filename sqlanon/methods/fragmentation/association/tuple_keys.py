"""The rows that a loose association is made of: in which values they differ, and which of them are near each other."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.fragmentation.association.block_grids import ROW_NUMBER, draws, in_order, key_name, value_name
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import added, big, digest, identical, paren, window
from sqlanon.sql.build.names import alias, column, literal, relation

# The bits that a column has at most along a curve through several columns.
_MOST_BITS = 20
# The bits that all these columns have together: with more columns than bits, the last ones have none.
MOST_NEAR = 62


def numbered(table: exp.Table, values: Sequence[exp.Expr], near: Sequence[exp.Expr]) -> exp.Select:
    """row, value_0, ... and near_0, ...: the rows of a stored table by their numbers in it.

    `values` and `near` are expressions over the table, which is called source.
    """
    query = exp.select(alias(column(ROW_NUMBER, "source"), "row"))
    query.select(*(alias(value, value_name(index)) for index, value in enumerate(values)), copy=False)
    query.select(*(alias(value, _near_name(index)) for index, value in enumerate(near)), copy=False)
    return query.from_(table, copy=False)


def repeated(rows: exp.Select, key: Sequence[int]) -> exp.Select:
    """digest, number: the tuples of these values that several rows have, NULL being a value, numbered from 1.

    Tuples are compared by their digests. Two with the same digest count as one, so rows that differ may be kept apart
    needlessly, but rows that are alike are never put together.
    """
    counted = exp.select(alias(digest([column(value_name(index)) for index in key]), "digest"))
    counted = counted.from_(rows.subquery("counted_row"), copy=False).group_by(literal(1)).having(f.count() > 1)
    number = alias(window(f.row_number()), "number")
    return exp.select(column("digest"), number).from_(counted.subquery("counted"))


def spread(rows: exp.Select, index: int, near: int) -> exp.Select:
    """value, bits: the values of one of `near` columns, each with its part of the position of a row that has it.

    A value's rank is scaled to a number of some bits, and these are spread: the other columns' bits go between them.
    So the sum over the columns is the row's position on the Z-order curve (Morton 1966).
    """
    count = min(_MOST_BITS, MOST_NEAR // near)
    counted = exp.select(alias(column(_near_name(index)), "value"), alias(f.count(), "n"))
    counted = counted.from_(rows.subquery("rows"), copy=False).group_by(column(_near_name(index)))
    upto = window(f.sum(column("n")), order=in_order([column("value")]))
    before = paren(big(upto) - column("n"))
    step = (before * 2**count) // big(window(f.sum(column("n"))))
    stepped = exp.select(column("value"), alias(step, "step")).from_(counted.subquery("counted"), copy=False)
    parts: list[exp.Expr] = []
    for bit in range(count):
        value = (column("step") // 2**bit) % 2
        parts.append(value * 2 ** (bit * near + index))
    return exp.select(column("value"), alias(added(parts), "bits")).from_(stepped.subquery("stepped"), copy=False)


def keyed(rows: exp.Select, keys: Sequence[tuple[Sequence[int], str]], near: Sequence[str], draw: str) -> exp.Select:
    """row, draw, position and key_0, ...: for each key, of values at these indexes, a number that equal tuples share.

    Each key comes with the table of its tuples that are `repeated`; their numbers are above 0, and that of a row
    that is like no other is below. `near` are the tables of `spread`, of the first near columns: `position` orders the
    rows along a curve, so that rows beside each other are alike in all of them; without such columns it is 0.
    """
    parts = [column("bits", table) for table in map(_near_name, range(len(near)))]
    query = exp.select(column("row", "rows"), alias(draws(draw), "draw"))
    query.select(alias(added(parts) if parts else literal(0), "position"), copy=False)
    query.from_(rows.subquery("rows"), copy=False)
    for index, table in enumerate(near):
        name = _near_name(index)
        same_value = identical(column(name, "rows"), column("value", name))
        query.join(relation(table, as_=name), on=same_value, copy=False)
    alone = literal(-1) - column("row", "rows")
    for index, (key, table) in enumerate(keys):
        name = key_name(index)
        number = f.coalesce(column("number", name), alone.copy())
        query.select(alias(number, name), copy=False)
        same_tuple = digest([column(value_name(part), "rows") for part in key]).eq(column("digest", name))
        query.join(relation(table, as_=name), on=same_tuple, join_type="LEFT", copy=False)
    if not keys:
        query.select(alias(alone, key_name(0)), copy=False)
    return query


def _near_name(index: int) -> str:
    return f"near_{index}"
