"""Checks, by DuckDB's own comparison, that each value matches at most one row of a table which a query joins.

Where a value and a key are of different types, DuckDB compares them after a cast: '1' and '01' are two texts, and both
are equal to the number 1. So DuckDB itself compares them, and nothing here says which of the two is cast, and to what.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.estimates.query.parse import Lookup, refused
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import infix, is_null, try_cast
from sqlanon.sqlgen.build.names import alias, column

__all__ = ["require_castable", "require_unique"]

_KEY, _VALUE = "key", "value"


def require_unique(engine: Engine, lookup: Lookup, table: exp.Table, kinds: tuple[str, str]) -> None:
    """Raises PolicyError if a value of the first type is equal to several keys, which are of the second type.

    NULL is equal to no key. Two keys that equal one value are the same once they are cast to the value's type, so
    that a cast of the keys finds every such value.
    """
    keys = exp.select(alias(column(lookup.key), _KEY)).from_(table.copy())
    known = f.count(column(_KEY))
    different = f.count_distinct(column(_KEY))
    repeated = exp.select(known.neq(different)).from_(keys.copy().subquery("keys"))
    twice = bool(engine.rows(repeated)[0][0])
    if not twice and kinds[0] != kinds[1]:
        to = exp.DataType.build(kinds[0], dialect="duckdb")
        cast = exp.select(alias(try_cast(column(_KEY), to), _VALUE))
        values = cast.from_(keys.copy().subquery("keys")).distinct()
        require_castable(engine, lookup, values.copy(), table)
        several = exp.select(column(_VALUE, "compared")).from_(values.subquery("compared"))
        several.join(keys.subquery("keys"), on=_equal("compared", "keys"), copy=False)
        several = several.group_by(column(_VALUE, "compared")).having(f.count() > exp.Literal.number(1))
        twice = bool(engine.rows(exp.select(f.count()).from_(several.subquery("several")))[0][0])
    if twice:
        raise PolicyError(
            f"{lookup.table} has several rows for one {lookup.key}, so that a row of the source would count twice",
            hint="join a table that has each key once",
        )


def require_castable(engine: Engine, lookup: Lookup, values: exp.Query, table: exp.Table) -> None:
    """Raises PolicyError if DuckDB cannot compare every value of a query with every key: the join would fail."""
    keys = exp.select(alias(column(lookup.key), _KEY)).from_(table.copy())
    for tried, other, name in ((values, keys, _KEY), (keys, values, _VALUE)):
        # Any other value that is not NULL will do: it is the cast of these values that may fail.
        any_value = exp.select(alias(f.any_value(column(name)), name)).from_(other.copy().subquery("other"))
        compared = f.try_(exp.Array(expressions=[_equal("tried", "constant", swapped=tried is keys)]))
        failed = exp.func("count_if", is_null(compared))
        query = exp.select(failed).from_(tried.copy().subquery("tried"))
        if engine.rows(query.join(any_value.subquery("constant"), join_type="CROSS", copy=False))[0][0]:
            said = infix(lookup.on.copy(), "=", exp.column(lookup.key, lookup.alias))
            raise refused(
                said,
                "some of these values cannot be cast to the type that they are compared in",
                "join a table whose keys are of the column's own type",
            )


def _equal(values: str, keys: str, *, swapped: bool = False) -> exp.Expr:
    if swapped:
        values, keys = keys, values
    return column(_VALUE, values).eq(column(_KEY, keys))
