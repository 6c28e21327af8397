"""A query with DuckDB's own functions named in full, so that nobody's macro can take their place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlanon.errors import InternalError
from sqlanon.sql.build.repeated import RepeatedQuery

_PARSED = RepeatedQuery("SELECT system.main.json_serialize_sql(?)")
_WRITTEN = RepeatedQuery("SELECT system.main.json_deserialize_sql(?)")
_BUILT_IN = ("system", "main")


def with_built_ins(rows: Callable[[RepeatedQuery, Sequence[object]], list[tuple[Any, ...]]], query: str) -> str:
    """The query with each function and each operator written as a call of system.main's; `rows` asks DuckDB.

    A macro may have the name of any function, and of operators such as + and ||, and a call by the bare name means the
    macro then. What a call by the full name means nobody can change. Comparisons, AND, OR, IN, CASE and CAST are no
    calls. Raises InternalError for a query that DuckDB cannot take apart.
    """
    try:
        tree = json.loads(rows(_PARSED, [query])[0][0])
    except RecursionError:
        raise InternalError("the query is nested too deep to name its functions in full") from None
    if tree["error"]:
        raise InternalError(f"DuckDB cannot take the query apart: {tree['error_message']}")
    for call in _calls(tree):
        call["qualified_name"]["path"] = [*_BUILT_IN, call["qualified_name"]["path"][-1]]
        call["is_operator"] = False
    return str(rows(_WRITTEN, [json.dumps(tree)])[0][0])


def _calls(tree: Any) -> Iterator[dict[str, Any]]:
    """The calls in a tree that DuckDB has made of a query: of functions, operators and window functions."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, dict):
            if node.get("class") in ("FUNCTION", "WINDOW"):
                yield node
            pending += node.values()
