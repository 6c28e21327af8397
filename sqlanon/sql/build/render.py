"""Trees to text: identifiers always quoted, every order said in full, and an error instead of a guess."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError

from sqlanon.errors import InternalError
from sqlanon.sql.build.expressions import ascending

# Kinds of parts that have no ORDER BY in them: most nodes of a tree are names, and most other parts flags.
_WITHOUT_ORDERS = frozenset({exp.Column, exp.Identifier, exp.Literal, exp.DataType, bool, str, type(None)})


def to_sql(tree: exp.Expr, *, pretty: bool = False, dialect: str = "duckdb") -> str:
    """The text of a tree in one dialect.

    Every sort key has ASC or DESC and the place of NULLs, which a session's settings would decide otherwise.
    Raises InternalError where the dialect cannot express a part: nothing is dropped silently.
    """
    try:
        with _orders_in_full(tree, dialect):
            return tree.sql(
                dialect=dialect,
                identify=True,
                pretty=pretty,
                unsupported_level=ErrorLevel.RAISE,
                normalize_functions=False,
                # Our trees are made for one statement: a copy of each before it is written would be wasted.
                copy=False,
            )
    except UnsupportedError as error:
        raise InternalError(f"this SQL cannot be written for {dialect}: {error}") from None


@contextmanager
def _orders_in_full(tree: exp.Expr, dialect: str) -> Iterator[None]:
    """Within the block every sort key of the tree is written with its direction, and for DuckDB with its NULLs.

    sqlglot leaves out what it takes for DuckDB's default, NULLS LAST, which a session may change. What stands
    behind them is ClickHouse's WITH FILL and written as it is.
    """
    keys = [_sort_key(key) for order in _orders(tree) for key in order.expressions]
    for key in keys:
        key.set("desc", bool(key.args.get("desc")))
        if dialect == "duckdb" and not key.args.get("nulls_first"):
            key.set("with_fill", exp.var("NULLS LAST"))
    try:
        yield
    finally:
        for key in keys:
            key.set("with_fill", None)


def _orders(tree: exp.Expr) -> list[exp.Order]:
    """Every ORDER BY of a tree. sqlglot's walks keep parents and levels as well, which each text would pay for."""
    orders: list[exp.Order] = []
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Order):
            orders.append(node)
        for part in node.args.values():
            if isinstance(part, list):
                pending += [item for item in part if type(item) not in _WITHOUT_ORDERS and isinstance(item, exp.Expr)]
            elif type(part) not in _WITHOUT_ORDERS and isinstance(part, exp.Expr):
                pending.append(part)
    return orders


def _sort_key(key: exp.Expr) -> exp.Ordered:
    if isinstance(key, exp.Ordered):
        return key
    said = ascending(key.copy())
    key.replace(said)
    return said
