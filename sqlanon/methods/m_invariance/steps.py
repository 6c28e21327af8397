"""The queries under sql/m_invariance/."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.sql.build.names import literal
from sqlanon.sql.build.sql_files import query_file, reading


def step(name: str, tables: Mapping[str, str | exp.Query], m: int | None = None) -> exp.Query:
    """One of the queries under sql/m_invariance/ that reads these tables."""
    query = reading(query_file("m_invariance", name), tables)
    for parameter in list(query.find_all(exp.Placeholder, exp.Parameter)):
        assert m is not None
        parameter.replace(literal(m))
    return query
