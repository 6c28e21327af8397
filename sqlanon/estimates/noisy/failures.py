"""Refuses expressions whose failure for a row would end an answer: TRY makes only some of DuckDB's errors NULL.

An error that only some values cause would reveal exactly that there is such a value, whatever the noise.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sqlanon.errors import PolicyError
from sqlanon.estimates.query.parse import refused

_Type = exp.DataType.Type
# Plain types: the values of a type of the database are its owner's, and an array's memory is not bounded.
_TYPES = frozenset(
    (
        *(_Type.BOOLEAN, _Type.FLOAT, _Type.DOUBLE, _Type.DECIMAL, _Type.TEXT, _Type.VARCHAR, _Type.CHAR),
        *(_Type.TINYINT, _Type.SMALLINT, _Type.INT, _Type.BIGINT, _Type.INT128),
        *(_Type.UTINYINT, _Type.USMALLINT, _Type.UINT, _Type.UBIGINT, _Type.UINT128),
        *(_Type.DATE, _Type.TIME, _Type.TIMETZ, _Type.DATETIME, _Type.TIMESTAMP, _Type.TIMESTAMPTZ),
        *(_Type.TIMESTAMP_S, _Type.TIMESTAMP_MS, _Type.TIMESTAMP_NS, _Type.INTERVAL, _Type.UUID, _Type.VARBINARY),
    )
)
# Parts that every date and timestamp has.
_PARTS = frozenset(
    (
        *("year", "month", "day", "decade", "century", "millennium", "quarter", "week", "hour", "minute", "second"),
        *("isodow", "dow", "dayofweek", "weekday", "doy", "dayofyear", "isoyear", "yearweek", "epoch", "julian"),
        *("millisecond", "milliseconds", "microsecond", "microseconds", "weekofyear"),
    )
)
_TRUNCATED = (exp.TimestampTrunc, exp.DateTrunc)
_OF_TIMES = (*_TRUNCATED, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.Day)


def require_no_failure(tree: exp.Expr) -> None:
    """Raises PolicyError for a cast, a part of a time, or an ESCAPE whose failure TRY does not make NULL."""
    for node in tree.walk():
        if isinstance(node, exp.DataType) and (node.this not in _TYPES or node.args.get("nested")):
            raise refused(node, "this type cannot be used under a budget", "cast to a number, a text or a time")
        if isinstance(node, exp.Extract) and node.name.lower() not in _PARTS:
            raise refused(node, "this part of a time cannot be taken under a budget", "take the year or the hour")
        if isinstance(node, _TRUNCATED) and _unit(node) not in _PARTS:
            raise refused(node, "times cannot be cut so under a budget", "write date_trunc('month', x)")
        if isinstance(node, exp.Escape) and not _is_constant(node):
            raise refused(node, "ESCAPE is one letter under a budget, and does not end its pattern")


def times_of(trees: Iterable[exp.Expr]) -> list[exp.Expr]:
    """Returns the expressions of which parts are taken as of times."""
    nodes = [node for tree in trees for node in tree.walk()]
    taken = [node.expression for node in nodes if isinstance(node, exp.Extract)]
    return [*taken, *(node.this for node in nodes if isinstance(node, _OF_TIMES))]


def require_times(types: Iterable[str]) -> None:
    """Raises PolicyError if one of the types is INTERVAL, for some of whose parts DuckDB fails."""
    if any(each.upper() == "INTERVAL" for each in types):
        raise PolicyError(
            "parts of an INTERVAL cannot be taken under a budget", hint="subtract dates, which is days", part=("query",)
        )


def _unit(node: exp.Expr) -> str | None:
    unit = node.args.get("unit")
    return unit.name.lower() if isinstance(unit, exp.Literal | exp.Var) else None


def _is_constant(node: exp.Escape) -> bool:
    pattern, escape = node.this.expression, node.expression
    if not all(isinstance(each, exp.Literal) and each.is_string for each in (pattern, escape)):
        return False
    return len(escape.this) == 1 and escape.this.isascii() and not pattern.this.endswith(escape.this)
