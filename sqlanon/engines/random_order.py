"""Rows in a random order on Spark: each row gets a draw from its executor's operating system, once."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.errors import EngineError

__all__ = ["RANDOM_DRAW", "in_random_order"]

# The name by which a query that `sqlgen.build.ddl.shuffled` has made asks for draws.
RANDOM_DRAW = "__sqlanon_random_draw"


def in_random_order(query: exp.Query) -> exp.Query:
    """A query that orders its rows by draws and nothing else, without that order.

    Raises EngineError for any other order, in which rows would be published as they stand in the source.
    """
    order = query.args.get("order")
    keys = [part.this for part in order.expressions] if isinstance(order, exp.Order) else []
    if len(keys) != 1 or not (isinstance(keys[0], exp.Anonymous) and keys[0].name == RANDOM_DRAW):
        raise EngineError("rows on Spark are published in a random order only")
    unordered = query.copy()
    unordered.set("order", None)
    return unordered
