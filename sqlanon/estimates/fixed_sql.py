"""The queries of estimates whose shape never changes: the files under sql/estimates."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.sqlgen.build.sql_files import query_file

__all__ = ["fixed"]


def fixed(name: str) -> exp.Query:
    """The query of a file under sql/estimates."""
    return query_file("estimates", name)
