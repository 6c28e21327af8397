"""Reads the queries of estimates whose shape never changes, the files under sql/estimates."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.sqlgen.build.expressions import big
from sqlanon.sqlgen.build.names import alias, literal, relation
from sqlanon.sqlgen.build.sql_files import query_file

__all__ = ["Tables", "fixed", "read_from", "withheld_rows"]

# What a query reads under a name: a table by the name that it really has, or the rows of a query.
Tables = Mapping[str, str | exp.Query]


def fixed(name: str, tables: Tables | None = None) -> exp.Query:
    """The query of a file under sql/estimates, reading `tables` where the file has their names."""
    query = query_file("estimates", name)
    return read_from(query, tables) if tables else query


def read_from(query: exp.Query, tables: Tables) -> exp.Query:
    """The query itself, changed such that it reads `tables` where it had their names."""
    for table in list(query.find_all(exp.Table)):
        if (found := tables.get(table.name)) is not None:
            name = table.alias_or_name
            table.replace(relation(found, as_=name) if isinstance(found, str) else found.subquery(name))
    return query


def withheld_rows(number: int | None) -> exp.Select:
    """One row with the number of rows that a release leaves out, NULL if nobody knows it: `withheld` of these files."""
    return exp.select(alias(big(literal(number)), "rows"))
