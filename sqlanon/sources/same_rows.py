"""Whether two queries have the same rows, as many times each, in whatever order."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sql.build.names import literal


def has_same_rows(engine: Engine, first: exp.Query, second: exp.Query) -> bool:
    """Whether each row of one query is one of the other; both are of the same columns."""
    return has_rows_of(engine, first, second) and has_rows_of(engine, second, first)


def has_rows_of(engine: Engine, rows: exp.Query, others: exp.Query) -> bool:
    """Whether the others have each of the rows, as many times at the least; both are of the same columns."""
    beyond = exp.except_(rows, others, distinct=False, copy=True).subquery("beyond")
    return not engine.rows(exp.select(literal(1)).from_(beyond).limit(1))
