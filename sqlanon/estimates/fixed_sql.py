"""The queries of estimates whose shape never changes: the files under sql/estimates."""

from __future__ import annotations

from functools import cache

import sqlglot
from sqlglot import exp

from sqlanon.assets import read

__all__ = ["fixed"]


def fixed(name: str) -> exp.Query:
    """The query of a file under sql/estimates."""
    return _parsed(name).copy()


@cache
def _parsed(name: str) -> exp.Query:
    query = sqlglot.parse_one(read("sql", "estimates", f"{name}.sql"), dialect="duckdb")
    assert isinstance(query, exp.Query)
    for node in query.walk():
        node.pop_comments()
    return query
