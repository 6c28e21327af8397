"""Rows in a random order on Spark: each row gets one random number from its executor's operating system."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.errors import EngineError

# The function name by which a query of `sql.build.ddl.shuffled` requests random numbers.
RANDOM_DRAW = "__sqlanon_random_draw"


def in_random_order(query: exp.Query) -> exp.Query:
    """Returns a query ordered by random numbers alone, without that order.

    Raises EngineError for any other order, which would publish rows in the order of the source.
    """
    order = query.args.get("order")
    keys = [part.this for part in order.expressions] if isinstance(order, exp.Order) else []
    if len(keys) != 1 or not _is_draw(keys[0]):
        raise EngineError("rows on Spark are published in a random order only")
    unordered = query.copy()
    unordered.set("order", None)
    return unordered


def without_draws(query: exp.Query) -> tuple[exp.Query, list[str]]:
    """Returns a query without its columns of random numbers, and the names of these columns."""
    if not isinstance(query, exp.Select) or query.args.get("distinct"):
        return query, []
    draws = [part.alias for part in query.selects if isinstance(part, exp.Alias) and _is_draw(part.this)]
    others = [part for part in query.selects if part.alias_or_name not in draws]
    return (query.select(*others, append=False), draws) if draws else (query, [])


def _is_draw(value: exp.Expr) -> bool:
    return isinstance(value, exp.Anonymous) and value.name == RANDOM_DRAW
