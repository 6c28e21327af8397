"""Reads the queries of estimates whose shape never changes, the files under sql/estimates."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.sql.build.expressions import big
from sqlanon.sql.build.names import alias, literal
from sqlanon.sql.build.sql_files import query_file, reading

# What a query reads under a name: a table by the name that it really has, or the rows of a query.
Tables = Mapping[str, str | exp.Query]


def fixed(name: str, tables: Tables | None = None) -> exp.Query:
    """The query of a file under sql/estimates, reading `tables` where the file has their names."""
    query = query_file("estimates", name)
    return reading(query, tables) if tables else query


def withheld_rows(number: int | None) -> exp.Select:
    """One row with the number of rows that a release leaves out, NULL if nobody knows it: `withheld` of these files."""
    return exp.select(alias(big(literal(number)), "rows"))
