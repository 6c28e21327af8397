"""The ranges that shares of sensitive values may lie in, by the codes of the values (Frikken and Zhang 2008)."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    ascending,
    cast,
    identical,
    is_not_null,
    is_null,
    order_by,
    try_cast,
    window,
)
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.cells.taxonomy import Taxonomy


def value_range(ranges: exp.Query, codes: str, taxonomy: Taxonomy) -> exp.Select:
    """value_range(value, low, high), by the codes of the values; `codes` numbers those that occur: value_0, code.

    `ranges` has the columns value, low and high. A listed value that no row has, or that
    is none of the column's type, gets a code that no row has: no class can then have a
    least share of it, as it has to be.
    """
    listed_value = column("value", "listed")
    value = try_cast(listed_value, taxonomy.bound.published_type)
    possible = is_not_null(value)
    same = identical(value.copy(), column("value_0", "coded"))
    # Any order will do; without one engines number rows as they please.
    absent = -window(f.row_number(), order=order_by(ascending(listed_value.copy())))
    low, high = (cast(column(name, "listed"), "DOUBLE") for name in ("low", "high"))
    return (
        exp.select(
            alias(f.coalesce(column("code", "coded"), absent), "value"),
            alias(low, "low"),
            alias(high, "high"),
        )
        .from_(ranges.copy().subquery("listed"))
        .join(
            relation(codes, as_="coded"),
            on=exp.and_(same, exp.or_(is_null(listed_value.copy()), possible)),
            join_type="LEFT",
        )
    )
