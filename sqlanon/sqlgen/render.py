"""Trees to text: identifiers always quoted, and an error instead of a guess."""

from __future__ import annotations

from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError

from sqlanon.errors import InternalError

__all__ = ["to_sql"]


def to_sql(tree: exp.Expr, *, pretty: bool = False, dialect: str = "duckdb") -> str:
    """The text of a tree in one dialect.

    Raises InternalError where the dialect has no way to say it: nothing is dropped silently.
    """
    try:
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
